//! Namespaces: a view of the file system that is read-only except for the writable paths, and a loopback interface of its own.
//!
//! A process with the right to mount uses only a mount namespace; any other process first makes a user namespace, in which its own user
//! keeps its id. Where the system forbids both, this layer is left out.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Network, Sandbox};

/// Sockets of services that start programs on request, outside of any sandbox.
const SERVICES: [&str; 7] = [
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
];

/// Capabilities that a sandboxed program of root keeps: those about owners and modes of files, and about its own ids.
const KEPT_CAPABILITIES: [u32; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 10];
const LAST_CAPABILITY: u32 = 63;

/// The namespaces of a sandbox, ready to be entered.
#[derive(Debug)]
pub(super) struct Namespaces {
    /// Maps of the user and the group to themselves; `None` if this process may mount without a user namespace.
    ids: Option<Ids>,
    has_own_network: bool,
    writable: Vec<CString>,
    protected: Vec<CString>,
    hidden_files: Vec<CString>,
    hidden_folders: Vec<CString>,
    cwd: Option<CString>,
}

#[derive(Debug)]
struct Ids {
    users: Vec<u8>,
    groups: Vec<u8>,
}

impl Namespaces {
    /// Returns `None` if the whole file system is writable: then there is nothing to protect.
    pub(super) fn new(sandbox: &Sandbox, cwd: Option<&Path>) -> io::Result<Option<Self>> {
        if sandbox.write_roots().any(|path| path == Path::new("/")) {
            return Ok(None);
        }
        let existing = |paths: &mut dyn Iterator<Item = &Path>| -> io::Result<Vec<CString>> {
            paths.filter_map(|path| path.canonicalize().ok()).map(|path| c_path(&path)).collect()
        };
        let shared = sandbox.changes_files.then(|| Path::new("/dev/shm"));
        let (folders, files): (Vec<_>, Vec<_>) = services().into_iter().partition(|path| path.is_dir());
        // what this process works in by default, which must be entered again below the new mounts
        let cwd = match cwd {
            Some(cwd) => Some(c_path(&std::path::absolute(cwd)?)?),
            None => None,
        };
        Ok(Some(Self {
            ids: (!may_mount()).then(Ids::own),
            has_own_network: sandbox.network == Network::Local,
            writable: existing(&mut sandbox.write_roots().chain(shared))?,
            protected: existing(&mut sandbox.protected.iter().map(PathBuf::as_path))?,
            hidden_files: existing(&mut files.iter().map(PathBuf::as_path))?,
            hidden_folders: existing(&mut folders.iter().map(PathBuf::as_path))?,
            cwd,
        }))
    }

    /// Enters the namespaces. Async-signal-safe: plain system calls on memory that is already there.
    pub(super) fn enter(&self) -> io::Result<()> {
        self.unshare()?;
        let root = c"/";
        mount(c"none", root, None, libc::MS_REC | libc::MS_PRIVATE)?;
        for path in self.writable.iter().chain(&self.protected) {
            mount(path, path, None, libc::MS_BIND | libc::MS_REC)?;
        }
        for socket in &self.hidden_files {
            mount(c"/dev/null", socket, None, libc::MS_BIND)?;
        }
        let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        for folder in &self.hidden_folders {
            mount(c"tmpfs", folder, Some(c"tmpfs"), flags)?;
        }
        set_read_only(root, true, libc::AT_RECURSIVE)?;
        for path in &self.writable {
            set_read_only(path, false, 0)?;
        }
        for path in &self.protected {
            set_read_only(path, true, libc::AT_RECURSIVE)?;
        }
        if let Some(cwd) = &self.cwd {
            // SAFETY: the path is a valid string; the call changes no memory of this process
            #[expect(unsafe_code, reason = "`rustix` takes the path as a trait object that may allocate")]
            check(unsafe { libc::chdir(cwd.as_ptr()) })?;
        }
        drop_capabilities()
    }

    fn unshare(&self) -> io::Result<()> {
        let user = if self.ids.is_some() { libc::CLONE_NEWUSER } else { 0 };
        let network = if self.has_own_network { libc::CLONE_NEWNET } else { 0 };
        // SAFETY: the child has one thread, and shares no memory with its parent
        #[expect(unsafe_code, reason = "rustix marks it as unsafe, too, because of threads")]
        check(unsafe { libc::unshare(libc::CLONE_NEWNS | user | network) })?;
        if let Some(ids) = &self.ids {
            // the files of a process that is protected from being read belong to root
            #[cfg(target_os = "linux")]
            rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?;
            write_file(c"/proc/self/setgroups", b"deny")?;
            write_file(c"/proc/self/uid_map", &ids.users)?;
            write_file(c"/proc/self/gid_map", &ids.groups)?;
        }
        if self.has_own_network {
            bring_up_loopback()?;
        }
        Ok(())
    }
}

impl Ids {
    fn own() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { users: format!("{user} {user} 1\n").into(), groups: format!("{group} {group} 1\n").into() }
    }
}

/// Returns whether this process may mount without a user namespace.
fn may_mount() -> bool {
    const SYS_ADMIN: u32 = 21;
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    effective & (1 << SYS_ADMIN) != 0
}

/// Returns the existing sockets and directories of sockets to hide.
fn services() -> Vec<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    // the sockets of the user's desktop and service manager
    let of_user = PathBuf::from(format!("/run/user/{user}"));
    let named = std::env::var_os("DOCKER_HOST")
        .and_then(|host| Some(PathBuf::from(host.to_str()?.strip_prefix("unix://")?)));
    let all = SERVICES.iter().map(PathBuf::from).chain([of_user]).chain(named);
    all.filter(|path| path.exists()).collect()
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mount(from: &CStr, to: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let kind = kind.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: all pointers are valid strings or null, as the call allows
    #[expect(unsafe_code, reason = "the feature of rustix for it would also parse options")]
    check(unsafe { libc::mount(from.as_ptr(), to.as_ptr(), kind, flags, std::ptr::null()) })
}

/// Makes a mount read-only or writable.
fn set_read_only(path: &CStr, is_read_only: bool, flags: libc::c_int) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const READ_ONLY: u64 = 1;
    let (set, clear) = if is_read_only { (READ_ONLY, 0) } else { (0, READ_ONLY) };
    let attributes = Attributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: the path is a valid string, and the structure has the layout and the size that the kernel expects
    #[expect(unsafe_code, reason = "neither libc nor rustix has the call")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn write_file(path: &CStr, content: &[u8]) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};

    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, content)?;
    Ok(())
}

/// Enables the loopback interface of a new network namespace.
fn bring_up_loopback() -> io::Result<()> {
    #[repr(C)]
    struct Request {
        name: [u8; libc::IFNAMSIZ],
        flags: libc::c_short,
        rest: [u8; 22],
    }
    let mut name = [0; libc::IFNAMSIZ];
    name[..2].copy_from_slice(b"lo");
    let flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    let request = Request { name, flags, rest: [0; 22] };
    // SAFETY: the structure has the layout of `ifreq`, lives until the call returns, and the socket is closed afterwards
    #[expect(unsafe_code, reason = "rustix has no calls for network interfaces")]
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let result = check(libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request));
        libc::close(socket);
        result
    }
}

/// Gives up every capability that could undo the namespaces. Without new privileges, no program gets them back.
fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Set {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let kept = KEPT_CAPABILITIES.iter().fold(0_u32, |kept, capability| kept | (1 << capability));
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Set { effective: 0, permitted: 0, inheritable: 0 }; 2];
    // SAFETY: the structures have the layout that the kernel expects for this version, and live until the calls return
    #[expect(
        unsafe_code,
        reason = "rustix has these calls behind a feature that wraps them in allocating types"
    )]
    unsafe {
        for capability in (0..=LAST_CAPABILITY).filter(|capability| !KEPT_CAPABILITIES.contains(capability)) {
            // fails for capabilities that the kernel does not know
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        if libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        for (set, kept) in sets.iter_mut().zip([kept, 0]) {
            set.effective &= kept;
            set.permitted &= kept;
            set.inheritable = 0;
        }
        if libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        // programs that call setuid must not get them back either
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    }
}

/// Returns whether this process may make such namespaces: tried with a program that does nothing.
pub(super) fn is_available() -> bool {
    let sandbox = Sandbox::unprobed();
    let Ok(Some(namespaces)) = Namespaces::new(&sandbox, None) else { return false };
    #[expect(
        clippy::disallowed_methods,
        reason = "this program runs for a moment, before any other is started"
    )]
    let mut command = Command::new("/bin/sh");
    command.args(["-c", ":"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: `enter` makes plain system calls only
    #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
    unsafe {
        command.pre_exec(move || namespaces.enter());
    }
    command.status().is_ok_and(|status| status.success())
}
