//! Compares the option tables with the real programs.
//!
//! Each listed option is given to its program, followed by an unknown option. A program that complains about the unknown option did not
//! take it as a value. If a table disagrees, a later option would be read as a value, or a value as an option; both are holes.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::command::{Takes, listed_options};

const CANARY: &str = "--musher-canary";

/// Programs that do not use the usual option parser, so an unknown option causes no complaint. They were checked by hand.
const WITHOUT_COMPLAINTS: &[&str] =
    &[":", "true", "false", "echo", "ps", "type", "getconf", "lsmod", "git rev-parse"];

/// Options that end the program before it reads the next one.
const FINAL: &[&str] = &["--help", "--version", "--type-list", "-V", "-h"];

/// Operands without which a command rejects its options.
fn operands(program: &[&str]) -> &'static [&'static str] {
    match program {
        ["git", "ls-tree"] => &["HEAD"],
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
    let mut differences = Vec::new();
    let (mut checked, mut missing) = (0, Vec::new());
    for (program, options) in listed_options() {
        if WITHOUT_COMPLAINTS.contains(&program.join(" ").as_str()) {
            continue;
        }
        let Some(alone) = complaint(&program, &[CANARY], &scene) else {
            missing.push(program[0]);
            continue;
        };
        if !is_about_canary(&alone) && !alone.starts_with("usage:") {
            differences.push(format!("{program:?} does not complain about {CANARY}: {alone}"));
            continue;
        }
        for (option, takes) in options.all() {
            if FINAL.contains(&option.as_str()) {
                continue;
            }
            let text = complaint(&program, &[&option, CANARY], &scene).unwrap_or_default();
            let observed = observe(&program, &option, &text, &scene);
            checked += 1;
            let expected = if takes == Takes::NextWord { Observed::Took } else { Observed::Left };
            if observed != expected && observed != Observed::Ended {
                differences.push(format!(
                    "{} {option}: listed {takes:?}, {observed:?}: {}",
                    program.join(" "),
                    text.trim()
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{} of {checked}:\n{}", differences.len(), differences.join("\n"));
    assert!(missing.is_empty(), "not installed: {missing:?}");
}

fn observe(program: &[&str], option: &str, text: &str, scene: &Scene) -> Observed {
    if is_about_canary(text) {
        // old versions of rg accept no value that starts with a hyphen, and reject any word that follows
        let refuses = program == ["rg"]
            && complaint(program, &[option, "--hidden"], scene).is_some_and(|text| text.contains("error:"));
        return if refuses { Observed::Ended } else { Observed::Left };
    }
    let without = complaint(program, &[option], scene).unwrap_or_default();
    if text.starts_with("usage:") && !without.starts_with("usage:") {
        Observed::Left
    } else if text == without {
        Observed::Ended
    } else {
        Observed::Took
    }
}

/// Returns what a program prints about its arguments. `None` if the program is not installed.
fn complaint(program: &[&str], arguments: &[&str], scene: &Scene) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the real programs are run")]
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(arguments).args(operands(program));
    command.current_dir(scene.workspace.root()).env_clear();
    command.envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")]).env("HOME", &scene.policy.home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut stderr = child.stderr.take().unwrap();
    let (send, ended) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        drop(stderr.read_to_end(&mut text));
        drop(send);
        String::from_utf8_lossy(&text).into_owned()
    });
    // a program that read the canary as a value may run on, for instance to follow a file
    let _: Result<(), _> = ended.recv_timeout(Duration::from_secs(5));
    drop(child.kill());
    drop(child.wait());
    Some(reader.join().unwrap())
}

/// Whether a complaint calls the canary an unknown option.
fn is_about_canary(complaint: &str) -> bool {
    const MARKS: [&str; 14] = [
        "unrecognized option",
        "unrecognized argument",
        "unrecognized flag",
        "unknown option",
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
    let name = CANARY.trim_start_matches('-');
    complaint.lines().any(|line| {
        line.contains("Illegal option --")
            || line.contains(name) && MARKS.iter().any(|mark| line.contains(mark))
    })
}
