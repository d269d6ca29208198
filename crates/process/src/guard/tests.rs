use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::*;

/// A process in a group of its own. Dropping it kills the process.
struct Sleeper {
    process: Child,
    mark: Mark,
}

impl Sleeper {
    fn start() -> Self {
        Self::marked(&Mark::random())
    }

    fn marked(mark: &Mark) -> Self {
        Self::with_commands(mark, &format!("export MARKS='another {}'; exec sleep 1000", mark.as_str()))
    }

    /// Starts a process with the mark in its limits only.
    fn hidden(mark: &Mark) -> Self {
        let limits: String = mark.shell_commands().lines().take(1).collect();
        Self::with_commands(mark, &format!("{limits}; exec env -i /bin/sleep 1000"))
    }

    /// Starts a process and waits until it executes `sleep`.
    fn with_commands(mark: &Mark, commands: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the guard must end this process")]
        let process = Command::new("bash").args(["-c", commands]).process_group(0).spawn().unwrap();
        let stat = format!("/proc/{}/stat", process.id());
        until("it sleeps", || fs_err::read_to_string(&stat).unwrap().contains("(sleep)"));
        Self { process, mark: mark.clone() }
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

fn until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_met() {
        assert!(Instant::now() < deadline, "timed out waiting until {condition}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn shell_of(guard: &Guard) -> Option<Pid> {
    guard.shell.as_ref().map(|shell| Pid::from_child(&shell.process))
}

fn has_ended(process: Pid) -> bool {
    rustix::process::test_kill_process(process).is_err()
}

/// Starts a guard, sends it these orders, and closes its pipe, as the death of the parent would.
fn guard_after_parent_death(grace: &str, killed: &Mark, interrupted: &Mark, orders: &[String]) -> Child {
    let mut shell = command(grace, killed, interrupted).spawn().unwrap();
    // the pipe is closed at the end of this statement
    shell.stdin.take().unwrap().write_all(orders.concat().as_bytes()).unwrap();
    shell
}

fn watch(it: &Sleeper, end: &str) -> String {
    format!("watch {} {} {end}\n", it.mark.as_str(), it.pid())
}

fn leave(it: &Sleeper) -> String {
    format!("leave {}\n", it.mark.as_str())
}

#[test]
fn one_guard_serves_all_programs_and_ends_with_the_last_one() {
    let (first, second) = (Sleeper::start(), Sleeper::start());
    let mut guard = Guard::new();
    guard.reserve(&first.mark);
    let shell = shell_of(&guard).expect("the guard starts before the program");
    guard.watch(&first.mark, first.pid(), ParentDeath::Kill);
    guard.reserve(&second.mark);
    guard.watch(&second.mark, second.pid(), ParentDeath::Interrupt);
    guard.leave(&first.mark);
    guard.leave(&Mark::random());
    assert_eq!(shell_of(&guard), Some(shell));
    guard.leave(&second.mark);
    assert_eq!(shell_of(&guard), None);
    assert!(has_ended(shell), "the guard was waited for");
}

#[test]
fn guard_ends_if_its_only_program_cannot_start() {
    let mut guard = Guard::new();
    let mark = Mark::random();
    guard.reserve(&mark);
    let shell = shell_of(&guard).unwrap();
    guard.leave(&mark);
    assert_eq!((shell_of(&guard), has_ended(shell)), (None, true));
}

#[test]
fn guard_keeps_running_if_programs_may_leave_descendants() {
    let it = Sleeper::start();
    let mut guard = Guard::new();
    guard.reserve(&it.mark);
    guard.is_permanent = true;
    guard.watch(&it.mark, it.pid(), ParentDeath::Kill);
    let shell = shell_of(&guard);
    guard.leave(&it.mark);
    assert!(shell.is_some());
    assert_eq!(shell_of(&guard), shell);
}

#[test]
fn after_parent_death_the_guard_ends_registered_groups_only() {
    let mut ended: Vec<_> = (0..3).map(|_| Sleeper::start()).collect();
    let mut left: Vec<_> = (0..3).map(|_| Sleeper::start()).collect();
    let mut stranger = Sleeper::start();
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
    let mut shell = guard_after_parent_death("0", &Mark::random(), &Mark::random(), &orders);
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    for it in &mut ended {
        until("it has ended", || !it.is_alive());
    }
    for it in left.iter_mut().chain([&mut stranger]) {
        assert!(it.is_alive());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn after_parent_death_the_guard_ends_marked_processes() {
    let (killed, interrupted) = (Mark::random(), Mark::random());
    let mut ended =
        [&killed, &interrupted].map(|mark| [Sleeper::marked(mark), Sleeper::hidden(mark)]).into_iter();
    let mut stranger = Sleeper::start();
    let mut shell = guard_after_parent_death("0", &killed, &interrupted, &[]);
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    for mut it in ended.by_ref().flatten() {
        until("it has ended", || !it.is_alive());
    }
    assert!(stranger.is_alive());
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_programs_have_time_to_end() {
    let (killed, interrupted) = (Mark::random(), Mark::random());
    let mut killed_now = [Sleeper::marked(&killed), Sleeper::start()];
    let mut later = [Sleeper::marked(&interrupted), Sleeper::hidden(&interrupted)];
    let orders = [watch(&killed_now[1], "kill"), watch(&later[0], "interrupt")];
    let mut shell = guard_after_parent_death("1000", &killed, &interrupted, &orders);
    for it in &mut killed_now {
        until("it has ended", || !it.is_alive());
    }
    let children = format!("/proc/{0}/task/{0}/children", shell.id());
    let is_sleep = |pid: &&str| {
        fs_err::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x001000\0")
    };
    let mut sleep = None;
    until("the guard waits", || {
        let children = fs_err::read_to_string(&children).unwrap_or_default();
        sleep = children
            .split_whitespace()
            .find(is_sleep)
            .map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
        sleep.is_some()
    });
    assert!(later.iter_mut().all(Sleeper::is_alive));
    // kill the guard first: it would continue when its sleep ends
    shell.kill().unwrap();
    shell.wait().unwrap();
    kill_process(sleep.unwrap(), Signal::KILL).unwrap();
}

#[test]
fn guard_without_registered_programs_ends_nothing() {
    let mut stranger = Sleeper::start();
    let orders = [watch(&stranger, "kill"), leave(&stranger)];
    let mut shell = guard_after_parent_death("0", &Mark::random(), &Mark::random(), &orders);
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    assert!(stranger.is_alive());
}

#[test]
fn guard_that_was_killed_or_stopped_is_replaced() {
    let (first, second, third) = (Sleeper::start(), Sleeper::start(), Sleeper::start());
    let mut guard = Guard::new();
    guard.watch(&first.mark, first.pid(), ParentDeath::Kill);
    let killed = shell_of(&guard).unwrap();
    kill_process(killed, Signal::KILL).unwrap();
    let process = &mut guard.shell.as_mut().unwrap().process;
    until("it has ended", || process.try_wait().unwrap().is_some());
    guard.ensure();
    let killed_again = shell_of(&guard).unwrap();
    assert_ne!(killed_again, killed);

    kill_process(killed_again, Signal::KILL).unwrap();
    let process = &mut guard.shell.as_mut().unwrap().process;
    until("it has ended", || process.try_wait().unwrap().is_some());
    guard.watch(&second.mark, second.pid(), ParentDeath::Kill);
    let stopped = shell_of(&guard).unwrap();
    assert_ne!(stopped, killed_again);

    kill_process(stopped, Signal::STOP).unwrap();
    let mut orders = 0;
    while shell_of(&guard) == Some(stopped) {
        assert!(orders < 10_000, "the pipe of a stopped guard accepts all orders");
        orders += 1;
        guard.watch(&third.mark, third.pid(), ParentDeath::Kill);
    }
    assert_eq!(guard.orders.len(), 3);
}
