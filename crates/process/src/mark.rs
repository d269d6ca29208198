//! Marks identify all processes of a program, including detached ones.
//!
//! A mark is inherited in two ways: in the environment, which a process can clear; and in two resource limits, which survive a
//! cleared environment, a new session, the death of the parent and closed files, and which are readable in `/proc/PID/limits`.
//!
//! The limits have no effect. The kernel has ignored the number of file locks since Linux 2.4, and the CPU time of realtime
//! processes is in microseconds, so the values are tens of thousands of years. The hard limit keeps the outermost mark and the
//! soft one the innermost, so that both agents find the processes of an agent that runs as a command of another agent.

use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use crate::{ParentDeath, search};

/// The environment variable that lists the marks of a process, including those of outer agents, separated by spaces.
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

/// Bit that is set in soft limits that are marks; hard limits have `HARD_BIT` instead. The lower bits are the number of the mark.
const SOFT_BIT: u64 = 1 << 61;
const HARD_BIT: u64 = 1 << 62;

/// Number of hexadecimal digits of a mark that form its number.
const DIGITS: usize = 15;

/// Identifies all processes that one program started. Clones are equal.
///
/// [`Command::spawn`](crate::Command::spawn) marks the program. If another process starts the program, such as an editor in its
/// terminal, create a mark and pass it on: with [`variable`](Self::variable) in the environment, and with
/// [`shell_commands`](Self::shell_commands) in the shell.
///
/// ```
/// use musher_process::Mark;
///
/// let mark = Mark::random();
/// let (name, value) = mark.variable();
/// let script = format!("{}exec make", mark.shell_commands());
/// assert!(!mark.is_alive(), "no process has the mark yet");
/// # drop((name, value, script));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark(Arc<str>);

impl Mark {
    /// Creates a unique mark.
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string().into())
    }

    /// Returns the mark of all programs of this process with this parent-death behavior. The guard searches for it.
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
        let outer = std::env::var(MARKS_VARIABLE).unwrap_or_default();
        (MARKS_VARIABLE, format!("{outer} {} {}", owner.0, self.0).trim().to_owned())
    }

    /// Returns commands for bash that set the mark in the limits of the shell that runs them.
    pub fn shell_commands(&self) -> String {
        let limit = |option: char, mark: &Self| {
            let [soft, hard] = mark.limit().texts();
            // if a limit is already set or does not exist, only the environment carries the mark
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

    /// Returns the mark as a number for limits.
    pub(crate) fn limit(&self) -> LimitMark {
        let digits = self.0.chars().filter_map(|letter| letter.to_digit(16)).take(DIGITS);
        LimitMark(digits.fold(0, |number, digit| number << 4 | u64::from(digit)))
    }
}

/// A mark in a resource limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitMark(u64);

impl LimitMark {
    /// Returns its forms in `/proc/PID/limits`: as innermost and as outermost mark.
    pub(crate) fn texts(self) -> [String; 2] {
        [(SOFT_BIT | self.0).to_string(), (HARD_BIT | self.0).to_string()]
    }

    /// Sets the mark in a limit of this process, irrevocably. Uses plain system calls only, because it runs between fork and exec.
    ///
    /// Does nothing if the limit is already set to another value.
    #[cfg(target_os = "linux")]
    pub(crate) fn apply(self, resource: rustix::process::Resource) {
        use rustix::process::{Rlimit, getrlimit, setrlimit};

        let maximum = match getrlimit(resource).maximum {
            None => HARD_BIT | self.0,
            Some(outermost) if outermost >= HARD_BIT => outermost,
            Some(_foreign) => return,
        };
        // lowering a limit should not fail; if it does, the environment still carries the mark
        setrlimit(resource, Rlimit { current: Some(SOFT_BIT | self.0), maximum: Some(maximum) }).ok();
    }
}
