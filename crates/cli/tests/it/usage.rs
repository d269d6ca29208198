//! Help, version and wrong arguments.

use crate::program::{musher, musher_with};

#[test]
fn help_lists_the_commands_and_is_not_an_error() {
    let run = musher(&["--help"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let words: Vec<_> = run.stdout.split_whitespace().collect();
    let expected = "rehearse Serve a scripted model to any agent, without tokens";
    assert!(words.join(" ").contains(expected), "{}", run.stdout);
}

#[test]
fn version_is_printed() {
    let run = musher(&["--version"]);
    let expected = format!("musher {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((run.code, run.stdout), (Some(0), expected));
}

#[test]
fn help_of_rehearse_shows_examples() {
    let run = musher(&["rehearse", "--help"]);
    assert_eq!(run.code, Some(0));
    for expected in
        ["--script <FILE>", "--listen <ADDRESS>", "Examples:", "ANTHROPIC_BASE_URL=", "Exit codes:"]
    {
        assert!(run.stdout.contains(expected), "{expected} in {}", run.stdout);
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [&["rehearse", "--no-such-flag"][..], &["nothing"], &[]] {
        let run = musher(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains("Usage:"), "{}", run.stderr);
    }
}

#[test]
fn tools_are_listed_before_a_model_is_set_up() {
    let home = tempfile::tempdir().unwrap();
    let run = musher_with(&["exec", "--list-tools"], |command| {
        command.env("HOME", home.path()).env("MUSHER_HOME", home.path()).current_dir(home.path());
    });
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    assert!(run.stdout.starts_with("Autonomy: read-only\n"), "{}", run.stdout);
    assert!(run.stdout.contains("  Read                 read-cli               runs\n"), "{}", run.stdout);
}
