//! Compares the parsers of plain lines and of words with bash.

use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::select;

use super::command::{Word, read_plain, read_word};
use super::{Autonomy, TestWorkspace, Verdict, cases};

/// The home directory of the shell in these tests.
const HOME: &str = "/h o/me";
/// A home directory without characters that the shell would split.
const PLAIN_HOME: &str = "/home/me";

/// Pieces of lines: quoted, unquoted, and special to the shell.
const PIECES: &[&str] = &[
    "a",
    "b-c",
    "--x=y",
    "1",
    "2",
    "12",
    ".",
    "/",
    ",",
    ":",
    "%",
    "@",
    "+",
    "^",
    "=",
    "!",
    "-",
    "_",
    "#",
    "]",
    "é",
    "\u{a0}",
    "'",
    "\"",
    "''",
    "\"\"",
    "'a b'",
    "\"a b\"",
    "'$x'",
    "\"$x\"",
    "\"\\$x\"",
    "\"\\a\\\"\"",
    "\"a$\"",
    "\"$ b\"",
    "\"$/\"",
    "\"$'\"",
    "\"`x`\"",
    "'é ü'",
    "\"\\\nb\"",
    "'\\\n'",
    "\\ ",
    "\\a",
    "\\\\",
    "\\'",
    "\\\"",
    "\\$",
    "\\;",
    "\\|",
    "\\\n",
    "\\",
    "$",
    "$x",
    "${x}",
    "$(x)",
    "$HOME",
    "\"$HOME/a\"",
    "\"${HOME}\"",
    "${HOME}/b",
    "\"$HOMEx\"",
    "$'a'",
    "$\"a\"",
    "`x`",
    "~",
    "~/",
    "~x",
    "=~",
    ":~",
    "a=~/b",
    "*",
    "?",
    "[",
    "[a]",
    "{",
    "}",
    "{}",
    "{a}",
    "{a,b}",
    "{1..2}",
    "@{1}",
    "'{'",
    "\\{",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    " # remark\n",
    " ;",
    "; ",
    " && ",
    "&&",
    " | ",
    "|",
    "& ",
    "|& ",
    ";;",
    "(",
    ")",
    " 2>&1",
    "2>&1",
    " >&2 ",
    " 1>&2",
    " >/dev/null",
    "> /dev/null ",
    " 2>/dev/null ",
    " &>/dev/null",
    "&>>/dev/null ",
    " </dev/null",
    " < ",
    " > f",
    "<<x",
    "<(x)",
    "3>&1",
    "{f}>/dev/null",
];

/// How a command starts: mostly with a name unknown to the shell.
const STARTS: &[&str] = &[
    "zq",
    "zq",
    "zq",
    "zq",
    "z'q'",
    "\\zq",
    "zq=1",
    "zq+=1",
    "if",
    "time",
    "!",
    "{",
    "}",
    "[[",
    "function",
    "'if'",
    "~/zq",
    "zq*",
    "2>/dev/null zq",
];

fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => select(PIECES).prop_map(str::to_owned), 1 => select(STARTS).prop_map(|start| format!("; {start} "))];
    (select(STARTS), proptest::collection::vec(piece, 0..10))
        .prop_map(|(start, pieces)| format!("{start} {}", pieces.concat()))
}

/// Returns what the shell runs: every name is unknown to it, and the handler for unknown names records the words.
fn ran_by_bash(line: &str, home: &str, folder: &Path) -> Result<Vec<Vec<String>>, String> {
    let log = folder.join("../log");
    fs_err::write(&log, "").unwrap();
    let note = "command_not_found_handle() { printf '%s\\0' $# \"$@\" >> \"$LOG\"; }\n";
    #[expect(clippy::disallowed_methods, reason = "the parsers are compared with bash")]
    let output = Command::new("/bin/bash")
        // patterns stay as they are: `/*` matches files of the machine
        .args(["--noprofile", "--norc", "-f", "-c", &format!("{note}{line}")])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/nowhere"), ("HOME", home), ("LC_ALL", "C.UTF-8")])
        .env("LOG", &log)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if errors.contains("syntax error") || errors.contains("unexpected") {
        return Err(errors);
    }
    let text = fs_err::read_to_string(&log).unwrap();
    let mut fields = text.split_terminator('\0').map(str::to_owned);
    let mut commands = Vec::new();
    while let Some(count) = fields.next() {
        commands.push(fields.by_ref().take(count.parse().unwrap()).collect());
    }
    Ok(commands)
}

fn texts(words: Vec<Word>) -> Vec<String> {
    let text = |word| match word {
        Word::Literal(text) | Word::Pattern { text, .. } => text,
        Word::Unknown => panic!("a plain line has no unknown words"),
    };
    words.into_iter().map(text).collect()
}

fn compare(line: &str, home: &str) -> Result<(), TestCaseError> {
    let Some(commands) = read_plain(line, home) else { return Ok(()) };
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs_err::create_dir(&empty).unwrap();
    let mut ours: Vec<_> = commands.into_iter().map(texts).collect();
    // the handler sees neither commands given by a path nor shell builtins
    let is_untold =
        |name: &str| name.contains('/') || name.starts_with('%') || ["", ":", "."].contains(&name);
    if ours.iter().any(|words| is_untold(&words[0])) {
        return Ok(());
    }
    let theirs = ran_by_bash(line, home, &empty);
    prop_assert!(theirs.is_ok(), "{line:?}: we read {ours:?}, bash says {theirs:?}");
    let mut theirs = theirs.unwrap_or_default();
    // the parts of a pipeline run concurrently
    ours.sort();
    theirs.sort();
    prop_assert_eq!(ours, theirs, "{:?}", line);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_line_runs_exactly_the_parsed_commands(line in line()) {
        compare(&line, HOME)?;
        compare(&line, PLAIN_HOME)?;
    }

    #[test]
    fn literal_word_is_what_the_program_receives(pieces in proptest::collection::vec(select(PIECES), 1..6)) {
        let source = pieces.concat();
        if let Word::Literal(text) = read_word(&source, HOME) {
            compare(&format!("zq {source}"), HOME)?;
            prop_assert_eq!(read_plain(&format!("zq {source}"), HOME), Some(vec![vec![Word::Literal("zq".to_owned()), Word::Literal(text)]]));
        }
    }
}

#[test]
fn tricky_lines_are_parsed_as_bash_does_or_rejected() {
    for line in [
        "zq a\\\n b",
        "zq a\\\nb",
        "zq \\\n# no remark",
        "zq a#b # remark ' with a quote",
        "zq 'a'\"b\"c\\ d",
        "zq \"a\\b\\\"\\\\\"",
        "zq 2>&1 | zq 2> /dev/null",
        "zq 2 >/dev/null",
        "zq a2>/dev/null",
        "zq 1>&2",
        "zq && zq\n\n\nzq;\nzq",
        "zq &&\n\n zq",
        "zq |\n zq",
        "zq HEAD@{1} {} a{b}c",
        "zq ~ ~/x a~ 'x'~ x/~",
        "zq $ \"a$\" a$",
        "zq ! !x a!b",
        "zq [ ] * ?",
        "zq ''",
        "\\zq x",
        "zq -- -",
        "zq a=b c+=d",
    ] {
        assert!(read_plain(line, HOME).is_some(), "{line:?} is plain");
        compare(line, HOME).unwrap();
    }
    for line in [
        "zq &",
        "(zq)",
        "zq $x",
        "zq a=~",
        "zq {a,b}",
        "zq `x`",
        "zq <<x",
        "zq > f",
        "a=1 zq",
        "zq;;",
        "zq |& zq",
        "",
        "# x",
        "zq \u{a0}",
    ] {
        assert_eq!(read_plain(line, HOME), None, "{line:?}");
    }
}

#[test]
fn any_line_gets_a_verdict_and_more_autonomy_never_asks_for_more() {
    let scene = TestWorkspace::new();
    let home = scene.policy.home.to_str().unwrap();
    let any = prop_oneof![line(), ".{0,40}", "[-a-z/~.*?$(){}|&;<>'\"` \n\\\\=#!\\[\\]]{0,60}"];
    let config =
        ProptestConfig { cases: cases(1000), failure_persistence: None, ..ProptestConfig::default() };
    let result = proptest::test_runner::TestRunner::new(config).run(&any, |line| {
        let levels = [Autonomy::Off, Autonomy::Low, Autonomy::Medium, Autonomy::High];
        let runs = levels.map(|level| matches!(scene.run(&scene.at(level), &line), Verdict::Run(_)));
        prop_assert!(runs.is_sorted(), "{line:?}: {runs:?}");
        prop_assert!(!runs[0] || read_plain(&line, home).is_some(), "{line:?} is proven and not plain");
        Ok(())
    });
    result.unwrap();
}
