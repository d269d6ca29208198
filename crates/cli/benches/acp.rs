//! The cost of an adapter for editors: agents used directly, through `musher acp`, and through droid's own mode.
//!
//! `cargo bench -p musher-cli --bench acp -- --program target/dist/musher`.
//! All have the same instant scripted model and take turns, so that a busy machine is busy for all of them. No goal is asserted here:
//! it prints what was measured.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use testkit::bench::{letters, median, words};
use testkit::rehearse::{Pieces, Reply, Script, when};
use testkit::{Backend, Launch, Program, Sandbox, droid, peers, require_peer};

const ROUNDS: usize = 5;
const TURNS: usize = 6;
const DELTAS: usize = 4000;

fn main() -> Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        println!("left to `cargo bench`");
        return Ok(());
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(compare())
}

async fn compare() -> Result<()> {
    let ours = testkit::bench::program(env!("CARGO_BIN_EXE_musher"));
    let ours = ours.to_str().context("a path of letters")?;
    let real = require_peer!(peers::DROID);
    let real = real.entry();
    let real = real.to_str().context("a path of letters")?;
    let sandbox = Sandbox::new()?;
    let model = sandbox.model(script())?;
    let backend = Backend::start(&sandbox)?;
    droid::configure(&sandbox, &model.url())?;
    let start = |words: &[&str]| {
        droid::with_account(sandbox.launch(words[0]).args(&words[1..]), &backend)
            .env("MUSHER_HOME", sandbox.home().join(".musher"))
    };
    let exec = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    let direct = |program| [&[program][..], &exec[..]].concat();
    let chosen = ["--model", droid::CHAT_MODEL];
    let mut sides = vec![
        Side::start(&sandbox, "droid, directly", &start(&direct(real)), Dialect::Droid).await?,
        Side::start(
            &sandbox,
            "droid, through musher acp",
            &start(&[&[ours, "acp", "--agent", real][..], &chosen[..]].concat()),
            Dialect::Acp,
        )
        .await?,
        Side::start(
            &sandbox,
            "droid, through its own mode",
            &start(&[real, "exec", "--output-format", "acp"]),
            Dialect::Acp,
        )
        .await?,
        Side::start(&sandbox, "the engine, directly", &start(&direct(ours)), Dialect::Droid).await?,
        Side::start(&sandbox, "the engine, in musher acp", &start(&[ours, "acp"]), Dialect::Acp).await?,
    ];
    for _ in 0..ROUNDS {
        for side in &mut sides {
            for _ in 0..TURNS {
                let turn = side.turn("say something").await?;
                side.turns.push(turn.took);
            }
            let long = side.turn("many deltas").await?;
            anyhow::ensure!(
                long.characters == letters(&words(DELTAS)),
                "{}: {} characters",
                side.name,
                long.characters
            );
            side.long.push(long);
        }
    }
    report(&sides);
    for side in sides {
        side.program.end().await?;
    }
    model.shutdown().await;
    drop(backend);
    sandbox.finish().await
}

fn script() -> Script {
    let many = Reply::text(Pieces::Explicit(words(DELTAS)));
    Script::new().reply(many.when(when().with_tools().prompt("many deltas"))).otherwise(Reply::text("Hello."))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Droid,
    Acp,
}

/// One way to ask an agent.
struct Side {
    name: &'static str,
    program: Program,
    dialect: Dialect,
    session: String,
    requests: u64,
    turns: Vec<Duration>,
    long: Vec<Turn>,
}

/// The events of a turn.
struct Turn {
    took: Duration,
    /// From the prompt to the first piece of the answer.
    first: Duration,
    pieces: usize,
    characters: usize,
}

impl Side {
    async fn start(sandbox: &Sandbox, name: &'static str, launch: &Launch, dialect: Dialect) -> Result<Self> {
        let program = sandbox.spawn(launch)?;
        let (session, turns, long) = (String::new(), Vec::new(), Vec::new());
        let mut side = Self { name, program, dialect, session, requests: 0, turns, long };
        let cwd = sandbox.workspace();
        let opened = match dialect {
            Dialect::Droid => {
                let params = json!({"machineId": "bench", "cwd": cwd, "modelId": droid::CHAT_MODEL});
                side.call("droid.initialize_session", params).await
            }
            Dialect::Acp => {
                side.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await?;
                side.call("session/new", json!({"cwd": cwd, "mcpServers": []})).await
            }
        };
        let opened = opened.with_context(|| name.to_owned())?;
        side.session = opened["result"]["sessionId"].as_str().with_context(|| opened.to_string())?.to_owned();
        // the first turn is another thing: titles, caches
        side.turn("say something").await?;
        Ok(side)
    }

    async fn send(&mut self, method: &str, params: Value) -> Result<String> {
        self.requests += 1;
        let id = self.requests.to_string();
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if self.dialect == Dialect::Droid {
            request["type"] = "request".into();
            request["factoryApiVersion"] = "1.0.0".into();
        }
        self.program.send(&request).await?;
        Ok(id)
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params).await?;
        let seen = self.program.read_until(method, |line| line["id"] == *id).await?;
        seen.last().cloned().context("an answer")
    }

    async fn turn(&mut self, prompt: &str) -> Result<Turn> {
        let start = Instant::now();
        let id = match self.dialect {
            Dialect::Droid => self.send("droid.add_user_message", json!({"text": prompt})).await?,
            Dialect::Acp => {
                let prompt = json!([{"type": "text", "text": prompt}]);
                self.send("session/prompt", json!({"sessionId": self.session, "prompt": prompt})).await?
            }
        };
        let (mut first, mut pieces, mut text, mut is_over) = (None, 0, String::new(), false);
        let dialect = self.dialect;
        let is_end = |line: &Value| {
            let piece = match dialect {
                Dialect::Droid => &line["params"]["notification"]["textDelta"],
                Dialect::Acp => {
                    let update = &line["params"]["update"];
                    let is_piece = update["sessionUpdate"] == "agent_message_chunk";
                    if is_piece { &update["content"]["text"] } else { &Value::Null }
                }
            };
            if let Some(piece) = piece.as_str() {
                first.get_or_insert_with(|| start.elapsed());
                pieces += 1;
                text.push_str(piece);
            }
            match dialect {
                Dialect::Acp => line["id"] == *id,
                Dialect::Droid => {
                    let notification = &line["params"]["notification"];
                    is_over |= notification["type"] == "agent_turn_completed";
                    is_over && notification["newState"] == "idle"
                }
            }
        };
        self.program.read_until("the end of the turn", is_end).await.with_context(|| self.name.to_owned())?;
        let took = start.elapsed();
        let characters = text.trim_end().len();
        Ok(Turn { took, first: first.unwrap_or(took), pieces, characters })
    }

    /// Milliseconds of a short turn, milliseconds to the first piece of a long one, microseconds of each of its words.
    fn figures(&self) -> [f64; 3] {
        let turn = median(self.turns.clone()).as_secs_f64();
        let first = median(self.long.iter().map(|long| long.first).collect()).as_secs_f64();
        let long = median(self.long.iter().map(|long| long.took).collect()).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        let each = (long - turn).max(0.0) / DELTAS as f64;
        [turn * 1e3, first * 1e3, each * 1e6]
    }
}

fn report(sides: &[Side]) {
    println!("{} turns of one word and {} of {DELTAS} words each; medians\n", TURNS * ROUNDS, ROUNDS);
    println!(
        "{:<30} {:>11} {:>9} {:>12} {:>9} {:>13} {:>8}",
        "", "a turn", "added", "each word", "added", "first word", "pieces"
    );
    let mut direct = [0.0; 3];
    for side in sides {
        let own = side.figures();
        let pieces = side.long.last().map_or(0, |long| long.pieces);
        if side.dialect == Dialect::Droid {
            direct = own;
            println!(
                "{:<30} {:>8.2} ms {:>9} {:>9.1} us {:>9} {:>10.1} ms {pieces:>8}",
                side.name, own[0], "", own[2], "", own[1]
            );
        } else {
            let added = [own[0] - direct[0], own[2] - direct[2]];
            println!(
                "{:<30} {:>8.2} ms {:>+9.2} {:>9.1} us {:>+9.1} {:>10.1} ms {pieces:>8}",
                side.name, own[0], added[0], own[2], added[1], own[1]
            );
            println!(
                "{:<30} {:>10.2}x {:>9} {:>11.2}x {:>9} {:>12.2}x",
                "  as a ratio to directly",
                own[0] / direct[0],
                "",
                own[2] / direct[2],
                "",
                own[1] / direct[1]
            );
        }
    }
}
