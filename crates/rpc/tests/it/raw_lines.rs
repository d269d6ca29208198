//! Programs of other dialects: plain lines both ways, and an end that begins with SIGINT.

use std::time::Duration;

use musher_rpc::{Child, Launch, LineConnection, NotSent, ParentDeath, RawLine};

use crate::support::soon;

async fn shell(script: &str) -> (Child, LineConnection) {
    let launch = Launch::new("sh")
        .args(["-c", script])
        .on_parent_death(ParentDeath::Interrupt)
        .grace(Duration::from_millis(50))
        .grace_after_interrupt(Duration::from_secs(50))
        .grace_after_term(Duration::from_secs(50));
    Child::spawn_lines(launch).await.unwrap()
}

#[tokio::test]
async fn raw_lines_pass_both_ways_unchanged() {
    let (child, mut connection) = shell("cat").await;
    let text = r#"{ "b": 1, "a": 12345678901234567890, "x": "é" }"#;
    connection.outgoing.send(RawLine::from(text.to_owned())).await.unwrap();
    connection.outgoing.send(RawLine::from("two\nlines".to_owned())).await.unwrap();
    assert_eq!(soon(connection.incoming.recv()).await.unwrap().bytes(), text.as_bytes());
    assert_eq!(soon(connection.incoming.recv()).await.unwrap().bytes(), b"two lines");
    assert!(soon(child.close()).await.status.unwrap().success());
    assert_eq!(connection.outgoing.try_send(RawLine::from(String::new())), Err(NotSent::Closed));
}

#[tokio::test]
async fn busy_program_is_interrupted_first_and_may_exit() {
    let script = "trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.01; done";
    let (child, mut connection) = shell(script).await;
    assert_eq!(soon(connection.incoming.recv()).await.unwrap().bytes(), b"ready");
    let exit = soon(child.stop()).await;
    assert_eq!(exit.status.unwrap().code(), Some(3));
    assert_eq!(soon(connection.incoming.recv()).await.unwrap().bytes(), b"interrupted");
}

#[tokio::test]
async fn program_that_does_not_read_is_reported_at_once() {
    let (child, connection) = shell("echo ready; trap '' INT; sleep 1000").await;
    let big = || RawLine::from("x".repeat(4 * 1024 * 1024));
    let refused =
        std::iter::repeat_with(|| connection.outgoing.try_send(big())).take(8).find_map(Result::err);
    assert!(matches!(refused, Some(NotSent::Full(_))), "{refused:?}");
    soon(child.kill()).await;
}

#[tokio::test]
async fn detached_process_is_ended_with_the_program_that_started_it() {
    // its own session, an empty environment, and its parent ends before it: only the look before the signal can find it
    let script = "trap 'exit 0' INT; setsid env -i sleep 1000 & echo $!; while :; do sleep 0.01; done";
    let (child, mut connection) = shell(script).await;
    let pid = String::from_utf8(soon(connection.incoming.recv()).await.unwrap().into_bytes()).unwrap();
    let is_alive = || {
        let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains("sleep") && !stat.contains(") Z")
    };
    soon(async {
        while !is_alive() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    soon(child.stop()).await;
    soon(async {
        while is_alive() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}
