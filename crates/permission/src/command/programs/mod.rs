//! What single commands do: by program, and only in known forms.

mod danger;
mod git;
mod options;
mod readers;
mod scripts;
mod tools;
mod wrappers;
mod writers;

use std::path::Path;

use crate::{FileKind, Risk};

#[cfg(test)]
pub(crate) use self::options::Takes;
use super::Word;
use super::place::Place;
use crate::files::{Extent, Finding};
use crate::secrets::Recursion;

/// Judges one command. Commands that it runs are added to `inner`.
pub(super) fn judge(
    words: &[Word],
    is_repeated: bool,
    place: &mut Place<'_>,
    inner: &mut Vec<Vec<Word>>,
    depth: usize,
) -> Finding {
    let Some((first, arguments)) = words.split_first() else { return Finding::NOTHING };
    let Word::Literal(path) = first else {
        return Finding::ask("Which program it runs is known only when it runs.");
    };
    let name = base_name(path);
    let finding = danger::judge(name, arguments, place);
    if path.contains('/') && !is_system_program(path) || is_shadowed(path, place) {
        return finding.at_least(Risk::High).and(named(arguments, place));
    }
    if let Some(found) = change_folder(name, arguments, is_repeated, place) {
        return finding.and(found);
    }
    if let Some(found) = wrappers::judge(name, arguments, is_repeated, place, inner, depth) {
        place.has_written |= found.risk >= Risk::Low;
        let is_proven = found.risk < Risk::Medium;
        return finding.and(if is_proven { found } else { found.and(named(arguments, place)) });
    }
    let proven = match name {
        "git" => Some(git::judge(arguments, place)),
        "find" => scripts::find(arguments, place),
        "sed" => scripts::sed(arguments, place),
        "awk" | "gawk" | "mawk" => scripts::awk(arguments, place),
        _ => readers::judge(name, arguments, place),
    };
    let proven =
        proven.or_else(|| writers::judge(name, arguments, place)).or_else(|| tools::judge(name, arguments));
    let known = proven.unwrap_or_else(|| Finding::of(unproven(name)).and(below(name, arguments, place)));
    place.has_written |= known.risk >= Risk::Low;
    if known.risk < Risk::Medium {
        return finding.and(known);
    }
    place.has_new_files = true;
    place.has_new_links |= name == "git" && git::brings_files(arguments);
    finding.and(known).and(named(arguments, place))
}

/// Returns the effect of an unproven form of a program that may print the content of directories.
fn below(name: &str, arguments: &[Word], place: &Place<'_>) -> Finding {
    let all = Recursion::all();
    let may_recurse = |text: &str| text.starts_with('-') && text.contains(['r', 'R', 'd']);
    let is_recursive = match name {
        "rg" => true,
        "grep" | "egrep" | "fgrep" | "diff" => arguments.iter().filter_map(Word::literal).any(may_recurse),
        _ => false,
    };
    if !is_recursive {
        return Finding::NOTHING;
    }
    let named = arguments.iter().filter_map(Word::literal).filter(|text| !text.starts_with('-'));
    let read = named.chain(["."]).map(|path| place.read(path, Extent::Below(&all)));
    Finding { risk: Risk::None, ..read.fold(Finding::NOTHING, Finding::and) }
}

/// Whether a command of unknown behaviour is given a file that holds secrets, or one that may only be written with permission.
fn named(arguments: &[Word], place: &Place<'_>) -> Finding {
    let mut found = Finding::NOTHING;
    for word in arguments {
        found = found.and(match word {
            Word::Literal(text) => {
                paths_in(text).map(|path| place.named(path)).fold(Finding::NOTHING, Finding::and)
            }
            Word::Pattern { text, .. } => place.named_pattern(text),
            Word::Unknown => Finding::NOTHING,
        });
        if found.always_ask.is_some() {
            break;
        }
    }
    found
}

/// Returns the parts of a word that may be paths: `--file=.env`, `-o.env`, `-d@.env`, `.env:/run/secrets`.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let attached = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = attached.and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
    let parts = text.split(['=', ':', ',', '@']).filter(|part| part.len() < text.len());
    // longer words are texts
    let is_path = |part: &&str| {
        !part.is_empty() && part.len() <= 4096 && !part.starts_with('-') && !part.contains('\n')
    };
    std::iter::once(text).chain(attached).chain(parts).filter(is_path)
}

/// Returns the risk of a reading program in an unproven form. With unknown words it most likely still reads; with unknown options it may
/// do more.
fn unproven(name: &str) -> Risk {
    const HARMLESS: &str =
        "ls dir pwd echo cat head tail wc cut tr basename dirname realpath readlink stat du df grep";
    if is_listed(HARMLESS, name) { Risk::Medium } else { Risk::High }
}

fn change_folder(
    name: &str,
    arguments: &[Word],
    is_repeated: bool,
    place: &mut Place<'_>,
) -> Option<Finding> {
    match name {
        "cd" => {
            let home = place.policy.home.to_str().unwrap_or_default().to_owned();
            let to = match arguments {
                [] if !home.is_empty() => Some(home.as_str()),
                [Word::Literal(to)] if !to.starts_with('-') && !to.is_empty() => Some(to.as_str()),
                _ => None,
            };
            // repeated changes lead to unknown directories
            place.go(to.filter(|to| !is_repeated || Path::new(to).is_absolute()));
            Some(if to.is_some() { Finding::NOTHING } else { Finding::of(Risk::Medium) })
        }
        "pushd" | "popd" => {
            place.lose();
            Some(Finding::of(Risk::Medium))
        }
        _ => None,
    }
}

/// Returns all programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(crate) fn listed() -> impl Iterator<Item = Listed> {
    let reading = readers::listed().chain(scripts::listed()).chain(git::listed());
    reading.chain(writers::listed()).chain(wrappers::listed()).chain(tools::listed())
}

/// Returns the programs that run another command, for the test that gives them patterns.
#[cfg(test)]
pub(crate) fn wrapper_names() -> impl Iterator<Item = &'static str> {
    wrappers::NAMES.iter().copied()
}

/// A program with its sub-command, and its listed options.
#[cfg(test)]
pub(crate) type Listed = (Vec<&'static str>, Vec<(String, Takes)>);

/// Returns the risk of setting a variable: many variables make other programs run something.
pub(super) fn assignment(name: &str) -> Risk {
    const HARMLESS: &str = "CI COLUMNS DEBUG FORCE_COLOR LANG LANGUAGE LC_ALL LC_CTYPE LINES NO_COLOR NODE_ENV \
        RUST_BACKTRACE RUST_LOG TERM TZ VERBOSE";
    // names that no program reads
    let is_own = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && !name.contains("proxy");
    if is_listed(HARMLESS, name) || is_own { Risk::Medium } else { Risk::High }
}

/// Returns whether a list of words contains a word.
fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Returns the last component of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns whether a program is given by a path into the system directories.
pub(crate) fn is_system_program(program: &str) -> bool {
    const FOLDERS: [&str; 4] = ["/bin", "/usr/bin", "/sbin", "/usr/sbin"];
    program.rsplit_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
}

/// Returns whether the shell would find a program in the workspace, or in a directory that depends on the current one.
fn is_shadowed(name: &str, place: &Place<'_>) -> bool {
    if name.contains('/') {
        return false;
    }
    for folder in &place.policy.search_path {
        if !folder.is_absolute() {
            return true;
        }
        // an earlier command of the line may have put a program of this name there
        if place.has_written && place.workspace.resolve(folder).is_ok_and(|folder| folder.is_inside) {
            return true;
        }
        match place.workspace.resolve(folder.join(name)) {
            // a link in a directory of the workspace can be changed to lead anywhere
            Ok(found) if found.kind == FileKind::File => {
                let is_own_folder = place.workspace.resolve(folder).is_ok_and(|folder| folder.is_inside);
                return found.is_inside || is_own_folder || place.workspace.holds(folder);
            }
            _ => {}
        }
    }
    false
}

/// Returns the short name of a command: its program, with the sub-command where it matters.
pub(super) fn short_name(words: &[Word]) -> Option<String> {
    const WITH_COMMAND: &str = "git npm npx pnpm yarn bun gh cargo go docker kubectl pip pip3 uv poetry brew apt apt-get \
        systemctl rustup dotnet terraform helm deno";
    let mut words = words.iter().skip_while(|word| matches!(word.literal(), Some("sudo")));
    let name = base_name(words.next()?.literal().unwrap_or("$")).to_owned();
    if !is_listed(WITH_COMMAND, &name) {
        return Some(name);
    }
    let is_command = |text: &&str| !text.is_empty() && !text.starts_with('-');
    let mut more = words.map_while(Word::literal).take_while(is_command);
    let first = more.next();
    // `gh pr list` has two sub-commands
    let second = if name == "gh" { more.next() } else { None };
    Some([Some(name.as_str()), first, second].into_iter().flatten().collect::<Vec<_>>().join(" "))
}
