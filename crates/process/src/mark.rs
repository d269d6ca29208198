//! Marks: how the processes of a program are recognised, wherever they went.
//!
//! A mark is inherited twice. In the environment, which a process can clear; and in two resource limits, which pass through a cleared
//! environment, a new session, a lost parent and closed files, and which anyone may read in `/proc/PID/limits`.
//!
//! The limits limit nothing. The kernel has ignored the number of file locks since Linux 2.4, and the CPU time of realtime processes is in
//! microseconds: our numbers are tens of thousands of years. The hard limit keeps the outermost mark and the soft one the innermost, so
//! that an agent below a command of another agent is found by both.

use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use crate::{ParentDeath, search};

/// The environment variable that lists the marks of a process, ours and those of agents above us, separated by spaces.
///
/// ```
/// use musher_process::{MARKS_VARIABLE, Mark};
///
/// let (name, value) = Mark::random().variable();
/// assert_eq!(name, MARKS_VARIABLE);
/// # assert!(value.contains(' '));
/// ```
pub const MARKS_VARIABLE: &str = "MUSHER_PROCESS_MARKS";

/// The options of `ulimit` in bash for the limits below.
const MARK_OPTION: char = 'x';
const OWNER_OPTION: char = 'R';

/// A soft limit of ours has this bit and a number below it, a hard limit the next.
const SOFT: u64 = 1 << 61;
const HARD: u64 = 1 << 62;

/// How many hexadecimal digits of a mark make its number.
const DIGITS: usize = 15;

/// Identifies everything that one program started. Clones are equal.
///
/// [`Command::spawn`](crate::Command::spawn) marks what it starts. For a program that somebody else starts for us, such as an editor in its
/// terminal, make a mark and pass it on: by [`variable`](Self::variable) in the environment and by [`shell_commands`](Self::shell_commands)
/// in the shell.
///
/// ```
/// use musher_process::Mark;
///
/// let mark = Mark::random();
/// let (name, value) = mark.variable();
/// let script = format!("{}exec make", mark.shell_commands());
/// assert!(!mark.is_alive(), "nothing runs with it yet");
/// # drop((name, value, script));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark(Arc<str>);

impl Mark {
    /// Makes a mark that no other process has.
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string().into())
    }

    /// The mark of everything this process starts, by what happens to it when we die. It is what the guard looks for.
    pub(crate) fn of_owner(parent_death: ParentDeath) -> &'static Self {
        static KILLED: LazyLock<Mark> = LazyLock::new(Mark::random);
        static INTERRUPTED: LazyLock<Mark> = LazyLock::new(Mark::random);
        match parent_death {
            ParentDeath::Kill => &KILLED,
            ParentDeath::Interrupt => &INTERRUPTED,
        }
    }

    /// Returns the environment variable that marks a process, name and value.
    pub fn variable(&self) -> (&'static str, String) {
        self.variable_with(Self::of_owner(ParentDeath::Kill))
    }

    pub(crate) fn variable_with(&self, owner: &Self) -> (&'static str, String) {
        let above = std::env::var(MARKS_VARIABLE).unwrap_or_default();
        (MARKS_VARIABLE, format!("{above} {} {}", owner.0, self.0).trim().to_owned())
    }

    /// Returns lines for bash that put the mark into the limits of the shell that runs them.
    pub fn shell_commands(&self) -> String {
        let limit = |option: char, mark: &Self| {
            let [soft, hard] = mark.limit().texts();
            // where a limit is set already, or does not exist, the environment must do
            format!(
                "{{ ulimit -S -{option} {soft} && [ \"$(ulimit -H -{option})\" = unlimited ] && ulimit -H -{option} {hard}; }} 2>/dev/null\n"
            )
        };
        limit(MARK_OPTION, self) + &limit(OWNER_OPTION, Self::of_owner(ParentDeath::Kill))
    }

    /// Returns whether any process carries the mark. Always `false` on systems other than Linux.
    pub fn is_alive(&self) -> bool {
        search::is_alive(self)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The mark as a number for limits.
    pub(crate) fn limit(&self) -> LimitMark {
        let digits = self.0.chars().filter_map(|letter| letter.to_digit(16)).take(DIGITS);
        LimitMark(digits.fold(0, |number, digit| number << 4 | u64::from(digit)))
    }
}

/// A mark in a resource limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitMark(u64);

impl LimitMark {
    /// How it reads in `/proc/PID/limits`: as the innermost mark, and as the outermost.
    pub(crate) fn texts(self) -> [String; 2] {
        [(SOFT | self.0).to_string(), (HARD | self.0).to_string()]
    }

    /// Puts it on this process, for good. Only plain system calls: it is used between fork and exec.
    ///
    /// Does nothing where somebody else has set the limit.
    #[cfg(target_os = "linux")]
    pub(crate) fn put_on(self, resource: rustix::process::Resource) {
        use rustix::process::{Rlimit, getrlimit, setrlimit};

        let maximum = match getrlimit(resource).maximum {
            None => HARD | self.0,
            Some(outermost) if outermost >= HARD => outermost,
            Some(_foreign) => return,
        };
        // lowering a limit does not fail; should it, there is still the environment
        setrlimit(resource, Rlimit { current: Some(SOFT | self.0), maximum: Some(maximum) }).ok();
    }
}
