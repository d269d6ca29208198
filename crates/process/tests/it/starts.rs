//! How programs start: where, with what, and what becomes of a start that is not awaited.

use std::io;
use std::sync::{Arc, Mutex, mpsc};

use musher_process::{Command, MARKS_VARIABLE, Spawner, Streams};

use crate::support::{bash, start};

type Job = Box<dyn FnOnce() + Send>;

/// Keeps the jobs until the test runs them.
#[derive(Debug)]
struct Delayed(Mutex<mpsc::Sender<Job>>);

impl Spawner for Delayed {
    fn run(&self, job: Job) {
        self.0.lock().unwrap().send(job).unwrap();
    }
}

#[tokio::test]
async fn program_has_the_environment_and_the_folder_it_was_given() {
    let command = Command::new("/bin/bash").args(["-c", "echo $PWD-$A-$B-${C-none}-${HOME-none}"]);
    let command = command.env("A", "1").envs([("B", "2"), ("C", "3")]).env_remove("C").env_clear().cwd("/");
    let (child, mut output) = start(command).await;
    assert_eq!(output.line(), "/-1-2-none-none");
    child.reap().unwrap();
}

#[tokio::test]
async fn program_leads_a_session_and_carries_its_mark() {
    let script = format!("cut -d' ' -f5-6 /proc/$$/stat; echo ${MARKS_VARIABLE}");
    let (child, mut output) = start(bash(&script)).await;
    assert_eq!(output.line(), format!("{0} {0}", child.id()));
    let marks = output.line();
    let (_, ours) = child.mark().variable();
    assert_eq!(marks.split(' ').next_back(), ours.split(' ').next_back());
    child.reap().unwrap();
}

#[tokio::test]
async fn core_dumps_are_forbidden_only_if_asked() {
    let (child, mut output) = start(bash("ulimit -c 2>&1; ulimit -Hc").no_core_dumps()).await;
    assert_eq!((output.line(), output.line()), ("0".to_owned(), "0".to_owned()));
    child.reap().unwrap();
    let limits = fs_err::read_to_string("/proc/self/limits").unwrap();
    let hard = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    let is_limited = hard.split_whitespace().nth(1) == Some("0");
    let (child, mut output) = start(bash("ulimit -Hc")).await;
    assert_eq!(output.line() == "0", is_limited);
    child.reap().unwrap();
}

#[tokio::test]
async fn program_that_does_not_exist_is_an_error() {
    let error = Command::new("/no/such/program").spawn(Streams::null()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[tokio::test]
async fn start_that_is_not_awaited_leaves_nothing() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let command = Command::new("sh").args(["-c", "echo $$; exec sleep 1000"]);
    let (mut reader, writer) = io::pipe().unwrap();
    let streams = Streams { stdout: writer.into(), ..Streams::null() };
    let command = command.spawn_on(Arc::new(Delayed(Mutex::new(jobs))));
    tokio::select! {
        biased;
        _ = command.spawn(streams) => panic!("nobody has run the job yet"),
        () = std::future::ready(()) => {}
    }
    queue.recv().unwrap()();
    // ends only when no process holds the other end
    io::copy(&mut reader, &mut io::sink()).unwrap();
}

#[tokio::test]
async fn start_on_a_thread_that_is_gone_is_an_error() {
    #[derive(Debug)]
    struct Gone;
    impl Spawner for Gone {
        fn run(&self, job: Job) {
            drop(job);
        }
    }
    let error = bash("true").spawn_on(Arc::new(Gone)).spawn(Streams::null()).await.unwrap_err();
    assert_eq!(error.to_string(), "the thread that starts programs is gone");
}

#[tokio::test]
async fn child_keeps_the_spawner_whose_thread_it_lives_on() {
    #[derive(Debug)]
    struct Here;
    impl Spawner for Here {
        fn run(&self, job: Job) {
            job();
        }
    }
    let spawner = Arc::new(Here);
    let kept = Arc::downgrade(&spawner);
    let child = bash("true").spawn_on(spawner).spawn(Streams::null()).await.unwrap();
    assert!(kept.upgrade().is_some(), "the thread would end, and the program with it");
    drop(child);
    assert!(kept.upgrade().is_none());
}
