use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::*;

/// A process in a group of its own. Killed when dropped.
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

    /// Carries the mark in its limits only.
    fn hidden(mark: &Mark) -> Self {
        let limits: String = mark.shell_commands().lines().take(1).collect();
        Self::with_commands(mark, &format!("{limits}; exec env -i /bin/sleep 1000"))
    }

    /// Waits until it sleeps, and so is what it will be.
    fn with_commands(mark: &Mark, commands: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a process that the guard shall end")]
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

fn is_gone(process: Pid) -> bool {
    rustix::process::test_kill_process(process).is_err()
}

/// Starts a guard, gives it these orders, and ends its pipe as our death would.
fn guard_after_our_death(grace: &str, killed: &Mark, interrupted: &Mark, orders: &[String]) -> Child {
    let mut shell = command(grace, killed, interrupted).spawn().unwrap();
    // the end of this statement is the end of the pipe
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
fn one_guard_serves_all_programs_and_ends_with_the_last() {
    let (first, second) = (Sleeper::start(), Sleeper::start());
    let mut guard = Guard::new();
    guard.reserve(&first.mark);
    let shell = shell_of(&guard).expect("it runs before the program does");
    guard.watch(&first.mark, first.pid(), ParentDeath::Kill);
    guard.reserve(&second.mark);
    guard.watch(&second.mark, second.pid(), ParentDeath::Interrupt);
    guard.leave(&first.mark);
    guard.leave(&Mark::random());
    assert_eq!(shell_of(&guard), Some(shell));
    guard.leave(&second.mark);
    assert_eq!(shell_of(&guard), None);
    assert!(is_gone(shell), "it was waited for");
}

#[test]
fn guard_of_a_program_that_could_not_start_ends() {
    let mut guard = Guard::new();
    let mark = Mark::random();
    guard.reserve(&mark);
    let shell = shell_of(&guard).unwrap();
    guard.leave(&mark);
    assert_eq!((shell_of(&guard), is_gone(shell)), (None, true));
}

#[test]
fn guard_stays_when_programs_may_leave_something_behind() {
    let it = Sleeper::start();
    let mut guard = Guard::new();
    guard.reserve(&it.mark);
    guard.is_for_good = true;
    guard.watch(&it.mark, it.pid(), ParentDeath::Kill);
    let shell = shell_of(&guard);
    guard.leave(&it.mark);
    assert!(shell.is_some());
    assert_eq!(shell_of(&guard), shell);
}

#[test]
fn after_our_death_the_guard_ends_registered_groups_and_nothing_else() {
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
    let mut shell = guard_after_our_death("0", &Mark::random(), &Mark::random(), &orders);
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    for it in &mut ended {
        until("it was ended", || !it.is_alive());
    }
    for it in left.iter_mut().chain([&mut stranger]) {
        assert!(it.is_alive());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn after_our_death_the_guard_ends_what_carries_our_marks() {
    let (killed, interrupted) = (Mark::random(), Mark::random());
    let mut ended =
        [&killed, &interrupted].map(|mark| [Sleeper::marked(mark), Sleeper::hidden(mark)]).into_iter();
    let mut stranger = Sleeper::start();
    let mut shell = guard_after_our_death("0", &killed, &interrupted, &[]);
    until("the guard has ended", || shell.try_wait().unwrap().is_some());
    for mut it in ended.by_ref().flatten() {
        until("it was ended", || !it.is_alive());
    }
    assert!(stranger.is_alive());
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_programs_have_their_grace() {
    let (killed, interrupted) = (Mark::random(), Mark::random());
    let mut at_once = [Sleeper::marked(&killed), Sleeper::start()];
    let mut later = [Sleeper::marked(&interrupted), Sleeper::hidden(&interrupted)];
    let orders = [watch(&at_once[1], "kill"), watch(&later[0], "interrupt")];
    let mut shell = guard_after_our_death("1000", &killed, &interrupted, &orders);
    for it in &mut at_once {
        until("it was ended", || !it.is_alive());
    }
    let children = format!("/proc/{0}/task/{0}/children", shell.id());
    let is_wait = |pid: &&str| {
        fs_err::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x001000\0")
    };
    let mut wait = None;
    until("the guard waits", || {
        let children = fs_err::read_to_string(&children).unwrap_or_default();
        wait =
            children.split_whitespace().find(is_wait).map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
        wait.is_some()
    });
    assert!(later.iter_mut().all(Sleeper::is_alive));
    // the guard first: it would go on when its wait ends
    shell.kill().unwrap();
    shell.wait().unwrap();
    kill_process(wait.unwrap(), Signal::KILL).unwrap();
}

#[test]
fn without_programs_the_guard_ends_nothing() {
    let mut stranger = Sleeper::start();
    let orders = [watch(&stranger, "kill"), leave(&stranger)];
    let mut shell = guard_after_our_death("0", &Mark::random(), &Mark::random(), &orders);
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
    until("it is gone", || process.try_wait().unwrap().is_some());
    guard.ensure();
    let killed_again = shell_of(&guard).unwrap();
    assert_ne!(killed_again, killed);

    kill_process(killed_again, Signal::KILL).unwrap();
    let process = &mut guard.shell.as_mut().unwrap().process;
    until("it is gone", || process.try_wait().unwrap().is_some());
    guard.watch(&second.mark, second.pid(), ParentDeath::Kill);
    let stopped = shell_of(&guard).unwrap();
    assert_ne!(stopped, killed_again);

    kill_process(stopped, Signal::STOP).unwrap();
    let mut orders = 0;
    while shell_of(&guard) == Some(stopped) {
        assert!(orders < 10_000, "its pipe takes everything");
        orders += 1;
        guard.watch(&third.mark, third.pid(), ParentDeath::Kill);
    }
    assert_eq!(guard.orders.len(), 3);
}
