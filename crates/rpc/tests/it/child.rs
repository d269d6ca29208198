//! Agents as child processes: how they start, talk and end, and that nothing is left of them.

use std::time::Duration;

use musher_rpc::{Child, Closed, Error, Launch, Peer};
use musher_wire::{Frame, Json};

use crate::support::{all, news, soon};

/// The variable that the processes of one test carry.
const MARKER: &str = "MUSHER_RPC_TEST";

/// A shell script as an agent, and the marker that finds all its processes.
fn shell(script: &str) -> (Launch, String) {
    let marker = uuid::Uuid::new_v4().to_string();
    let launch = Launch::new("sh").args(["-c", script]).env(MARKER, &marker).env("LC_ALL", "C");
    (launch, marker)
}

/// The living processes with a marker in their environment.
fn alive(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir("/proc").unwrap() {
        let folder = entry.unwrap().path();
        let is_zombie = || {
            let stat = fs_err::read_to_string(folder.join("stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
        };
        let environment = fs_err::read(folder.join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(marker) && !is_zombie() {
            found.push(fs_err::read_to_string(folder.join("cmdline")).unwrap_or_default().replace('\0', " "));
        }
    }
    found
}

async fn until_gone(marker: &str) {
    soon(async {
        while !alive(marker).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_it_wrote_is_delivered_before_the_exit_with_status_and_stderr() {
    let script = r#"echo '{"type":"notification","method":"a"}'; echo rubbish; printf '{"method":"b"}'; echo oops >&2; exit 7"#;
    let (launch, _) = shell(script);
    let (child, mut connection) = Child::spawn(launch).await.unwrap();
    let (frames, closed) = all(&mut connection.incoming).await;
    let kinds: Vec<_> = frames
        .iter()
        .map(|frame| match frame {
            Frame::Notification(news) => news.method.to_string(),
            other => format!("{other:?}").split('(').next().unwrap().to_owned(),
        })
        .collect();
    assert_eq!(kinds, ["a", "Malformed", "b"]);
    let exit = closed.exit().expect("it exited");
    assert_eq!(
        (exit.status.and_then(|status| status.code()), exit.stderr_tail.as_str()),
        (Some(7), "oops\n")
    );
    assert_eq!(closed.to_string(), "`sh` exited (exit status: 7): oops");
    assert_eq!(*child.close().await, *exit);
}

#[tokio::test]
async fn every_call_fails_with_the_exit_of_the_program_then_and_later() {
    let (launch, _) = shell("read -r line; echo 'no luck' >&2; exit 3");
    let (_child, connection) = Child::spawn(launch).await.unwrap();
    let (peer, _inbox) = Peer::start(connection);
    for _ in 0..3 {
        let error = soon(peer.request("m", Json::empty_object(), Duration::from_secs(30))).await.unwrap_err();
        let Error::Closed(Closed::Exited(exit)) = error else { panic!("{error}") };
        assert_eq!(
            (exit.status.and_then(|status| status.code()), exit.stderr_tail.as_str()),
            (Some(3), "no luck\n")
        );
    }
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let error = Child::spawn(Launch::new("/no/such/agent").cwd("/")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot start `/no/such/agent` in `/`");
    assert!(matches!(error, Error::Spawn { source, .. } if source.kind() == std::io::ErrorKind::NotFound));
}

#[tokio::test]
async fn closing_ends_stdin_first_and_is_idempotent() {
    let (launch, marker) = shell("cat >/dev/null; echo bye >&2");
    let (child, connection) = Child::spawn(launch).await.unwrap();
    connection.outgoing.send(news(1)).await.unwrap();
    let (first, second) = soon(async { tokio::join!(child.close(), child.close()) }).await;
    assert!(first.status.unwrap().success());
    assert_eq!(first.stderr_tail, "bye\n");
    assert_eq!(first, second);
    assert_eq!(*soon(child.close()).await, *first);
    assert!(matches!(connection.outgoing.send(news(2)).await, Err(Closed::Local | Closed::Exited(_))));
    until_gone(&marker).await;
}

#[tokio::test]
async fn a_program_that_ignores_stdin_and_sigterm_is_killed_within_the_bound() {
    let (launch, marker) = shell("trap '' TERM; echo '{\"method\":\"ready\"}'; while :; do sleep 1; done");
    let launch = launch.grace(Duration::from_millis(50)).grace_after_term(Duration::from_millis(50));
    let (child, mut connection) = Child::spawn(launch).await.unwrap();
    soon(connection.incoming.recv()).await.unwrap();
    let exit = soon(child.close()).await;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.status.unwrap()), Some(9));
    assert_eq!(alive(&marker), [] as [String; 0], "when close is done, nothing is left");
}
