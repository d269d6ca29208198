//! How programs start: directory, environment, mark, and cancelled starts.

use std::io;
use std::sync::{Arc, Mutex, mpsc};

use musher_process::{Command, MARKS_VARIABLE, Spawner, Streams};

use crate::support::{bash, start};

type Job = Box<dyn FnOnce() + Send>;

/// Queues the jobs until the test runs them.
#[derive(Debug)]
struct Delayed(Mutex<mpsc::Sender<Job>>);

impl Spawner for Delayed {
    fn run(&self, job: Job) {
        self.0.lock().unwrap().send(job).unwrap();
    }
}

#[tokio::test]
async fn program_has_the_given_environment_and_directory() {
    let command = Command::new("/bin/bash").args(["-c", "echo $PWD-$A-$B-${C-none}-${HOME-none}"]);
    let command = command.env("A", "1").envs([("B", "2"), ("C", "3")]).env_remove("C").env_clear().cwd("/");
    let (child, mut output) = start(command).await;
    assert_eq!(output.line(), "/-1-2-none-none");
    child.reap().unwrap();
}

#[tokio::test]
async fn program_leads_a_session_and_has_its_mark() {
    let script = format!("cut -d' ' -f5-6 /proc/$$/stat; echo ${MARKS_VARIABLE}");
    let (child, mut output) = start(bash(&script)).await;
    assert_eq!(output.line(), format!("{0} {0}", child.id()));
    let marks = output.line();
    let (_, value) = child.mark().variable();
    assert_eq!(marks.split(' ').next_back(), value.split(' ').next_back());
    child.reap().unwrap();
}

#[tokio::test]
async fn core_dumps_are_disabled_only_on_request() {
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
async fn missing_program_is_an_error() {
    let error = Command::new("/no/such/program").spawn(Streams::null()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[tokio::test]
async fn cancelled_start_leaves_no_process() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let command = Command::new("sh").args(["-c", "echo $$; exec sleep 1000"]);
    let (mut reader, writer) = io::pipe().unwrap();
    let streams = Streams { stdout: writer.into(), ..Streams::null() };
    let command = command.spawn_on(Arc::new(Delayed(Mutex::new(jobs))));
    tokio::select! {
        biased;
        _ = command.spawn(streams) => panic!("the job has not run yet"),
        () = std::future::ready(()) => {}
    }
    queue.recv().unwrap()();
    // ends only when no process has the other end open
    io::copy(&mut reader, &mut io::sink()).unwrap();
}

#[tokio::test]
async fn start_on_an_ended_thread_is_an_error() {
    #[derive(Debug)]
    struct Ended;
    impl Spawner for Ended {
        fn run(&self, job: Job) {
            drop(job);
        }
    }
    let error = bash("true").spawn_on(Arc::new(Ended)).spawn(Streams::null()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot start the program: the spawner thread has ended");
}

#[tokio::test]
async fn child_keeps_its_spawner_alive() {
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
    assert!(kept.upgrade().is_some(), "dropping the spawner would end the thread and the program");
    drop(child);
    assert!(kept.upgrade().is_none());
}
