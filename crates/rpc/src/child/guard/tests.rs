use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use uuid::Uuid;

use super::*;

/// A process in a group of its own. Killed when dropped.
struct Sleeper {
    process: Child,
    mark: String,
}

impl Sleeper {
    fn start() -> Self {
        Self::marked(Uuid::new_v4().to_string())
    }

    fn marked(mark: String) -> Self {
        #[expect(clippy::disallowed_methods, reason = "what the guard shall end")]
        let mut command = Command::new("sleep");
        let process = command.arg("1000").env("MARKS", format!("another {mark}")).process_group(0).spawn();
        Self { process: process.unwrap(), mark }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    fn is_alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn shell_of(guard: &Guard) -> Option<Pid> {
    guard.shell.as_ref().map(|shell| Pid::from_child(&shell.process))
}

#[test]
fn one_is_enough_for_all_agents_and_it_ends_with_the_last() {
    let (first, second) = (Sleeper::start(), Sleeper::start());
    let mut guard = Guard::new();
    guard.watch(first.pid(), &first.mark, ParentDeath::Kill).unwrap();
    let shell = shell_of(&guard).unwrap();
    guard.watch(second.pid(), &second.mark, ParentDeath::Interrupt).unwrap();
    guard.leave(&first.mark);
    guard.leave("of nobody");
    assert_eq!(shell_of(&guard), Some(shell));
    guard.leave(&second.mark);
    assert_eq!(shell_of(&guard), None);
    assert!(rustix::process::test_kill_process(shell).is_err(), "it is gone, and was waited for");
}

#[test]
fn when_we_are_gone_it_ends_those_that_are_left_and_nobody_else() {
    let mut ended: Vec<_> = (0..3).map(|_| Sleeper::start()).collect();
    // it left the group of its agent
    let mut stray = Sleeper::marked(ended[1].mark.clone());
    let mut left: Vec<_> = (0..3).map(|_| Sleeper::start()).collect();
    let mut stranger = Sleeper::start();
    let mut shell = command().spawn().unwrap();
    let watch = |it: &Sleeper, end: &str| format!("watch {} {} {end}\n", it.mark, it.pid());
    let leave = |it: &Sleeper| format!("leave {}\n", it.mark);
    let orders = [
        watch(&left[0], "kill"),
        watch(&ended[0], "kill"),
        watch(&left[1], "interrupt"),
        watch(&ended[1], "kill"),
        leave(&left[1]),
        leave(&left[0]),
        watch(&ended[2], "interrupt"),
        watch(&left[2], "kill"),
        leave(&left[2]),
        leave(&stranger),
    ];
    // the end of this statement is the end of the pipe
    shell.stdin.take().unwrap().write_all(orders.concat().as_bytes()).unwrap();
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    for it in ended.iter_mut().chain([&mut stray]) {
        until("it was ended", || !it.is_alive());
    }
    for it in left.iter_mut().chain([&mut stranger]) {
        assert!(it.is_alive());
    }
}

#[test]
fn without_agents_it_ends_nobody() {
    let mut stranger = Sleeper::start();
    let mut shell = command().spawn().unwrap();
    let order = format!("watch {} {} kill\nleave {0}\n", stranger.mark, stranger.pid());
    shell.stdin.take().unwrap().write_all(order.as_bytes()).unwrap();
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    assert!(stranger.is_alive());
}

#[test]
fn one_that_was_killed_or_stopped_is_replaced() {
    let (first, second, third) = (Sleeper::start(), Sleeper::start(), Sleeper::start());
    let mut guard = Guard::new();
    guard.watch(first.pid(), &first.mark, ParentDeath::Kill).unwrap();
    let killed = shell_of(&guard).unwrap();
    kill_process(killed, Signal::KILL).unwrap();
    let process = &mut guard.shell.as_mut().unwrap().process;
    until("it is gone", || process.try_wait().unwrap().is_some());
    guard.watch(second.pid(), &second.mark, ParentDeath::Kill).unwrap();
    let stopped = shell_of(&guard).unwrap();
    assert_ne!(stopped, killed);

    kill_process(stopped, Signal::STOP).unwrap();
    let mut orders = 0;
    while shell_of(&guard) == Some(stopped) {
        assert!(orders < 10_000, "its pipe takes everything");
        orders += 1;
        guard.watch(third.pid(), &third.mark, ParentDeath::Kill).unwrap();
    }
    assert_eq!(guard.agents.len(), 3);
}
