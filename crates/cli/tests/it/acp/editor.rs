//! An editor that writes and reads lines, for tests that need nothing else of one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(30);

/// An editor that sends lines.
pub(crate) struct Editor {
    child: Child,
    lines: mpsc::Receiver<Value>,
    asked: u64,
}

impl Editor {
    pub(crate) fn start(command: Command) -> Self {
        Self::with(command, &json!({}))
    }

    /// With these capabilities.
    pub(crate) fn with(mut command: Command, capabilities: &Value) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::sync_channel(4096);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self { child, lines, asked: 0 };
        editor.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities}));
        editor
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let mut line = json!({"jsonrpc": "2.0", "id": self.asked, "method": method});
        line["params"] = params;
        self.write(&line);
        self.asked
    }

    /// Sends a line.
    pub(crate) fn write(&mut self, line: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Opens a session in a directory; returns its id.
    pub(crate) fn open(&mut self, cwd: &Path) -> String {
        let opened = self.call("session/new", json!({"cwd": cwd, "mcpServers": []}));
        opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned()
    }

    /// Runs a prompt, and answers each request of the agent. Returns the answer, and the updates before it.
    pub(crate) fn turn(
        &mut self,
        session: &str,
        text: &str,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> (Value, Vec<Value>) {
        let id = self.ask("session/prompt", Self::prompt(session, text));
        let mut updates = Vec::new();
        loop {
            let message = self.until(|_| true);
            match message["method"].as_str() {
                Some("session/update") => updates.push(message["params"]["update"].clone()),
                Some(_) if message.get("id").is_some() => {
                    let result = answer(&message);
                    self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
                }
                None if message["id"] == id => return (message, updates),
                _ => {}
            }
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn answer(&self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    pub(crate) fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.lines.recv_timeout(DEADLINE).expect("a message");
            if wanted(&message) {
                return message;
            }
        }
    }

    pub(crate) fn prompt(session: &str, text: &str) -> Value {
        json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
    }

    /// Closes stdin; returns how long the process took to end.
    pub(crate) fn leave(mut self) -> Duration {
        drop(self.child.stdin.take());
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < DEADLINE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
