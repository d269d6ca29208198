//! Where agents are forked, and that they do not outlive the one who forked them.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use musher_rpc::{Child, Launch, Spawner};

use super::{MARKER, alive, shell, until, until_gone};
use crate::support::soon;

type Job = Box<dyn FnOnce() + Send>;

/// A thread one can end, and hold up.
#[derive(Debug)]
struct OwnThread(Mutex<Option<mpsc::Sender<Job>>>);

impl Spawner for OwnThread {
    fn run(&self, job: Job) {
        self.0.lock().unwrap().as_ref().unwrap().send(job).unwrap();
    }
}

#[tokio::test]
async fn it_is_forked_where_asked_and_dies_with_that_thread() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let thread = thread::spawn(move || queue.into_iter().for_each(|job| job()));
    let spawner = Arc::new(OwnThread(Mutex::new(Some(jobs))));
    let (launch, marker) = shell("exec sleep 1000");
    let (child, _connection) =
        Child::spawn(launch.spawn_on(Arc::clone(&spawner) as Arc<dyn Spawner>)).await.unwrap();
    assert_eq!(alive(&marker).len(), 1);
    drop(spawner.0.lock().unwrap().take());
    thread.join().unwrap();
    let exit = soon(child.exited()).await;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.status.unwrap()), Some(9));
}

#[tokio::test]
async fn a_start_that_is_not_waited_for_leaves_nothing() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let spawner = Arc::new(OwnThread(Mutex::new(Some(jobs))));
    let (launch, marker) = shell("sleep 1000");
    tokio::select! {
        biased;
        _ = Child::spawn(launch.spawn_on(Arc::clone(&spawner) as Arc<dyn Spawner>)) => panic!("too fast"),
        () = std::future::ready(()) => {}
    }
    // it is started only now, when nobody waits for it
    soon(tokio::task::spawn_blocking(move || queue.recv().unwrap()())).await.unwrap();
    assert_eq!(alive(&marker), [] as [String; 0]);
}

/// Not a test of its own: the process that `killing_us_kills_it` kills.
#[tokio::test]
async fn helper_that_starts_an_agent_and_waits() {
    let Ok(marker) = std::env::var("MUSHER_RPC_HELPER") else { return };
    // one that would survive SIGTERM and does not care for its stdin
    let launch = Launch::new("sh").args(["-c", "trap '' TERM HUP; exec sleep 1000"]).env(MARKER, marker);
    let (_child, _connection) = Child::spawn(launch).await.unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn killing_us_kills_it() {
    let marker = uuid::Uuid::new_v4().to_string();
    #[expect(clippy::disallowed_methods, reason = "the helper is this very program, and not an agent")]
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child::spawns::helper_that_starts_an_agent_and_waits", "--nocapture"])
        .env("MUSHER_RPC_HELPER", &marker)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(|| !alive(&format!("{MARKER}={marker}")).is_empty()).await;
    helper.kill().unwrap();
    helper.wait().unwrap();
    until_gone(&marker).await;
}
