//! How agents end, and that nothing is left of them.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use musher_rpc::{Child, Closed, Connection, Launch};
use musher_wire::{Frame, Json, Request};

use super::{alive, impatient, shell, until, until_gone};
use crate::support::{all, notification, soon};

/// Starts a script which says when it is ready, and waits for that.
async fn ready(launch: Launch) -> (Child, Connection) {
    let (child, mut connection) = Child::spawn(launch).await.unwrap();
    soon(connection.incoming.recv()).await.unwrap();
    (child, connection)
}

pub(super) const READY: &str = r#"echo '{"method":"ready"}'"#;

#[tokio::test]
async fn closing_ends_stdin_first_and_is_idempotent() {
    let (launch, marker) = shell("cat >/dev/null; echo bye >&2");
    let (child, connection) = Child::spawn(launch).await.unwrap();
    connection.outgoing.send(notification(1)).await.unwrap();
    let (first, second) = soon(async { tokio::join!(child.close(), child.close()) }).await;
    assert!(first.status.unwrap().success());
    assert_eq!(first.stderr_tail, "bye\n");
    assert_eq!(first, second);
    assert_eq!(*soon(child.close()).await, *first);
    assert!(matches!(
        connection.outgoing.send(notification(2)).await,
        Err(Closed::Local | Closed::Exited(_))
    ));
    until_gone(&marker).await;
}

#[tokio::test]
async fn program_that_ignores_stdin_and_sigterm_is_killed_within_the_bound() {
    let (launch, marker) = shell(&format!("trap '' TERM; {READY}; while :; do sleep 1; done"));
    let (child, _connection) = ready(impatient(launch)).await;
    let exit = soon(child.close()).await;
    assert_eq!(exit.status.unwrap().signal(), Some(9));
    assert_eq!(alive(&marker), [] as [String; 0], "when close is done, nothing is left");
}

#[tokio::test]
async fn program_that_exits_on_sigterm_is_not_killed() {
    let (launch, _) =
        shell(&format!("trap 'echo terminated >&2; exit 5' TERM; {READY}; while :; do sleep 0.01; done"));
    let launch = launch.grace(Duration::from_millis(50)).grace_after_term(Duration::from_secs(50));
    let (child, _connection) = ready(launch).await;
    let exit = soon(child.close()).await;
    assert_eq!((exit.status.unwrap().code(), exit.stderr_tail.contains("terminated")), (Some(5), true));
}

#[tokio::test]
async fn wrapper_is_ended_with_its_descendants() {
    let scripts = [
        format!("sleep 1000 & {READY}; sleep 1000"),
        format!("{READY}; sh -c 'sh -c \"sleep 1000; true\"; true'"),
        // one that left the group and lost its parent
        format!("(setsid sleep 1000 >/dev/null 2>&1 &); {READY}; sleep 1000"),
        // one that ignores SIGTERM
        format!("(trap '' TERM HUP; sleep 1000; true) & {READY}; sleep 1000"),
    ];
    for script in scripts {
        let (launch, marker) = shell(&script);
        let (child, _connection) = ready(impatient(launch)).await;
        until(|| alive(&marker).len() >= 2).await;
        soon(child.close()).await;
        assert_eq!(alive(&marker), [] as [String; 0], "{script}");
    }
}

#[tokio::test]
async fn leftover_processes_of_an_exited_program_are_ended_and_hold_no_connection() {
    let (launch, marker) = shell(&format!("sleep 1000 & setsid sleep 1000 & {READY}; exit 4"));
    let (_child, mut connection) = Child::spawn(launch).await.unwrap();
    let (frames, closed) = all(&mut connection.incoming).await;
    assert_eq!(frames.len(), 1);
    assert_eq!(closed.exit().unwrap().status.unwrap().code(), Some(4));
    assert_eq!(alive(&marker), [] as [String; 0]);
}

#[tokio::test]
async fn dropping_the_last_handle_ends_it_in_the_background() {
    let (launch, marker) = shell(&format!("{READY}; sleep 1000"));
    let (child, _connection) = ready(impatient(launch)).await;
    let clone = child.clone();
    drop(child);
    assert!(!alive(&marker).is_empty());
    drop(clone);
    until_gone(&marker).await;
}

#[test]
fn child_is_ended_even_if_the_runtime_is_gone() {
    let (launch, marker) = shell(&format!("{READY}; sleep 1000"));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let (child, connection) = first.block_on(ready(impatient(launch)));
    drop(first);
    assert!(!alive(&marker).is_empty());
    drop((child, connection));
    runtime().block_on(until_gone(&marker));
}

#[tokio::test]
async fn child_is_ended_when_its_owner_panics() {
    let (launch, marker) = shell(&format!("{READY}; sleep 1000"));
    let owner = tokio::spawn(async move {
        let (_child, _connection) = ready(impatient(launch)).await;
        panic!("this panic is part of the test");
    });
    assert!(owner.await.unwrap_err().is_panic());
    until_gone(&marker).await;
}

#[tokio::test]
async fn close_continues_after_its_future_is_dropped() {
    let (launch, marker) = shell(&format!("{READY}; sleep 1000"));
    let (child, _connection) = ready(impatient(launch)).await;
    tokio::select! {
        biased;
        _ = child.close() => panic!("too fast"),
        () = std::future::ready(()) => {}
    }
    until_gone(&marker).await;
    soon(child.exited()).await;
}

#[tokio::test]
async fn program_that_reads_nothing_can_be_closed_with_a_full_queue() {
    let (launch, marker) = shell(&format!("{READY}; sleep 1000"));
    let (child, connection) = ready(impatient(launch)).await;
    let outgoing = connection.outgoing.clone();
    let flood = tokio::spawn(async move {
        let mut number = 0;
        while outgoing.send(notification(number)).await.is_ok() {
            number += 1;
        }
    });
    let exit = soon(child.close()).await;
    assert_eq!(exit.status.unwrap().signal(), Some(15));
    soon(flood).await.unwrap();
    assert!(alive(&marker).is_empty());
}

#[tokio::test]
async fn killing_leaves_no_grace() {
    let (launch, marker) = shell(&format!("trap '' TERM; {READY}; sleep 1000"));
    let (child, _connection) = ready(launch).await;
    assert_eq!(soon(child.kill()).await.status.unwrap().signal(), Some(9));
    assert!(alive(&marker).is_empty());
}

#[tokio::test]
async fn close_request_is_sent_before_stdin_ends() {
    let request = Frame::Request(Request::new("bye", "droid.close_session", Json::empty_object()));
    let (launch, _) = shell("cat >&2");
    let (child, connection) = Child::spawn(launch.close_request(request.clone())).await.unwrap();
    connection.outgoing.send(notification(1)).await.unwrap();
    let exit = soon(child.close()).await;
    assert!(exit.stderr_tail.lines().any(|line| line == request.to_line()), "{}", exit.stderr_tail);
}

#[tokio::test]
async fn program_that_closes_its_stdout_and_lives_on_ends_the_connection_only() {
    let (launch, marker) = shell("exec >&-; sleep 1000");
    let (child, mut connection) = Child::spawn(impatient(launch)).await.unwrap();
    assert!(matches!(soon(connection.incoming.recv()).await, Err(Closed::Ended)));
    assert!(!alive(&marker).is_empty());
    soon(child.close()).await;
    assert!(alive(&marker).is_empty());
}
