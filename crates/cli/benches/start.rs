//! How long a program takes to print its version: ours beside droid and Claude Code, in one run.
//!
//! `cargo bench -p musher-cli --bench start -- --program target/dist/musher`.
//! They take turns, and of each the median of the wall time and the mean of the processor time count. No goal is asserted here: it
//! prints what was measured.

#![allow(clippy::print_stdout, reason = "a benchmark")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use testkit::peers::{CLAUDE, DROID};
use testkit::{Sandbox, require_peer};

const ROUNDS: u32 = 20;

fn main() -> Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        println!("left to `cargo bench`");
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare())
}

struct Candidate {
    name: &'static str,
    program: PathBuf,
    times: Vec<Duration>,
    cpu: f64,
}

async fn compare() -> Result<()> {
    let (droid, claude) = (require_peer!(DROID), require_peer!(CLAUDE));
    let candidate = |name, program| Candidate { name, program, times: Vec::new(), cpu: 0.0 };
    let mut candidates = [
        candidate("musher", testkit::bench::program(env!("CARGO_BIN_EXE_musher"))),
        candidate("droid", droid.entry()),
        candidate("claude", claude.entry()),
    ];
    let sandbox = Sandbox::new()?;
    for round in 0..=ROUNDS {
        for it in &mut candidates {
            let launch = sandbox.launch(&it.program).arg("--version");
            let (before, start) = (cpu_of_children()?, Instant::now());
            let ended = sandbox.output(&launch).await?;
            ensure!(ended.status.success(), "{} said {}", it.name, ended.stderr);
            // the first round only brings the programs into memory
            if round > 0 {
                it.times.push(start.elapsed());
                it.cpu += cpu_of_children()? - before;
            }
        }
    }
    sandbox.finish().await?;
    println!("`--version`, {ROUNDS} times in turns\n");
    println!("{:<8} {:>10} {:>10}   wall and CPU as multiples of ours", "", "median ms", "CPU ms");
    let figures: Vec<_> = candidates.into_iter().map(figures).collect();
    for (name, wall, cpu) in &figures {
        let (_, our_wall, our_cpu) = figures[0];
        println!("{name:<8} {wall:>10.2} {cpu:>10.2}   {:>6.1} x {:>6.1} x", wall / our_wall, cpu / our_cpu);
    }
    Ok(())
}

fn figures(it: Candidate) -> (&'static str, f64, f64) {
    let wall = testkit::bench::median(it.times).as_secs_f64() * 1000.0;
    (it.name, wall, it.cpu * 1000.0 / f64::from(ROUNDS))
}

/// Seconds of processor time that the children which were waited for have used.
fn cpu_of_children() -> Result<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").context("no fields")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks: f64 = fields[13].parse::<f64>()? + fields[14].parse::<f64>()?;
    // a hundredth of a second each, on every Linux there is
    Ok(ticks / 100.0)
}
