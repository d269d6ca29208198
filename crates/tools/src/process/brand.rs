//! A mark that a process cannot lose by accident: a limit that limits nothing, which everything it starts inherits.
//!
//! An environment can be cleared, a session left, a parent lost, a file closed. Limits pass through all of that, and anybody can read
//! those of any process. The kernel has not looked at the limit of file locks since 2.4, and the one of realtime processes is in
//! microseconds: our numbers are tens of thousands of years. The hard limit keeps the outermost mark and the soft one the innermost, so
//! that an agent below a command of another agent is found by both.

/// A soft limit of ours has this bit and a number below it, a hard one the next.
const SOFT: u64 = 1 << 61;
const HARD: u64 = 1 << 62;

/// So many hexadecimal digits of a mark make its number.
const DIGITS: usize = 15;

/// The number that belongs to a mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brand(u64);

impl Brand {
    /// Of a mark, which is a UUID.
    pub(super) fn of(mark: &str) -> Self {
        let digits = mark.chars().filter_map(|letter| letter.to_digit(16)).take(DIGITS);
        Self(digits.fold(0, |number, digit| number << 4 | u64::from(digit)))
    }

    /// Puts it on this process, for good. Only plain system calls: it may be used between fork and exec.
    ///
    /// Does nothing where somebody has set a limit already.
    #[cfg(target_os = "linux")]
    pub(super) fn put_on(self, resource: rustix::process::Resource) {
        use rustix::process::{Rlimit, getrlimit, setrlimit};

        let maximum = match getrlimit(resource).maximum {
            None => HARD | self.0,
            Some(outermost) if outermost >= HARD => outermost,
            Some(_of_somebody) => return,
        };
        // lowering a limit does not fail; should it, there is still the environment
        setrlimit(resource, Rlimit { current: Some(SOFT | self.0), maximum: Some(maximum) }).ok();
    }

    /// How it reads in `/proc/PID/limits`: as the innermost, and as the outermost.
    pub(super) fn texts(self) -> [String; 2] {
        [(SOFT | self.0).to_string(), (HARD | self.0).to_string()]
    }
}
