//! The log: its content, secrets that must not be in it, and errors of writing it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use fs_err::File;
use musher_rehearse::{HttpError, Reply, Script};
use serde_json::json;

use super::stage::{Stage, execute, makes_a_file, step};
use crate::program::{Running, ended};

fn with_log(stage: &Stage, level: &str, arguments: &[&str]) -> (Command, std::path::PathBuf) {
    let log = stage.home().join("musher.log");
    let flags = ["--log", log.to_str().unwrap(), "--log-level", level];
    (stage.command(&[&flags, arguments].concat()), log)
}

/// The lines that contain all of these.
fn count(log: &str, parts: &[&str]) -> usize {
    log.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

/// Whether every line begins with a time and a process, so that no two are mixed.
fn is_whole(log: &str) -> bool {
    log.lines().all(|line| {
        let mut words = line.split_whitespace();
        let time = words.next().unwrap_or_default();
        let process = words.next().unwrap_or_default();
        time.len() == 27 && time.ends_with('Z') && process.starts_with('[') && process.ends_with(']')
    })
}

#[test]
fn turn_is_logged_with_its_tool_calls_requests_and_children() {
    let stage = Stage::new(makes_a_file());
    let (command, log) = with_log(&stage, "info", &["--auto", "medium", "make a file"]);
    let ran = ended(command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let written = fs_err::read_to_string(&log).unwrap();
    assert_eq!(fs_err::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(is_whole(&written), "{written}");
    let of_engine = ["INFO", "session{id=", "turn{id=", "musher_engine"];
    let lines = |what: &[&str]| count(&written, &[&of_engine, what].concat());
    assert_eq!(lines(&["tool call", "tool=\"Execute\"", "is_error=false"]), 1, "{written}");
    assert_eq!(lines(&["turn ended", "end=\"completed\""]), 1, "{written}");
    // the client in this process does not log them a second time
    for what in ["turn ended", "tool call"] {
        assert_eq!(count(&written, &["INFO", what]), 1, "{written}");
    }
    assert_eq!(count(&written, &["musher_process", "child started", "pid="]), 1, "{written}");
    assert_eq!(count(&written, &["musher_process", "child exited", "pid="]), 1, "{written}");
    for secret in ["make a file", "touch made.txt"] {
        assert!(!written.contains(secret), "content is not logged: {written}");
    }
}

#[test]
fn retry_of_a_model_request_is_logged() {
    let busy = HttpError::new(503).message("a secret of the vendor").retry_after_seconds(0);
    let script = Script::new()
        .reply(Reply::error(busy).when(step(1)).times(1))
        .reply(Reply::text("Yes.").when(step(1)));
    let stage = Stage::new(script);
    let (command, log) = with_log(&stage, "info", &["hello"]);
    let ran = ended(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    let written = fs_err::read_to_string(log).unwrap();
    let of_engine = ["INFO", "turn{id=", "musher_engine", "retrying the model request"];
    assert_eq!(count(&written, &of_engine), 1, "{written}");
    assert_eq!(count(&written, &["retrying the model request", "attempt="]), 1, "{written}");
    assert!(!written.contains("a secret of the vendor"), "{written}");
}

#[test]
fn permission_request_and_its_decision_are_logged() {
    let stage = Stage::new(makes_a_file());
    let (command, log) = with_log(&stage, "info", &["make a file"]);
    assert_eq!(ended(command).code, Some(3));
    let written = fs_err::read_to_string(log).unwrap();
    assert_eq!(count(&written, &["permission request", "tools=[\"Execute\"]"]), 1, "{written}");
    assert_eq!(count(&written, &["permission decision", "choice=Cancel"]), 1, "{written}");
}

/// A secret for each place that can hold one. None but `env` is in a variable with a credential-like name, whose values are masked
/// wherever they are logged.
fn canary(source: &str) -> String {
    format!("{source}-canary-7f3a9c0d1e2b")
}

#[test]
fn no_key_is_logged_at_any_level() {
    // the model server repeats what it gets
    let repeated = ["apikey", "header", "env"].map(canary).join(" ");
    let error = HttpError::new(401).message(format!("Incorrect API key provided: {repeated}"));
    // the servers have failed before the run ends
    let waits = "until grep -q 'server=\"fails\"' musher.log && grep -q 'server=\"greets\"' musher.log; do sleep 0.1; done; \
                 printenv VENDOR_API_KEY";
    let script = Script::new().reply(execute(waits).when(step(1))).reply(Reply::error(error).when(step(2)));
    let stage = Stage::new(script);
    let url = format!("{}/v1", stage.model_url());
    let settings = json!({
        "customModels": [{
            "model": "scripted", "displayName": "Scripted", "baseUrl": url, "apiKey": canary("apikey"),
            "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
            "extraHeaders": {"x-key": canary("header")},
        }],
    });
    let says = "echo \"bad $SERVER_AUTH, $0, $1\" >&2; exit 3";
    let greets =
        "echo '{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"'$SERVER_AUTH'\"}}'; exit 4";
    let token = format!("--token={}", canary("option"));
    let servers = json!({"mcpServers": {
        "fails": {
            "command": "sh", "args": ["-c", says, canary("argument"), token],
            "env": {"SERVER_AUTH": canary("variable")},
        },
        "greets": {"command": "sh", "args": ["-c", greets], "env": {"SERVER_AUTH": canary("greeting")}},
        "proxied": {"type": "http", "url": "https://mcp.invalid/mcp"},
        "refuses": {
            "type": "http", "url": url, "headers": {"authorization": format!("Bearer {}", canary("bearer"))},
        },
    }});
    fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
    fs_err::write(stage.home().join("mcp.json"), servers.to_string()).unwrap();
    let log = stage.workspace().join("musher.log");
    let flags = ["--log", log.to_str().unwrap(), "--log-level", "trace"];
    let mut command = stage.command(&[&flags[..], &["--auto", "high", "print the key"]].concat());
    command
        .env("VENDOR_API_KEY", canary("env"))
        .env("HTTPS_PROXY", format!("http://user:{}@127.0.0.1:9", canary("proxy")));
    let ran = ended(command);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let written = fs_err::read_to_string(log).unwrap();
    for line in written.lines() {
        assert!(!line.contains("-canary-"), "{line}");
    }
    // what could have shown it was logged
    assert_eq!(count(&written, &["tool call", "Execute"]), 1, "{written}");
    assert!(written.contains("Incorrect API key provided"), "{written}");
    assert_eq!(count(&written, &["MCP", "fails", "code 3: bad ***, ***, --token=***"]), 1, "{written}");
    for server in ["greets", "proxied", "refuses"] {
        assert!(count(&written, &["MCP", server]) > 0, "{written}");
    }
}

#[test]
fn processes_that_share_a_log_append_whole_lines() {
    let stages: Vec<_> = (0..3).map(|_| Stage::new(makes_a_file())).collect();
    let log = stages[0].home().join("shared.log");
    fs_err::write(&log, "2026-01-01T00:00:00.000000Z [1] kept\n").unwrap();
    let running = stages.iter().map(|stage| {
        let mut command = stage.command(&["--auto", "medium", "make a file"]);
        command.env("MUSHER_LOG", &log).env("MUSHER_LOG_LEVEL", "trace");
        Running::spawn(command)
    });
    for run in running.collect::<Vec<_>>() {
        assert_eq!(run.finish().code, Some(0));
    }
    let written = fs_err::read_to_string(log).unwrap();
    assert!(written.contains("[1] kept") && is_whole(&written), "{written}");
    assert_eq!(count(&written, &["logging started"]), 3, "{written}");
}

#[test]
fn log_on_stderr_leaves_stdout_alone() {
    let stage = Stage::new(Script::new().reply(Reply::text("Yes.").when(step(1))));
    let ran = ended(stage.command(&["--log", "stderr", "hello"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    assert!(count(&ran.stderr, &["INFO", "logging started"]) == 1, "{}", ran.stderr);
}

#[test]
fn log_that_cannot_be_opened_is_an_error_with_a_hint() {
    let stage = Stage::new(Script::new());
    let ran = stage.run(&["--log", "/nowhere/musher.log", "hello"]);
    let expected = "\
error: cannot open the log file `/nowhere/musher.log`
  caused by: No such file or directory (os error 2)

hint: name another file with `--log` or MUSHER_LOG, or log to `stderr`
";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(2), "", expected));
}

#[test]
fn stdout_is_refused_as_a_log() {
    let stage = Stage::new(Script::new());
    let output = stage.home().join("output.txt");
    let mut command = stage.command(&["--log", output.to_str().unwrap(), "hello"]);
    command.stdout(Stdio::from(File::create(&output).unwrap().into_parts().0));
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert!(stderr.contains("it is stdout, which carries the output"), "{stderr}");
    assert_eq!(fs_err::read_to_string(output).unwrap(), "");
}

#[test]
fn wrong_level_is_an_error() {
    let stage = Stage::new(Script::new());
    let ran = stage.run(&["--log", "stderr", "--log-level", "loud", "hello"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("unknown level `loud`"), "{}", ran.stderr);
    let ran = stage.run(&["--log-level", "debug", "hello"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("has no effect without a log"), "{}", ran.stderr);
    let mut command = stage.command(&["--log", "stderr", "hello"]);
    command.env("MUSHER_LOG_LEVEL", "loud");
    let ran = ended(command);
    assert!(ran.code == Some(2) && ran.stderr.contains("invalid MUSHER_LOG_LEVEL `loud`"), "{}", ran.stderr);
}
