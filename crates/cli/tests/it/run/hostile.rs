//! Text from outside that contains terminal commands, changes of direction or hidden characters is spelled out, whatever its source.

use musher_rehearse::{HttpError, Reply, Script};
use serde_json::{Value, json};

use super::stage::{Stage, step};
use crate::program::ended;
use crate::pty::Terminal;

/// C0 and C1 controls, direction, zero width, a tag.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{200b}\u{e0041}y";
/// The same as it is shown.
const SHOWN: &str = "x\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e}\\u{200b}\\u{e0041}y";
/// The same where a message must fit into a line.
const IN_LINE: &str = "x ]0;owned  2J\\u{202e}\\u{200b}\\u{e0041}y";

/// An agent that sends `TEXT` in the way `WAY` names.
const AGENT: &str = r#"
import json, sys
def send(kind, **more):
    head = {"jsonrpc": "2.0", "type": kind, "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.220.0"}
    print(json.dumps({**head, **more}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, id = asked.get("method"), asked.get("id")
    if WAY == "dies":
        print(TEXT, file=sys.stderr, flush=True)
        sys.exit(7)
    if WAY == "refuses":
        send("response", id=id, error={"code": -32603, "message": TEXT})
        continue
    session = TEXT if WAY == "names" else "s"
    result = {"sessionId": session, "session": {"messages": []}, "settings": {"modelId": "m"}}
    send("response", id=id, result=result if method == "droid.initialize_session" else {})
    if method == "droid.add_user_message":
        def notify(**what):
            send("notification", method="droid.session_notification", params={"sessionId": session, "notification": what})
        if WAY == "complains":
            notify(type="error", message=TEXT, errorType="Error", timestamp="2026-01-01T00:00:00.000Z")
        notify(type="agent_turn_completed", reason="completed")
"#;

/// An agent, as a program.
fn agent(stage: &Stage, way: &str) -> String {
    let text = serde_json::to_string(HOSTILE).unwrap().replace('\u{e0041}', "\\udb40\\udc41");
    let head = format!("#!/usr/bin/env python3\nimport json\nWAY, TEXT = '{way}', json.loads(r'''{text}''')");
    let agent = stage.file("agent", format!("{head}\n{AGENT}"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&agent, executable).unwrap();
    agent
}

/// All that a terminal gets, without our own styles.
fn on_a_terminal(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = stage.command(arguments);
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
    let mut terminal = Terminal::start(command);
    terminal.end();
    terminal.raw().replace("\r\u{1b}[2K", "").replace("\r\n", "\n")
}

/// Fails if the text has an unsafe character.
fn assert_safe(text: &str) {
    let is_unsafe = |it: char| {
        it.is_control() && it != '\n'
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!text.contains(is_unsafe), "{}", text.escape_debug());
}

#[test]
fn error_of_the_agent_is_spelled_out() {
    for way in ["refuses", "complains"] {
        let stage = Stage::new(Script::new());
        let agent = agent(&stage, way);
        let terminal = on_a_terminal(&stage, &["--agent", &agent, "hello"]);
        let run = ended(stage.command(&["--agent", &agent, "hello"]));
        for text in [terminal, run.stderr] {
            assert_safe(&text);
            assert!(text.contains(SHOWN) || text.contains(IN_LINE), "{way}: {text}");
        }
    }
}

#[test]
fn last_words_of_an_agent_on_stderr_are_spelled_out() {
    let stage = Stage::new(Script::new());
    let agent = agent(&stage, "dies");
    let text = on_a_terminal(&stage, &["--agent", &agent, "hello"]);
    assert_safe(&text);
    assert!(text.contains(SHOWN), "{text}");
}

#[test]
fn session_id_is_spelled_out() {
    let stage = Stage::new(Script::new());
    let agent = agent(&stage, "names");
    let text = on_a_terminal(&stage, &["--agent", &agent, "hello"]);
    assert_safe(&text);
    assert!(text.contains(&format!("session {SHOWN}\n")), "{text}");
    // one that was given, and is not there
    let text = on_a_terminal(&stage, &["--session", HOSTILE, "hello"]);
    assert_safe(&text);
    assert!(text.contains(SHOWN), "{text}");
}

#[test]
fn body_of_a_model_servers_error_is_spelled_out() {
    let error = || Reply::error(HttpError::new(400).message(HOSTILE)).when(step(1));
    let stage = Stage::new(Script::new().reply(error()));
    let terminal = on_a_terminal(&stage, &["hello"]);
    let stage = Stage::new(Script::new().reply(error()));
    let run = ended(stage.command(&["hello"]));
    for text in [terminal, run.stderr] {
        assert_safe(&text);
        assert!(text.contains(SHOWN) || text.contains(IN_LINE), "{text}");
    }
}

#[test]
fn argument_that_is_quoted_in_an_error_is_spelled_out() {
    let stage = Stage::new(Script::new());
    let text = on_a_terminal(&stage, &[&format!("--{HOSTILE}")]);
    assert_safe(&text);
    // clap takes out escape sequences itself
    assert!(
        text.starts_with("error: ") && text.contains("--x\\u{9b}2J\\u{202e}\\u{200b}\\u{e0041}y"),
        "{text}"
    );
}

#[test]
fn json_on_a_terminal_has_escapes_and_the_same_meaning() {
    let script = || Script::new().reply(Reply::text(HOSTILE).when(step(1)));
    for format in ["--json", "--stream-json"] {
        let text = on_a_terminal(&Stage::new(script()), &[format, "hello"]);
        assert_safe(&text);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.last().unwrap();
        let said = if format == "--json" { &last["result"] } else { &last["finalText"] };
        assert_eq!(*said, json!(HOSTILE));
        assert!(text.contains("\\udb40\\udc41"), "{text}");
    }
}

#[test]
fn pipe_gets_answers_and_json_as_they_are() {
    let script = || Script::new().reply(Reply::text(HOSTILE).when(step(1)));
    let run = ended(Stage::new(script()).command(&["hello"]));
    assert_eq!((run.code, run.stdout), (Some(0), format!("{HOSTILE}\n")));
    let run = ended(Stage::new(script()).command(&["--json", "hello"]));
    assert!(run.stdout.contains("\u{202e}\u{200b}\u{e0041}y"), "{}", run.stdout);
}
