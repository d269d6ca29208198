//! seccomp: denies system calls that Landlock does not cover.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::{Network, Sandbox};

/// Calls that reconfigure the system or reach around the other layers. No build and no test needs them.
const SYSTEM: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // makes sockets without the calls that are filtered below
    libc::SYS_io_uring_setup,
];

/// Calls that change a file without opening it for writing, or another process.
const CHANGES: &[libc::c_long] = &[
    libc::SYS_truncate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
];

// calls with the same number on all architectures, newer than the libc crate knows them on each
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_REMOVEXATTRAT: libc::c_long = 466;
const SYS_FILE_SETATTR: libc::c_long = 469;

/// The older forms of the calls above, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD_CHANGES: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CHANGES: &[libc::c_long] = &[];

/// A filter that is ready to be installed.
#[derive(Debug)]
pub(super) struct Filter(Arc<BpfProgram>);

/// What filters depend on.
type Key = (bool, bool, Sockets);

/// The sockets that a program may create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sockets {
    All,
    /// Those of this machine, and those that describe its network.
    Local,
    None,
}

impl Filter {
    /// Returns the filter of a sandbox. There are few different ones, and each is compiled once.
    pub(super) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        // locked while a filter is compiled, less than a millisecond
        static COMPILED: Mutex<Vec<(Key, Arc<BpfProgram>)>> = Mutex::new(Vec::new());
        let key = (sandbox.changes_files, can_truncate(sandbox), allowed_sockets(sandbox));
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, filter)) = compiled.iter().find(|(known, _)| *known == key) {
            return Ok(Self(Arc::clone(filter)));
        }
        let filter = Arc::new(Self::compile(key)?);
        compiled.push((key, Arc::clone(&filter)));
        Ok(Self(filter))
    }

    fn compile((changes_files, can_truncate, sockets): Key) -> io::Result<BpfProgram> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            SYSTEM.iter().map(|call| (*call, Vec::new())).collect();
        if !changes_files {
            rules.extend(CHANGES.iter().chain(OLD_CHANGES).map(|call| (*call, Vec::new())));
        }
        if can_truncate {
            // its flags are in memory, where no filter can look
            rules.extend([libc::SYS_truncate, libc::SYS_openat2].map(|call| (call, Vec::new())));
            rules.insert(libc::SYS_openat, truncating_opens(2)?);
            #[cfg(target_arch = "x86_64")]
            rules.insert(libc::SYS_open, truncating_opens(1)?);
        }
        if let Some(sockets) = denied_sockets(sockets)? {
            rules.insert(libc::SYS_socket, sockets);
        }
        let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let arch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, denied, arch).map_err(io::Error::other)?;
        filter.try_into().map_err(io::Error::other)
    }

    /// Installs the filter. Async-signal-safe: two system calls.
    pub(super) fn apply(&self) -> io::Result<()> {
        // the error has no allocation in it, and neither has an error of a system call
        seccompiler::apply_filter(&self.0).map_err(|_failed| io::Error::last_os_error())
    }
}

/// Returns whether the other layers would let a program empty files that it may not write to: Landlock handles that from version 3.
fn can_truncate(sandbox: &Sandbox) -> bool {
    !sandbox.layers.namespaces && sandbox.layers.landlock.is_none_or(|version| version < 3)
}

/// Returns the rules for a call that opens files: denies to empty a file without opening it for writing, which old versions of Landlock
/// let through. `flags` is the place of the flags among the arguments.
fn truncating_opens(flags: u8) -> io::Result<Vec<SeccompRule>> {
    const FOR_READING: libc::c_int = libc::O_RDONLY;
    /// For neither reading nor writing, with the permissions of both.
    const FOR_NOTHING: libc::c_int = libc::O_ACCMODE;
    let opened = |mode: libc::c_int| {
        let mask = u64::from((libc::O_TRUNC | libc::O_ACCMODE).unsigned_abs());
        let value = u64::from((libc::O_TRUNC | mode).unsigned_abs());
        let condition =
            SeccompCondition::new(flags, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value);
        SeccompRule::new(vec![condition.map_err(io::Error::other)?]).map_err(io::Error::other)
    };
    [FOR_READING, FOR_NOTHING].into_iter().map(opened).collect()
}

fn allowed_sockets(sandbox: &Sandbox) -> Sockets {
    let has_loopback = sandbox.network == Network::Local && sandbox.layers.namespaces;
    if sandbox.network == Network::On || has_loopback {
        Sockets::All
    } else if sandbox.changes_files && sandbox.layers.namespaces {
        Sockets::Local
    } else {
        // only namespaces hide the sockets of services that would run programs for the sandbox
        Sockets::None
    }
}

/// Returns the rules for `socket`: an empty list denies every socket, `None` none of them. `socketpair` is always allowed.
fn denied_sockets(allowed: Sockets) -> io::Result<Option<Vec<SeccompRule>>> {
    match allowed {
        Sockets::All => return Ok(None),
        Sockets::None => return Ok(Some(Vec::new())),
        Sockets::Local => {}
    }
    let other_than = |family: libc::c_int| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = [libc::AF_UNIX, libc::AF_NETLINK].map(other_than);
    let conditions = conditions.into_iter().collect::<Result<_, _>>().map_err(io::Error::other)?;
    Ok(Some(vec![SeccompRule::new(conditions).map_err(io::Error::other)?]))
}

/// Returns whether the kernel filters system calls.
pub(super) fn is_available() -> bool {
    const GET_ACTION_AVAILABLE: libc::c_uint = 2;
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads the number behind the pointer, which lives until it returns
    #[expect(unsafe_code, reason = "rustix has no seccomp")]
    let result = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAILABLE, 0, &raw const action) };
    result == 0 && seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok()
}
