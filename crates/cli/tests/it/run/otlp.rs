//! The export of spans: what a collector gets, which trace it belongs to, and what is not in it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use musher_rehearse::{HttpError, Reply, Script};
use serde_json::{Value, json};

use super::stage::{Stage, execute, makes_a_file, step};
use crate::program::ended;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A request of the exporter: its head and its body.
pub(crate) struct Export {
    head: String,
    body: String,
}

/// An OTLP collector on loopback. It answers its requests with these statuses in turn, then with 200.
pub(crate) struct Collector {
    pub(crate) url: String,
    exports: Receiver<Export>,
}

impl Collector {
    pub(crate) fn start(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, exports) = channel();
        thread::spawn(move || {
            let mut statuses = statuses.iter();
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                while let Some(export) = read(&mut stream) {
                    let status = statuses.next().unwrap_or(&200);
                    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\n{{}}");
                    stream.get_mut().write_all(answer.as_bytes()).unwrap();
                    if *status == 200 && sender.send(export).is_err() {
                        return;
                    }
                }
            }
        });
        Self { url, exports }
    }

    /// The spans of all exports of a program that has ended.
    pub(crate) fn spans(&self) -> Vec<Value> {
        self.exports.try_iter().flat_map(|export| spans(&export.body)).collect()
    }
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Export> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).unwrap() == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    Some(Export { head, body: String::from_utf8(body).unwrap() })
}

fn spans(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

/// The one span of this name.
pub(crate) fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let mut found = spans.iter().filter(|span| span["name"] == name);
    let span = found.next().unwrap_or_else(|| panic!("no span `{name}` in {spans:#?}"));
    assert!(found.next().is_none(), "{spans:#?}");
    span
}

fn attribute<'a>(value: &'a Value, key: &str) -> &'a Value {
    let attributes = value["attributes"].as_array().unwrap();
    &attributes.iter().find(|attribute| attribute["key"] == key).unwrap_or_else(|| panic!("{value:#}"))["value"]
}

fn exporting(stage: &Stage, collector: &Collector, arguments: &[&str]) -> Command {
    let mut command = stage.command(arguments);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    command
}

#[test]
fn turn_and_its_tool_call_are_exported_in_the_trace_of_the_caller() {
    let stage = Stage::new(makes_a_file());
    let collector = Collector::start(&[]);
    let mut command = exporting(&stage, &collector, &["--auto", "medium", "make a file"]);
    command.env("TRACEPARENT", format!("00-{TRACE}-{CALLER}-01"));
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=core%20tools").env("OTEL_SERVICE_NAME", "nightly");
    let ran = ended(command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let exports: Vec<Export> = collector.exports.try_iter().collect();
    for export in &exports {
        assert!(export.head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{}", export.head);
        assert!(export.head.contains("content-type: application/json\r\n"), "{}", export.head);
        assert!(export.head.contains("x-team: core tools\r\n"), "{}", export.head);
        let body: Value = serde_json::from_str(&export.body).unwrap();
        let service = attribute(&body["resourceSpans"][0]["resource"], "service.name");
        assert_eq!(service["stringValue"], "nightly");
        for secret in ["make a file", "touch made.txt"] {
            assert!(!export.body.contains(secret), "content is not exported: {}", export.body);
        }
    }
    let spans: Vec<Value> = exports.iter().flat_map(|export| spans(&export.body)).collect();
    let turn = named(&spans, "turn");
    assert_eq!((&turn["traceId"], &turn["parentSpanId"]), (&Value::from(TRACE), &Value::from(CALLER)));
    let events: Vec<&str> =
        turn["events"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(events.contains(&"turn ended"), "{events:?}");
    let call = named(&spans, "tool_call");
    assert_eq!((&call["traceId"], &call["parentSpanId"]), (&turn["traceId"], &turn["spanId"]));
    assert_eq!(attribute(call, "tool")["stringValue"], "Execute");
    assert_eq!(call["status"], serde_json::json!({}));
    let time = |span: &Value, field: &str| span[field].as_str().unwrap().parse::<u128>().unwrap();
    assert!(time(turn, "startTimeUnixNano") <= time(call, "startTimeUnixNano"));
    assert!(time(call, "startTimeUnixNano") < time(call, "endTimeUnixNano"));
    assert!(time(call, "endTimeUnixNano") <= time(turn, "endTimeUnixNano"));
}

#[test]
fn turn_without_a_caller_belongs_to_its_session() {
    let stage = Stage::new(Script::new().reply(Reply::text("Yes.").when(step(1))));
    let collector = Collector::start(&[]);
    assert_eq!(ended(exporting(&stage, &collector, &["hello"])).code, Some(0));
    let spans = collector.spans();
    let turn = named(&spans, "turn");
    let session = spans.iter().find(|span| span["spanId"] == turn["parentSpanId"]).unwrap();
    assert_eq!((&session["name"], &session["traceId"]), (&Value::from("session"), &turn["traceId"]));
    assert!(session.get("parentSpanId").is_none(), "{session:#}");
}

#[test]
fn trace_that_is_not_sampled_is_not_exported() {
    let stage = Stage::new(makes_a_file());
    let collector = Collector::start(&[]);
    let mut command = exporting(&stage, &collector, &["--auto", "medium", "make a file"]);
    command.env("TRACEPARENT", format!("00-{TRACE}-{CALLER}-00"));
    assert_eq!(ended(command).code, Some(0));
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span["name"] == "session"), "{spans:#?}");
}

/// A secret for each place that can hold one. Only `env` is in a variable with a credential-like name.
fn canary(source: &str) -> String {
    format!("{source}-canary-7f3a9c0d1e2b")
}

#[test]
fn no_key_is_exported_at_any_level() {
    // the model server repeats what it gets
    let repeated = ["apikey", "header", "env"].map(canary).join(" ");
    let error = HttpError::new(401).message(format!("Incorrect API key provided: {repeated}"));
    // the server has failed before the run ends
    let waits = "until grep -q 'server=\"fails\"' musher.log; do sleep 0.1; done; printenv VENDOR_API_KEY";
    let script = Script::new().reply(execute(waits).when(step(1))).reply(Reply::error(error).when(step(2)));
    let stage = Stage::new(script);
    let settings = json!({
        "customModels": [{
            "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", stage.model_url()),
            "apiKey": canary("apikey"), "extraHeaders": {"x-key": canary("header")},
            "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
        }],
    });
    let says = "echo \"bad $SERVER_AUTH, $0\" >&2; exit 3";
    let servers = json!({"mcpServers": {"fails": {
        "command": "sh", "args": ["-c", says, canary("argument")], "env": {"SERVER_AUTH": canary("variable")},
    }}});
    fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
    fs_err::write(stage.home().join("mcp.json"), servers.to_string()).unwrap();
    let collector = Collector::start(&[]);
    let log = stage.workspace().join("musher.log");
    let arguments =
        ["--log", log.to_str().unwrap(), "--log-level", "trace", "--auto", "high", "print the key"];
    let mut command = exporting(&stage, &collector, &arguments);
    command
        .env("VENDOR_API_KEY", canary("env"))
        .env("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization={}", canary("collector")));
    let ran = ended(command);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let log = fs_err::read_to_string(log).unwrap();
    assert!(!log.contains("-canary-"), "{log}");
    let exports: Vec<Export> = collector.exports.try_iter().collect();
    let bodies: String = exports.iter().map(|export| export.body.as_str()).collect();
    assert!(!bodies.contains("-canary-"), "{bodies}");
    // what could have shown it was exported
    assert!(bodies.contains("Incorrect API key provided"), "{bodies}");
    assert!(log.contains("code 3: bad ***, ***"), "{log}");
    assert!(exports[0].head.contains(&canary("collector")), "the collector gets its key");
}

#[test]
fn failed_tool_call_is_marked() {
    let script =
        Script::new().reply(execute("false").when(step(1))).reply(Reply::text("It failed.").when(step(2)));
    let stage = Stage::new(script);
    let collector = Collector::start(&[]);
    assert_eq!(ended(exporting(&stage, &collector, &["--auto", "high", "fail"])).code, Some(0));
    let spans = collector.spans();
    assert_eq!(named(&spans, "tool_call")["status"]["code"], 2, "{spans:#?}");
}

#[test]
fn collector_that_refuses_or_is_away_changes_nothing_for_the_user() {
    let stage = Stage::new(Script::new().reply(Reply::text("Yes.").when(step(1))));
    let collector = Collector::start(&[400; 8]);
    let ran = ended(exporting(&stage, &collector, &["hello"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("collector"), "{}", ran.stderr);
    // nothing listens on port 9
    let stage = Stage::new(Script::new().reply(Reply::text("Yes.").when(step(1))));
    let mut command = stage.command(&["--log", "stderr", "hello"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let ran = ended(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot export spans"), "{}", ran.stderr);
}

#[test]
fn invalid_endpoint_is_an_error() {
    let stage = Stage::new(Script::new());
    let mut command = stage.command(&["hello"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318");
    let ran = ended(command);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("invalid OTEL_EXPORTER_OTLP_ENDPOINT"), "{}", ran.stderr);
}
