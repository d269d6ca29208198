//! `cargo xtask screenshot`: a picture of the guide, made from a real run of `musher demo` in a terminal.
//!
//! What differs from run to run or by machine (folder, time, tokens, session id) is replaced, so that the same output always gives the same file:
//! `--check` compares it with the committed one.

pub(crate) mod cast;
mod svg;
mod terminal;

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use serde_json::Value;

use crate::cargo::{cargo, forget_our_package};
use terminal::Cell;

const PICTURE: &str = "docs/images/demo.svg";
/// Wide enough that no line of the demo wraps.
const COLUMNS: usize = 140;
/// The demo waits for an answer when this appears.
const PROMPT: &str = "[y/N";
/// The demo takes seconds; this only ends a run that hangs.
const DEMO_TIMEOUT: Duration = Duration::from_mins(2);
/// The picture starts with the line that contains this, and ends before the next blank line.
const FIRST_LINE: &str = "musher run \"";

#[derive(Debug, clap::Args)]
pub(crate) struct ScreenshotArgs {
    /// Only check that the committed picture shows what the demo prints
    #[arg(long)]
    check: bool,
}

/// Runs the demo, and writes the picture or compares it.
pub(crate) fn run(args: &ScreenshotArgs) -> Result<()> {
    make(args.check)
}

/// Fails if the committed picture is out of date.
pub(crate) fn check() -> Result<()> {
    make(true)
}

fn make(only_check: bool) -> Result<()> {
    let lines = terminal::lines(&record(&build()?)?, COLUMNS);
    let picture = svg::render(&stable(excerpt(&lines)?), "musher demo");
    if !only_check {
        fs::create_dir_all("docs/images")?;
        fs::write(PICTURE, picture)?;
        println!("wrote {PICTURE}");
    } else if fs::read_to_string(PICTURE)? != picture {
        bail!("{PICTURE} is out of date; run `cargo xtask screenshot` and look at it");
    } else {
        println!("{PICTURE} shows what the demo prints");
    }
    Ok(())
}

/// Builds `musher` and returns its path.
fn build() -> Result<String> {
    let args = ["build", "-p", "musher-cli", "--bin", "musher", "--message-format=json-render-diagnostics"];
    let output = cargo(&args).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cannot build musher");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.to_owned()));
    programs.next_back().context("cargo names no executable")
}

/// Runs the demo in a terminal, answers yes, and returns everything it wrote.
fn record(program: &str) -> Result<String> {
    let command = format!("stty cols {COLUMNS} rows 50 && exec '{program}' demo");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    script.env("TERM", "xterm-256color").env("TMPDIR", "/tmp").env("LC_ALL", "C.UTF-8");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "MUSHER_LOG"] {
        script.env_remove(variable);
    }
    forget_our_package(&mut script);
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().context("cannot start `script` (util-linux)")?;
    let output = converse(&mut script);
    if output.is_err() {
        script.kill().ok();
    }
    let status = script.wait()?;
    let output = output?;
    if !status.success() {
        bail!("the demo ended with {status}:\n{output}");
    }
    if !output.contains(PROMPT) {
        bail!("the demo did not show `{PROMPT}`, so it was not asked for permission:\n{output}");
    }
    Ok(output)
}

/// Returns what a program writes, piece by piece, so that waits for it can end.
fn output_of(script: &mut Child) -> Result<mpsc::Receiver<Vec<u8>>> {
    let mut screen = script.stdout.take().context("no stdout")?;
    let (sender, received) = mpsc::sync_channel(64);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    Ok(received)
}

fn converse(script: &mut Child) -> Result<String> {
    let mut keyboard = script.stdin.take().context("no stdin")?;
    let received = output_of(script)?;
    let deadline = Instant::now() + DEMO_TIMEOUT;
    let (mut bytes, mut answered) = (Vec::new(), 0);
    loop {
        match received.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(more) => bytes.extend(more),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(String::from_utf8(bytes)?),
            Err(mpsc::RecvTimeoutError::Timeout) => bail!("the demo did not end in time"),
        }
        let asked = String::from_utf8_lossy(&bytes).matches(PROMPT).count();
        if asked > answered {
            keyboard.write_all(b"y\n")?;
            answered = asked;
        }
    }
}

/// The turn: from the command to the line before the next blank one.
fn excerpt(lines: &[Vec<Cell>]) -> Result<&[Vec<Cell>]> {
    let text: Vec<String> = lines.iter().map(|line| terminal::text(line)).collect();
    let first = text.iter().position(|line| line.contains(FIRST_LINE));
    let first = first.with_context(|| format!("the demo prints no line with `{FIRST_LINE}`"))?;
    let length = text[first..].iter().position(|line| line.trim().is_empty());
    Ok(&lines[first..first + length.unwrap_or(lines.len() - first)])
}

/// Replaces what differs from run to run.
fn stable(lines: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    lines.iter().map(|line| stable_line(line.clone())).collect()
}

fn stable_line(mut line: Vec<Cell>) -> Vec<Cell> {
    const FOLDER: &str = "/musher-demo-";
    const FOLDER_SUFFIX: usize = 6;
    const ID: usize = 36;
    let characters: Vec<char> = terminal::text(&line).chars().collect();
    let folder: Vec<char> = FOLDER.chars().collect();
    if let Some(at) = characters.windows(folder.len()).position(|window| window == folder) {
        let end = (at + folder.len() + FOLDER_SUFFIX).min(line.len());
        line.drain(at + folder.len() - 1..end);
    }
    if let Some(at) = characters.windows(ID).position(is_id) {
        line.drain(at + 8..at + ID);
        // the first words of that line say how long it took
        let time = characters.iter().position(|character| *character == ' ').unwrap_or_default();
        let style = line[0].style;
        line.splice(..time, "2.5s".chars().map(|character| Cell { character, style }));
        let id = line.len() - 8;
        for (cell, character) in line[id..].iter_mut().zip("3f2a77b0".chars()) {
            cell.character = character;
        }
        replace_tokens(&mut line);
    }
    line
}

/// Replaces the number of input tokens, which depends on the description of the machine in the prompt.
fn replace_tokens(line: &mut Vec<Cell>) {
    const UNIT: &str = " tokens in";
    let characters: Vec<char> = terminal::text(line).chars().collect();
    let unit: Vec<char> = UNIT.chars().collect();
    let Some(end) = characters.windows(unit.len()).position(|window| window == unit) else { return };
    let digits = characters[..end].iter().rev();
    let length = digits.take_while(|digit| digit.is_ascii_digit() || **digit == ',').count();
    let style = line[end].style;
    line.splice(end - length..end, "8,230".chars().map(|character| Cell { character, style }));
}

/// Whether this is a UUID.
fn is_id(text: &[char]) -> bool {
    text.iter().enumerate().all(|(at, character)| match at {
        8 | 13 | 18 | 23 => *character == '-',
        _ => character.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> Vec<String> {
        let lines = terminal::lines(output, COLUMNS);
        stable(excerpt(&lines).unwrap()).iter().map(|line| terminal::text(line)).collect()
    }

    #[test]
    fn excerpt_is_the_turn_without_what_differs_between_runs() {
        let output = "before\r\n\r\nmusher run \"fix it\"\r\nEdit /tmp/musher-demo-q9czkz/leap.sh?\r\n\
            13.7s · 4 tool calls · 12,345 tokens in, 26 out · session 17226a83-3a54-4cce-a825-1917f0fa4ba7\r\n\r\nafter";
        let expected = [
            "musher run \"fix it\"",
            "Edit /tmp/musher-demo/leap.sh?",
            "2.5s · 4 tool calls · 8,230 tokens in, 26 out · session 3f2a77b0",
        ];
        assert_eq!(shown(output), expected);
        assert!(excerpt(&terminal::lines("something else", COLUMNS)).is_err());
    }

    #[test]
    fn guide_shows_the_picture() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(fs::read_to_string(root.join("docs/guide/start.md")).unwrap().contains("images/demo.svg"));
        assert!(fs::read_to_string(root.join(PICTURE)).unwrap().contains("musher run"));
    }
}
