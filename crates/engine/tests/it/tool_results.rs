//! What the model gets from tools: edits after a resume, calls that cannot work, results of one message, deferred tools.

use std::path::Path;
use std::sync::Arc;

use musher_engine::{Autonomy, Command, LoadSession, NewSession, Prompt, SettingsChange};
use musher_model::{Block, Request};
use musher_tools::Registry;
use serde_json::{Value, json};
use testkit::rehearse::{self, Script, Server, when};

use crate::scripted::{Reply, calls, text};
use crate::stage::Stage;

fn low() -> NewSession {
    let settings = SettingsChange { autonomy: Some(Autonomy::Low), ..SettingsChange::default() };
    NewSession { settings, ..NewSession::default() }
}

fn edit(path: &Path, old: &str, new: &str) -> Reply {
    calls("", &[("Edit", json!({"file_path": path, "old_str": old, "new_str": new}))])
}

/// The result of a call, as the model got it last.
fn result(stage: &Stage, id: &str) -> String {
    let requests = stage.model.requests();
    let blocks = requests.iter().flat_map(|request| &request.messages).flat_map(|message| &message.content);
    let mut results = blocks.filter_map(|block| match block {
        Block::ToolResult(result) if result.id == id => Some(result),
        _ => None,
    });
    let texts = results.next_back().unwrap().content.iter().map(|block| match block {
        Block::Text { text } => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

async fn resumed(first: &Stage, replies: Vec<Reply>) -> Stage {
    let mut second = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), replies);
    let id = first.session.clone();
    let load = LoadSession { id, settings: low().settings, ..LoadSession::default() };
    let command_id = second.submit(Command::Load(Box::new(load)));
    second.outcome(&command_id).await.unwrap();
    second
}

#[tokio::test]
async fn edit_works_after_a_resume_unless_the_file_has_changed() {
    let mut first = Stage::open_with([], low()).await;
    let path = first.work.path().join("f.txt");
    fs_err::write(&path, "one\ntwo\n").unwrap();
    first.model.tell([calls("", &[("Read", json!({"file_path": path}))]), text("Read.")]);
    first.say("Read it.");
    first.until_idle().await;
    first.agent.stop().unwrap();
    first.until_end().await;

    let mut second = resumed(&first, vec![edit(&path, "one", "1"), text("Done.")]).await;
    second.say("Edit it.");
    second.until_idle().await;
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "1\ntwo\n");
    second.agent.stop().unwrap();
    second.until_end().await;

    fs_err::write(&path, "1\ntwo\nthree\n").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    fs_err::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
    let mut third = resumed(&first, vec![edit(&path, "two", "2"), text("Done.")]).await;
    third.say("Edit it again.");
    third.until_idle().await;
    assert!(
        result(&third, "call_0")
            .contains("has changed on disk since you last saw it. Nothing was changed. Call Read")
    );
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "1\ntwo\nthree\n");
}

#[tokio::test]
async fn call_that_cannot_work_is_refused_without_asking_and_the_user_sees_why() {
    let mut stage = Stage::open([]).await;
    let path = stage.work.path().join("f.txt");
    fs_err::write(&path, "one\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: f.txt\n-absent\n+x\n*** End Patch";
    stage.model.tell([
        edit(&path, "  onee", "1"),
        calls("", &[("Create", json!({"file_path": stage.work.path(), "content": "x"}))]),
        calls("", &[("ApplyPatch", json!({"input": patch}))]),
        text("It cannot be done."),
    ]);
    stage.say("Edit it.");
    let seen = stage.until_idle().await;
    assert!(!seen.iter().any(|line| line.starts_with("may ")), "{seen:#?}");
    for reason in [
        "call_0 failed: Error: Failed to edit file: `old_str` was not found in ",
        "call_0 failed: Error: Error: Cannot create file at ",
        "call_0 failed: Error: Failed to apply patch: cannot update `f.txt`: these lines were not found",
    ] {
        assert!(seen.iter().any(|line| line.starts_with(reason)), "{reason}: {seen:#?}");
    }
}

#[tokio::test]
async fn reason_of_an_edit_does_not_quote_a_file_that_the_model_may_not_read() {
    let mut stage = Stage::open([]).await;
    let path = stage.work.path().join(".env");
    fs_err::write(&path, "SECRET=onee\n").unwrap();
    stage.model.tell([edit(&path, "SECRET=oneee", "1")]);
    stage.say("Edit it.");
    let (seen, _) = stage.until_question().await;
    assert!(seen.last().unwrap().starts_with("may call_0 run?"), "{seen:#?}");
}

#[tokio::test]
async fn results_of_one_message_share_a_limit() {
    let mut stage = Stage::open([]).await;
    let file = |number: usize| stage.work.path().join(format!("f{number}"));
    let reads: Vec<(&str, Value)> = (0..8)
        .map(|number| {
            fs_err::write(file(number), "some words in a line\n".repeat(2800)).unwrap();
            ("Read", json!({"file_path": file(number)}))
        })
        .collect();
    stage.model.tell([calls("", &reads), text("Read.")]);
    stage.say("Read them.");
    stage.until_idle().await;
    let sizes: Vec<usize> = (0..8).map(|number| result(&stage, &format!("call_{number}")).len()).collect();
    let total: usize = sizes.iter().sum();
    assert!((150_000..210_000).contains(&total), "{sizes:?}");
    let cut = (0..8).filter(|number| result(&stage, &format!("call_{number}")).contains("[Cut after "));
    assert!(cut.count() >= 3, "{sizes:?}");
}

fn servers(stage: &Stage, environment: &Value) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp/tests/helpers/mcp_server.py");
    let server = json!({"type": "stdio", "command": "python3", "args": [script], "env": environment});
    fs_err::write(stage.home.path().join("mcp.json"), json!({"mcpServers": {"s": server}}).to_string())
        .unwrap();
}

fn names(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn texts(request: &Request) -> String {
    format!("{:?}", request.messages)
}

fn prompt(text: &str) -> Command {
    Command::Prompt(Box::new(Prompt { text: text.to_owned(), ..Prompt::default() }))
}

/// Waits until the servers of the session are connected.
async fn connected(stage: &mut Stage) {
    let command_id = stage.submit(Command::Mcp(Box::new(musher_engine::McpCommand::ListTools)));
    stage.outcome(&command_id).await.unwrap();
}

#[tokio::test]
async fn many_tools_of_servers_are_deferred_and_found_tools_are_appended() {
    let mut stage = Stage::empty([
        calls("", &[("ToolSearch", json!({"query": "select:s___extra_42"}))]),
        calls("", &[("ToolSearch", json!({"query": "extra_07 07", "max_results": 1}))]),
        text("Found."),
        text("Still here."),
    ]);
    servers(&stage, &json!({"EXTRA_TOOLS": "200"}));
    stage.create(NewSession::default()).await;
    connected(&mut stage).await;
    stage.say("Find the tools.");
    stage.until_idle().await;
    let requests = stage.model.requests();
    let (first, second, third) = (names(&requests[0]), names(&requests[1]), names(&requests[2]));
    assert!(!first.iter().any(|name| name.starts_with("s___")), "{first:?}");
    assert!(texts(&requests[0]).contains("s___extra_42, s___extra_43"));
    assert_eq!((&second[..first.len()], &second[first.len()..]), (&first[..], &["s___extra_42"][..]));
    assert_eq!((&third[..second.len()], &third[second.len()..]), (&second[..], &["s___extra_07"][..]));
    assert_eq!(
        texts(&requests[2]).matches("s___extra_42, s___extra_43").count(),
        1,
        "they are announced once"
    );
    stage.agent.stop().unwrap();
    stage.until_end().await;

    let mut second = resumed(&stage, vec![text("Yes.")]).await;
    connected(&mut second).await;
    second.submit(prompt("Still there?"));
    second.until_idle().await;
    assert_eq!(names(&second.model.requests()[0]), third, "the list is the same after a resume");
}

#[tokio::test]
async fn few_tools_of_servers_are_offered_at_once() {
    let mut stage = Stage::empty([text("Yes.")]);
    servers(&stage, &json!({}));
    stage.create(NewSession::default()).await;
    connected(&mut stage).await;
    stage.say("Are they there?");
    stage.until_idle().await;
    let requests = stage.model.requests();
    assert!(names(&requests[0]).contains(&"s___echo"), "{:?}", names(&requests[0]));
    assert!(!texts(&requests[0]).contains("More tools are available"));
}

#[tokio::test]
async fn slow_server_does_not_delay_the_first_call_and_its_tools_come_later() {
    let mut stage = Stage::empty([text("I am here.")]);
    let gate = stage.home.path().join("gate");
    servers(&stage, &json!({"GATE": gate}));
    stage.create(NewSession::default()).await;
    stage.say("Hello.");
    // the server does not answer before the gate is there
    stage.until_idle().await;
    let first = stage.model.requests().remove(0);
    assert!(texts(&first).contains("These MCP servers are still starting: s."), "{}", texts(&first));
    assert!(!names(&first).contains(&"s___echo"));

    fs_err::write(&gate, "").unwrap();
    stage.model.tell([
        calls("", &[("ToolSearch", json!({"query": "select:s___echo"}))]),
        calls("", &[("s___echo", json!({"a": 1}))]),
        text("Done."),
    ]);
    stage.submit(Command::ChangeSettings(Box::new(SettingsChange {
        autonomy: Some(Autonomy::High),
        ..SettingsChange::default()
    })));
    stage.say("Use it.");
    stage.until_idle().await;
    assert_eq!(result(&stage, "call_0"), "{\"a\":1}");
    let last = stage.model.requests().pop().unwrap();
    assert!(texts(&last).contains("More tools are available") && names(&last).contains(&"s___echo"));
}

#[tokio::test]
async fn call_of_a_tool_whose_server_is_still_starting_waits_for_it() {
    let mut stage = Stage::empty([calls("", &[("s___echo", json!({"a": 2}))]), text("Done.")]);
    let gate = stage.home.path().join("gate");
    servers(&stage, &json!({"GATE": gate}));
    let settings = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.create(NewSession { settings, ..NewSession::default() }).await;
    stage.say("Use it.");
    stage.until(|event| crate::stage::line(event).ends_with("call_0 queued")).await;
    fs_err::write(&gate, "").unwrap();
    stage.until_idle().await;
    assert_eq!(result(&stage, "call_0"), "{\"a\":2}");
}

#[tokio::test]
async fn document_of_before_is_a_text_for_a_model_that_reads_none() {
    let folder = || Arc::new(tempfile::tempdir().unwrap());
    let (home, work) = (folder(), folder());
    let path = work.path().join("manual.pdf");
    fs_err::write(&path, testkit::pdf("Press the button", 100)).unwrap();
    let read =
        rehearse::Reply::tool("Read", json!({"file_path": path})).when(when().prompt("Read it").call(1));
    let server =
        Server::bind("127.0.0.1:0", Script::new().reply(read).otherwise(rehearse::Reply::text("Fine.")));
    let server = server.unwrap();
    let models = json!({"customModels": [
        {"model": "claude-opus-5-5", "provider": "anthropic", "baseUrl": server.url(), "apiKey": "k"},
        {"model": "plain", "provider": "generic-chat-completion-api", "baseUrl": format!("{}/v1", server.url()), "apiKey": "k"},
        {"model": "blind", "provider": "generic-chat-completion-api", "baseUrl": format!("{}/v1", server.url()), "apiKey": "k",
         "noImageSupport": true},
    ]});
    fs_err::write(home.path().join("settings.json"), models.to_string()).unwrap();
    let mut stage = Stage::with_models(home, work, [], Registry::builtin());
    let model =
        |name: &str| SettingsChange { model: Some(format!("custom:{name}")), ..SettingsChange::default() };
    stage.create(NewSession { settings: model("claude-opus-5-5"), ..NewSession::default() }).await;
    stage.say("Read it.");
    stage.until_idle().await;
    for name in ["plain", "blind", "claude-opus-5-5"] {
        let command_id = stage.submit(Command::ChangeSettings(Box::new(model(name))));
        stage.reply(&command_id).await;
        stage.say("Sure?");
        stage.until_idle().await;
    }
    let calls = server.calls();
    // without those for titles
    let bodies = calls.iter().filter_map(|call| call.body.as_ref()).filter(|body| body["tools"].is_array());
    let bodies: Vec<String> = bodies.map(Value::to_string).collect();
    assert_eq!(bodies.len(), 5);
    for (body, has_document) in bodies.iter().zip([false, true, false, false, true]) {
        assert_eq!(body.contains("application/pdf"), has_document, "{body}");
    }
    let omitted = "[PDF omitted: you cannot read manual.pdf as a document; read it again to get its text]";
    assert!(bodies[2].contains(omitted) && bodies[3].contains(omitted), "{bodies:#?}");
    server.shutdown().await;
}
