//! Installs the Debian programs that tests run: those that the option tables are compared with, and a proxy.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::ci::succeed;

/// Programs that a minimal Debian system does not have, with the package each is in.
const PROGRAMS: [(&str, &str); 15] = [
    ("chromedriver", "chromium-driver"),
    ("chromium", "chromium"),
    ("column", "bsdextrautils"),
    ("file", "file"),
    ("free", "procps"),
    ("gawk", "gawk"),
    ("gcc", "gcc"),
    ("jq", "jq"),
    ("lsmod", "kmod"),
    ("make", "make"),
    ("pytest", "python3-pytest"),
    ("rg", "ripgrep"),
    ("strings", "binutils"),
    ("tinyproxy", "tinyproxy-bin"),
    ("tree", "tree"),
];

/// Installs the missing programs; without `apt-get`, the error names them.
pub(crate) fn install() -> Result<()> {
    let missing: Vec<_> = PROGRAMS.iter().filter(|(program, _)| !is_installed(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    println!("  installing {}", packages.join(", "));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        succeed(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-q"])
        .and_then(|()| {
            apt(&[&["install", "-q", "-y", "--no-install-recommends"], packages.as_slice()].concat())
        })
        .with_context(|| {
            format!("tests need the Debian packages {}; install them as root", packages.join(", "))
        })?;
    if let Some((program, package)) = missing.iter().find(|(program, _)| !is_installed(program)) {
        bail!("`{program}` is still missing after the installation of {package}");
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/bin"].iter().any(|folder| std::path::Path::new(folder).join(program).exists())
}
