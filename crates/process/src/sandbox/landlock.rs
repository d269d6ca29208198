//! Landlock: denies changes outside of the writable paths.
//!
//! The rules are made in the parent with the `landlock` crate; the child only makes the two system calls that enforce them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use super::Sandbox;

/// The newest interface that these rules were tested with. Older kernels enforce what they know.
const TESTED: ABI = ABI::V7;

/// Devices that programs write to without changing anything.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/fd",
];

/// Shared memory, for programs that may change files: multiprocessing and browsers need it.
const SHARED_MEMORY: &str = "/dev/shm";

/// Rules that are ready to be enforced.
#[derive(Debug)]
pub(super) struct Ruleset(OwnedFd);

impl Ruleset {
    pub(super) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        let all = AccessFs::from_write(TESTED);
        let mut rules = landlock::Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)
            .and_then(|rules| rules.scope(Scope::from_all(TESTED)))
            .and_then(landlock::Ruleset::create)
            .map_err(io::Error::other)?;
        let shared = sandbox.changes_files.then(|| Path::new(SHARED_MEMORY));
        let paths = sandbox.write_roots().chain(DEVICES.map(Path::new)).chain(shared);
        for path in paths {
            // a path that is missing cannot be written to; creating it needs a right to its parent directory
            let Ok(handle) = PathFd::new(path) else { continue };
            let rights = if path.is_dir() { all } else { all & file_rights() };
            rules = rules.add_rule(PathBeneath::new(handle, rights)).map_err(io::Error::other)?;
        }
        let handle: Option<OwnedFd> = rules.into();
        Ok(Self(handle.ok_or_else(|| io::Error::other("the kernel does not support Landlock"))?))
    }

    /// Enforces the rules on the calling process. Async-signal-safe.
    pub(super) fn apply(&self) -> io::Result<()> {
        // SAFETY: plain system calls with valid arguments; neither touches memory of this process
        #[expect(unsafe_code, reason = "rustix has no Landlock, and the crate's own call may allocate")]
        let result = unsafe {
            match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
                0 => libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0),
                _ => -1,
            }
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

fn file_rights() -> BitFlags<AccessFs> {
    AccessFs::from_file(TESTED)
}

/// Returns the version of the kernel's interface; `None` if Landlock is missing or switched off.
pub(super) fn version() -> Option<u32> {
    const VERSION_FLAG: libc::c_int = 1;
    // SAFETY: with this flag the call reads no memory and only returns a number
    #[expect(unsafe_code, reason = "rustix has no Landlock")]
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            VERSION_FLAG,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}
