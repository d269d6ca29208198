//! Two editors, each with its own `musher acp`, and one session. And the end of a process whose editor is gone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use musher_rehearse::{Hang, Reply, Script, when};
use serde_json::{Value, json};

use crate::run::stage::Stage;

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(30);

/// An editor that sends lines.
struct Editor {
    child: Child,
    lines: mpsc::Receiver<Value>,
    asked: u64,
}

impl Editor {
    fn start(mut command: Command) -> Self {
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
        editor.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
        editor
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let mut line = json!({"jsonrpc": "2.0", "id": self.asked, "method": method});
        line["params"] = params;
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.asked
    }

    fn answer(&self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.lines.recv_timeout(DEADLINE).expect("a message");
            if wanted(&message) {
                return message;
            }
        }
    }

    fn prompt(session: &str, text: &str) -> Value {
        json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
    }

    /// Closes stdin; returns how long the process took to end.
    fn leave(mut self) -> Duration {
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

fn in_workspace(stage: &Stage, session: &str) -> Value {
    json!({"sessionId": session, "cwd": stage.workspace(), "mcpServers": []})
}

#[test]
fn session_without_a_prompt_is_resumed_by_another_process() {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    let stage = Stage::new(Script::new().reply(Reply::text("Here.").when(on("hello"))));
    for method in ["session/resume", "session/load"] {
        let mut first = Editor::start(stage.musher(&["acp"]));
        let opened = first.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
        let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        first.leave();
        let mut second = Editor::start(stage.musher(&["acp"]));
        let resumed = second.call(method, in_workspace(&stage, &session));
        assert!(resumed["result"].is_object(), "{method}: {resumed}");
        let done = second.call("session/prompt", Editor::prompt(&session, "hello"));
        assert_eq!(done["result"]["stopReason"], "end_turn", "{method}: {done}");
    }
}

#[test]
fn session_is_open_in_two_editors_and_a_prompt_during_the_others_turn_is_refused_with_its_process() {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    let script = Script::new()
        .reply(Reply::text("Third.").when(on("third")))
        .reply(Reply::hang(Hang::AfterHeaders).when(on("second")))
        .reply(Reply::text("First.").when(on("first")));
    let stage = Stage::new(script);
    let (mut one, mut two) = (Editor::start(stage.musher(&["acp"])), Editor::start(stage.musher(&["acp"])));
    let opened = one.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    assert!(two.call("session/load", in_workspace(&stage, &session))["result"].is_object());
    let done = two.call("session/prompt", Editor::prompt(&session, "first"));
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");

    let calls = stage.calls().len();
    let running = one.ask("session/prompt", Editor::prompt(&session, "second"));
    stage.until_asked(calls + 1);
    let refused = two.call("session/prompt", Editor::prompt(&session, "third"));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains(&format!("running in process {}", one.child.id())), "{refused}");
    let mut three = Editor::start(stage.musher(&["acp"]));
    let id = three.ask("session/load", in_workspace(&stage, &session));
    three.until(|message| message.to_string().contains("First."));
    assert!(three.answer(id)["result"].is_object(), "loading always works");

    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    writeln!(one.child.stdin.as_mut().unwrap(), "{cancel}").unwrap();
    assert_eq!(one.answer(running)["result"]["stopReason"], "cancelled");
    let done = two.call("session/prompt", Editor::prompt(&session, "third"));
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    let calls = stage.calls();
    let third =
        calls.iter().rfind(|call| call.body.as_ref().is_some_and(|body| body.to_string().contains("third")));
    let body = third.unwrap().body.as_ref().unwrap().to_string();
    assert!(body.contains("first") && body.contains("second"), "it continues what the other wrote: {body}");
}

#[test]
fn process_ends_within_five_seconds_after_its_editor_is_gone_whatever_the_agent_does() {
    // opens a session, and then notices neither the end of its input nor a request to end
    let script = r#"#!/bin/sh
trap '' TERM INT HUP
read -r line
id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
echo '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"'"$id"'","result":{"sessionId":"s","session":{"messages":[]},"settings":{}}}'
while :; do sleep 0.1; done
"#;
    let stage = Stage::new(Script::new());
    let agent = stage.file("agent.sh", script);
    fs_err::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut editor = Editor::start(stage.musher(&["acp", "--agent", &agent]));
    let opened = editor.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
    assert_eq!(opened["result"]["sessionId"], "s", "{opened}");
    editor.ask("session/prompt", Editor::prompt("s", "never answered"));
    let took = editor.leave();
    assert!(took < Duration::from_secs(5), "{took:?}");
}
