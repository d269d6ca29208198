//! Compares the option tables with the real programs.
//!
//! Each listed option is given to its program, followed by an unknown option. A program that complains about the unknown option did not
//! take it as a value. If a table disagrees, a later option would be read as a value, or a value as an option; both are holes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::command::{Takes, listed_options};

const CANARY: &str = "--musher-canary";

/// The least number of pairs of a program and an option that are observed: fewer means that the tables or this test have lost some.
const MIN_PAIRS: usize = 2_000;

/// Pairs that end before the program reads the unknown option, and why the table is right nevertheless. Every such pair is listed, and every
/// listed pair is one.
const ENDED: &[(&str, &[&str], &str)] = &[
    ("ls", &["--help", "--version"], "prints its help or version, and ends"),
    ("dir", &["--help", "--version"], "prints its help or version, and ends"),
    ("vdir", &["--help", "--version"], "prints its help or version, and ends"),
    ("rg", &["--version", "-V", "-h"], "prints its help or version, and ends"),
    ("uptime", &["--since", "-s"], "prints the time, and ends"),
    ("git rev-parse", &["--short", "--verify"], "fails because the unknown option is not a revision"),
    ("git show", &["--graph"], "fails because one commit has no graph"),
];

/// Values, of which most options that need one accept at least one.
const VALUES: &[&str] = &[
    CANARY, "1", "text", "read", "never", "utf8", "rust", "a.txt", "myers", "name", "long", "slash",
    "literal", "size", "ctime", "numeric", "seconds", "f", "egrep", ".", "iso", "A", "HEAD", "1.1", "d",
    "author", "md5",
];

/// Operands without which a command rejects its options.
fn operands(program: &[&str]) -> &'static [&'static str] {
    match program {
        ["git", "ls-tree" | "diff"] => &["HEAD"],
        ["awk" | "gawk" | "mawk"] => &["{print}"],
        ["git", "log" | "show" | "whatchanged" | "rev-list" | "reflog"] => &["HEAD", "--", "a.txt"],
        ["git", "grep"] | ["grep" | "egrep" | "fgrep" | "rg"] => &["one"],
        ["git", "check-ignore" | "blame"] => &["a.txt"],
        ["jq"] => &[".", "a.txt"],
        _ => &[],
    }
}

/// What a program did with the word after an option.
#[derive(Debug, PartialEq, Eq)]
enum Observed {
    /// It was read as a value.
    Took,
    /// It was read as an option.
    Left,
    /// The program ended before: it rejects the option, or needs nothing else.
    Ended,
}

#[test]
fn options_take_their_values_as_the_real_programs_do() {
    let scene = harmless::repository();
    // without an entry, commands about the stash do not look at their options
    assert!(harmless::bash("echo three >> a.txt && git -c user.name=n -c user.email=e stash -q", &scene));
    let mut differences = Vec::new();
    let (mut observed_pairs, mut missing) = (0, Vec::new());
    let mut ended: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (program, options) in listed_options() {
        // without options, the table says nothing
        if options.is_empty() {
            continue;
        }
        let name = program.join(" ");
        let Some(alone) = complaint(&program, &[CANARY], &scene) else {
            missing.push(program[0]);
            continue;
        };
        if !is_about_canary(&program, &alone) && !alone.to_lowercase().starts_with("usage:") {
            differences.push(format!("{name} does not complain about {CANARY}: {alone}"));
            continue;
        }
        for (option, takes) in options {
            let text = complaint(&program, &[&option, CANARY], &scene).unwrap_or_default();
            let observed = observe(&program, &option, &text, &scene);
            let expected = if takes == Takes::NextWord { Observed::Took } else { Observed::Left };
            if observed == Observed::Ended {
                ended.entry(name.clone()).or_default().insert(option);
                continue;
            }
            observed_pairs += 1;
            if observed != expected {
                differences.push(format!("{name} {option}: listed {takes:?}, {observed:?}: {}", text.trim()));
            }
        }
    }
    let ended_pairs: usize = ended.values().map(BTreeSet::len).sum();
    println!("pairs of a program and an option: {observed_pairs} observed, {ended_pairs} end before");
    assert!(missing.is_empty(), "not installed: {missing:?}");
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    let mut explained: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (program, options, why) in ENDED {
        assert!(!why.is_empty());
        explained
            .entry((*program).to_owned())
            .or_default()
            .extend(options.iter().map(|&option| option.to_owned()));
    }
    assert_eq!(ended, explained, "pairs that end before the unknown option, and those that are explained");
    assert!(observed_pairs >= MIN_PAIRS, "only {observed_pairs} pairs were observed");
}

fn observe(program: &[&str], option: &str, text: &str, scene: &TestWorkspace) -> Observed {
    if is_about_canary(program, text) {
        // old versions of rg need a value, but reject one that starts with a hyphen
        let needs_value = program == ["rg"]
            && complaint(program, &[option, "--hidden"], scene).is_some_and(|text| text.contains("requires"));
        return if needs_value { Observed::Took } else { Observed::Left };
    }
    let complains = |arguments: &[&str]| {
        complaint(program, arguments, scene)
            .is_some_and(|text| is_about_canary(program, &text) || text.to_lowercase().starts_with("usage:"))
    };
    if text.starts_with("usage:") && !complains(&[option]) {
        return Observed::Left;
    }
    // with one more word before it, the program does read the unknown option: so it is not an option that ends the program
    let is_taken =
        VALUES.iter().any(|value| !complains(&[option, value]) && complains(&[option, value, CANARY]));
    if is_taken { Observed::Took } else { Observed::Ended }
}

/// Returns what a program prints about its arguments. `None` if the program is not installed.
fn complaint(program: &[&str], arguments: &[&str], scene: &TestWorkspace) -> Option<String> {
    let is_builtin = ["type", "command"].contains(&program[0]);
    let shell = if is_builtin { vec!["/bin/bash", "-c", "\"$0\" \"$@\""] } else { Vec::new() };
    let words: Vec<&str> =
        [&shell, program, arguments, operands(program)].into_iter().flatten().copied().collect();
    #[expect(clippy::disallowed_methods, reason = "the real programs are run")]
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command.current_dir(scene.workspace.root()).env_clear();
    command
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8")])
        .env("HOME", &scene.policy.home);
    let (mut printed, both) = std::io::pipe().unwrap();
    // `git rev-parse` prints options that it does not know
    let stdout =
        if program == ["git", "rev-parse"] { both.try_clone().unwrap().into() } else { Stdio::null() };
    command.stdin(Stdio::null()).stdout(stdout).stderr(both);
    let mut child = command.spawn().ok()?;
    // keeps the writing end of the pipe open
    drop(command);
    let (send, ended) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        drop(printed.read_to_end(&mut text));
        drop(send);
        String::from_utf8_lossy(&text).into_owned()
    });
    // a program that read the canary as a value may run on, for instance to follow a file
    let _: Result<(), _> = ended.recv_timeout(Duration::from_secs(5));
    drop(child.kill());
    drop(child.wait());
    Some(reader.join().unwrap())
}

/// Returns whether a complaint calls the canary an unknown option.
fn is_about_canary(program: &[&str], complaint: &str) -> bool {
    const MARKS: &[&str] = &[
        "unrecognized option",
        "unrecognized argument",
        "unrecognized flag",
        "unknown option",
        "Unrecognized variable",
        "not an option",
        "is unknown",
        "invalid option",
        "unknown switch",
        "unknown argument",
        "Unknown option",
        "Unknown arguments",
        "Invalid argument -",
        "Invalid argument `-",
        "invalid argument `-",
        "unexpected argument",
        "which wasn't expected",
    ];
    if program == ["find"] {
        // it calls values of its tests invalid arguments
        return complaint.contains(&format!("unknown predicate `{CANARY}'"));
    }
    let name = CANARY.trim_start_matches('-');
    complaint.lines().any(|line| {
        line.contains("Illegal option --")
            || line == "error: unknown gnu long option"
            || program == ["git", "rev-parse"] && line == CANARY
            // builtins of the shell name only the part of the option that they have read
            || line.ends_with("--: invalid option")
            || line.contains(name) && MARKS.iter().any(|mark| line.contains(mark))
    })
}
