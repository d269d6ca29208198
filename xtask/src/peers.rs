//! `cargo xtask peers`: fetches the real programs that tests run against, once, and checks their versions.
//!
//! The table and the fetching are in `testkit::peers`; this file has the command.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use testkit::Sandbox;
use testkit::peers::{self, Entry, Installed, Peer, Source};

use crate::cargo::cargo;

/// Fetch the real agents and SDKs that tests run against.
#[derive(Debug, Args)]
pub(crate) struct PeersArgs {
    /// Only verify the cache, fetch nothing
    #[arg(long)]
    check: bool,
    /// Look up the newest versions in the registries, fetch them, and run the conformance suite with them
    #[arg(long, conflicts_with_all = ["check", "peers"])]
    newest: bool,
    /// Only these, as NAME or NAME@VERSION [default: all]
    peers: Vec<String>,
}

/// Fetches (or with `--check` only verifies), then runs each peer in a sandbox to see its version.
pub(crate) fn run(args: &PeersArgs) -> Result<()> {
    let wanted = if args.newest { newest()? } else { select(&args.peers)? };
    if !args.check && !args.newest && args.peers.is_empty() {
        crate::programs::install()?;
    }
    let cache = peers::cache_dir()?;
    say(&format!("peers in {}", cache.display()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

    let mut rows = Vec::new();
    for peer in wanted {
        let outcome =
            obtain(&peer, &cache, args.check).and_then(|installed| runtime.block_on(verify(&installed)));
        rows.push((peer, outcome));
    }

    let width = rows.iter().map(|(peer, _)| peer.id().len()).max().unwrap_or(0);
    for (peer, outcome) in &rows {
        match outcome {
            Ok(version) => say(&format!("  {:width$}  ok       {version}", peer.id())),
            Err(error) => say(&format!("  {:width$}  FAILED   {error:#}", peer.id())),
        }
    }
    let bad = rows.iter().filter(|(_, outcome)| outcome.is_err()).count();
    if bad > 0 {
        bail!("{bad} of {} peers are unusable", rows.len());
    }
    if args.newest {
        let peers: Vec<Peer> = rows.iter().map(|(peer, _)| *peer).collect();
        peers::remember(&peers, &cache)?;
        play()?;
    }
    Ok(())
}

/// Looks up the newest version of each peer.
fn newest() -> Result<Vec<Peer>> {
    let mut all = Vec::new();
    for pinned in peers::current() {
        let newest = peers::look_up(&pinned)?;
        let what = if newest.version == pinned.version { "tested by default" } else { "newer" };
        say(&format!("{}: {} ({what}; pinned is {})", pinned.name, newest.version, pinned.version));
        all.push(newest);
    }
    Ok(all)
}

/// The tests that compare musher with the real programs, and drive them.
const CONFORMANCE: &str =
    "binary(conformance) + ((package(musher) + package(musher-claude)) & test(peers)) + test(bridge::peers)";

/// Runs the conformance suite with the newest versions.
fn play() -> Result<()> {
    let packages = ["-p", "musher", "-p", "musher-claude", "-p", "musher-cli"];
    let args = [&["nextest", "run", "--no-fail-fast", "-E", CONFORMANCE], &packages[..]].concat();
    let status = cargo(&args).env(peers::NEWEST_VARIABLE, "1").status().context("cannot start cargo")?;
    if !status.success() {
        bail!("the newest versions differ from the pinned ones: {status}");
    }
    Ok(())
}

fn select(names: &[String]) -> Result<Vec<Peer>> {
    if names.is_empty() {
        return Ok(peers::ALL.to_vec());
    }
    let known = || peers::ALL.map(|peer| peer.id()).join(", ");
    names
        .iter()
        .map(|name| {
            Peer::named(name).with_context(|| format!("unknown peer `{name}`; the peers are {}", known()))
        })
        .collect()
}

fn obtain(peer: &Peer, cache: &Path, only_check: bool) -> Result<Installed> {
    if only_check {
        return peers::find(peer, cache).with_context(|| format!("not installed: {}", peers::MISSING_HINT));
    }
    peers::fetch(peer, cache, &mut |step| say(&format!("  {}: {step} ...", peer.id())))
}

/// Returns the version that the peer itself reports. Runs in a sandbox, because it is a foreign program.
async fn verify(installed: &Installed) -> Result<String> {
    let sandbox = Sandbox::new()?;
    let peer = installed.peer;
    let entry = installed.entry();
    let launch = match (peer.entry, peer.source) {
        (Entry::Program(_), _) => sandbox.launch(&entry).arg("--version"),
        (Entry::Python, Source::PyPi { package, .. } | Source::Npm { package, .. }) => {
            // extras matter only when it is fetched; the package is known without them
            let (package, _) = package.split_once('[').unwrap_or((package, ""));
            let print = format!("import importlib.metadata as m; print(m.version({package:?}))");
            sandbox.launch(&entry).args(["-c", &print])
        }
        (Entry::NodeModules, Source::Npm { package, .. } | Source::PyPi { package, .. }) => {
            let print = format!("console.log(require('./node_modules/{package}/package.json').version)");
            sandbox.launch("node").args(["-e", &print]).cwd(&entry)
        }
    };
    let ended = sandbox.output(&launch).await?;
    sandbox.finish().await?;
    let said = ended.stdout.join(" ");
    if !ended.status.success() || !said.split_whitespace().any(|word| word == peer.version) {
        bail!(
            "expected {}, but the program ended with {} and printed {said:?} {:?}",
            peer.version,
            ended.status,
            ended.stderr
        );
    }
    Ok(said)
}

/// Prints progress to standard error.
fn say(line: &str) {
    // A closed standard error does not stop the fetch.
    writeln!(io::stderr(), "{line}").ok();
}
