//! `cargo xtask model-bench`: what musher and the real droid send to a model for the same work, in one run.
//!
//! Sizes of requests, the simulated share of cached input and its cost for the three formats, and the sizes of large tool results. The
//! model is scripted and nothing leaves the machine. Tokens are a quarter of the characters. Fails if the cost of musher is more than
//! [`MAX_RATIO`] of droid's.

mod cache;
mod session;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use testkit::peers::{self, DROID};
use testkit::rehearse::{RecordedRequest, Script};
use testkit::{Backend, Program, Sandbox, droid};

use crate::cargo::cargo;
use cache::{Input, Rules};
use session::Case;

/// The maximum cost of musher, as a part of droid's.
const MAX_RATIO: f64 = 0.65;

/// The three formats: name, model, and how the vendor caches.
const FORMATS: [(&str, &str, Rules); 3] = [
    ("messages", droid::ANTHROPIC_MODEL, Rules::Anthropic),
    ("chat", droid::CHAT_MODEL, Rules::OpenAi),
    ("responses", droid::RESPONSES_MODEL, Rules::OpenAi),
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
        "agent:format", "calls", "first", "last", "sum", "cached", "cost", "ratio"
    );
    let mut worst = 0.0_f64;
    for (format, model, rules) in FORMATS {
        let droid = measure(theirs, model, rules).await.with_context(|| format!("droid, {format}"))?;
        let musher = measure(ours, model, rules).await.with_context(|| format!("musher, {format}"))?;
        let ratio = musher.input.cost / droid.input.cost;
        worst = worst.max(ratio);
        println!("{}", droid.line(&format!("droid:{format}"), ""));
        println!("{}", musher.line(&format!("musher:{format}"), &format!("{ratio:.2}")));
    }
    println!("\nlarge tool results, in tokens\n");
    println!("{:<28} {:>9} {:>9}", "", "droid", "musher");
    let (droid, musher) = (results(theirs).await.context("droid")?, results(ours).await.context("musher")?);
    for ((name, theirs), (_, ours)) in droid.iter().zip(&musher) {
        println!("{name:<28} {theirs:>9} {ours:>9}");
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

async fn measure(program: &Path, model: &str, rules: Rules) -> Result<Measured> {
    let prompts: Vec<String> = (0..session::TURNS).map(session::prompt).collect();
    let requests = play(program, model, session::script, &prompts).await?;
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

/// The sizes of the results of the cases.
async fn results(program: &Path) -> Result<Vec<(&'static str, String)>> {
    let names: Vec<&str> = session::cases(Path::new("")).iter().map(|case: &Case| case.name).collect();
    let prompts: Vec<String> = (0..names.len()).map(session::case_prompt).collect();
    let script = |folder: &Path| session::case_script(&session::cases(folder));
    let requests = play(program, droid::ANTHROPIC_MODEL, script, &prompts).await?;
    let size = |at: usize| {
        let with_result = requests.iter().find(|request| {
            let call = request.call.as_ref();
            call.is_some_and(|call| call.prompt == prompts[at] && !call.tool_results.is_empty())
        });
        let Some(body) = with_result.and_then(|request| request.body.as_ref()) else {
            return "none".to_owned();
        };
        let blocks = body["messages"].as_array().and_then(|messages| messages.last());
        let blocks = blocks.and_then(|message| message["content"].as_array()).cloned().unwrap_or_default();
        let text = Value::from(blocks).to_string();
        if text.contains("\"type\":\"document\"") {
            "document".to_owned()
        } else {
            (text.len() / 4).to_string()
        }
    };
    Ok(names.iter().enumerate().map(|(at, name)| (*name, size(at))).collect())
}

/// Plays a session, and returns the model calls.
async fn play(
    program: &Path,
    model: &str,
    script: impl FnOnce(&Path) -> Script,
    prompts: &[String],
) -> Result<Vec<std::sync::Arc<RecordedRequest>>> {
    let sandbox = Sandbox::new()?;
    let folder = sandbox.workspace();
    session::write_files(&folder)?;
    let server = sandbox.model(script(&folder))?;
    let backend = Backend::start(&sandbox)?;
    droid::configure(&sandbox, &server.url())?;
    let formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    let launch = sandbox.launch(program).args(["exec"]).args(formats);
    let mut agent = sandbox.spawn(&droid::with_account(launch, &backend))?;
    let session = json!({
        "machineId": "bench", "cwd": folder, "modelId": model, "autonomyLevel": "high", "interactionMode": "auto",
    });
    call(&mut agent, "0", "droid.initialize_session", session).await?;
    until(&mut agent, |message| message["id"] == "0").await?;
    for (number, prompt) in prompts.iter().enumerate() {
        let id = (number + 1).to_string();
        call(&mut agent, &id, "droid.add_user_message", json!({"text": prompt})).await?;
        until(&mut agent, |message| kind(message) == "agent_turn_completed").await?;
        until(&mut agent, |message| message["params"]["notification"]["newState"] == "idle").await?;
    }
    agent.end().await?;
    let requests = server.calls();
    server.shutdown().await;
    drop(backend);
    sandbox.finish().await?;
    Ok(requests)
}

async fn call(agent: &mut Program, id: &str, method: &str, params: Value) -> Result<()> {
    let message = json!({
        "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": id, "method": method, "params": params,
    });
    agent.send(&message).await
}

fn kind(message: &Value) -> &str {
    message["params"]["notification"]["type"].as_str().unwrap_or_default()
}

async fn until(agent: &mut Program, is_it: impl Fn(&Value) -> bool) -> Result<()> {
    loop {
        let message = agent.next().await?.context("the agent has ended")?;
        if message["type"] == "response" && !message["error"].is_null() {
            bail!("the agent refused: {}", message["error"]);
        }
        if is_it(&message) {
            return Ok(());
        }
    }
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
