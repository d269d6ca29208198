//! Fetches a peer into the cache, completely or not at all. The only code of the workspace that uses a package registry.
//!
//! No install scripts run (`--ignore-scripts`), npm packages must have the pinned integrity, and concurrent fetches do not collide: a lock
//! file per peer, a temporary directory beside the target, one rename at the end.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::cache::folder;
use super::{Installed, Peer, Source, find};

/// Fetches a peer unless it is in the cache; `progress` is called for each slow step.
pub fn fetch(peer: &Peer, cache: &Path, progress: &mut dyn FnMut(&str)) -> Result<Installed> {
    fs_err::create_dir_all(cache)?;
    let lock = fs_err::File::create(cache.join(format!(".{}.lock", folder(peer))))?;
    if lock.try_lock().is_err() {
        progress("waiting for another process that fetches it");
        lock.lock()?;
    }
    if let Some(installed) = find(peer, cache) {
        return Ok(installed);
    }

    let staging = tempfile::Builder::new().prefix(".staging-").tempdir_in(cache)?;
    match peer.source {
        Source::Npm { package, integrity } => {
            progress(&format!("npm install {package}@{}", peer.version));
            npm(staging.path(), package, peer.version)?;
            check_integrity(staging.path(), package, integrity)?;
        }
        Source::PyPi { package } => {
            progress("python3 -m venv");
            let at = staging.path();
            run(tool("python3").args(["-m", "venv"]).arg(at))?;
            progress(&format!("pip install {package}=={}", peer.version));
            run(tool(at.join("bin/python"))
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--only-binary=:all:",
                ])
                .arg(format!("{package}=={}", peer.version)))?;
        }
    }

    let target = cache.join(folder(peer));
    if target.exists() {
        // incomplete, or `find` would have found it: the rest of an interrupted removal
        fs_err::remove_dir_all(&target)?;
    }
    fs_err::rename(staging.keep(), &target)?;
    find(peer, cache)
        .with_context(|| format!("{} {} was installed but has no entry point", peer.name, peer.version))
}

#[expect(
    clippy::disallowed_methods,
    reason = "package managers that end by themselves, waited for here; not agents"
)]
pub(super) fn tool(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

fn npm(prefix: &Path, package: &str, version: &str) -> Result<()> {
    run(tool("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--prefix"])
        .arg(prefix)
        .arg(format!("{package}@{version}")))
}

fn check_integrity(prefix: &Path, package: &str, wanted: &str) -> Result<()> {
    let lock: Value = serde_json::from_slice(&fs_err::read(prefix.join("package-lock.json"))?)?;
    let found = &lock["packages"][format!("node_modules/{package}")]["integrity"];
    ensure!(found == wanted, "{package}: integrity is {found}, pinned is {wanted}");
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{program}`: is it installed?"))?;
    if !output.status.success() {
        bail!(
            "`{program}` ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::DROID;

    #[test]
    fn package_with_wrong_integrity_is_rejected() {
        let prefix = tempfile::tempdir().unwrap();
        let lock = r#"{"packages": {"node_modules/p": {"version": "1.0.0", "integrity": "sha512-a"}}}"#;
        fs_err::write(prefix.path().join("package-lock.json"), lock).unwrap();
        check_integrity(prefix.path(), "p", "sha512-a").unwrap();
        assert!(check_integrity(prefix.path(), "p", "sha512-b").is_err());
        assert!(check_integrity(prefix.path(), "absent", "sha512-a").is_err());
    }

    #[test]
    fn cached_peer_is_not_fetched_again() {
        let cache = tempfile::tempdir().unwrap();
        let program = cache.path().join("droid-0.225.2/node_modules/@factory/cli-linux-x64/bin/droid");
        fs_err::create_dir_all(program.parent().unwrap()).unwrap();
        fs_err::write(&program, "").unwrap();
        let mut steps = Vec::new();
        let installed = fetch(&DROID, cache.path(), &mut |step| steps.push(step.to_owned())).unwrap();
        assert_eq!((installed.entry(), steps), (program, vec![]));
    }
}
