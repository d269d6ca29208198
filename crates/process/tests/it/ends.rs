//! How programs end, and that none of their descendants survive.

use std::os::unix::process::ExitStatusExt as _;

use musher_process::kill_marked;

use crate::support::{PRINT_PID, Process, Started, UNMARKED, bash, start};

/// Starts a script that prints the id of one descendant.
async fn start_two(script: &str) -> (Started, Process) {
    let (child, mut output) = start(bash(script)).await;
    let descendant = output.process();
    ((child, output), descendant)
}

#[tokio::test]
async fn kill_ends_program_and_descendants() {
    let scripts = [
        format!("sleep 1000 & {PRINT_PID}; wait"),
        // a group of its own, a session of its own, no environment, no parent
        format!("set -m; sleep 1000 & {PRINT_PID}; wait"),
        format!("setsid sleep 1000 & {PRINT_PID}; wait"),
        format!("env -i setsid sleep 1000 & {PRINT_PID}; wait"),
        format!("(env -i setsid sleep 1000 & {PRINT_PID}); sleep 1000"),
        format!("{UNMARKED} & {PRINT_PID}; wait"),
        // ignores all signals that can be ignored
        format!("trap '' TERM INT HUP; setsid sleep 1000 & {PRINT_PID}; wait"),
    ];
    for script in scripts {
        let ((child, _output), descendant) = start_two(&script).await;
        child.kill();
        assert!(!descendant.is_alive(), "{script}");
        assert!(!child.mark().is_alive(), "{script}");
        assert_eq!(child.reap().unwrap().signal(), Some(9));
    }
}

#[tokio::test]
async fn drop_kills_program_and_descendants() {
    let ((child, output), descendant) =
        start_two(&format!("env -i setsid sleep 1000 & {PRINT_PID}; wait")).await;
    let itself = Process::new(&child.id().to_string());
    drop((child, output));
    assert!(!itself.is_alive() && !descendant.is_alive());
}

#[tokio::test]
async fn reap_kills_descendants() {
    let ((child, _output), descendant) =
        start_two(&format!("env -i setsid sleep 1000 & {PRINT_PID}; exit 3")).await;
    assert_eq!(child.reap().unwrap().code(), Some(3));
    assert!(!descendant.is_alive());
    assert!(child.reap().is_err(), "the second reap fails");
}

#[tokio::test]
async fn kept_descendants_keep_running_and_are_found_by_mark() {
    for script in ["sleep 1000", "env -i setsid sleep 1000 <&- >&- 2>&-"] {
        let (child, mut output) = start(bash(&format!("{script} & {PRINT_PID}")).keep_descendants()).await;
        let descendant = output.process();
        assert!(child.reap().unwrap().success());
        let mark = child.mark().clone();
        drop(child);
        assert!(descendant.is_alive() && mark.is_alive());
        kill_marked([&mark]);
        assert!(!descendant.is_alive() && !mark.is_alive());
    }
}

#[tokio::test]
async fn kill_after_reap_ends_kept_descendants() {
    let (child, mut output) = start(bash(&format!("sleep 1000 & {PRINT_PID}")).keep_descendants()).await;
    let descendant = output.process();
    child.reap().unwrap();
    assert!(descendant.is_alive());
    child.kill();
    assert!(!descendant.is_alive());
}

#[tokio::test]
async fn unmarked_descendant_is_remembered_before_termination() {
    let ((child, _output), descendant) = start_two(&format!("{UNMARKED} & {PRINT_PID}; wait")).await;
    child.terminate();
    assert_eq!(child.reap().unwrap().signal(), Some(15));
    assert!(!descendant.is_alive());
}

#[tokio::test]
async fn interrupted_program_can_handle_the_signal() {
    let script = format!("trap 'kill %1; exit 7' INT; sleep 1000 & {PRINT_PID}; wait");
    let ((child, _output), descendant) = start_two(&script).await;
    child.interrupt();
    assert_eq!(child.reap().unwrap().code(), Some(7));
    assert!(!descendant.is_alive());
}

#[tokio::test]
async fn unmarked_orphan_is_found_below_an_adopting_program() {
    let script = format!("({UNMARKED} & {PRINT_PID}); sleep 1000");
    let (child, mut output) = start(bash(&script).adopt_orphans()).await;
    let descendant = output.process();
    child.kill();
    assert!(!descendant.is_alive());
}

#[tokio::test]
async fn process_whose_first_thread_has_exited_is_killed() {
    let headless = env!("CARGO_BIN_EXE_musher-process-headless");
    let ((child, _output), descendant) = start_two(&format!("setsid {headless} & wait")).await;
    assert!(child.mark().is_alive());
    child.kill();
    assert!(!descendant.is_alive());
}
