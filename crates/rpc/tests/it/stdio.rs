//! A real agent on stdin and stdout.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{self, Command, Stdio};
use std::time::Duration;

use musher_rpc::{Child, Inbox, Incoming, Launch, Limits, Peer, over};
use musher_wire::Json;

use crate::support::soon;

/// Echoes its calls, and ends with its input.
const AGENT: &str = env!("CARGO_BIN_EXE_musher-rpc-stdio-agent");

/// The agent with these as its stdin and stdout.
fn agent(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> process::Child {
    #[expect(clippy::disallowed_methods, reason = "an agent on something else than pipes")]
    Command::new(AGENT).stdin(stdin).stdout(stdout).spawn().unwrap()
}

async fn echo_something(peer: &Peer) {
    for text in ["small".to_owned(), "large ".repeat(1_000_000)] {
        let params = Json::new(&text).unwrap();
        let echo = soon(peer.request("echo", params.clone(), Duration::from_secs(50))).await.unwrap();
        assert!(echo == params);
    }
}

async fn hear_bye(mut inbox: Inbox) {
    let last = soon(inbox.recv()).await;
    let is_bye = matches!(&last, Some(Incoming::Notification(notification)) if notification.method == "bye");
    assert!(is_bye, "what was sent before the end is written, and nothing else: {last:?}");
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Closed(_))));
}

#[tokio::test]
async fn agent_on_stdio_answers_and_ends_with_its_input() {
    let launch = Launch::new(AGENT).grace(Duration::from_secs(50));
    let (child, connection) = Child::spawn(launch).await.unwrap();
    let (peer, inbox) = Peer::start(connection);
    echo_something(&peer).await;
    let exit = soon(child.close()).await;
    assert!(exit.status.unwrap().success(), "{}", exit.stderr_tail);
    hear_bye(inbox).await;
}

/// As the children of Node have them.
#[tokio::test]
async fn stdin_and_stdout_may_be_sockets_which_block_as_before() {
    let (ours, theirs) = tokio::net::UnixStream::pair().unwrap();
    let theirs = theirs.into_std().unwrap();
    theirs.set_nonblocking(false).unwrap();
    let mut child =
        agent(OwnedFd::from(theirs.try_clone().unwrap()), OwnedFd::from(theirs.try_clone().unwrap()));
    let (reader, writer) = ours.into_split();
    let (peer, inbox) = Peer::start(over(reader, writer, Limits::default()));
    echo_something(&peer).await;
    let flags = rustix::fs::fcntl_getfl(&theirs).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "others who have it open may rely on that");
    drop(theirs);
    peer.close();
    hear_bye(inbox).await;
    assert!(soon(tokio::task::spawn_blocking(move || child.wait())).await.unwrap().unwrap().success());
}

/// Makes a call to an agent, then closes its stdout, leaves its stdin open, and waits for its end.
fn close_stdout_of(mut agent: process::Child, stdin: OwnedFd, stdout: OwnedFd) -> process::ExitStatus {
    let (mut stdin, mut stdout) = (File::from(stdin), BufReader::new(File::from(stdout)));
    writeln!(stdin, r#"{{"type":"request","id":"1","method":"echo","params":{{}}}}"#).unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains(r#""result":{}"#), "{answer}");
    drop(stdout);
    agent.wait().unwrap()
}

#[tokio::test]
async fn idle_agent_ends_when_its_stdout_is_closed() {
    let (theirs_in, ours_in) = io::pipe().unwrap();
    let (ours_out, theirs_out) = io::pipe().unwrap();
    let on_pipes = (agent(theirs_in, theirs_out), ours_in.into(), ours_out.into());
    let [(ours_in, theirs_in), (ours_out, theirs_out)] =
        [UnixStream::pair().unwrap(), UnixStream::pair().unwrap()]
            .map(|(ours, theirs)| (OwnedFd::from(ours), OwnedFd::from(theirs)));
    let on_sockets = (agent(theirs_in, theirs_out), ours_in, ours_out);
    for (agent, stdin, stdout) in [on_pipes, on_sockets] {
        let ended = tokio::task::spawn_blocking(move || close_stdout_of(agent, stdin, stdout));
        assert!(!soon(ended).await.unwrap().success(), "it could not say `bye`");
    }
}

#[tokio::test]
async fn stdin_and_stdout_may_be_files() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs_err::write(&input, r#"{"type":"request","id":"1","method":"echo","params":{"a":1}}"#).unwrap();
    let file = |file: fs_err::File| file.into_parts().0;
    let mut child =
        agent(file(fs_err::File::open(&input).unwrap()), file(fs_err::File::create(&output).unwrap()));
    assert!(soon(tokio::task::spawn_blocking(move || child.wait())).await.unwrap().unwrap().success());
    let said = fs_err::read_to_string(&output).unwrap();
    assert!(said.contains(r#""result":{"a":1}"#) && said.contains(r#""method":"bye""#), "{said}");
}
