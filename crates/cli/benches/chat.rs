//! How the chat feels while text streams in: the time from a key to the screen, the CPU, and the memory after many turns.
//!
//! `cargo bench -p musher-cli --bench chat`. A fake agent, which is this program itself, writes deltas at a fixed rate; the chat runs in a
//! pseudo-terminal, and this program types. No goal is asserted here: it prints what was measured.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "a benchmark, which is also the agent that it starts"
)]

use std::fs::File;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

/// Deltas of the stream per second.
const RATE: usize = 5000;
/// How long the stream lasts, in seconds.
const STREAM: usize = 30;
/// Keys that are typed while it streams.
const KEYS: usize = 400;
/// Turns after which the memory is measured.
const TURNS: [usize; 3] = [1, 100, 1000];
/// Deltas of each of these turns.
const DELTAS_OF_A_TURN: usize = 60;
/// What the agent reports about its stream.
const STATS: &str = "MUSHER_BENCH_STATS";
/// Ticks per second in `/proc`, the same on every Linux.
const TICKS: u64 = 100;
/// It only ends a run that hangs.
const TIMEOUT: Duration = Duration::from_mins(5);

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("exec") => return agent(),
        Some("--test") => {
            println!("left to `cargo bench`");
            return Ok(());
        }
        _ => {}
    }
    let folder = tempfile::tempdir()?;
    let profile = if cfg!(debug_assertions) { "debug" } else { "bench" };
    println!("profile {profile}, screen 100x30, {KEYS} keys\n");
    stream(folder.path())?;
    memory(folder.path())
}

/// The agent: the handshake, and turns as the prompt says.
fn agent() -> Result<()> {
    let mut out = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["type"] != "request" {
            continue;
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "droid.initialize_session" => json!({
                "sessionId": "bench", "session": {"messages": []},
                "settings": {"modelId": "fake", "interactionMode": "auto", "autonomyLevel": "off"}, "availableModels": [],
            }),
            "droid.get_context_stats" => {
                json!({"used": 1, "remaining": 99, "limit": 100, "accuracy": "exact"})
            }
            "droid.list_commands" => json!({"commands": []}),
            _ => json!({}),
        };
        let id = &message["id"];
        send(&mut out, &json!({"type": "response", "id": id, "result": result}))?;
        if message["method"] == "droid.add_user_message" {
            let params = &message["params"];
            turn(&mut out, number, params["text"].as_str().unwrap_or_default(), &params["messageId"])?;
        }
    }
    Ok(())
}

fn turn(out: &mut impl std::io::Write, number: usize, prompt: &str, id: &Value) -> Result<()> {
    let message = format!("answer-{number}");
    notify(out, json!({"type": "droid_working_state_changed", "newState": "streaming_assistant_message"}))?;
    let is_stream = prompt == "stream";
    let count = if is_stream { RATE * STREAM } else { DELTAS_OF_A_TURN };
    let began = Instant::now();
    let mut text = String::new();
    for at in 0..count {
        let delta = format!("word{at}{}", if at % 12 == 11 { "\n" } else { " " });
        text.push_str(&delta);
        notify(
            out,
            json!({"type": "assistant_text_delta", "messageId": message, "blockIndex": 0, "textDelta": delta}),
        )?;
        // ten at a time: a timer of 0.2 ms would not be kept
        if is_stream && at % 10 == 9 {
            out.flush()?;
            let due = began + Duration::from_secs(1) * u32::try_from(at + 1)? / u32::try_from(RATE)?;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    if is_stream && let Some(file) = std::env::var_os(STATS) {
        fs_err::write(file, format!("{count} {}", began.elapsed().as_secs_f64()))?;
    }
    let content = json!([{"type": "text", "text": text}]);
    let created =
        json!({"id": message, "role": "assistant", "content": content, "createdAt": 0, "updatedAt": 0});
    notify(out, json!({"type": "create_message", "message": created}))?;
    let usage = json!({"inputTokens": 1, "outputTokens": 1});
    notify(
        out,
        json!({"type": "agent_turn_completed", "reason": "completed", "turnId": id, "tokenUsage": usage}),
    )?;
    notify(out, json!({"type": "droid_working_state_changed", "newState": "idle"}))
}

fn notify(out: &mut impl std::io::Write, notification: Value) -> Result<()> {
    let params = json!({"sessionId": "bench", "notification": notification});
    send(out, &json!({"type": "notification", "method": "droid.session_notification", "params": params}))
}

fn send(out: &mut impl std::io::Write, message: &Value) -> Result<()> {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    message["factoryApiVersion"] = "1.0.0".into();
    writeln!(out, "{message}")?;
    Ok(())
}

/// The chat in a terminal.
struct Chat {
    child: Child,
    keyboard: File,
    screen: mpsc::Receiver<(Instant, Vec<u8>)>,
    written: Vec<u8>,
}

impl Chat {
    fn start(folder: &Path) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let inside: OwnedFd = ioctl_tiocgptpeer(&master, flags)?;
        let keyboard = File::from(master);
        tcsetwinsize(&keyboard, Winsize { ws_col: 100, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 })?;
        let end = || Ok::<_, std::io::Error>(Stdio::from(inside.try_clone()?));
        #[expect(clippy::disallowed_methods, reason = "the program that is measured")]
        let mut command = Command::new(testkit::bench::program(env!("CARGO_BIN_EXE_musher")));
        command.arg("chat").arg("--agent").arg(std::env::current_exe()?);
        command.env("HOME", folder).env("MUSHER_HOME", folder.join("home")).env(STATS, folder.join("stats"));
        command.env("TERM", "xterm-256color").env("NO_COLOR", "1").current_dir(folder);
        let child = command.stdin(end()?).stdout(end()?).stderr(end()?).spawn()?;
        drop((command, inside));
        let mut screen = keyboard.try_clone()?;
        let (sender, received) = mpsc::sync_channel(4096);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
        });
        let mut chat = Self { child, keyboard, screen: received, written: Vec::new() };
        chat.until("Ask for a change")?;
        Ok(chat)
    }

    fn press(&mut self, keys: &str) -> Result<Instant> {
        self.written.clear();
        let at = Instant::now();
        self.keyboard.write_all(keys.as_bytes())?;
        Ok(at)
    }

    /// Waits until this is written, and returns when it was.
    fn until(&mut self, text: &str) -> Result<Instant> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (at, bytes) = self.screen.recv_timeout(left).with_context(|| {
                format!("`{text}` was not shown: {}", String::from_utf8_lossy(&self.written))
            })?;
            self.written.extend(bytes);
            if self.written.windows(text.len()).any(|it| it == text.as_bytes()) {
                return Ok(at);
            }
            // only the end can be completed
            let kept = self.written.len().saturating_sub(text.len());
            self.written.drain(..kept);
        }
    }

    /// Reads what is written meanwhile.
    fn pause(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
    }

    /// The CPU time of the chat so far, and its memory in MiB.
    fn used(&self) -> Result<(Duration, f64)> {
        let id = self.child.id();
        let stat = fs_err::read_to_string(format!("/proc/{id}/stat"))?;
        let fields: Vec<&str> = stat.rsplit_once(')').context("stat")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        let status = fs_err::read_to_string(format!("/proc/{id}/status"))?;
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        let kib: f64 = rss.trim().trim_end_matches(" kB").parse()?;
        Ok((Duration::from_secs_f64(ticks as f64 / TICKS as f64), kib / 1024.0))
    }

    fn quit(mut self) -> Result<()> {
        self.press("\u{4}")?;
        while self.screen.recv_timeout(TIMEOUT).is_ok() {}
        ensure!(self.child.wait()?.success(), "the chat has failed");
        Ok(())
    }
}

fn stream(folder: &Path) -> Result<()> {
    let mut chat = Chat::start(folder)?;
    let (before, began) = (chat.used()?.0, Instant::now());
    chat.press("stream\r")?;
    chat.until("word100 ")?;
    let (mut times, mut typed) = (Vec::new(), String::new());
    for number in 0..KEYS {
        // not in step with the frames
        chat.pause(Duration::from_micros(15_000 + (number as u64 * 7919) % 9000));
        if typed.len() == 30 {
            typed.clear();
            chat.press("\u{15}")?;
            chat.pause(Duration::from_millis(20));
        }
        let key = char::from(b'a' + u8::try_from(number % 26)?);
        typed.push(key);
        let at = chat.press(&key.to_string())?;
        times.push(chat.until(&format!("› {typed}"))?.saturating_duration_since(at));
    }
    let is_streaming = !folder.join("stats").exists();
    ensure!(is_streaming, "the stream ended before the keys");
    chat.press("\u{15}")?;
    chat.until("tokens in")?;
    let took = began.elapsed();
    let cpu = chat.used()?.0.saturating_sub(before);
    let stats = fs_err::read_to_string(folder.join("stats"))?;
    let (count, seconds) = stats.split_once(' ').context("stats")?;
    let (count, seconds): (f64, f64) = (count.parse()?, seconds.parse()?);
    times.sort();
    let at =
        |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    println!("stream             {count:.0} deltas in {seconds:.1} s: {:.0} per second", count / seconds);
    println!("key to screen      p50 {:.1} ms, p99 {:.1} ms, maximum {:.1} ms", at(50), at(99), at(100));
    let part = cpu.as_secs_f64() / took.as_secs_f64() * 100.0;
    println!(
        "CPU of the chat    {:.2} s in {:.1} s: {part:.0} % of one core",
        cpu.as_secs_f64(),
        took.as_secs_f64()
    );
    chat.quit()
}

fn memory(folder: &Path) -> Result<()> {
    let mut chat = Chat::start(folder)?;
    let mut turns = 0;
    println!("memory             {:.1} MiB before the first turn", chat.used()?.1);
    for count in TURNS {
        while turns < count {
            chat.press("next\r")?;
            // the summary of the turn, which is written once
            chat.until("tokens in")?;
            turns += 1;
        }
        println!("                   {:.1} MiB after {count} turns", chat.used()?.1);
    }
    chat.quit()
}
