//! Runs every option that a reading program names in its help, if the command is allowed at level off, and checks that nothing has changed.
//!
//! The tables are one source of options; the programs themselves are the other. An option that a table calls harmless and the program uses
//! to write or to run something is found here, whatever the table says about its value.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::*;
use crate::command::listed_options;

/// Programs that run on with some options, for instance to follow a file. They are ended.
const FOLLOWING: &[&str] = &["tail"];

/// Programs of the tables that change something by design, or that run other commands: their tests are others.
const NOT_READERS: &[&str] = &[
    "touch", "mkdir", "rmdir", "rm", "cp", "mv", "tee", "chmod", "timeout", "nice", "stdbuf", "ionice",
    "xargs", "env", "time", "command", "curl", "wget",
];

/// What follows an option. `{}` is the option.
const FORMS: &[&str] = &["{}", "{} x", "{} 1", "{}=x", "{}x", "{} touch", "{} --output=x"];

/// Returns the words of a command around its options, so that it does its work.
fn around(program: &str) -> (&'static str, &'static str) {
    match program {
        "grep" | "egrep" | "fgrep" | "rg" => ("", " one a.txt src"),
        "sed" => ("", " -n 1p a.txt"),
        "awk" | "gawk" | "mawk" => ("", " '{print}' a.txt"),
        "jq" => ("", " . a.txt"),
        "find" => (" .", ""),
        "uniq" | "od" | "file" | "stat" | "cat" | "tree" | "git blame" | "git check-ignore" => ("", " a.txt"),
        "diff" | "cmp" | "comm" | "join" => ("", " a.txt src/main.rs"),
        "ls" | "dir" | "vdir" | "du" | "df" | "realpath" | "readlink" => ("", " src"),
        "git" => ("", " status"),
        "git log" | "git show" | "git diff" | "git whatchanged" | "git rev-list" | "git ls-tree"
        | "git rev-parse" | "git describe" | "git name-rev" => ("", " HEAD"),
        "git cat-file" => ("", " HEAD:a.txt"),
        "git merge-base" => ("", " HEAD HEAD"),
        "git grep" => ("", " one"),
        "git config" => ("", " user.name"),
        "git remote get-url" => ("", " origin"),
        name if name.starts_with("git ") => ("", ""),
        "sort" | "wc" | "head" | "tail" | "cut" | "nl" | "tac" | "rev" | "paste" | "fold" | "expand"
        | "unexpand" | "column" | "hexdump" | "hd" | "strings" | "base64" | "base32" | "cksum" | "sum" => {
            ("", " a.txt")
        }
        name if name.ends_with("sum") => ("", " a.txt"),
        _ => ("", ""),
    }
}

#[test]
fn options_of_the_help_change_nothing_if_they_run_at_autonomy_off() {
    check(|program| program != "git", 4_000);
}

#[test]
fn options_of_the_help_of_git_change_nothing_if_they_run_at_autonomy_off() {
    check(|program| program == "git", 2_000);
}

/// Runs the allowed commands of some programs. Fewer than a minimum mean that the help is not read, or that the rules ask for everything.
fn check(is_meant: impl Fn(&str) -> bool, min_commands: usize) {
    let scene = harmless::repository();
    let before = harmless::snapshot(&scene);
    let (mut ran, mut named, mut without_help) = (0, 0, Vec::new());
    for (program, listed) in listed_options() {
        let name = program.join(" ");
        if !is_meant(program[0]) || NOT_READERS.contains(&name.as_str()) {
            continue;
        }
        let mut options = options_in(&help(&program, &scene));
        if options.is_empty() && !listed.is_empty() {
            without_help.push(name.clone());
        }
        named += options.len();
        options.extend(listed.into_iter().map(|(option, _)| option));
        let (front, operands) = around(&name);
        let lines = options.iter().flat_map(|option| {
            FORMS
                .iter()
                .map(|form| format!("{name}{front} {}{operands}", form.replace("{}", option)))
                .collect::<Vec<_>>()
        });
        let judged = |line: &String| matches!(scene.run(&scene.policy, line), Verdict::Run(_));
        let allowed: Vec<String> = lines.filter(judged).collect();
        ran += allowed.len();
        run(&allowed, &scene);
        if harmless::snapshot(&scene) == before {
            continue;
        }
        // the scene is spoiled: each command gets its own to say which one it was
        let guilty = allowed.iter().find(|line| {
            let scene = harmless::repository();
            let before = harmless::snapshot(&scene);
            run(&[(*line).clone()], &scene);
            harmless::snapshot(&scene) != before
        });
        panic!(
            "allowed at level off, and has changed a file: {guilty:?} (one of {} of {name})",
            allowed.len()
        );
    }
    println!("options that the programs name in their help: {named}; commands that ran: {ran}");
    assert!(without_help.is_empty(), "no option was found in the help of {without_help:?}");
    assert!(ran >= min_commands, "only {ran} commands ran");
}

/// Runs commands one after the other.
fn run(lines: &[String], scene: &TestWorkspace) {
    let limited = lines.iter().map(|line| {
        let follows = FOLLOWING.iter().any(|name| line.starts_with(name));
        if follows { format!("timeout -s KILL 0.3 {line}") } else { line.clone() }
    });
    harmless::bash(&limited.collect::<Vec<_>>().join("\n"), scene);
}

/// Returns what a program prints as its help.
fn help(program: &[&str], scene: &TestWorkspace) -> String {
    let name = program.join(" ");
    let ask = match program {
        // they print the log
        ["git", "reflog", "show"] | ["git", "stash", "list"] => {
            "git log -h; git log --git-completion-helper-all | tr ' ' '\\n'".to_owned()
        }
        ["git"] => "git --help".to_owned(),
        ["git", ..] => format!("{name} -h; {name} --git-completion-helper-all | tr ' ' '\\n'"),
        ["type" | "pwd" | "true" | "false" | ":"] => format!("help {name}; {name} --help"),
        ["ps"] => "ps --help all".to_owned(),
        ["curl"] => "curl --help all".to_owned(),
        _ => format!("{name} --help || {name} -h"),
    };
    #[expect(clippy::disallowed_methods, reason = "the real programs are run")]
    let mut command = std::process::Command::new("/bin/bash");
    command.args(["--noprofile", "--norc", "-c", &format!("{{ {ask}; }} 2>&1")]);
    command.current_dir(scene.workspace.root()).env_clear().stdin(std::process::Stdio::null());
    command
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8")])
        .env("HOME", &scene.policy.home);
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

/// Returns the options that a help text names.
fn options_in(help: &str) -> BTreeSet<String> {
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)(?:^|[\s,\[|(<'`])(--?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)").unwrap()
    });
    OPTION.captures_iter(help).map(|found| found[1].to_owned()).collect()
}

#[test]
fn options_are_found_in_a_help_text() {
    let help = "  -a, --all   do x\n  -I[=WHEN]\n  --sort=WORD  see also [-x | --no-y]\n pre-fix a--b\n -name PATTERN";
    let found = options_in(help);
    let expected = ["-a", "--all", "-I", "--sort", "-x", "--no-y", "-name"];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
}
