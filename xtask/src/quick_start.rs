//! `cargo xtask quick-start`: the first line of the README, as somebody runs it who has just cloned the repository.
//!
//! In a folder with nothing but what git knows, so that a file nobody added is missed here and not at the reader's. It builds into the
//! target folder of the workspace, so that dependencies which were built before are not built again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fs_err as fs;

use crate::cargo::forget_our_package;
use crate::ci::succeed;

/// Checks everything out into a folder of its own, reads the README there, and runs its line.
pub(crate) fn run() -> Result<()> {
    let folder = Path::new("target/quick-start");
    fs::create_dir_all(folder)?;
    let folder = fs::canonicalize(folder)?;
    let checkout = checked_out(&folder)?;
    let line = first_line(&fs::read_to_string(checkout.join("README.md"))?)?;
    println!("{line}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(&checkout).stdin(Stdio::null());
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        shell.env("CARGO_TARGET_DIR", fs::canonicalize("target")?);
    }
    shell.env("MUSHER_HOME", folder.join("home"));
    forget_our_package(&mut shell);
    succeed(&mut shell)
}

/// The index of git as files. Sources that did not come from git are taken where they are.
fn checked_out(folder: &Path) -> Result<PathBuf> {
    if !Path::new(".git").exists() {
        println!("no git checkout: the line is run among whatever lies here");
        return Ok(fs::canonicalize(".")?);
    }
    let checkout = folder.join("checkout");
    if checkout.exists() {
        fs::remove_dir_all(&checkout)?;
    }
    let prefix = format!("--prefix={}/", checkout.display());
    succeed(Command::new("git").args(["checkout-index", "--all", "--force"]).arg(prefix))?;
    Ok(checkout)
}

/// The first line of the first block of shell lines.
fn first_line(readme: &str) -> Result<String> {
    let mut lines = readme.lines().skip_while(|line| *line != "```sh").skip(1);
    let line = lines.next().context("the README has no block of shell lines")?;
    if !line.starts_with("cargo run ") {
        bail!("the first shell line of the README is `{line}`, and should run the program");
    }
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_begins_with_running_the_program() {
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let line = first_line(&fs::read_to_string(readme).unwrap()).unwrap();
        assert!(line.starts_with("cargo run -p musher-cli -- "), "{line}");
        assert!(first_line("```sh\nrm -rf /\n```").is_err());
    }
}
