//! `cargo xtask cast`: a recorded session of `musher chat` with a scripted model, as an asciinema recording and as a picture.
//!
//! The program, its terminal, its tools and its permission requests are real. The times of the recording differ from run to run, so
//! `--check` compares what the screen shows at the end, with times and counts made the same.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use serde_json::{Value, json};
use testkit::rehearse::{Script, Server};

use super::terminal::{Cell, Style, text};
use super::{build, svg};
use crate::cargo::forget_our_package;

const CAST: &str = "docs/images/chat.cast";
const PICTURE: &str = "docs/images/chat.svg";
const SCRIPT: &str = include_str!("cast.yaml");
/// The home of the session. It has the same name in every run, because it is shown.
const HOME: &str = "/tmp/musher-chat";
/// The repository, with files of the demo.
const FILES: &str = "crates/cli/src/commands/demo";
const COLUMNS: u16 = 100;
const ROWS: u16 = 52;
const PROMPT: &str = "The test fails. Find out why, and fix it.";
/// Shown when keys are answers.
const ARMED: &str = "press a key, or choose";
/// Permission requests of the script.
const REQUESTS: usize = 3;
/// The session takes seconds; this only ends a run that hangs.
const TIMEOUT: Duration = Duration::from_mins(2);
/// Longest pause of the recording.
const MAX_PAUSE: f64 = 2.0;
/// The place in the recording that the picture shows.
const MARK: &str = "the end of the turn";

#[derive(Debug, clap::Args)]
pub(crate) struct CastArgs {
    /// Only check that the committed recording and picture show what a new session shows
    #[arg(long)]
    check: bool,
}

/// Records the session, and writes the recording and the picture or compares them.
pub(crate) fn run(args: &CastArgs) -> Result<()> {
    make(args.check)
}

/// Fails if the committed recording or picture is out of date.
pub(crate) fn check() -> Result<()> {
    make(true)
}

fn make(only_check: bool) -> Result<()> {
    let program = build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let inside = runtime.enter();
    let home = Home::create()?;
    let work = home.0.join("leap-years");
    let script = SCRIPT.replace("FOLDER", work.to_str().context("a path of letters")?);
    let model = Server::bind("127.0.0.1:0", Script::parse("cast", &script)?)?;
    home.configure(&model.url())?;
    let recording = record(&program, &home, &work)?;
    drop((model, inside));
    let picture = svg::render(&recording.lines, "musher chat");
    if !only_check {
        fs::create_dir_all("docs/images")?;
        fs::write(PICTURE, picture)?;
        fs::write(CAST, recording.cast)?;
        println!("wrote {PICTURE} and {CAST}");
        return Ok(());
    }
    let hint = "run `cargo xtask cast` and look at it";
    if fs::read_to_string(PICTURE)? != picture {
        bail!("{PICTURE} is out of date; {hint}");
    }
    if svg::render(&played(&fs::read_to_string(CAST)?)?, "musher chat") != picture {
        bail!("{CAST} is out of date; {hint}");
    }
    println!("{PICTURE} and {CAST} show what the chat shows");
    Ok(())
}

/// The home of the session, which is removed at the end.
struct Home(PathBuf);

impl Home {
    fn create() -> Result<Self> {
        fs::remove_dir_all(HOME).ok();
        let home = Self(HOME.into());
        let work = home.0.join("leap-years");
        fs::create_dir_all(&work)?;
        for name in ["leap.sh", "test.sh"] {
            fs::copy(Path::new(FILES).join(name), work.join(name))?;
        }
        Ok(home)
    }

    fn configure(&self, model: &str) -> Result<()> {
        let settings = json!({"customModels": [{
            "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{model}/v1"),
            "apiKey": "none", "provider": "generic-chat-completion-api",
        }]});
        fs::create_dir_all(self.0.join(".musher"))?;
        Ok(fs::write(self.0.join(".musher/settings.json"), settings.to_string())?)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

struct Recording {
    cast: String,
    lines: Vec<Vec<Cell>>,
}

/// Has the conversation.
fn record(program: &str, home: &Home, work: &Path) -> Result<Recording> {
    let command = format!("stty cols {COLUMNS} rows {ROWS} && exec '{program}' chat");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    script.current_dir(work).env("HOME", &home.0).env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
    // the emulator does not wrap lines again, as xterm
    script.env("XTERM_VERSION", "cast");
    for variable in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "MUSHER_LOG", "MUSHER_HOME", "MUSHER_AGENT", "TMUX"]
    {
        script.env_remove(variable);
    }
    forget_our_package(&mut script);
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().context("cannot start `script` (util-linux)")?;
    let recording = converse(&mut script);
    if recording.is_err() {
        script.kill().ok();
    }
    let status = script.wait()?;
    let recording = recording?;
    if !status.success() {
        bail!("the chat ended with {status}");
    }
    Ok(recording)
}

fn converse(script: &mut Child) -> Result<Recording> {
    let keyboard = script.stdin.take().context("no stdin")?;
    let output = super::output_of(script)?;
    let mut session = Session {
        keyboard,
        output,
        emulator: emulator(),
        rest: Vec::new(),
        time: 0.0,
        last: Instant::now(),
        deadline: Instant::now() + TIMEOUT,
        cast: format!(
            "{}\n",
            json!({"version": 2, "width": COLUMNS, "height": ROWS, "title": "musher chat", "env": {"TERM": "xterm-256color"}})
        ),
    };
    session.until("the prompt", |screen| screen.contains("› Ask for a change"))?;
    session.pause(800)?;
    session.type_in(PROMPT)?;
    session.press("\r")?;
    for _ in 0..REQUESTS {
        session.until("a request", |screen| screen.contains(ARMED))?;
        session.pause(1500)?;
        session.press("y")?;
        session.until("the answer", |screen| !screen.contains(ARMED))?;
    }
    session.until("the end", |screen| {
        screen.contains("› Ask for a change")
            && screen.contains("tool calls")
            && !screen.contains("Esc interrupts")
    })?;
    // the context comes a little later
    session.until("the status", |screen| screen.contains("context "))?;
    session.pause(1000)?;
    let lines = stable(&session.emulator);
    session.event("m", MARK);
    session.press("\u{4}")?;
    while let Ok(bytes) =
        session.output.recv_timeout(session.deadline.saturating_duration_since(Instant::now()))
    {
        session.take(&bytes);
    }
    Ok(Recording { cast: session.cast, lines })
}

struct Session {
    keyboard: std::process::ChildStdin,
    output: mpsc::Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    /// The beginning of a character.
    rest: Vec<u8>,
    time: f64,
    last: Instant,
    deadline: Instant,
    cast: String,
}

impl Session {
    fn event(&mut self, kind: &str, data: &str) {
        self.time += self.last.elapsed().as_secs_f64().min(MAX_PAUSE);
        self.last = Instant::now();
        let time = (self.time * 1000.0).round() / 1000.0;
        self.cast.push_str(&json!([time, kind, data]).to_string());
        self.cast.push('\n');
    }

    fn take(&mut self, bytes: &[u8]) {
        self.emulator.process(bytes);
        self.rest.extend(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        if !text.is_empty() {
            self.event("o", &String::from_utf8_lossy(&text));
        }
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<()> {
        while !is_so(&self.emulator.screen().contents()) {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                bail!("the chat did not show {what}:\n{}", self.emulator.screen().contents());
            };
            self.take(&bytes);
        }
        Ok(())
    }

    /// Lets the reader of the recording read.
    fn pause(&mut self, milliseconds: u64) -> Result<()> {
        let until = Instant::now() + Duration::from_millis(milliseconds);
        loop {
            match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(mpsc::RecvTimeoutError::Timeout) => return Ok(()),
                Err(mpsc::RecvTimeoutError::Disconnected) => bail!("the chat has ended"),
            }
        }
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        self.keyboard.write_all(keys.as_bytes())?;
        Ok(self.keyboard.flush()?)
    }

    fn type_in(&mut self, text: &str) -> Result<()> {
        for character in text.chars() {
            self.press(character.encode_utf8(&mut [0; 4]))?;
            self.pause(40)?;
        }
        Ok(())
    }
}

fn emulator() -> vt100::Parser {
    let nonzero = |size| std::num::NonZeroU16::new(size).unwrap_or(std::num::NonZeroU16::MIN);
    vt100::Parser::new(nonzero(ROWS), nonzero(COLUMNS), 0)
}

/// The screen at the mark of a recording.
fn played(cast: &str) -> Result<Vec<Vec<Cell>>> {
    let mut emulator = emulator();
    for line in cast.lines().skip(1) {
        let event: Value = serde_json::from_str(line)?;
        match (event[1].as_str(), event[2].as_str()) {
            (Some("o"), Some(data)) => emulator.process(data.as_bytes()),
            (Some("m"), Some(MARK)) => return Ok(stable(&emulator)),
            _ => {}
        }
    }
    bail!("the recording has no mark `{MARK}`")
}

/// The rows of the screen, with what differs from run to run made the same.
fn stable(emulator: &vt100::Parser) -> Vec<Vec<Cell>> {
    let screen = emulator.screen();
    let mut lines: Vec<Vec<Cell>> = (0..ROWS)
        .map(|row| {
            same(&(0..COLUMNS).filter_map(|column| cell(screen.cell(row, column)?)).collect::<Vec<_>>())
        })
        .collect();
    while lines.last().is_some_and(|line| text(line).is_empty()) {
        lines.pop();
    }
    lines
}

fn cell(cell: &vt100::Cell) -> Option<Cell> {
    if cell.is_wide_continuation() {
        return None;
    }
    let colour = match cell.fgcolor() {
        vt100::Color::Idx(index @ 0..=7) => Some(30 + index),
        vt100::Color::Idx(index @ 8..=15) => Some(82 + index),
        _ => None,
    };
    let style = Style { is_bold: cell.bold(), is_dim: cell.dim(), colour };
    Some(Cell { character: cell.contents().chars().next().unwrap_or(' '), style })
}

/// Makes times, numbers of tokens and percentages the same.
fn same(line: &[Cell]) -> Vec<Cell> {
    let mut out = Vec::new();
    for word in line.split_inclusive(|cell| cell.character == ' ') {
        let shown: String = word.iter().map(|cell| cell.character).collect();
        let shown = shown.trim_end();
        let is_number = |text: &str| {
            !text.is_empty() && text.chars().all(|it| it.is_ascii_digit() || it == ',' || it == '.')
        };
        let fixed = if shown.strip_suffix('s').is_some_and(is_number) {
            "0.5s"
        } else if shown.strip_suffix('%').is_some_and(is_number) {
            "4%"
        } else if shown.contains(',') && is_number(shown) && !shown.ends_with(',') {
            "8,230"
        } else {
            out.extend_from_slice(word);
            continue;
        };
        out.extend(fixed.chars().map(|character| Cell { character, style: word[0].style }));
        let blank = Cell { character: ' ', style: Style::default() };
        out.extend(std::iter::repeat_n(blank, word.len() - shown.chars().count()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_counts_and_percentages_are_the_same_in_every_run() {
        let line = |shown: &str| -> Vec<Cell> {
            shown.chars().map(|character| Cell { character, style: Style::default() }).collect()
        };
        let shown = text(&same(&line("12.7s · 6 tool calls · 10,123 tokens in, 26 out · context 7% · 1900")));
        assert_eq!(shown, "0.5s · 6 tool calls · 8,230 tokens in, 26 out · context 4% · 1900");
    }

    #[test]
    fn committed_recording_plays_and_is_linked() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let cast = fs::read_to_string(root.join(CAST)).unwrap();
        let shown: Vec<String> = played(&cast).unwrap().iter().map(|line| text(line)).collect();
        assert!(shown.iter().any(|line| line.contains(PROMPT)), "{shown:#?}");
        assert!(fs::read_to_string(root.join("README.md")).unwrap().contains(PICTURE));
        let guide = fs::read_to_string(root.join("docs/guide/chat.md")).unwrap();
        assert!(guide.contains("images/chat.cast") && guide.contains("images/chat.svg"));
    }
}
