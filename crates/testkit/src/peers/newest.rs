//! The newest versions of the peers: looked up in their registries by `cargo xtask peers --newest`, and used by tests on request.
//!
//! Tests use the pinned versions, so that a new version cannot break them. With [`NEWEST_VARIABLE`] set they use what was looked up last.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::fetch::tool;
use super::{ALL, Peer, Source};

/// Set to run tests with the newest versions instead of the pinned ones.
pub const NEWEST_VARIABLE: &str = "MUSHER_NEWEST_PEERS";

/// The file in the cache with the versions that were looked up, by the names of the peers.
const FILE: &str = "newest.json";

/// A version in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Version {
    version: String,
    /// What npm publishes; empty for others.
    #[serde(default, rename = "dist.integrity")]
    integrity: String,
}

/// Returns the peers at the versions that tests use by default, without the older ones.
pub fn current() -> Vec<Peer> {
    let is_first = |at: usize, peer: &Peer| ALL[..at].iter().all(|other| other.name != peer.name);
    ALL.iter().enumerate().filter(|(at, peer)| is_first(*at, peer)).map(|(_, peer)| *peer).collect()
}

/// Looks up the newest version of a peer in its registry.
pub fn look_up(peer: &Peer) -> Result<Peer> {
    let (program, args, package) = match peer.source {
        Source::Npm { package, .. } => {
            ("npm", vec!["view", package, "version", "dist.integrity", "--json"], package)
        }
        Source::PyPi { package, .. } => {
            let (package, _) = package.split_once('[').unwrap_or((package, ""));
            ("python3", vec!["-m", "pip", "index", "versions", package], package)
        }
    };
    let output = tool(program).args(&args).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start `{program}`: is it installed?"))?;
    let error = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    ensure!(output.status.success(), "cannot look up `{package}`: {error}");
    let text = String::from_utf8_lossy(&output.stdout);
    let version = match peer.source {
        Source::Npm { .. } => serde_json::from_str(&text).ok(),
        Source::PyPi { .. } => of_pip(&text),
    };
    let version: Version =
        version.with_context(|| format!("cannot look up `{package}`: invalid answer `{}`", text.trim()))?;
    Ok(at(peer, version))
}

/// Reads what pip prints first: `droid-sdk (0.5.0)`.
fn of_pip(text: &str) -> Option<Version> {
    let (_, rest) = text.lines().next()?.split_once('(')?;
    let version = rest.split_once(')')?.0.to_owned();
    Some(Version { version, integrity: String::new() })
}

/// Keeps the versions in the cache, for tests.
pub fn remember(newest: &[Peer], cache: &Path) -> Result<()> {
    let version = |peer: &Peer| {
        let integrity = match peer.source {
            Source::Npm { integrity, .. } => integrity,
            Source::PyPi { .. } => "",
        };
        Version { version: peer.version.to_owned(), integrity: integrity.to_owned() }
    };
    let all: BTreeMap<&str, Version> = newest.iter().map(|peer| (peer.name, version(peer))).collect();
    fs_err::create_dir_all(cache)?;
    Ok(fs_err::write(cache.join(FILE), serde_json::to_vec_pretty(&all)?)?)
}

/// Returns the peer at the version that was looked up last. Older versions, and peers that were not looked up, stay as they are.
pub(super) fn remembered(peer: &Peer, cache: &Path) -> Result<Peer> {
    if !current().contains(peer) {
        return Ok(*peer);
    }
    let path = cache.join(FILE);
    let text =
        fs_err::read(&path).context("run `cargo xtask peers --newest`, which looks the versions up")?;
    let mut all: BTreeMap<String, Version> =
        serde_json::from_slice(&text).with_context(|| format!("in {}", path.display()))?;
    Ok(all.remove(peer.name).map_or(*peer, |version| at(peer, version)))
}

/// Returns the peer at another version. Peers are constants everywhere else; the few texts made here live as long as the process.
fn at(peer: &Peer, version: Version) -> Peer {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    // the lock file is for the pinned version only
    let pinned = |lock: Option<&'static str>| lock.filter(|_| version.version == peer.version);
    let source = match peer.source {
        Source::Npm { package, lock, .. } => {
            Source::Npm { package, lock: pinned(lock), integrity: leak(version.integrity) }
        }
        Source::PyPi { package, lock } => Source::PyPi { package, lock: pinned(lock) },
    };
    Peer { version: leak(version.version), source, ..*peer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::{CLAUDE, CLAUDE_OLD, DROID, PYTHON_SDK};

    #[test]
    fn newest_versions_replace_current_ones_and_no_others() {
        let cache = tempfile::tempdir().unwrap();
        assert!(remembered(&DROID, cache.path()).unwrap_err().to_string().contains("--newest"));
        let version =
            |version: &str| Version { version: version.to_owned(), integrity: "sha512-x".to_owned() };
        let newest = [at(&CLAUDE, version("9.0.0")), at(&PYTHON_SDK, version("8.0.0"))];
        remember(&newest, cache.path()).unwrap();
        for (peer, expected) in
            [(CLAUDE, newest[0]), (PYTHON_SDK, newest[1]), (CLAUDE_OLD, CLAUDE_OLD), (DROID, DROID)]
        {
            assert_eq!(remembered(&peer, cache.path()).unwrap(), expected);
        }
        assert!(matches!(newest[0].source, Source::Npm { integrity: "sha512-x", .. }));
    }

    #[test]
    fn answers_of_registries_are_read() {
        let text = "{\"version\": \"2.1.327\", \"dist.integrity\": \"sha512-a\"}";
        let npm: Version = serde_json::from_str(text).unwrap();
        assert_eq!((npm.version.as_str(), npm.integrity.as_str()), ("2.1.327", "sha512-a"));
        let pip = of_pip("droid-sdk (0.5.0)\nAvailable versions: 0.5.0, 0.4.0\n").unwrap();
        assert_eq!(pip.version, "0.5.0");
        assert_eq!(of_pip("ERROR: none"), None);
    }
}
