//! Runs commands that are allowed at level off, with every known option, and checks that nothing has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Programs with arguments, harmless or not.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("ls", &["-la", "-R", "--color=always", "--zero", "-I", "*"]),
    ("cat", &["-n", "-A", "a.txt", "src/main.rs", "--unknown"]),
    (
        "sort",
        &[
            "-o",
            "-ox",
            "x",
            "--output=x",
            "-T",
            ".",
            "--compress-program=touch",
            "-u",
            "-k1",
            "-S1",
            "--parallel=2",
            "*",
            "-t,",
            "-c",
        ],
    ),
    ("uniq", &["a.txt", "x", "-c", "-d", "--group", "-f1"]),
    (
        "find",
        &[
            ".", "src", "-name", "*.txt", "'*'", "-delete", "-print", "-exec", "touch", "x", "{}", "+",
            "\\;", "-fprint", "-fls", "-printf", "%p", "-type", "f", "-ok", "!", "-o",
        ],
    ),
    (
        "sed",
        &[
            "-n",
            "-i",
            "-i.b",
            "1p",
            "'1,2p'",
            "'s/o/x/'",
            "'s/o/x/w x'",
            "'s/o/touch x/e'",
            "'w x'",
            "'1!d'",
            "-e",
            "-E",
            "'$!{p}'",
            "'s/[/]/x/'",
            "'s|o|p|g;2d'",
            "-s",
            "-f",
        ],
    ),
    (
        "awk",
        &[
            "'{print $1}'",
            "'{print > \"x\"}'",
            "'BEGIN{system(\"touch x\")}'",
            "-F:",
            "NR==1",
            "-f",
            "'{print | \"touch x\"}'",
            "-v",
            "x=1",
            "-i",
            "inplace",
        ],
    ),
    ("grep", &["-rn", "-c", "one", "-e", "-f", ".", "a.txt", "--include=*.txt", "-P", "-z", "--color"]),
    ("head", &["-n", "1", "-5", "-c3", "a.txt", "-q"]),
    ("tail", &["-n", "+2", "-5", "-c3", "a.txt", "-q"]),
    ("wc", &["-l", "a.txt", "--files0-from=a.txt", "*"]),
    ("cut", &["-d:", "-f1", "-c1-3", "a.txt", "--complement"]),
    ("tree", &["-Po", "-Io", "-Lo", "-P", "-L", "x", "1", "--noreport", "-a"]),
    ("tr", &["a", "b", "-d", "-s"]),
    ("tee", &["x", "-a", "/dev/null"]),
    ("date", &["+%F", "-u", "-d", "now", "-r", "a.txt", "-I", "--iso-8601=s", "-f"]),
    ("diff", &["-u", "-r", "a.txt", "src", "src/main.rs", "--output=x", "-q", "-y"]),
    ("cmp", &["a.txt", "src/main.rs", "-l", "-s"]),
    ("od", &["-c", "-An", "-tx1", "a.txt"]),
    ("stat", &["-c", "%n", "-L", "a.txt", "--printf=%s"]),
    ("du", &["-sh", "-d1", "-a", "."]),
    ("realpath", &["-m", "x", "."]),
    ("basename", &["-a", "x/y", "-s", "y"]),
    ("test", &["-f", "a.txt", "-a", "-v", "'x[$(touch y)]'", "-eq", "1"]),
    ("printf", &["-v", "x", "'%s\\n'", "a", "'%d'", "'x[$(touch y)]'"]),
    ("echo", &["-e", "x", "*", "'>x'", "-n"]),
    ("md5sum", &["a.txt", "-c", "--tag"]),
    ("base64", &["-d", "a.txt", "-w0"]),
    ("comm", &["a.txt", "src/main.rs", "-12"]),
    ("paste", &["-s", "a.txt", "-d,"]),
    ("column", &["-t", "a.txt"]),
    ("env", &["-i", "A=1", "touch", "x", "-u", "B", "ls", "-S"]),
    ("timeout", &["5", "touch", "x", "ls", "-k", "1", "-s", "KILL"]),
    ("xargs", &["touch", "x", "-n1", "ls", "-I{}"]),
    ("bash", &["-c", "'touch x'", "'ls'", "-e", "a.txt", "-x"]),
    ("git status", &["-s", "--porcelain", "-b", "-uno", "--ignored", "a.txt"]),
    (
        "git log",
        &[
            "--oneline",
            "-1",
            "-p",
            "--output=x",
            "--output",
            "x",
            "--stat",
            "--format=%H",
            "HEAD",
            "--",
            "a.txt",
            "-G",
            "one",
            "-U",
            "--unified",
            "--abbrev",
            "--ext-diff",
        ],
    ),
    (
        "git diff",
        &[
            "--stat",
            "HEAD",
            "--output=x",
            "--no-index",
            "a.txt",
            "src/main.rs",
            "-w",
            "--cached",
            "-O",
            "x",
            "--name-only",
        ],
    ),
    ("git show", &["HEAD", "--stat", "--output=x", "HEAD:a.txt", "-s", "--textconv"]),
    ("git branch", &["-a", "x", "-v", "--list", "-m", "y", "-D", "--show-current", "-d"]),
    ("git tag", &["-l", "x", "-d", "-n1", "--list", "-m", "y", "-a"]),
    ("git stash", &["list", "show", "push", "drop", "-p", "clear"]),
    ("git remote", &["-v", "add", "x", "y", "get-url", "remove"]),
    ("git config", &["--get", "user.name", "x", "-l", "--unset", "--global", "core.pager", "--list"]),
    ("git reflog", &["show", "expire", "--all", "delete", "HEAD@{0}", "-3"]),
    ("git grep", &["one", "-n", "-O", "-Ocat", "-e", "two", "--cached"]),
    ("git cat-file", &["-p", "HEAD", "-t", "--batch", "HEAD:a.txt", "--filters"]),
    ("git rev-parse", &["HEAD", "--show-toplevel", "--short", "-q", "--verify"]),
    ("git ls-files", &["-o", "-z", "--exclude-standard", "-m", "src"]),
    ("git worktree", &["list", "add", "x", "--porcelain", "prune"]),
];

const BETWEEN: &[&str] = &[" | ", " && ", "; ", " || ", "\n", " 2>&1 | ", " >/dev/null; ", " > x; ", " & "];

fn command() -> impl Strategy<Value = String> {
    select(PROGRAMS).prop_flat_map(|(name, arguments)| {
        proptest::collection::vec(select(arguments), 0..5)
            .prop_map(move |arguments| format!("{name} {}", arguments.join(" ")))
    })
}

fn line() -> impl Strategy<Value = String> {
    (command(), proptest::collection::vec((select(BETWEEN), command()), 0..2)).prop_map(|(first, more)| {
        more.into_iter().fold(first, |line, (between, command)| format!("{line}{between}{command}"))
    })
}

/// Returns a repository with a commit.
pub(super) fn repository() -> TestWorkspace {
    let scene = TestWorkspace::new();
    let setup =
        "rm -r .git && git init -q && git add a.txt src && git -c user.name=n -c user.email=e commit -qm one";
    assert!(bash(setup, &scene), "git is needed here");
    scene
}

pub(super) fn bash(line: &str, scene: &TestWorkspace) -> bool {
    #[expect(clippy::disallowed_methods, reason = "commands that were judged harmless are run for real")]
    let mut command = Command::new("/bin/bash");
    command.args(["--noprofile", "--norc", "-c", line]).current_dir(scene.workspace.root()).env_clear();
    command
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8"), ("GIT_OPTIONAL_LOCKS", "0")])
        .env("HOME", &scene.policy.home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

/// Returns every file of the scene with its content, every directory and every link.
pub(super) fn snapshot(scene: &TestWorkspace) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    everything(&scene.path(""), &mut found);
    found
}

/// Collects every file with its content, every directory and every link.
fn everything(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs_err::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            everything(&path, found);
        }
        let content = if kind.is_file() { fs_err::read(&path).unwrap() } else { Vec::new() };
        found.insert(path, content);
    }
}

#[test]
fn commands_allowed_at_autonomy_off_change_no_file() {
    let scene = repository();
    let before = snapshot(&scene);
    // the first line that changes something spoils the scene, so shrinking is not possible
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases(1000),
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let ran = std::cell::Cell::new(0);
    let result = runner.run(&line(), |line| {
        if matches!(scene.run(&scene.policy, &line), Verdict::Run(_)) {
            ran.set(ran.get() + 1);
            bash(&line, &scene);
            prop_assert!(snapshot(&scene) == before, "{line:?} has changed a file");
        }
        Ok(())
    });
    result.unwrap();
    assert!(ran.get() > 100, "only {} of the lines ran: the others prove nothing", ran.get());
}
