//! How programs end, and that nothing is left of them.

use std::os::unix::process::ExitStatusExt as _;

use musher_process::kill_marked;

use crate::support::{Process, Started, TELL, UNMARKED, bash, start};

/// Starts a script that prints the id of one process below it.
async fn start_two(script: &str) -> (Started, Process) {
    let (child, mut output) = start(bash(script)).await;
    let below = output.process();
    ((child, output), below)
}

#[tokio::test]
async fn killed_program_is_gone_with_everything_below_it() {
    let scripts = [
        format!("sleep 1000 & {TELL}; wait"),
        // a group of its own, a session of its own, no environment, no parent
        format!("set -m; sleep 1000 & {TELL}; wait"),
        format!("setsid sleep 1000 & {TELL}; wait"),
        format!("env -i setsid sleep 1000 & {TELL}; wait"),
        format!("(env -i setsid sleep 1000 & {TELL}); sleep 1000"),
        format!("{UNMARKED} & {TELL}; wait"),
        // deaf to everything that can be ignored
        format!("trap '' TERM INT HUP; setsid sleep 1000 & {TELL}; wait"),
    ];
    for script in scripts {
        let ((child, _output), below) = start_two(&script).await;
        child.kill();
        assert!(!below.is_alive(), "{script}");
        assert!(!child.mark().is_alive(), "{script}");
        assert_eq!(child.reap().unwrap().signal(), Some(9));
    }
}

#[tokio::test]
async fn dropped_program_is_killed_with_everything_below_it() {
    let ((child, output), below) = start_two(&format!("env -i setsid sleep 1000 & {TELL}; wait")).await;
    let itself = Process::new(&child.id().to_string());
    drop((child, output));
    assert!(!itself.is_alive() && !below.is_alive());
}

#[tokio::test]
async fn reaped_program_leaves_nothing_running() {
    let ((child, _output), below) = start_two(&format!("env -i setsid sleep 1000 & {TELL}; exit 3")).await;
    assert_eq!(child.reap().unwrap().code(), Some(3));
    assert!(!below.is_alive());
    assert!(child.reap().is_err(), "it is reaped once");
}

#[tokio::test]
async fn remains_live_on_if_wanted_and_are_found_by_their_mark() {
    for script in ["sleep 1000", "env -i setsid sleep 1000 <&- >&- 2>&-"] {
        let (child, mut output) = start(bash(&format!("{script} & {TELL}")).keep_remains()).await;
        let below = output.process();
        assert!(child.reap().unwrap().success());
        let mark = child.mark().clone();
        drop(child);
        assert!(below.is_alive() && mark.is_alive());
        kill_marked([&mark]);
        assert!(!below.is_alive() && !mark.is_alive());
    }
}

#[tokio::test]
async fn remains_are_killed_by_their_child_after_it_was_reaped() {
    let (child, mut output) = start(bash(&format!("sleep 1000 & {TELL}")).keep_remains()).await;
    let below = output.process();
    child.reap().unwrap();
    assert!(below.is_alive());
    child.kill();
    assert!(!below.is_alive());
}

#[tokio::test]
async fn unmarked_process_is_remembered_before_its_parent_is_asked_to_end() {
    let ((child, _output), below) = start_two(&format!("{UNMARKED} & {TELL}; wait")).await;
    child.terminate();
    assert_eq!(child.reap().unwrap().signal(), Some(15));
    assert!(!below.is_alive());
}

#[tokio::test]
async fn program_that_is_interrupted_may_end_by_itself() {
    let script = format!("trap 'kill %1; exit 7' INT; sleep 1000 & {TELL}; wait");
    let ((child, _output), below) = start_two(&script).await;
    child.interrupt();
    assert_eq!(child.reap().unwrap().code(), Some(7));
    assert!(!below.is_alive());
}

#[tokio::test]
async fn unmarked_orphan_is_found_below_a_program_that_adopts() {
    let script = format!("({UNMARKED} & {TELL}); sleep 1000");
    let (child, mut output) = start(bash(&script).adopt_orphans()).await;
    let below = output.process();
    child.kill();
    assert!(!below.is_alive());
}

#[tokio::test]
async fn process_whose_first_thread_has_exited_is_killed() {
    let headless = env!("CARGO_BIN_EXE_musher-process-headless");
    let ((child, _output), below) = start_two(&format!("setsid {headless} & wait")).await;
    assert!(child.mark().is_alive());
    child.kill();
    assert!(!below.is_alive());
}
