//! `cargo xtask capture`: records a scenario from a real agent in a sandbox, with the scripted model, as a sanitised capture file.
//!
//! `testkit::capture` decides what is sent and what is kept; this file reads and writes the files.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use testkit::capture::{self, Scenario};
use testkit::peers::{self, Peer};
use testkit::rehearse::Script;

/// Record a scenario from a real agent.
#[derive(Debug, Args)]
pub(crate) struct CaptureArgs {
    /// The agent, as NAME or NAME@VERSION
    #[arg(long)]
    peer: String,
    /// The script of the model (YAML or JSON)
    #[arg(long)]
    script: PathBuf,
    /// The steps of the client (JSON)
    #[arg(long)]
    scenario: PathBuf,
    /// The directory for the capture, which gets the scenario's name
    #[arg(long)]
    out: PathBuf,
}

/// Records one scenario and writes it.
pub(crate) fn run(args: &CaptureArgs) -> Result<()> {
    let peer = Peer::named(&args.peer).with_context(|| format!("unknown peer `{}`", args.peer))?;
    let installed = peers::find(&peer, &peers::cache_dir()?)
        .with_context(|| format!("{peer} is not installed: {}", peers::MISSING_HINT))?;
    let script = Script::read(&args.script)?;
    let scenario: Scenario = serde_json::from_slice(&fs_err::read(&args.scenario)?)
        .with_context(|| format!("in {}", args.scenario.display()))?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let records = runtime.block_on(capture::record(&installed, script, &scenario))?;

    let name = args.scenario.file_stem().context("the scenario has no file name")?;
    let path = args.out.join(Path::new(name).with_extension("jsonl"));
    capture::write(&path, &records)?;
    writeln!(io::stderr(), "{}: {} lines from {peer}", path.display(), records.len())?;
    Ok(())
}
