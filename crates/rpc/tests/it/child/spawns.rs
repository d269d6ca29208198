//! Where agents are forked, and that they do not outlive the one who forked them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use musher_rpc::{Child, Spawner};

use super::ends::READY;
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
async fn child_is_forked_on_the_given_thread_and_dies_with_it() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let thread = thread::spawn(move || queue.into_iter().for_each(|job| job()));
    let spawner = Arc::new(OwnThread(Mutex::new(Some(jobs))));
    let (launch, marker) = shell("exec sleep 1000");
    let (child, _connection) =
        Child::spawn(launch.spawn_on(Arc::clone(&spawner) as Arc<dyn Spawner>)).await.unwrap();
    // a process has no environment for a moment while it executes another program
    until(|| alive(&marker).len() == 1).await;
    drop(spawner.0.lock().unwrap().take());
    thread.join().unwrap();
    let exit = soon(child.exited()).await;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.status.unwrap()), Some(9));
}

#[tokio::test]
async fn dropped_start_leaves_no_process() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let spawner = Arc::new(OwnThread(Mutex::new(Some(jobs))));
    let (launch, marker) = shell("sleep 1000");
    tokio::select! {
        biased;
        _ = Child::spawn(launch.spawn_on(Arc::clone(&spawner) as Arc<dyn Spawner>)) => panic!("too fast"),
        () = std::future::ready(()) => {}
    }
    // it is started only now, when its caller is gone
    soon(tokio::task::spawn_blocking(move || queue.recv().unwrap()())).await.unwrap();
    assert_eq!(alive(&marker), [] as [String; 0]);
}

/// A process that has started an agent. Killed when dropped.
struct Host {
    process: process::Child,
    said: mpsc::Receiver<String>,
    marker: String,
}

impl Host {
    /// Starts it with this script as its agent, and waits until that has said something and is guarded.
    async fn start(parent_death: &str, script: &str) -> Self {
        let marker = uuid::Uuid::new_v4().to_string();
        #[expect(clippy::disallowed_methods, reason = "the helper is to be killed, and not by us")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_musher-rpc-agent-host"))
            .args([parent_death, script])
            .env(MARKER, &marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (says, said) = mpsc::channel();
        thread::spawn(move || lines.for_each(|line| drop(says.send(line))));
        let host = Self { process, said, marker };
        host.until_it_says("ready").await;
        assert!(host.guard().is_some());
        // itself and its agent
        assert!(alive(&host.marker).len() >= 2);
        host
    }

    async fn until_it_says(&self, word: &str) {
        until(|| self.said.try_iter().any(|line| line == word)).await;
    }

    /// The folder of the guard that it has started.
    fn guard(&self) -> Option<PathBuf> {
        guard_of(self.process.id())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Starts the helper with this script as its agent, kills it when the agent has said something, and waits until all are gone.
async fn kill_the_host(parent_death: &str, script: &str) {
    let host = Host::start(parent_death, script).await;
    let (guard, marker) = (host.guard().unwrap(), host.marker.clone());
    drop(host);
    until_gone(&marker).await;
    until(|| !is_guard(&guard)).await;
}

/// The folder of the guard of this process.
fn guard_of(host: u32) -> Option<PathBuf> {
    let mut processes = fs_err::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.find(|process| {
        let stat = fs_err::read_to_string(process.join("stat")).unwrap_or_default();
        let is_child = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1))
            == Some(&host.to_string());
        is_child && is_guard(process)
    })
}

fn is_guard(process: &Path) -> bool {
    fs_err::read_to_string(process.join("cmdline")).is_ok_and(|line| line.contains("musher-guard"))
}

#[tokio::test]
async fn killing_us_kills_it() {
    // one that would survive SIGTERM and does not care for its stdin
    kill_the_host("kill", &format!("trap '' TERM HUP; {READY}; exec sleep 1000")).await;
}

#[tokio::test]
async fn killing_us_kills_what_is_behind_a_wrapper() {
    let deaf = "trap \"\" TERM HUP INT; while :; do sleep 1; done";
    kill_the_host("kill", &format!("sh -c '{deaf}' & {READY}; wait")).await;
    // one that left the group and lost its parent
    kill_the_host("kill", &format!("(setsid sh -c '{deaf}' >/dev/null 2>&1 &); {READY}; sleep 1000")).await;
}

#[tokio::test]
async fn interrupted_program_of_a_killed_parent_may_clean_up_but_not_stay() {
    let busy = "while :; do sleep 1; done";
    let script = format!("interrupted() {{ {busy}; }}; trap interrupted INT; {READY}; {busy}");
    kill_the_host("interrupt", &script).await;
}

#[tokio::test]
async fn guard_ends_with_its_agent() {
    let mut host = Host::start("kill", &format!("{READY}; cat >/dev/null")).await;
    host.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    host.until_it_says("ended").await;
    assert_eq!(host.guard(), None);
}
