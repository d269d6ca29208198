//! `musher mcp`, with servers that are programs, and with a server that requires a login.

mod peers;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::acp::editor::Editor;
use crate::program::Run;
use crate::run::stage::Stage;
use musher_rehearse::Script;

/// A program that is an MCP server.
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp/tests/helpers/mcp_server.py");

fn told(run: &Run) -> String {
    format!("{:?}\n{}{}", run.code, run.stdout, run.stderr)
}

#[test]
fn server_is_added_listed_checked_and_removed() {
    let stage = Stage::new(Script::new());
    let empty = stage.run_musher(&["mcp"]);
    assert!(empty.stderr.contains("no MCP servers configured"), "{}", told(&empty));

    let added = stage.run_musher(&["mcp", "add", "local", "--env", "A=b=c", "--", "python3", SERVER]);
    assert_eq!(added.code, Some(0), "{}", told(&added));
    assert!(added.stderr.contains("connected, tools: 7"), "{}", told(&added));
    let file: Value = serde_json::from_slice(&fs_err::read(stage.home().join("mcp.json")).unwrap()).unwrap();
    let entry = json!({"type": "stdio", "command": "python3", "args": [SERVER], "env": {"A": "b=c"}});
    assert_eq!(file, json!({"mcpServers": {"local": entry}}));
    let again = stage.run_musher(&["mcp", "add", "local", "https://example.com"]);
    assert_eq!(again.code, Some(2), "{}", told(&again));

    let listed = stage.run_musher(&["mcp", "list"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (Some(0), "local  configured  python3  (user)\n"));
    let checked = stage.run_musher(&["mcp", "list", "--check", "--json"]);
    assert_eq!(checked.code, Some(0), "{}", told(&checked));
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let server = &checked["servers"][0];
    assert_eq!((&server["state"], &server["tools"]), (&json!("connected"), &json!(7)));

    let removed = stage.run_musher(&["mcp", "remove", "local"]);
    assert_eq!(removed.code, Some(0), "{}", told(&removed));
    let unknown = stage.run_musher(&["mcp", "remove", "local"]);
    assert_eq!(unknown.code, Some(2), "{}", told(&unknown));
    assert!(unknown.stderr.contains("unknown MCP server `local`"), "{}", told(&unknown));
}

#[test]
fn variables_stay_in_the_file_and_a_server_that_does_not_answer_is_reported() {
    let stage = Stage::new(Script::new());
    let added = stage.run_musher(&[
        "mcp",
        "add",
        "wiki",
        "http://127.0.0.1:9/x",
        "--header",
        "Authorization: Bearer ${HOME}",
    ]);
    assert_eq!(added.code, Some(1), "{}", told(&added));
    assert!(added.stderr.contains("cannot connect"), "{}", told(&added));
    let file = fs_err::read_to_string(stage.home().join("mcp.json")).unwrap();
    assert!(file.contains("\"Authorization\": \"Bearer ${HOME}\""), "{file}");
    let login = stage.run_musher(&["mcp", "login", "wiki"]);
    assert_eq!(login.code, Some(2), "{}", told(&login));
    assert!(login.stderr.contains("does not use OAuth"), "{}", told(&login));
    for wrong in [
        &["mcp", "add", "a", "https://h", "--env", "A=b"][..],
        &["mcp", "add", "a", "--header", "A: b", "--", "cat"],
        &["mcp", "add", "a", "https://h", "--header", "no colon"],
        &["mcp", "add", "a"],
        &["mcp", "add", "", "cat"],
    ] {
        let run = stage.run_musher(wrong);
        assert_eq!(run.code, Some(2), "{wrong:?}: {}", told(&run));
    }
}

/// Serves nothing but the demand for a login. Returns its URL; the server ends with the tests.
fn demands_a_login() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            // a request that breaks off needs no answer
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    format!("http://{address}/mcp")
}

/// A home with the MCP server `wiki`, which demands a login.
pub(crate) fn with_a_private_server() -> Stage {
    let stage = Stage::new(Script::new());
    let servers = json!({"mcpServers": {"wiki": {"type": "http", "url": demands_a_login()}}});
    fs_err::write(stage.home().join("mcp.json"), servers.to_string()).unwrap();
    stage
}

#[test]
fn server_without_a_login_is_reported_to_the_editor_with_the_command_for_it() {
    let stage = with_a_private_server();
    let mut editor = Editor::with(stage.musher(&["acp"]), &json!({"session": {"notices": {}}}));
    let session = editor.open(&stage.workspace());
    let notice = editor.until(|message| message["params"]["update"]["sessionUpdate"] == "notice");
    let notice = &notice["params"]["update"];
    assert_eq!(notice["title"], "The MCP server wiki needs a login", "{notice}");
    assert_eq!(notice["description"], "Run `musher mcp login wiki` in a terminal.", "{notice}");
    let (done, updates) = editor.turn(&session, "/status", |_| panic!("nothing is asked"));
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    let text = format!("{updates:?}");
    assert!(text.contains("`wiki`: needs a login. Run `musher mcp login wiki`"), "{text}");
    assert!(!text.contains("\"notice\""), "it is reported once: {text}");
}
