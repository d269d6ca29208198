//! The sandbox of a program: where it may write and what it may connect to, enforced by the kernel.
//!
//! The caller decides what is allowed; this module only applies it, in the child between fork and exec, so it also holds for everything
//! that the program starts. Reading is not restricted: which files a program may read is decided before it starts.
//!
//! Three layers do this, each as far as the kernel supports it ([`Layers::available`] says which):
//!
//! - Landlock denies writing, creating, removing, renaming and truncating outside of the writable paths, signals to processes outside of
//!   the sandbox, and their abstract sockets.
//! - seccomp denies what Landlock does not cover: sockets, changes of modes, owners, times and attributes, and calls that only serve to
//!   reconfigure the system.
//! - Namespaces make the file system read-only except for the writable paths, which also protects modes and times, and keep paths inside
//!   writable ones read-only, which Landlock cannot do. Sockets of services that would run programs for the sandbox are hidden.

#[cfg(target_os = "linux")]
mod landlock;
mod launch;
mod layers;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod seccomp;

use std::io;
use std::path::{Path, PathBuf};

pub use layers::Layers;

/// Where a program may write and what it may connect to.
///
/// ```
/// use musher_process::{Command, Layers, Sandbox, Streams};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let folder = tempfile::tempdir()?;
/// let sandbox = Sandbox::read_only().temp(folder.path());
/// let child = Command::new("touch").arg("/tmp/new").sandbox(sandbox).spawn(Streams::null()).await?;
/// assert_eq!(child.reap()?.success(), !Layers::available().restricts_writes());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) temp: Option<PathBuf>,
    pub(crate) network: Network,
    pub(crate) changes_files: bool,
    pub(crate) layers: Layers,
}

/// What a program may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// Everything.
    On,
    /// A loopback interface of its own: servers that it starts itself. Without namespaces the same as `Off`.
    Local,
    /// Nothing.
    #[default]
    Off,
}

impl Sandbox {
    /// Creates a sandbox without write access and without network.
    pub fn read_only() -> Self {
        Self { layers: Layers::available(), ..Self::unprobed() }
    }

    /// Creates a sandbox without write access and without layers, which also serves to find out which are available.
    fn unprobed() -> Self {
        Self {
            writable: Vec::new(),
            protected: Vec::new(),
            temp: None,
            network: Network::Off,
            changes_files: false,
            layers: Layers::default(),
        }
    }

    /// Creates a sandbox in which only files at and below these paths may be changed. Paths that do not exist are ignored.
    pub fn writable(paths: impl IntoIterator<Item: AsRef<Path>>) -> Self {
        let writable = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        Self { writable, changes_files: true, ..Self::read_only() }
    }

    /// Keeps paths inside writable ones read-only. Needs namespaces; see [`Layers::protects_paths`].
    #[must_use]
    pub fn protect(mut self, paths: impl IntoIterator<Item: AsRef<Path>>) -> Self {
        self.protected.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sets a directory for temporary files, which is writable and set as `TMPDIR`. It must exist.
    #[must_use]
    pub fn temp(mut self, folder: impl AsRef<Path>) -> Self {
        self.temp = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets what the program may connect to. The default is nothing.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Uses only some of the layers, to test what the others do. The default is all that are available.
    #[must_use]
    pub fn layers(mut self, layers: Layers) -> Self {
        self.layers = layers;
        self
    }

    /// Returns whether only temporary files may be changed.
    pub fn is_read_only(&self) -> bool {
        !self.changes_files
    }

    /// Returns whether servers outside of the sandbox cannot be reached.
    pub fn denies_network(&self) -> bool {
        self.network != Network::On
    }

    /// Returns whether the program sees a file system of its own, so that a denied change fails as on a read-only file system.
    pub fn has_namespaces(&self) -> bool {
        self.layers.namespaces
    }

    /// Returns all paths at or below which the program may write.
    #[cfg(target_os = "linux")]
    fn write_roots(&self) -> impl Iterator<Item = &Path> {
        self.writable.iter().chain(&self.temp).map(PathBuf::as_path)
    }
}

/// A sandbox that is ready to be applied between fork and exec.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Prepared {
    namespaces: Option<namespaces::Namespaces>,
    landlock: Option<landlock::Ruleset>,
    seccomp: Option<seccomp::Filter>,
}

#[cfg(target_os = "linux")]
impl Prepared {
    /// Does everything that allocates or can fail for lack of resources.
    pub(crate) fn new(sandbox: &Sandbox, cwd: Option<&Path>) -> io::Result<Self> {
        let layers = sandbox.layers;
        Ok(Self {
            namespaces: layers
                .namespaces
                .then(|| namespaces::Namespaces::new(sandbox, cwd))
                .transpose()?
                .flatten(),
            landlock: layers.landlock.map(|_abi| landlock::Ruleset::new(sandbox)).transpose()?,
            seccomp: layers.seccomp.then(|| seccomp::Filter::new(sandbox)).transpose()?,
        })
    }

    /// Applies the sandbox to the calling process. Async-signal-safe. Namespaces come first, because the other layers forbid to make them.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if let Some(namespaces) = &self.namespaces {
            namespaces.enter()?;
        }
        if let Some(ruleset) = &self.landlock {
            ruleset.apply()?;
        }
        if let Some(filter) = &self.seccomp {
            filter.apply()?;
        }
        Ok(())
    }
}

/// Other systems have no sandbox yet; [`Layers::available`] says so.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Prepared;

#[cfg(not(target_os = "linux"))]
impl Prepared {
    pub(crate) fn new(_sandbox: &Sandbox, _cwd: Option<&Path>) -> io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "the same as on Linux")]
    pub(crate) fn apply(&self) -> io::Result<()> {
        Ok(())
    }
}
