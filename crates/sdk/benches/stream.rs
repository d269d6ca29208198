//! The cost of a client: 100,000 notifications of a trivial agent, read by this SDK and by others, in one run.
//!
//! `cargo bench -p musher --bench stream` starts each client as a process of its own, three times, and prints the best of each as
//! ratios. The agent and all clients but the Python one are this very program, told apart by the first argument.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark"
)]
#![allow(clippy::disallowed_methods, reason = "it starts the clients it measures")]

use std::env;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use musher::{Agent, Event, Session};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use testkit::peers;

const NOTIFICATIONS: usize = 100_000;
const ROUNDS: usize = 3;
/// The number of text deltas that a client must have seen for its figures to count.
const PYTHON_CLIENT: &str = include_str!("stream_client.py");

fn main() {
    let mode = env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "exec" => agent(),
        "client-sdk" => report(sdk_client()),
        "client-bare" => report(bare_client()),
        // `cargo test` runs benchmarks once, to see that they can: one small round will do
        "--test" => println!("left to `cargo bench`"),
        _ => compare(),
    }
}

/// The figures that a client reports when it is done.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Figures {
    seen: usize,
    wall: f64,
    cpu: f64,
    memory_kib: u64,
}

fn compare() {
    let me = env::current_exe().unwrap();
    let ours = |mode: &str| measure(Command::new(&me).arg(mode));
    let cat = || measure_cat(&me);
    println!("{NOTIFICATIONS} notifications, best of {ROUNDS}; the agent's own cost is not counted\n");
    let rows = [
        ("this SDK", Some(best(|| ours("client-sdk")))),
        ("bare loop", Some(best(|| ours("client-bare")))),
        ("cat", Some(best(cat))),
        (
            "Python droid-sdk 0.5.0",
            python()
                .map(|python| best(|| measure(Command::new(&python).args(["-c", PYTHON_CLIENT]).arg(&me)))),
        ),
    ];
    let base = rows[0].1.unwrap();
    println!(
        "{:<24} {:>9} {:>9} {:>10}   wall and CPU as multiples of ours",
        "client", "wall s", "CPU s", "memory MiB"
    );
    for (name, figures) in rows {
        match figures {
            Some(it) => println!(
                "{name:<24} {:>9.3} {:>9.3} {:>10}   {:>6.2} x {:>6.2} x",
                it.wall,
                it.cpu,
                it.memory_kib.div_ceil(1024),
                it.wall / base.wall,
                it.cpu / base.cpu
            ),
            None => println!("{name:<24} not fetched: run `cargo xtask peers`"),
        }
    }
    println!("\nthis SDK needs {:.2} times the CPU of the bare loop", base.cpu / rows[1].1.unwrap().cpu);
}

fn python() -> Option<std::path::PathBuf> {
    Some(peers::find(&peers::PYTHON_SDK, &peers::cache_dir().ok()?)?.entry())
}

fn best(mut run: impl FnMut() -> Figures) -> Figures {
    (0..ROUNDS).map(|_| run()).min_by(|a, b| a.cpu.total_cmp(&b.cpu)).unwrap()
}

fn measure(client: &mut Command) -> Figures {
    let output =
        client.stdin(Stdio::null()).stderr(Stdio::inherit()).output().expect("cannot start a client");
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Figures =
        serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("a client said {text:?}"));
    assert_eq!(figures.seen, NOTIFICATIONS, "a client missed something");
    figures
}

/// The cost of moving the bytes, and nothing else.
fn measure_cat(me: &std::path::Path) -> Figures {
    let before = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let start = Instant::now();
    let mut agent = Command::new(me).args(["exec", "--alone"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut cat =
        Command::new("cat").stdin(agent.stdout.take().unwrap()).stdout(Stdio::null()).spawn().unwrap();
    cat.wait().unwrap();
    let wall = start.elapsed().as_secs_f64();
    let after = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    agent.wait().unwrap();
    let cpu = |usage: &nix::sys::resource::Usage| seconds(usage.user_time()) + seconds(usage.system_time());
    Figures { seen: NOTIFICATIONS, wall, cpu: cpu(&after) - cpu(&before), memory_kib: 0 }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of one run")]
fn seconds(time: nix::sys::time::TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Prints the figures of this process.
fn report((seen, start): (usize, Instant)) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    let memory_kib = u64::try_from(usage.max_rss()).unwrap();
    let figures = Figures { seen, wall: start.elapsed().as_secs_f64(), cpu, memory_kib };
    println!("{}", serde_json::to_string(&figures).unwrap());
}

fn sdk_client() -> (usize, Instant) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let agent = Agent::program(env::current_exe().unwrap());
        let session = Session::builder().agent(agent).open().await.unwrap();
        let start = Instant::now();
        let mut turn = session.send("go").partial().start().await.unwrap();
        let mut characters = 0;
        while let Some(event) = turn.next().await {
            if let Event::TextDelta(delta) = event.unwrap() {
                characters += delta.text.len();
            }
        }
        session.close().await.unwrap();
        // pieces may be joined when we lag behind, so the text is counted
        (characters / TEXT.len(), start)
    })
}

/// A minimal client: splits the lines, and parses them into structs.
fn bare_client() -> (usize, Instant) {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Option<Params<'a>>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        notification: Streamed<'a>,
    }
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Streamed<'a> {
        #[serde(rename_all = "camelCase")]
        AssistantTextDelta {
            #[serde(borrow)]
            text_delta: std::borrow::Cow<'a, str>,
        },
        AgentTurnCompleted,
        #[serde(other)]
        Other,
    }

    let mut agent = Command::new(env::current_exe().unwrap())
        .arg("exec")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = agent.stdin.take().unwrap();
    let mut lines = BufReader::new(agent.stdout.take().unwrap());
    let mut line = String::new();
    writeln!(input, r#"{{"id":"1","method":"droid.initialize_session","params":{{}}}}"#).unwrap();
    lines.read_line(&mut line).unwrap();
    let start = Instant::now();
    writeln!(input, r#"{{"id":"2","method":"droid.add_user_message","params":{{"messageId":"m"}}}}"#)
        .unwrap();
    let mut characters = 0;
    loop {
        line.clear();
        lines.read_line(&mut line).unwrap();
        let message: Message<'_> = serde_json::from_str(&line).unwrap();
        match message.params.map(|params| params.notification) {
            Some(Streamed::AssistantTextDelta { text_delta }) => characters += text_delta.len(),
            Some(Streamed::AgentTurnCompleted) => break,
            Some(Streamed::Other) | None => {}
        }
    }
    drop(input);
    agent.wait().unwrap();
    (characters / TEXT.len(), start)
}

const TEXT: &str = "word by word ";

/// The agent: answers the required calls, and sends all notifications on a prompt.
fn agent() {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    if env::args().any(|argument| argument == "--alone") {
        turn(&mut out, "m");
        return;
    }
    for line in BufReader::new(std::io::stdin().take(u64::MAX)).lines().map_while(Result::ok) {
        let call: serde_json::Value = serde_json::from_str(&line).unwrap();
        let result = match call["method"].as_str().unwrap_or_default() {
            "droid.initialize_session" => {
                r#"{"sessionId":"s","session":{"messages":[]},"settings":{"modelId":"m","reasoningEffort":"none"}}"#
            }
            _ => "{}",
        };
        writeln!(
            out,
            r#"{{"jsonrpc":"2.0","type":"response",{VERSIONS},"id":{},"result":{result}}}"#,
            call["id"]
        )
        .unwrap();
        match call["method"].as_str() {
            Some("droid.add_user_message") => {
                turn(&mut out, call["params"]["messageId"].as_str().unwrap_or("m"));
            }
            Some("droid.close_session") => break,
            _ => {}
        }
        out.flush().unwrap();
    }
}

const VERSIONS: &str = r#""factoryApiVersion":"1.0.0","factoryProtocolVersion":"1.220.0""#;

fn turn(out: &mut impl Write, turn_id: &str) {
    let mut say = |notification: &str| {
        writeln!(
            out,
            r#"{{"jsonrpc":"2.0","type":"notification",{VERSIONS},"method":"droid.session_notification","params":{{"sessionId":"s","notification":{notification}}},"_meta":{{"traceparent":"00-b6e0ed546f498f72e57309f3b2b57921-266a7c6ba607b199-01"}}}}"#
        )
        .unwrap();
    };
    say(r#"{"type":"droid_working_state_changed","newState":"streaming_assistant_message"}"#);
    let delta = format!(
        r#"{{"type":"assistant_text_delta","messageId":"f4a4e830-9833-4a10-91d3-0123456789ab","blockIndex":0,"textDelta":"{TEXT}"}}"#
    );
    for _ in 0..NOTIFICATIONS {
        say(&delta);
    }
    say(&format!(
        r#"{{"type":"agent_turn_completed","reason":"completed","turnId":"{turn_id}","tokenUsage":{{"inputTokens":1,"outputTokens":1,"cacheCreationTokens":0,"cacheReadTokens":0,"thinkingTokens":0}},"cumulativeTokenUsage":{{"inputTokens":1,"outputTokens":1,"cacheCreationTokens":0,"cacheReadTokens":0,"thinkingTokens":0}},"childTokenUsage":{{"inputTokens":0,"outputTokens":0,"cacheCreationTokens":0,"cacheReadTokens":0,"thinkingTokens":0}},"cumulativeChildTokenUsage":{{"inputTokens":0,"outputTokens":0,"cacheCreationTokens":0,"cacheReadTokens":0,"thinkingTokens":0}},"durationMs":1}}"#
    ));
    say(r#"{"type":"droid_working_state_changed","newState":"idle"}"#);
}
