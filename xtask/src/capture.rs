//! `cargo xtask capture`: records a scenario from a real agent in a sandbox, with the scripted model, as a sanitised capture file.
//!
//! What is said and what is kept is decided in `testkit::capture`; here are the files it reads and writes.

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
    /// What the scripted model says (YAML or JSON)
    #[arg(long)]
    script: PathBuf,
    /// What the client does (JSON)
    #[arg(long)]
    scenario: PathBuf,
    /// The folder the capture is written to, under the scenario's name
    #[arg(long)]
    out: PathBuf,
}

/// Records one scenario and writes it.
pub(crate) fn run(args: &CaptureArgs) -> Result<()> {
    let peer = Peer::named(&args.peer).with_context(|| format!("no peer `{}`", args.peer))?;
    let installed = peers::find(&peer, &peers::cache_dir()?)
        .with_context(|| format!("{peer} is not there: {}", peers::MISSING_HINT))?;
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
