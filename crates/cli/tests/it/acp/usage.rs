//! Errors for wrong arguments.

use crate::program::musher;

#[test]
fn agent_that_is_not_there_is_named_with_what_to_do() {
    let run = musher(&["acp", "--agent", "/nowhere/droid"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("/nowhere/droid"), "{}", run.stderr);
    assert!(run.stderr.contains("--agent engine"), "{}", run.stderr);
}

#[test]
fn engine_has_its_sessions_at_home() {
    let run = musher(&["acp", "--sessions-dir", "/tmp"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("MUSHER_HOME"), "{}", run.stderr);
}
