//! The engine beside the real droid, in one run: the same requests, the same instant scripted model, figures as ratios.
//!
//! `cargo bench -p musher-cli --bench engine -- --program target/dist/musher`.
//! No goal is asserted here: it prints what was measured.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use musher_rpc::{Child, Connection};
use musher_wire::{Frame, Json, Request};
use serde_json::{Value, json};
use testkit::bench::{letters, median, words};
use testkit::peers::DROID;
use testkit::rehearse::{Pieces, Reply, Script, when};
use testkit::{Backend, Launch, Sandbox, droid, require_peer};

const DELTAS: usize = 20_000;
const STARTS: usize = 5;
const LATER_TURNS: usize = 49;

fn main() -> Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        println!("left to `cargo bench`");
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare())
}

async fn compare() -> Result<()> {
    let ours = testkit::bench::program(env!("CARGO_BIN_EXE_musher"));
    let installed = require_peer!(DROID);
    let theirs = installed.entry();
    println!("musher exec beside droid 0.225.2, the model answers at once\n");
    let droid = measure(&theirs).await.context("droid")?;
    let musher = measure(&ours).await.context("musher")?;
    println!("{:<44} {:>12} {:>12} {:>9}", "", "droid", "musher", "ratio");
    for ((what, unit, theirs), (_, _, ours)) in droid.iter().zip(&musher) {
        println!("{what:<44} {theirs:>9.2} {unit:<2} {ours:>9.2} {unit:<2} {:>8.1}x", theirs / ours);
    }
    Ok(())
}

type Figure = (&'static str, &'static str, f64);

async fn measure(program: &std::path::Path) -> Result<Vec<Figure>> {
    let sandbox = Sandbox::new()?;
    let model = sandbox.model(script(&sandbox))?;
    let backend = Backend::start(&sandbox)?;
    droid::configure(&sandbox, &model.url())?;
    for n in 0..10 {
        fs_err::write(sandbox.workspace().join(format!("file{n}.txt")), "line\n".repeat(100))?;
    }
    let launch = sandbox.launch(program).args([
        "exec",
        "--input-format",
        "stream-jsonrpc",
        "--output-format",
        "stream-jsonrpc",
    ]);
    let launch = droid::with_account(launch, &backend);

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let (agent, took) = Agent::start(&sandbox, &launch).await?;
        starts.push(took);
        agent.child.close().await;
    }
    let (mut agent, _) = Agent::start(&sandbox, &launch).await?;
    let memory_at_first = agent.memory()?;
    let first = agent.turn("say something").await?;
    let mut later = Vec::new();
    for _ in 0..LATER_TURNS {
        later.push(agent.turn("say something").await?.took);
    }
    let memory_later = agent.memory()?;
    let cpu = agent.cpu()?;
    let deltas = agent.turn("many deltas").await?;
    let deltas_cpu = agent.cpu()? - cpu;
    let letters = letters(&words(DELTAS));
    if deltas.characters < letters {
        bail!("of {letters} characters only {} came", deltas.characters);
    }
    let reads = agent.turn("ten reads").await?;
    let shells = agent.turn("ten shells").await?;
    if (reads.results, shells.results) != (10, 10) {
        bail!("{} reads and {} commands instead of 10 each", reads.results, shells.results);
    }
    agent.child.close().await;
    drop(agent);
    model.shutdown().await;
    drop(backend);
    sandbox.finish().await?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "mebibytes")]
    let binary = fs_err::metadata(program)?.len() as f64 / 1024.0 / 1024.0;
    Ok(vec![
        ("spawn to the answer of initialize (median)", "ms", milliseconds(median(starts))),
        ("first turn, message to last event", "ms", milliseconds(first.took)),
        ("later turns (median)", "ms", milliseconds(median(later))),
        ("20,000 text deltas, wall", "s", deltas.took.as_secs_f64()),
        ("20,000 text deltas, CPU", "s", deltas_cpu),
        ("10 file reads in one message, each", "ms", milliseconds(reads.took) / 10.0),
        ("10 shell calls in one message, each", "ms", milliseconds(shells.took) / 10.0),
        ("memory after initialize", "MB", memory_at_first),
        ("memory after 50 turns", "MB", memory_later),
        ("size of the program", "MB", binary),
    ])
}

fn script(sandbox: &Sandbox) -> Script {
    let workspace = sandbox.workspace();
    let on = |word: &str, call: u32| when().with_tools().prompt(word).call(call);
    let read = |n: usize| json!({"file_path": workspace.join(format!("file{n}.txt"))});
    let shell = |_| json!({"command": "ls", "summary": "List the files", "riskLevel": "low", "riskLevelReason": "reads"});
    let reads = (1..10).fold(Reply::tool("Read", read(0)), |reply, n| reply.and_tool("Read", read(n)));
    let shells =
        (1..10).fold(Reply::tool("Execute", shell(0)), |reply, n| reply.and_tool("Execute", shell(n)));
    Script::new()
        .reply(Reply::text(Pieces::Explicit(words(DELTAS))).when(on("many deltas", 1)))
        .reply(reads.when(on("ten reads", 1)))
        .reply(shells.when(on("ten shells", 1)))
        .otherwise(Reply::text("Hello."))
}

struct Agent {
    connection: Connection,
    child: Child,
    requests: u32,
}

/// The events of a turn.
struct Turn {
    took: Duration,
    characters: usize,
    results: usize,
}

impl Agent {
    /// Starts it; how long it took until a session was open.
    async fn start(sandbox: &Sandbox, launch: &Launch) -> Result<(Self, Duration)> {
        let start = Instant::now();
        let (child, connection) = Child::spawn(sandbox.agent(launch)).await?;
        let mut agent = Self { connection, child, requests: 0 };
        let cwd = sandbox.workspace();
        agent
            .call(
                "droid.initialize_session",
                json!({"machineId": "bench", "cwd": cwd, "modelId": droid::CHAT_MODEL}),
            )
            .await?;
        loop {
            if let Frame::Response(response) = agent.receive().await? {
                response.outcome.context("the session was refused")?;
                return Ok((agent, start.elapsed()));
            }
        }
    }

    async fn turn(&mut self, prompt: &str) -> Result<Turn> {
        let start = Instant::now();
        let (mut characters, mut results, mut is_over) = (0, 0, false);
        self.call("droid.add_user_message", json!({"text": prompt})).await?;
        loop {
            let Frame::Notification(notification) = self.receive().await? else { continue };
            let text = notification.params.as_ref().map(Json::text).unwrap_or_default();
            if text.contains(r#""type":"assistant_text_delta""#) {
                let params: Value = serde_json::from_str(text)?;
                characters += params["notification"]["textDelta"].as_str().map_or(0, str::len);
            } else if text.contains(r#""type":"tool_result""#) {
                results += 1;
            } else if text.contains(r#""type":"agent_turn_completed""#) {
                is_over = true;
            } else if is_over && text.contains(r#""newState":"idle""#) {
                return Ok(Turn { took: start.elapsed(), characters, results });
            }
        }
    }

    async fn call(&mut self, method: &'static str, params: Value) -> Result<()> {
        self.requests += 1;
        let request = Request::new(self.requests.to_string(), method, Json::from(params));
        Ok(self.connection.outgoing.send(Frame::Request(request)).await?)
    }

    async fn receive(&mut self) -> Result<Frame> {
        let frame = tokio::time::timeout(Duration::from_mins(2), self.connection.incoming.recv()).await;
        Ok(frame.context("the agent says nothing")??)
    }

    /// Megabytes of memory in use.
    fn memory(&self) -> Result<f64> {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        let kibibytes: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
        Ok(kibibytes / 1024.0)
    }

    /// Seconds of processor time used so far, without its children.
    fn cpu(&self) -> Result<f64> {
        let stat = fs_err::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(") ").context("no fields")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        // a hundredth of a second each, on every Linux there is
        Ok(ticks / 100.0)
    }
}
