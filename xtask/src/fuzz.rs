//! `cargo xtask fuzz`: fuzzes the frame parser with libFuzzer.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use fs_err as fs;

use crate::cargo::{cargo, forget_our_package};
use crate::ci::succeed;
use crate::wire_check::recorded_lines;

/// Fuzzes for `seconds`, starting from recorded lines. Without a nightly toolchain it prints that and does nothing.
pub(crate) fn run(seconds: u32) -> Result<()> {
    if !has_nightly() {
        println!("skipped: fuzzing needs a nightly toolchain (`rustup toolchain install nightly`)");
        return Ok(());
    }
    let corpus = PathBuf::from("fuzz/corpus/frame");
    fs::create_dir_all(&corpus)?;
    for (number, line) in recorded_lines("fixtures/wire".as_ref())?.iter().enumerate().step_by(7) {
        fs::write(corpus.join(format!("recorded-{number}")), line)?;
    }
    let tool = cargo_fuzz()?;
    let time = format!("-max_total_time={seconds}");
    // cargo passes on its own toolchain; the fuzzer needs the nightly one
    let mut fuzz = Command::new("rustup");
    fuzz.args(["run", "nightly"]).arg(tool).args([
        "fuzz",
        "run",
        "frame",
        "--",
        &time,
        "-timeout=5",
        // the address sanitizer keeps freed memory, and the corpus grows; one allocation shows a real leak sooner
        "-rss_limit_mb=2048",
        "-malloc_limit_mb=256",
    ]);
    fuzz.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    forget_our_package(&mut fuzz);
    succeed(&mut fuzz)
}

fn has_nightly() -> bool {
    Command::new("rustup")
        .args(["run", "nightly", "rustc", "--version"])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// Returns the cargo-fuzz program: the one on PATH, or one installed beside the peers.
fn cargo_fuzz() -> Result<PathBuf> {
    let name = PathBuf::from("cargo-fuzz");
    if Command::new(&name).args(["fuzz", "--version"]).output().is_ok_and(|out| out.status.success()) {
        return Ok(name);
    }
    let root = testkit::peers::cache_dir()?.join("tools");
    let installed = root.join("bin/cargo-fuzz");
    if !installed.is_file() {
        println!("installing cargo-fuzz");
        let mut install = cargo(&["install", "--locked", "--quiet", "cargo-fuzz", "--root"]);
        install.arg(&root);
        succeed(&mut install).context("cannot install cargo-fuzz")?;
    }
    Ok(installed)
}
