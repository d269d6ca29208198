//! Fetches a peer into the cache, completely or not at all. The only code of the workspace that uses a package registry.
//!
//! No install scripts run (`--ignore-scripts`), and every package must have the hash in the committed lock file of its peer. Concurrent
//! fetches do not collide: a lock per peer, a temporary directory beside the target, one rename at the end.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

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
        Source::Npm { package, integrity, lock } => {
            let wanted = format!("{package}@{}", peer.version);
            if let Some(lock) = lock {
                progress(&format!("npm ci {wanted}"));
                npm_locked(staging.path(), lock)?;
            } else {
                progress(&format!("npm install {wanted}"));
                npm(staging.path(), &wanted)?;
            }
            check_integrity(staging.path(), package, integrity)?;
        }
        Source::PyPi { package, lock } => {
            progress("python3 -m venv");
            let at = staging.path();
            run(tool("python3").args(["-m", "venv"]).arg(at))?;
            progress(&format!("pip install {package}=={}", peer.version));
            let mut pip = tool(at.join("bin/python"));
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--only-binary=:all:",
            ]);
            match lock {
                Some(lock) => {
                    let requirements = at.join("requirements.txt");
                    fs_err::write(&requirements, lock)?;
                    pip.args(["--require-hashes", "--requirement"]).arg(requirements);
                }
                None => {
                    pip.arg(format!("{package}=={}", peer.version));
                }
            }
            run(&mut pip)?;
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

/// Installs a version that is not pinned.
fn npm(prefix: &Path, wanted: &str) -> Result<()> {
    run(tool("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--prefix"])
        .arg(prefix)
        .arg(wanted))
}

/// Installs exactly what a lock file has. It names no registry, so that any mirror works.
fn npm_locked(prefix: &Path, lock: &str) -> Result<()> {
    let parsed: Value = serde_json::from_str(lock)?;
    let manifest = json!({"name": "peer", "dependencies": parsed["packages"][""]["dependencies"]});
    fs_err::write(prefix.join("package.json"), manifest.to_string())?;
    fs_err::write(prefix.join("package-lock.json"), lock)?;
    run(tool("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(prefix))
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
    use crate::peers::{ALL, DROID};

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
    fn every_package_that_a_peer_needs_is_pinned_by_its_hash_and_no_registry_is_named() {
        for peer in ALL {
            let (Source::Npm { lock: Some(lock), .. } | Source::PyPi { lock: Some(lock), .. }) = peer.source
            else {
                panic!("{peer} has no lock file");
            };
            assert!(!lock.contains("://"), "{peer} names a registry");
            match peer.source {
                Source::Npm { package, integrity, .. } => {
                    let lock: Value = serde_json::from_str(lock).unwrap();
                    let packages = lock["packages"].as_object().unwrap();
                    let (root, needed): (Vec<_>, Vec<_>) =
                        packages.iter().partition(|(path, _)| path.is_empty());
                    assert_eq!(root[0].1["dependencies"], json!({package: peer.version}), "{peer}");
                    for (path, package) in &needed {
                        assert!(
                            package["integrity"].as_str().unwrap().starts_with("sha512-"),
                            "{peer}: {path}"
                        );
                    }
                    assert_eq!(
                        packages[&format!("node_modules/{package}")]["integrity"],
                        integrity,
                        "{peer}"
                    );
                }
                Source::PyPi { package, .. } => {
                    let requirements: Vec<&str> =
                        lock.split('\n').filter(|line| line.contains("==")).collect();
                    assert!(
                        requirements
                            .iter()
                            .any(|line| line.starts_with(&format!("{package}=={}", peer.version)))
                    );
                    for requirement in requirements {
                        let (_, after) = lock.split_once(requirement).unwrap();
                        assert!(after.starts_with("\n    --hash=sha256:"), "{requirement}");
                    }
                }
            }
        }
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
