//! The layers of a sandbox that this machine supports, and what follows from them.

use std::fmt;
use std::sync::OnceLock;

/// The layers of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// The version of Landlock's interface, if the kernel has Landlock.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether this process may create mount namespaces.
    pub namespaces: bool,
}

impl Layers {
    /// Returns what this machine supports. Tries it once, which takes a few milliseconds.
    pub fn available() -> Self {
        static AVAILABLE: OnceLock<Layers> = OnceLock::new();
        *AVAILABLE.get_or_init(Self::probe)
    }

    /// Returns whether writing outside of the writable paths is denied.
    pub fn restricts_writes(self) -> bool {
        self.landlock.is_some() || self.namespaces
    }

    /// Returns whether files outside of the writable paths cannot be emptied. Landlock alone does that from version 3, seccomp helps
    /// older ones.
    pub fn restricts_truncation(self) -> bool {
        self.namespaces || self.landlock.is_some_and(|version| version >= 3 || self.seccomp)
    }

    /// Returns whether modes, owners and times of files outside of the writable paths cannot be changed by programs that may write.
    pub fn restricts_attributes(self) -> bool {
        self.namespaces
    }

    /// Returns whether connections are denied.
    pub fn restricts_network(self) -> bool {
        self.seccomp
    }

    /// Returns whether paths inside writable ones can be kept read-only.
    pub fn protects_paths(self) -> bool {
        self.namespaces
    }

    /// Returns whether all layers are there.
    pub fn is_complete(self) -> bool {
        self.landlock.is_some() && self.seccomp && self.namespaces
    }

    #[cfg(target_os = "linux")]
    fn probe() -> Self {
        Self {
            landlock: super::landlock::version(),
            seccomp: super::seccomp::is_available(),
            namespaces: super::namespaces::is_available(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn probe() -> Self {
        Self::default()
    }
}

/// For people: `Landlock 7, seccomp, namespaces`, or `none`.
impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = self.landlock.map(|version| format!("Landlock {version}"));
        let seccomp = self.seccomp.then(|| "seccomp".to_owned());
        let namespaces = self.namespaces.then(|| "namespaces".to_owned());
        let parts: Vec<_> = [landlock, seccomp, namespaces].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "none" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}
