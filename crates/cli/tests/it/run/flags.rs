//! The flags that `run` and `exec` share, those of droid that `exec` keeps, and what a few of them do.

use std::collections::BTreeMap;

use musher_rehearse::{Reply, Script};

use super::stage::{Stage, step};
use crate::program::{ended, musher};

/// Flags with the same meaning in both commands, and the value they take.
const SHARED: [(&str, Option<&str>); 24] = [
    ("--model", Some("ID")),
    ("--file", Some("FILE")),
    ("--auto", Some("LEVEL")),
    ("--sandbox", Some("MODE")),
    ("--network", Some("NETWORK")),
    ("--require-sandbox", None),
    ("--cwd", Some("DIR")),
    ("--continue", None),
    ("--output-format", Some("FORMAT")),
    ("--json", None),
    ("--stream-json", None),
    ("--reasoning-effort", Some("LEVEL")),
    ("--use-spec", None),
    ("--spec-model", Some("ID")),
    ("--spec-reasoning-effort", Some("LEVEL")),
    ("--only-tools", Some("TOOLS")),
    ("--add-tools", Some("TOOLS")),
    ("--remove-tools", Some("TOOLS")),
    ("--wait", None),
    ("--timeout", Some("SECONDS")),
    ("--budget-tokens", Some("COUNT")),
    ("--budget-usd", Some("AMOUNT")),
    ("--log", Some("FILE|stderr")),
    ("--log-level", Some("LEVEL")),
];

/// Flags that only one of them has, because the other cannot have their meaning.
const ONLY_RUN: [&str; 11] = [
    "--agent",
    "--yes",
    "--image",
    "--attach",
    "--schema",
    "--partial",
    "--session",
    "--daemon",
    "--daemon-url",
    "--detach",
    "--help",
];
const ONLY_EXEC: [&str; 12] = [
    "--input-format",
    "--skip-permissions-unsafe",
    "--session-id",
    "--fork",
    "--disable-builtin-skills",
    "--settings",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--tag",
    "--list-tools",
    "--version",
    "--help",
];

/// What droid 0.225.2 documents for `droid exec`, with the short forms, and how it is called here.
const OF_DROID: [&[&str]; 26] = [
    &["-o", "json"],
    &["--output-format", "json"],
    &["--input-format", "stream-json"],
    &["-f", "task.md"],
    &["--file", "task.md"],
    &["--auto", "low"],
    &["--skip-permissions-unsafe"],
    &["--disable-builtin-skills"],
    &["-s", "id"],
    &["--session-id", "id"],
    &["--fork", "id"],
    &["-m", "model"],
    &["--model", "model"],
    &["-r", "low"],
    &["--reasoning-effort", "low"],
    &["--spec-model", "model"],
    &["--spec-reasoning-effort", "low"],
    &["--use-spec"],
    &["--only-tools", "Read,MCP:github"],
    &["--add-tools", "Grep"],
    &["--remove-tools", "Execute"],
    &["--cwd", "."],
    &["--settings", "file"],
    &["--tag", "name"],
    &["--log-group-id", "id"],
    &["--append-system-prompt", "text", "--append-system-prompt-file", "file", "--list-tools"],
];

/// The long flags in a help text with their values, and the first line of what they do.
fn flags(command: &str) -> BTreeMap<String, (Option<String>, String)> {
    let help = musher(&[command, "--help"]).stdout;
    let mut flags = BTreeMap::new();
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        let Some(at) = words.iter().position(|word| word.starts_with("--")) else { continue };
        if at > 1 || !line.starts_with("  ") || at == 1 && !words[0].starts_with('-') {
            continue;
        }
        let value = words.get(at + 1).and_then(|word| word.strip_prefix('<')?.strip_suffix('>'));
        let about = lines.peek().map(|line| line.trim().to_owned()).unwrap_or_default();
        flags.insert(words[at].trim_end_matches(',').to_owned(), (value.map(str::to_owned), about));
    }
    flags
}

#[test]
fn run_and_exec_share_names_and_meanings_of_flags() {
    let (run, exec) = (flags("run"), flags("exec"));
    for (flag, value) in SHARED {
        let (of_run, of_exec) = (run.get(flag), exec.get(flag));
        let values = [of_run, of_exec].map(|found| found.map(|(value, _)| value.as_deref()));
        assert_eq!(values, [Some(value), Some(value)], "{flag}");
    }
    let known = |only: &[&str], flag: &String| {
        only.contains(&flag.as_str()) || SHARED.iter().any(|(shared, _)| shared == flag)
    };
    let others = run
        .keys()
        .filter(|flag| !known(&ONLY_RUN, flag))
        .chain(exec.keys().filter(|flag| !known(&ONLY_EXEC, flag)));
    assert_eq!(others.collect::<Vec<_>>(), [""; 0], "in no table");
    // the defaults differ: `exec` cannot ask, and uses models of the engine only
    for (flag, (_, about)) in &run {
        if let Some((_, of_exec)) =
            exec.get(flag).filter(|_| !["--auto", "--model", "--output-format"].contains(&flag.as_str()))
        {
            assert_eq!(about, of_exec, "{flag}");
        }
    }
    for command in ["run", "exec"] {
        for same in ["--session", "--session-id", "-s"] {
            let run = musher(&[command, same, "x", "--continue", "hi"]);
            assert!(
                run.code == Some(2) && run.stderr.contains("cannot be used with"),
                "{command} {same}: {}",
                run.stderr
            );
        }
    }
}

#[test]
fn exec_accepts_the_flags_that_droid_documents() {
    for words in OF_DROID {
        // the arguments are read, and then something that is missing is named
        let run = musher(&[&["exec"], words, &["--no-such-flag"]].concat());
        assert_eq!(run.code, Some(2), "{words:?}");
        assert!(run.stderr.contains("unexpected argument '--no-such-flag'"), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn shared_flags_do_the_same_in_both_commands() {
    for command in ["run", "exec"] {
        let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(step(1))));
        let ran = |words: &[&str]| ended(stage.musher(&[&[command], words].concat()));
        let json = ran(&["-o", "json", "--only-tools", "Read,grep_tool_cli", "hello"]);
        assert_eq!(json.code, Some(0), "{command}: {}", json.stderr);
        assert!(json.stdout.contains(r#""result":"Hello.""#), "{command}: {}", json.stdout);
        let tools = stage.calls()[0].body.as_ref().unwrap()["tools"].as_array().unwrap().len();
        assert_eq!(tools, 2, "{command}");
        let short = ran(&["--json", "hello"]);
        assert!(short.stdout.contains(r#""result":"Hello.""#), "{command}: {}", short.stdout);
        let unknown = ran(&["--remove-tools", "Nope,Read", "hello"]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""), "{command}");
        assert!(unknown.stderr.contains("error: unknown tool `Nope`"), "{command}: {}", unknown.stderr);
        let effort = ran(&["-r", "enormous", "hello"]);
        assert!(
            effort.code == Some(2) && effort.stderr.contains("unknown reasoning effort `enormous`"),
            "{command}"
        );
        let next = ran(&["--continue", "-o", "text", "hello"]);
        assert_eq!((next.code, next.stdout.as_str()), (Some(0), "Hello.\n"), "{command}: {}", next.stderr);
        let asked = stage.calls().len();
        let late = ran(&["--budget-tokens", "1", "--timeout", "60", "hello"]);
        assert_eq!((late.code, stage.calls().len()), (Some(1), asked), "{command}: {}", late.stderr);
        assert!(late.stderr.contains("budget of 1 tokens exceeded"), "{command}: {}", late.stderr);
    }
}
