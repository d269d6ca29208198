use std::process::Command;

use proptest::prelude::*;

use super::*;

fn words(line: &str) -> Option<Vec<Vec<String>>> {
    Some(split(line)?.into_iter().map(|command| command.words).collect())
}

#[test]
fn plain_lines_are_split_into_their_commands() {
    for (line, expected) in [
        ("cargo test", vec![vec!["cargo", "test"]]),
        ("  cargo   test\t--workspace ", vec![vec!["cargo", "test", "--workspace"]]),
        ("a && b || c; d | e", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["e"]]),
        ("a&&b|c;", vec![vec!["a"], vec!["b"], vec!["c"]]),
        (
            "git commit -m 'it works; $(really) & more'",
            vec![vec!["git", "commit", "-m", "it works; $(really) & more"]],
        ),
        ("echo \"a | b\" c'd'\"e\"", vec![vec!["echo", "a | b", "cde"]]),
        ("echo ''", vec![vec!["echo", ""]]),
        (
            "./x.sh --name=value user@host:a,b+c 50%",
            vec![vec!["./x.sh", "--name=value", "user@host:a,b+c", "50%"]],
        ),
        ("'if' x", vec![vec!["if", "x"]]),
    ] {
        let expected = expected.into_iter().map(|it| it.into_iter().map(str::to_owned).collect()).collect();
        assert_eq!(words(line), Some(expected), "{line}");
    }
}

#[test]
fn everything_else_is_not_understood() {
    for line in [
        "",
        "   ",
        ";",
        "a;;b",
        "a &",
        "a & b",
        "a |& b",
        "a &&",
        "a ||",
        "a |",
        "| a",
        "&& a",
        "a ; ; b",
        "a $(b)",
        "a `b`",
        "a $b",
        "a \"$b\"",
        "a \"`b`\"",
        "a \"\\\"\"",
        "a \\; b",
        "a <(b)",
        "a > f",
        "a >> f",
        "a < f",
        "a 2>&1",
        "a *.rs",
        "a ?",
        "a [x]",
        "a {b,c}",
        "a ~",
        "a # b",
        "a !b",
        "(a)",
        "{ a; }",
        "! a",
        "X=1 a",
        "X+=1",
        "if a; then b; fi",
        "for x in y; do z; done",
        "while a; do b; done",
        "function f",
        "time a",
        "a\nb",
        "a\rb",
        "a 'b\nc'",
        "a \"b\nc\"",
        "a 'b",
        "a \"b",
        "%1",
        "=ls",
        "a =ls",
        "'' a",
        "a ^b^c",
        "a\u{a0}b",
        "a\u{202e}b",
        "caf\u{e9}",
        "a \0",
    ] {
        assert_eq!(words(line), None, "{line:?}");
    }
}

#[test]
fn beginning_is_compared_word_by_word() {
    let begins = |line: &str| split(line).unwrap()[0].starts_with(&["cargo", "test"]);
    assert!(begins("cargo test") && begins("cargo 'test' -q"));
    assert!(
        !begins("cargo") && !begins("cargo tester") && !begins("cargo -q test") && !begins("'cargo test'")
    );
}

/// Has bash run a line without any program to find, and returns the words of each command it tried to run.
#[expect(clippy::disallowed_methods, reason = "a test compares with the real shell, and waits for it")]
fn as_bash_runs_it(line: &str) -> Vec<Vec<String>> {
    let script = format!(
        "PATH=/nowhere; command_not_found_handle() {{ printf '%s\\0' \"$@\" >&2; printf '\\1' >&2; }}\nset -f\n{line}\n"
    );
    let output = Command::new("bash").args(["--norc", "--noprofile", "-c", &script]).output().unwrap();
    assert!(output.stdout.is_empty(), "{line:?}: a builtin ran");
    let text = String::from_utf8(output.stderr).unwrap();
    let commands = text.split('\u{1}').filter(|part| !part.is_empty());
    commands.map(|part| part.split_terminator('\0').map(str::to_owned).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bash_runs_the_same_commands(line in r#"(zz|[ ;|&'"a-c=$`\\(){}<>*?~#!%\n./@-]){1,24}"#) {
        let Some(commands) = words(&line) else { return Ok(()) };
        // a path is not looked up, and `.` is a builtin
        prop_assume!(commands.iter().all(|command| !command[0].contains(['/', '.'])));
        // commands behind `||` and `&&` need not run, and those of a pipeline run in any order
        let run = as_bash_runs_it(&line);
        prop_assert!(run.contains(&commands[0]), "{:?} of {:?}", run, line);
        for command in &run {
            prop_assert!(commands.contains(command), "{:?} of {:?}", command, line);
        }
    }
}
