//! Agents as child processes: how they start, talk and end, and that nothing is left of them.

mod ends;
mod spawns;

use std::time::Duration;

use musher_rpc::{Child, Closed, Error, Launch, Peer};
use musher_wire::{Frame, Json};

use crate::support::{all, soon};

/// The variable that the processes of one test carry.
const MARKER: &str = "MUSHER_RPC_TEST";

/// A shell script as an agent, and the marker that finds all its processes.
fn shell(script: &str) -> (Launch, String) {
    let marker = uuid::Uuid::new_v4().to_string();
    let launch = Launch::new("sh").args(["-c", script]).env(MARKER, &marker).env("LC_ALL", "C");
    (launch, marker)
}

fn impatient(launch: Launch) -> Launch {
    launch.grace(Duration::from_millis(50)).grace_after_term(Duration::from_millis(50))
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

/// Waits for something that no event tells of.
async fn until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

async fn until_gone(marker: &str) {
    until(|| alive(marker).is_empty()).await;
}

#[tokio::test]
async fn output_is_delivered_before_the_exit_status_and_stderr() {
    let script = r#"echo '{"type":"notification","method":"a"}'; echo rubbish; printf '{"method":"b"}'; echo oops >&2; exit 7"#;
    let (launch, _) = shell(script);
    let (child, mut connection) = Child::spawn(launch).await.unwrap();
    let (frames, closed) = all(&mut connection.incoming).await;
    let kinds: Vec<_> = frames
        .iter()
        .map(|frame| match frame {
            Frame::Notification(notification) => notification.method.to_string(),
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
async fn missing_program_is_named_in_the_error() {
    let error = Child::spawn(Launch::new("/no/such/agent").cwd("/")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot start `/no/such/agent` in `/`");
    assert!(matches!(error, Error::Spawn { source, .. } if source.kind() == std::io::ErrorKind::NotFound));
}

#[tokio::test]
async fn flood_on_stderr_does_not_block_it_and_only_the_tail_is_kept() {
    let (launch, _) =
        shell(r#"head -c 20000000 /dev/zero | tr '\0' x >&2; echo '{"method":"done"}'; echo end >&2"#);
    let (_child, mut connection) = Child::spawn(launch).await.unwrap();
    let (frames, closed) = all(&mut connection.incoming).await;
    assert_eq!(frames.len(), 1);
    let tail = &closed.exit().unwrap().stderr_tail;
    assert_eq!(tail.len(), 8 * 1024);
    assert!(tail.ends_with("xxxend\n"));
}

#[tokio::test]
async fn more_than_a_pipe_holds_is_delivered_after_the_exit() {
    let (launch, _) = shell(
        r#"i=0; while [ $i -lt 3000 ]; do echo '{"method":"m","params":{"i":'$i'}}'; i=$((i+1)); done; exit 1"#,
    );
    let (child, mut connection) = Child::spawn(launch).await.unwrap();
    // no reader yet, so some of it waits in the pipe, some in the queue
    soon(connection.incoming.recv()).await.unwrap();
    let (frames, closed) = all(&mut connection.incoming).await;
    assert_eq!(frames.len(), 2999);
    assert_eq!(closed.exit().unwrap().status.unwrap().code(), Some(1));
    soon(child.exited()).await;
}

#[tokio::test]
async fn environment_and_directory_are_set_and_secrets_are_hidden() {
    let folder = std::env::temp_dir();
    let launch = Launch::new("/bin/sh")
        .args(["-c", r#"pwd >&2; echo "$KEY-$PLAIN-$GONE-${HOME-no home}" >&2"#])
        .env_clear()
        .env("PLAIN", "plain")
        .env("GONE", "gone")
        .env_remove("GONE")
        .secret_env("KEY", "fk-very-secret")
        .cwd(&folder);
    let (child, _connection) = Child::spawn(launch).await.unwrap();
    let exit = soon(child.exited()).await;
    assert_eq!(
        exit.stderr_tail,
        format!("{}\n***-plain--no home\n", folder.canonicalize().unwrap().display())
    );
}
