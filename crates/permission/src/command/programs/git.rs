//! git: commands that only read, commands that change the repository, and commands that reach beyond it.

mod settings;

use crate::{FileKind, Risk};

use super::is_listed;
use super::options::{Options, ParsedArguments};
use crate::command::Word;
use crate::command::place::Place;
use crate::files::{Extent, Finding};
use crate::secrets::Recursion;

// Checked with git 2.39. None of these options runs a program or writes a file.

/// Options that format changes.
macro_rules! changes {
    () => {
        "patch no-patch unified=? raw stat=? numstat shortstat dirstat=? summary patch-with-stat name-only \
        name-status color=? no-color word-diff=? word-diff-regex= no-renames find-renames=? find-copies=? \
        diff-filter= ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines \
        ignore-cr-at-eol function-context inter-hunk-context= minimal patience histogram diff-algorithm= \
        full-index abbrev=? no-prefix relative=? text exit-code quiet no-ext-diff no-textconv check \
        compact-summary pickaxe-regex pickaxe-all "
    };
}

/// Options that select commits.
macro_rules! commits {
    () => {
        "oneline pretty=? format== graph all branches=? tags=? remotes=? glob= max-count= skip= since= \
        after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case \
        extended-regexp fixed-strings perl-regexp merges no-merges first-parent reverse date= abbrev-commit \
        no-abbrev-commit full-history topo-order date-order author-date-order left-right cherry-pick \
        cherry-mark cherry boundary parents children count objects ancestry-path simplify-by-decoration \
        walk-reflogs no-walk log-size relative-date root no-notes "
    };
}

const SHOWN: &str = concat!(changes!(), commits!(), "cc follow source decorate=? no-decorate");

struct Reading {
    name: &'static str,
    options: Options,
    /// Whether operands are allowed; for some commands operands mean a change.
    has_operands: bool,
}

const fn row(name: &'static str, short: &'static str, long: &'static str, has_operands: bool) -> Reading {
    Reading { name, options: Options::new(short, long), has_operands }
}

/// Letters of every command that shows changes. `-S`, `-G` and `-L` take a value in the same word or the next, `-U` only in the same word.
const LETTERS: &str = "#n:psrtzcmiEFPgqawbWRU?S:G:L:M?C?D";

const READING: &[Reading] = &[
    row(
        "status",
        "sbvzu?",
        "short branch porcelain=? long verbose untracked-files=? ignored=? ignore-submodules=? show-stash \
        ahead-behind no-ahead-behind renames no-renames column=? no-column",
        true,
    ),
    row("log", LETTERS, SHOWN, true),
    row("show", LETTERS, SHOWN, true),
    row(
        "diff",
        "#psrtzcabwWRU?S:G:M?C?D",
        concat!(changes!(), "oneline pretty=? cc cached staged merge-base"),
        true,
    ),
    row("whatchanged", LETTERS, SHOWN, true),
    row("rev-list", "#n:giEFP", commits!(), true),
    row("shortlog", "nsec", "numbered summary email committer group= since= until= all no-merges", true),
    row(
        "blame",
        "bctfnslewL:C?M?",
        "line-porcelain porcelain root show-name show-number show-email since= date= abbrev=?",
        true,
    ),
    row(
        "rev-parse",
        "q",
        "verify quiet short=? abbrev-ref=? symbolic symbolic-full-name show-toplevel show-prefix show-cdup \
        git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository \
        is-shallow-repository all branches=? tags=? remotes=?",
        true,
    ),
    row(
        "ls-files",
        "cdmostuvzkx:",
        "cached deleted modified others ignored stage unmerged killed exclude-standard exclude= full-name \
        error-unmatch directory eol abbrev=?",
        true,
    ),
    row(
        "ls-tree",
        "drtlz",
        "long name-only name-status object-only full-name full-tree abbrev=? format=",
        true,
    ),
    row("cat-file", "petsz", "", true),
    row(
        "describe",
        "",
        "tags all always dirty=? abbrev=? long exact-match contains first-parent match= exclude=",
        true,
    ),
    row("name-rev", "", "tags name-only always all", true),
    row("merge-base", "a", "all octopus independent is-ancestor fork-point", true),
    row(
        "branch",
        "arvqi",
        "all remotes verbose list show-current color=? no-color column=? no-column sort= format= ignore-case \
        abbrev=?",
        false,
    ),
    row("tag", "n?il", "list sort= format= column=? no-column color=? ignore-case", false),
    row("remote", "v", "verbose", false),
    row(
        "reflog",
        "#n:psziEFPU?S:G:",
        concat!(
            changes!(),
            "oneline pretty=? format== decorate=? no-decorate all max-count= skip= since= after= until= before= \
            author= committer= grep= date= relative-date abbrev-commit no-abbrev-commit no-merges merges"
        ),
        true,
    ),
    row(
        "grep",
        "aIiwvhHEGFPnLlczopWqe:A:B:C:m:#",
        "cached untracked text ignore-case word-regexp invert-match extended-regexp fixed-strings perl-regexp \
        line-number column files-with-matches files-without-match name-only count color=? no-color break \
        heading show-function function-context context= after-context= before-context= and or not all-match \
        quiet max-depth= max-count= full-name only-matching",
        true,
    ),
    row(
        "for-each-ref",
        "",
        "count= sort= format= points-at= merged= no-merged= contains= no-contains= ignore-case",
        true,
    ),
    row("show-ref", "dqs?", "head dereference hash=? verify abbrev=? heads tags quiet", true),
    row("count-objects", "vH", "verbose human-readable", false),
    row("check-ignore", "qvn", "quiet verbose non-matching no-index", true),
    row("version", "", "build-options", false),
];

/// Options before the command.
const GLOBAL: Options = Options::new("PC:", "no-pager no-optional-locks literal-pathspecs version");
/// Options of `git config` that show settings.
const CONFIG: Options = Options::new(
    "lz",
    "get get-all get-regexp list show-origin show-scope name-only local global system null includes",
);
const STASH_LIST: Options = Options::new("pz", "oneline stat=?");
const STASH_SHOW: Options = Options::new(
    "pu",
    "patch no-patch raw stat=? numstat shortstat summary name-only name-status color=? no-color \
    include-untracked only-untracked no-ext-diff no-textconv quiet ignore-all-space ignore-space-change",
);
const REFLOG_SHOW: Options = Options::new("pz", "oneline stat=? all");
const WORKTREE_LIST: Options = Options::new("z", "porcelain");
const GET_URL: Options = Options::new("", "all");

/// Changes that stay in the repository and can be undone.
const LOCAL: &str = "add am apply branch checkout cherry-pick clone commit fetch gc init ls-remote maintenance merge \
    mv notes pull rebase reflog remote reset restore revert rm sparse-checkout stash submodule \
    switch symbolic-ref tag update-index update-ref worktree write-tree";

/// Returns what a git command does.
pub(super) fn judge(words: &[Word], place: &Place<'_>) -> Finding {
    let Some((global, rest)) = GLOBAL.read_front(words) else { return Finding::of(Risk::High) };
    let mut place = place.clone();
    // each value is relative to the one before
    for (_, folder) in global.options.iter().filter(|(name, _)| name == "-C") {
        place.go(folder.as_deref());
    }
    let Some((Word::Literal(command), words)) = rest.split_first() else {
        let is_version = global.has(&["--version"]) && rest.is_empty();
        return Finding::of(if is_version { Risk::None } else { Risk::High });
    };
    if let Some(finding) = reading(command, words) {
        // a repository's settings can run programs, and `git diff` outside of a repository reads any two files
        let is_proven = match repository(&place) {
            Repository::Own => true,
            Repository::Missing => command != "diff",
            Repository::Unknown => false,
        };
        let finding = finding.and(shown(command, words, &place));
        return if is_proven { finding } else { finding.at_least(Risk::High) };
    }
    // a repository outside of the workspace is as far away as a file there
    let is_inside =
        place.folders().is_some_and(|folders| folders.iter().all(|folder| place.workspace.holds(folder)));
    let found = changing(command, words);
    if is_inside { found } else { found.at_least(Risk::High) }
}

fn reading(command: &str, words: &[Word]) -> Option<Finding> {
    let (first, rest) = match words.split_first() {
        Some((Word::Literal(first), rest)) => (first.as_str(), rest),
        _ => ("", words),
    };
    match (command, first) {
        ("stash", "list") => return STASH_LIST.read(rest).map(|_| Finding::NOTHING),
        ("stash", "show") => return STASH_SHOW.read(rest).map(|_| Finding::NOTHING),
        ("reflog", "show") => return REFLOG_SHOW.read(rest).map(|_| Finding::NOTHING),
        ("worktree", "list") => return WORKTREE_LIST.read(rest).map(|_| Finding::NOTHING),
        ("remote", "get-url") => return GET_URL.read(rest).map(|_| Finding::NOTHING),
        ("config", _) => return config(words),
        ("reflog", _) if forgets(words) => return None,
        _ => {}
    }
    let known = READING.iter().find(|known| known.name == command)?;
    let given = known.options.read(words)?;
    let lists =
        command == "tag" && given.has(&["-l", "--list"]) || command == "branch" && given.has(&["--list"]);
    let leads_out = given.operands.iter().any(|word| word.literal().is_none_or(is_elsewhere));
    let is_shown = known.has_operands || given.operands.is_empty() || lists;
    (is_shown && !verifies(&given) && !leads_out).then_some(Finding::NOTHING)
}

/// Returns the effect of showing the content of files that the operands name, in the worktree or in a commit.
fn shown(command: &str, words: &[Word], place: &Place<'_>) -> Finding {
    if !["show", "log", "diff", "whatchanged", "blame", "cat-file", "grep", "stash"].contains(&command) {
        return Finding::NOTHING;
    }
    let texts = words.iter().filter_map(Word::literal).filter(|text| !text.starts_with('-'));
    let paths = texts.flat_map(|text| [Some(text), text.split_once(':').map(|(_, path)| path)]).flatten();
    let named = paths.filter(|path| !path.is_empty()).map(|path| place.read(path, Extent::File));
    let found = named.fold(Finding::NOTHING, Finding::and);
    if command != "grep" {
        return found;
    }
    let untracked = Recursion { hidden: true, obeys_ignore_files: true, ..Recursion::default() };
    let secrets = place.policy.secret_files();
    let may_show = |folder: &std::path::PathBuf| {
        let worktree = folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
        worktree.is_some_and(|worktree| settings::may_track(worktree, |path| secrets.holds(path)))
    };
    let found = found.and(place.read(".", Extent::Below(&untracked)));
    if place.folders().unwrap_or_default().iter().any(may_show) {
        return found.and(Finding::ask("It also reads tracked files that may hold credentials."));
    }
    found
}

/// Returns whether a command that lists records (such as the stash or the reflog) changes them.
fn forgets(words: &[Word]) -> bool {
    words
        .iter()
        .any(|word| matches!(word.literal(), None | Some("delete" | "expire" | "drop" | "write" | "exists")))
}

/// Returns whether a format asks for signatures, which runs the program that verifies them.
fn verifies(given: &ParsedArguments<'_>) -> bool {
    let formats = given.options.iter().filter(|(name, _)| ["--format", "--pretty"].contains(&name.as_str()));
    formats
        .filter_map(|(_, value)| value.as_deref())
        .any(|format| format.contains("%G") || format.contains("signature"))
}

/// Returns whether a path may lead outside. If one of two paths is outside, git compares them without a repository.
fn is_elsewhere(text: &str) -> bool {
    text.starts_with('/') || text.split('/').any(|part| part == "..")
}

/// Reads `git config` that shows settings. After the first operand every word is an operand: a name, and then its new value.
fn config(words: &[Word]) -> Option<Finding> {
    let (given, names) = CONFIG.read_front(words)?;
    let is_listed = given.has(&["-l", "--list"]) && names.is_empty();
    let is_asked = given.has(&["--get", "--get-all", "--get-regexp"]) && names.len() == 1;
    (is_listed || is_asked).then_some(Finding::NOTHING)
}

fn changing(command: &str, words: &[Word]) -> Finding {
    // options may be abbreviated and include their values
    let has = |options: &[&str]| {
        let is_one = |text: &str| options.iter().any(|option| text.starts_with(option));
        words.iter().any(|word| word.literal().is_none_or(is_one))
    };
    let is_outside = |word: &Word| word.literal().is_none_or(is_elsewhere);
    let risk = match command {
        "config" => {
            return Finding::ask("It changes the settings of version control, which can run programs.");
        }
        // the option names the file to write
        _ if has(&["--output"]) => Risk::High,
        // these discard changes that were never committed
        "reset" if has(&["--h"]) => Risk::High,
        "checkout" | "switch" if has(&["-f", "--f", "--di"]) => Risk::High,
        // these store settings or run code of others
        "submodule" | "remote" | "maintenance" => Risk::High,
        "rebase" if has(&["-x", "--e", "-i", "--i"]) => Risk::High,
        "clone" | "fetch" | "pull" | "ls-remote" | "init" if !words.iter().all(is_plain_source) => Risk::High,
        "clone" | "init" | "worktree" | "mv" | "apply" | "am" if words.iter().any(is_outside) => Risk::High,
        "apply" if has(&["--u", "--d"]) => Risk::High,
        command if is_listed(LOCAL, command) => Risk::Medium,
        // `push`, `clean`, `filter-branch`, `bisect run`, aliases and future commands
        _ => Risk::High,
    };
    Finding::of(risk)
}

/// Returns whether a command may replace files of the worktree by those of a commit, links among them.
pub(super) fn brings_files(words: &[Word]) -> bool {
    const BRINGING: &str = "am apply checkout cherry-pick clone merge pull rebase reset restore revert stash submodule switch worktree";
    let literals = || words.iter().filter_map(Word::literal);
    literals().any(|word| is_listed(BRINGING, word)) && !literals().any(|word| ["-b", "-c"].contains(&word))
}

/// Returns whether a word of a fetching command is safe: some options and some URLs can run programs.
fn is_plain_source(word: &Word) -> bool {
    const KNOWN: &str = "--all --tags --prune -p --depth --ff-only --rebase --no-rebase -q --quiet -v --verbose \
    --single-branch -b --branch --heads --no-tags";
    word.literal().is_some_and(|text| {
        let name = text.split('=').next().unwrap_or_default();
        !text.contains("::") && (!text.starts_with('-') || is_listed(KNOWN, name))
    })
}

/// The repository that git finds from a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Repository {
    /// A repository with its own `.git`, in the workspace or above.
    Own,
    /// No repository, neither here nor above.
    Missing,
    /// Possibly a directory that imitates a bare repository, an unknown directory, or settings that run programs.
    Unknown,
}

/// Returns the least trustworthy repository of all directories that the command may run in.
fn repository(place: &Place<'_>) -> Repository {
    let kind = |path| place.workspace.resolve(path).map(|resolved| resolved.kind).ok();
    let nearest = |folder: &std::path::PathBuf| {
        if !place.workspace.holds(folder) {
            return Repository::Unknown;
        }
        for folder in folder.ancestors() {
            match (kind(folder.join(".git")), kind(folder.join("HEAD"))) {
                (Some(FileKind::Folder | FileKind::File), _) if settings::run_nothing(folder) => {
                    return Repository::Own;
                }
                (Some(FileKind::Folder | FileKind::File), _) => return Repository::Unknown,
                (_, Some(FileKind::Missing)) => {}
                _ => return Repository::Unknown,
            }
        }
        Repository::Missing
    };
    let folders = place.folders().unwrap_or_default();
    folders.iter().map(nearest).max().unwrap_or(Repository::Unknown)
}

/// Returns the commands whose options are listed, for the test that compares them with the real program.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    let lists = [
        (vec!["git"], GLOBAL),
        (vec!["git", "config"], CONFIG),
        (vec!["git", "stash", "show"], STASH_SHOW),
        (vec!["git", "reflog", "show"], REFLOG_SHOW),
        (vec!["git", "stash", "list"], STASH_LIST),
        (vec!["git", "worktree", "list"], WORKTREE_LIST),
        (vec!["git", "remote", "get-url"], GET_URL),
    ];
    let readers = READING.iter().map(|reading| (vec!["git", reading.name], reading.options));
    readers.chain(lists).map(|(name, options)| (name, options.all()))
}
