//! What is said to who starts it wrongly.

use crate::program::musher;

#[test]
fn the_engine_is_not_there_yet_and_that_is_said() {
    let run = musher(&["acp", "--agent", "engine"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("does not exist yet"), "{}", run.stderr);
    assert!(run.stderr.contains("--agent droid"), "{}", run.stderr);
}
