//! `musher rehearse`: checking scripts, and serving them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Run, Running, musher};

fn script(directory: &Path, text: &str) -> String {
    let path = directory.join("script.yaml");
    fs_err::write(&path, text).unwrap();
    path.display().to_string()
}

fn post(url: &str, path: &str, body: &Value) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn good_script_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = script(directory.path(), "replies:\n  - steps: [{text: Hello}]\notherwise: {steps: []}\n");
    let run = musher(&["rehearse", "--check", "--script", &path]);
    let stderr = format!("{path} is valid: 1 reply and a fallback\n");
    assert_eq!(run, Run { code: Some(0), stdout: String::new(), stderr });

    let run = musher(&["rehearse", "--check", "--json", "--script", &path]);
    // one line; the order of its fields is not specified
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.lines().count()), (Some(0), "", 1));
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told, serde_json::json!({"ok": true, "otherwise": true, "replies": 1}));

    let run = musher(&["rehearse", "--check"]);
    assert_eq!(
        (run.code, run.stderr.contains("the built-in tour is valid")),
        (Some(0), true),
        "{}",
        run.stderr
    );
}

#[test]
fn bad_script_is_an_error_with_its_place_and_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    let path = script(directory.path(), "replies:\n  - steps:\n      - txet: Hello\n");
    for arguments in [&["rehearse", "--check", "--script", &path][..], &["rehearse", "--script", &path]] {
        let run = musher(arguments);
        let stderr = format!(
            "error: {path}:3:9: unknown variant `txet`, expected one of text, thinking, tool, wait_ms, error, cut, \
             hang\n\nhint: docs/rehearse.md explains scripts; `musher rehearse --schema` prints their JSON schema\n"
        );
        assert_eq!(run, Run { code: Some(2), stdout: String::new(), stderr });
    }
}

#[test]
fn script_that_is_not_there_is_named() {
    let run = musher(&["rehearse", "--script", "no/such.yaml"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with("error: cannot read the script\n  caused by: "), "{}", run.stderr);
    assert!(run.stderr.contains("no/such.yaml") && run.stderr.contains("\n\nhint: "), "{}", run.stderr);
}

#[test]
fn schema_is_printed() {
    let run = musher(&["rehearse", "--schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let schema: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["title"], "A rehearsal script");
}

#[test]
fn other_machines_are_kept_out_unless_allowed() {
    let run = musher(&["rehearse", "--listen", "0.0.0.0:0"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("error: 0.0.0.0:0 is not a loopback address"), "{}", run.stderr);
    assert!(run.stderr.contains("--allow-remote"), "{}", run.stderr);
    let run = musher(&["rehearse", "--listen", "nowhere"]);
    assert_eq!((run.code, run.stderr.starts_with("error: cannot listen on nowhere")), (Some(2), true));
}

#[cfg(unix)]
#[test]
fn script_is_served_recorded_and_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let path = script(directory.path(), "replies:\n  - name: greeting\n    steps: [{text: Hello there}]\n");
    let record = directory.path().join("requests");
    let record_argument = record.display().to_string();
    let running = Running::start(&["rehearse", "--json", "--script", &path, "--record", &record_argument]);
    let started: Value = serde_json::from_str(&running.line()).unwrap();
    let url = started["url"].as_str().unwrap();
    assert_eq!(started["env"]["OPENAI_BASE_URL"], format!("{url}/v1"));

    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi\u{1b}[31m"}]});
    let answer = post(url, "/v1/messages", &body);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Hello there"), "{answer}");
    assert!(record.join("000001.json").is_file());

    let run = running.stop("-TERM");
    let expected = "   1  POST /v1/messages  turn 1 call 1  \"hi [31m\"  -> greeting (200)\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), expected));
}

#[cfg(unix)]
#[test]
fn tour_says_where_it_is_and_ends_with_an_interrupt() {
    let running = Running::start(&["rehearse"]);
    let url = running.line();
    let answer = post(
        &url,
        "/v1/chat/completions",
        &json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
    );
    assert!(answer.contains("I am a scripted model"), "{answer}");
    let run = running.stop("-INT");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
    assert!(run.stderr.contains(&format!("ANTHROPIC_BASE_URL={url} ")), "{}", run.stderr);
    assert!(run.stderr.contains("-> first answer (200)"), "{}", run.stderr);
}
