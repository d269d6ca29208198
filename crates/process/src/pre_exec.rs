//! What runs in the child between fork and exec. The only place that does, and the place where a sandbox will be applied.
//!
//! Between fork and exec only async-signal-safe calls are allowed: plain system calls, no allocation, no lock.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};

use crate::ParentDeath;
use crate::mark::LimitMark;

/// What the child does to itself before it becomes the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreExec {
    pub(crate) parent: Pid,
    pub(crate) parent_death: ParentDeath,
    pub(crate) mark: LimitMark,
    pub(crate) owner: LimitMark,
    pub(crate) has_core_dumps: bool,
    pub(crate) adopts_orphans: bool,
}

impl PreExec {
    /// Makes `command` do this in its child.
    pub(crate) fn install(self, command: &mut Command) {
        // SAFETY: `run` makes plain system calls only (setsid, getrlimit, setrlimit, prctl, getppid), and neither allocates nor takes a
        // lock.
        #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
        unsafe {
            command.pre_exec(move || self.run());
        }
    }

    fn run(self) -> io::Result<()> {
        // a session of its own: signals reach the whole group, and no terminal can stop it, ask on it or be drawn on
        rustix::process::setsid()?;
        if !self.has_core_dumps {
            setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        }
        self.tie_to_parent()
        // A sandbox belongs here, last: it may forbid the calls above. The caller says what is allowed, this crate only applies it.
    }

    #[cfg(target_os = "linux")]
    fn tie_to_parent(self) -> io::Result<()> {
        use rustix::process::{
            Signal, getppid, set_child_subreaper, set_parent_process_death_signal as set_death_signal,
        };

        self.mark.put_on(Resource::Locks);
        self.owner.put_on(Resource::Rttime);
        let signal = match self.parent_death {
            ParentDeath::Kill => Signal::KILL,
            ParentDeath::Interrupt => Signal::INT,
        };
        set_death_signal(Some(signal))?;
        if self.adopts_orphans {
            // Which process is named does not matter, only that one is. The kernel keeps this over the exec.
            set_child_subreaper(Some(self.parent))?;
        }
        // the parent may have died before we asked for the signal
        if getppid() == Some(self.parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn tie_to_parent(self) -> io::Result<()> {
        Ok(())
    }
}
