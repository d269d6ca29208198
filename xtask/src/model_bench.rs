//! `cargo xtask model-bench`: what musher and the real droid send to a model for the same work, in one run.
//!
//! Sizes of requests, the simulated share of cached input and its cost, for the three formats without reasoning, and for two current models
//! with it; then the results of tools in tokens. The model is scripted and nothing leaves the machine. Tokens are a quarter of the
//! characters. Fails if the cost of musher is more than [`MAX_RATIO`] of droid's.

mod cache;
mod play;
mod results;
mod session;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use testkit::droid;
use testkit::peers::{self, DROID};

use crate::cargo::cargo;
use cache::{Input, Rules};
use play::play;
use session::Work;

/// The maximum cost of musher, as a part of droid's.
const MAX_RATIO: f64 = 0.65;

/// The rows: name, model, how the vendor caches, and the work.
const ROWS: [(&str, &str, Rules, Work); 5] = [
    ("messages", droid::ANTHROPIC_MODEL, Rules::Anthropic, Work::PLAIN),
    ("chat", droid::CHAT_MODEL, Rules::OpenAi, Work::PLAIN),
    ("responses", droid::RESPONSES_MODEL, Rules::OpenAi, Work::PLAIN),
    ("opus-5-5", play::CLAUDE, Rules::Anthropic, Work { thinks: true, creates: true }),
    // the GPT family has no tool that creates files
    ("gpt-5.5", play::GPT, Rules::OpenAi, Work { thinks: true, creates: false }),
];

/// Measures both, prints the tables, and checks the ratio.
pub(crate) fn run(program: Option<PathBuf>) -> Result<()> {
    let ours = match program {
        Some(program) => fs_err::canonicalize(program)?,
        None => musher()?,
    };
    let installed = peers::find(&DROID, &peers::cache_dir()?)
        .with_context(|| format!("{} is not installed: {}", DROID, peers::MISSING_HINT))?;
    let theirs = installed.entry();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare(&ours, &theirs))
}

async fn compare(ours: &Path, theirs: &Path) -> Result<()> {
    println!(
        "musher beside {DROID}: {} turns with tools; tokens are a quarter of the characters\n",
        session::TURNS
    );
    println!(
        "{:<18} {:>5} {:>8} {:>8} {:>9} {:>7} {:>9} {:>7}",
        "agent:row", "calls", "first", "last", "sum", "cached", "cost", "ratio"
    );
    let mut worst = 0.0_f64;
    for (name, model, rules, work) in ROWS {
        let droid = measure(theirs, model, rules, work).await.with_context(|| format!("droid, {name}"))?;
        let musher = measure(ours, model, rules, work).await.with_context(|| format!("musher, {name}"))?;
        let ratio = musher.input.cost / droid.input.cost;
        worst = worst.max(ratio);
        println!("{}", droid.line(&format!("droid:{name}"), ""));
        println!("{}", musher.line(&format!("musher:{name}"), &format!("{ratio:.2}")));
    }
    println!("\nresults of tools, in tokens\n");
    println!("{:<30} {:>9} {:>20} {:>20}", "", "before", "droid", "musher");
    let (droid, musher) =
        (results::table(theirs).await.context("droid")?, results::table(ours).await.context("musher")?);
    for ((case, theirs), (_, ours)) in droid.iter().zip(&musher) {
        println!("{:<30} {:>9} {theirs:>20} {ours:>20}", case.name, case.before);
    }
    if worst > MAX_RATIO {
        bail!("the cost of musher is {worst:.2} of droid's, more than {MAX_RATIO}");
    }
    println!("\nthe cost of musher is at most {worst:.2} of droid's (limit {MAX_RATIO})");
    Ok(())
}

/// What one agent sent in the session.
struct Measured {
    calls: usize,
    first: f64,
    last: f64,
    input: Input,
}

impl Measured {
    fn line(&self, name: &str, ratio: &str) -> String {
        let Input { tokens, read, cost } = self.input;
        let share = 100.0 * read / tokens;
        format!(
            "{name:<18} {:>5} {:>8.0} {:>8.0} {tokens:>9.0} {share:>6.1}% {cost:>9.0} {ratio:>7}",
            self.calls, self.first, self.last
        )
    }
}

async fn measure(program: &Path, model: &str, rules: Rules, work: Work) -> Result<Measured> {
    let prompts: Vec<String> = (0..session::TURNS).map(session::prompt).collect();
    let requests = play(program, model, |folder| session::script(folder, work), &prompts).await?;
    let bodies: Vec<Value> = requests.iter().filter_map(|request| request.body.clone()).collect();
    // titles and the like are calls without tools
    let main: Vec<&Value> = bodies.iter().filter(|body| has_tools(body)).collect();
    let (Some(first), Some(last)) = (main.first(), main.last()) else { bail!("the agent asked no model") };
    let input = cache::simulate(&bodies, rules);
    Ok(Measured { calls: bodies.len(), first: cache::size(first), last: cache::size(last), input })
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// Builds musher and returns its path. How fast it is does not matter here.
fn musher() -> Result<PathBuf> {
    let args = ["build", "-p", "musher-cli", "--bin", "musher", "--message-format=json-render-diagnostics"];
    let output = cargo(&args).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cannot build musher");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.to_owned()));
    Ok(programs.next_back().context("cargo names no executable")?.into())
}
