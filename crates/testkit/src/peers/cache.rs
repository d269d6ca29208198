//! The cache of fetched peers: one directory per name and version, outside the checkout.
//!
//! A directory exists completely or not at all, because one rename moves it into place. So finding a peer is only a lookup.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Entry, Peer, Source};

/// A peer in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The peer.
    pub peer: Peer,
    /// Its directory in the cache.
    pub root: PathBuf,
}

impl Installed {
    /// Returns what a test starts: the program, the Python interpreter, or the directory that contains `node_modules`.
    pub fn entry(&self) -> PathBuf {
        entry(&self.peer, &self.root)
    }
}

/// Returns the cache directory: `$MUSHER_PEERS`, else `$XDG_CACHE_HOME/musher/peers`, else `~/.cache/musher/peers`.
pub fn cache_dir() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = set("MUSHER_PEERS") {
        return Ok(dir);
    }
    let base = match set("XDG_CACHE_HOME") {
        Some(dir) => dir,
        None => {
            set("HOME").context("neither MUSHER_PEERS nor XDG_CACHE_HOME nor HOME is set")?.join(".cache")
        }
    };
    Ok(base.join("musher/peers"))
}

/// Returns the peer from this cache, if it was fetched.
pub fn find(peer: &Peer, cache: &Path) -> Option<Installed> {
    let root = cache.join(folder(peer));
    entry(peer, &root).exists().then_some(Installed { peer: *peer, root })
}

pub(super) fn folder(peer: &Peer) -> String {
    format!("{}-{}", peer.name, peer.version)
}

fn entry(peer: &Peer, root: &Path) -> PathBuf {
    match (peer.entry, peer.source) {
        (Entry::Program(path), Source::Npm { package, .. }) => {
            root.join("node_modules").join(package).join(path)
        }
        (Entry::Program(path), Source::PyPi { .. }) => root.join("bin").join(path),
        (Entry::NodeModules, _) => root.to_path_buf(),
        (Entry::Python, _) => root.join("bin/python"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::{ALL, DROID};

    #[test]
    fn peer_is_found_only_once_its_entry_is_there() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(find(&DROID, cache.path()), None);

        let root = cache.path().join("droid-0.225.2");
        let program = root.join("node_modules/@factory/cli-linux-x64/bin/droid");
        fs_err::create_dir_all(program.parent().unwrap()).unwrap();
        fs_err::write(&program, "").unwrap();

        let found = find(&DROID, cache.path()).unwrap();
        assert_eq!(found, Installed { peer: DROID, root });
        assert_eq!(found.entry(), program);
    }

    #[test]
    fn every_peer_has_its_own_directory() {
        let folders: std::collections::HashSet<_> = ALL.iter().map(folder).collect();
        assert_eq!(folders.len(), ALL.len());
    }
}
