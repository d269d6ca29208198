//! `cargo xtask capture`: records a scenario from a real agent in a sandbox, with the scripted model, as a sanitised capture file.
//!
//! What is said and what is kept is decided in `testkit::capture`; here the parts are put together.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use musher_rehearse::{Script, Server, Source};
use testkit::capture::{self, Record, Scenario};
use testkit::peers::{self, Installed, Peer};
use testkit::{Backend, Sandbox, claude, droid};

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
    let records = runtime.block_on(record(&installed, script, &scenario))?;

    let name = args.scenario.file_stem().context("the scenario has no file name")?;
    let path = args.out.join(Path::new(name).with_extension("jsonl"));
    capture::write(&path, &records)?;
    writeln!(io::stderr(), "{}: {} lines from {peer}", path.display(), records.len())?;
    Ok(())
}

async fn record(installed: &Installed, script: Script, scenario: &Scenario) -> Result<Vec<Record>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(script)?;
    let launch = match installed.peer.name {
        "droid" => droid::launch(&sandbox, installed, &model.url(), &backend)?,
        "claude" => claude::launch(&sandbox, installed, &model.url()),
        other => bail!("{other} is no agent"),
    };

    let (workspace, home, temp) = (sandbox.workspace(), sandbox.home(), sandbox.temp());
    let (workspace_text, home_text) = (workspace.to_string_lossy(), home.to_string_lossy());
    let variables = [("$WORKSPACE", &*workspace_text), ("$HOME", &*home_text), ("$MODEL", droid::CHAT_MODEL)];
    let program = sandbox.spawn(&launch.args(&scenario.args))?;
    let said = capture::play(program, scenario, &variables).await?;
    all_calls_were_scripted(&model)?;

    let replacements = capture::replacements(
        &[(&workspace, "/workspace"), (&home, "/home/user"), (&temp, "/tmp")],
        &[
            (&model.url(), "http://127.0.0.1:1"),
            (&backend.url(), "http://127.0.0.1:2"),
            (droid::DUMMY_KEY, "<key>"),
            (claude::DUMMY_KEY, "<key>"),
        ],
    );
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await?;
    let clean = |record: Record| Record { msg: capture::sanitise(record.msg, &replacements), ..record };
    Ok(said.into_iter().map(clean).collect())
}

/// A call the script has no reply for is answered with an error: the capture would show that instead of what was meant.
fn all_calls_were_scripted(model: &Server) -> Result<()> {
    let nothing = Source::Unmatched.to_string();
    let unmatched = model.calls().iter().filter(|call| call.reply.as_ref() == Some(&nothing)).count();
    ensure!(unmatched == 0, "{unmatched} calls of the agent have no reply in the script");
    Ok(())
}
