//! The baseline of the benchmark: passes on the stand-ins' output and only looks for line endings.
//!
//! No backend that passes messages on unchanged can cost less. `compare.py` compiles it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, Read as _, Result, Write as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() -> Result<()> {
    let agent = std::env::args().nth(1).expect("the stand-in");
    // not `Stdout`, which searches for line endings itself
    let out = Arc::new(Mutex::new(File::from(stdout().as_fd().try_clone_to_owned()?)));
    let mut agents: HashMap<String, ChildStdin> = HashMap::new();
    for line in stdin().lock().lines() {
        let line = line?;
        let id = text(&line, if line.contains("session.create") { "id" } else { "session_id" });
        if line.contains("session.create") {
            let mut child = Command::new(&agent).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let (mut input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
            writeln!(input, r#"{{"type":"control_request","request_id":"1","request":{{"subtype":"initialize"}}}}"#)?;
            agents.insert(id.clone(), input);
            let out = Arc::clone(&out);
            thread::spawn(move || relay(output, &out, &id));
        } else if let Some(input) = agents.get_mut(&id) {
            let message = text(&line, "message");
            writeln!(input, r#"{{"type":"user","message":{{"role":"user","content":"{message}"}}}}"#)?;
        }
    }
    Ok(())
}

/// Passes on whole lines, as many as were read at once.
fn relay(mut output: ChildStdout, out: &Mutex<File>, id: &str) -> Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut rest = 0;
    // the response to the first request
    output.read(&mut buffer)?;
    writeln!(out.lock().expect("no thread panics"), r#"{{"type":"session.created","session_id":"{id}"}}"#)?;
    loop {
        let length = rest + output.read(&mut buffer[rest..])?;
        if length == rest {
            return Ok(());
        }
        let whole = buffer[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        out.lock().expect("no thread panics").write_all(&buffer[..whole])?;
        buffer.copy_within(whole..length, 0);
        rest = length - whole;
    }
}

/// Returns a field of a benchmark message, which has no escapes.
fn text(line: &str, field: &str) -> String {
    let (_, rest) = line.split_once(&format!("\"{field}\": \"")).expect(field);
    rest.split('"').next().unwrap_or_default().to_owned()
}
