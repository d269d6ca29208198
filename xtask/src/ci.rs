//! `cargo xtask ci`: all checks, quickest first; stops at the first failure.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;

/// Optional parts that are checked and tested, too. The same in each step, so that nothing is built twice.
const FEATURES: &str = "--features=musher-cli/otlp";

/// Runs all checks in order and prints how long each took.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.cargo("format", &["fmt", "--all", "--check"])?;
    steps.task("layers", crate::layers::run)?;
    steps.task("packages", crate::packages::run)?;
    steps.task("tidy", crate::tidy::run)?;
    steps.task("console types", crate::console_types::check)?;
    steps.cargo("lint", &["clippy", "--workspace", FEATURES, "--all-targets", "--", "--deny", "warnings"])?;
    steps.cargo("peers", &["xtask", "peers"])?;
    steps.task("wire-check", || crate::wire_check::run(&["fixtures/wire".into()]))?;
    if has_nextest() {
        steps.tests("tests", &["nextest", "run", "--workspace", FEATURES, "--no-fail-fast"])?;
    } else {
        steps.tests("tests", &["test", "--workspace", FEATURES, "--all-targets"])?;
    }
    steps.tests("doc tests", &["test", "--workspace", FEATURES, "--doc"])?;
    steps.step("docs", || {
        let mut cargo = cargo(&["doc", "--workspace", FEATURES, "--no-deps"]);
        succeed(cargo.env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    steps.task("book", crate::book::run)?;
    steps.task("quick start", crate::quick_start::run)?;
    steps.task("screenshot", crate::screenshot::check)?;
    steps.task("recorded session", crate::screenshot::cast::check)?;
    steps.task("fuzz", || crate::fuzz::run(30))?;
    steps.summary();
    Ok(())
}

#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn cargo(&mut self, name: &'static str, args: &[&str]) -> Result<()> {
        self.step(name, || succeed(&mut cargo(args)))
    }

    /// The error that a test returns says what is wrong; a backtrace of its creation only hides that. Panics keep theirs.
    fn tests(&mut self, name: &'static str, args: &[&str]) -> Result<()> {
        self.step(name, || succeed(cargo(args).env("RUST_LIB_BACKTRACE", "0")))
    }

    fn task(&mut self, name: &'static str, task: impl FnOnce() -> Result<()>) -> Result<()> {
        self.step(name, task)
    }

    fn step(&mut self, name: &'static str, task: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        task().with_context(|| format!("step `{name}` failed"))?;
        self.0.push((name, start.elapsed()));
        Ok(())
    }

    fn summary(&self) {
        println!("==> all checks passed");
        for (name, time) in &self.0 {
            println!("{:>8.1} s  {name}", time.as_secs_f64());
        }
    }
}

fn has_nextest() -> bool {
    cargo(&["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

/// Runs a command in this terminal, and fails if it fails.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
