//! `cargo xtask quick-start`: runs the first line of the README, as in a fresh clone of the repository.
//!
//! The line runs in this checkout, because another checkout that builds into the same target directory would leave libraries there that
//! cargo then takes for this one's. Instead, a file that git does not know is an error, so a fresh clone has every file.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fs_err as fs;

use crate::cargo::forget_our_package;
use crate::ci::succeed;

/// Rejects files that git does not know, and runs the line.
pub(crate) fn run() -> Result<()> {
    nothing_unknown()?;
    let line = first_line(&fs::read_to_string("README.md")?)?;
    println!("{line}");
    let home = Path::new("target/quick-start");
    fs::create_dir_all(home)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).stdin(Stdio::null()).env("MUSHER_HOME", fs::canonicalize(home)?);
    forget_our_package(&mut shell);
    succeed(&mut shell)
}

/// Sources that are not a git checkout are used as they are.
fn nothing_unknown() -> Result<()> {
    if !Path::new(".git").exists() {
        println!("not a git checkout: unknown files are not checked");
        return Ok(());
    }
    let listed = Command::new("git").args(["ls-files", "--others", "--exclude-standard"]).output()?;
    if !listed.status.success() {
        bail!("git cannot list files: {}", String::from_utf8_lossy(&listed.stderr));
    }
    let files = String::from_utf8_lossy(&listed.stdout);
    if !files.is_empty() {
        bail!("git does not know these files; add them (`git add`) or ignore them:\n{files}");
    }
    Ok(())
}

/// Returns the first line of the first block of shell lines.
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
    fn readme_starts_with_running_the_program() {
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let line = first_line(&fs::read_to_string(readme).unwrap()).unwrap();
        assert!(line.starts_with("cargo run -p musher-cli -- "), "{line}");
        assert!(first_line("```sh\nrm -rf /\n```").is_err());
    }
}
