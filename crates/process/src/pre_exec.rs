//! All code that runs in the child between fork and exec, except for the sandbox, which is applied last.
//!
//! Only async-signal-safe calls are allowed between fork and exec: plain system calls, no allocation, no lock.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};

use crate::ParentDeath;
use crate::mark::LimitMark;
use crate::sandbox::Prepared;

/// The setup of a child process before it executes the program.
#[derive(Debug)]
pub(crate) struct PreExec {
    pub(crate) parent: Pid,
    pub(crate) parent_death: ParentDeath,
    pub(crate) mark: LimitMark,
    pub(crate) owner: LimitMark,
    pub(crate) has_core_dumps: bool,
    pub(crate) adopts_orphans: bool,
    pub(crate) sandbox: Option<Prepared>,
}

impl PreExec {
    /// Adds the setup to `command`.
    pub(crate) fn install(self, command: &mut Command) {
        // SAFETY: `run` makes plain system calls only (setsid, getrlimit, setrlimit, prctl, getppid, and those of the sandbox), and neither
        // allocates nor takes a lock.
        #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
        unsafe {
            command.pre_exec(move || self.run());
        }
    }

    fn run(&self) -> io::Result<()> {
        // a session of its own: signals reach the whole group, and no terminal can stop it or be used by it
        rustix::process::setsid()?;
        if !self.has_core_dumps {
            setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        }
        self.tie_to_parent()?;
        // last, because it may forbid the calls above
        self.sandbox.as_ref().map_or(Ok(()), Prepared::apply)
    }

    #[cfg(target_os = "linux")]
    fn tie_to_parent(&self) -> io::Result<()> {
        use rustix::process::{
            Signal, getppid, set_child_subreaper, set_parent_process_death_signal as set_death_signal,
        };

        self.mark.apply(Resource::Locks);
        self.owner.apply(Resource::Rttime);
        let signal = match self.parent_death {
            ParentDeath::Kill => Signal::KILL,
            ParentDeath::Interrupt => Signal::INT,
        };
        set_death_signal(Some(signal))?;
        if self.adopts_orphans {
            // any process id enables it; the kernel keeps the setting across exec
            set_child_subreaper(Some(self.parent))?;
        }
        // the parent may have died before the signal was requested
        if getppid() == Some(self.parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn tie_to_parent(&self) -> io::Result<()> {
        Ok(())
    }
}
