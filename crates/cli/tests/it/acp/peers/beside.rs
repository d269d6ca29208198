//! `musher acp`, with its engine and with the real droid, and droid's own mode for editors: the same requests by the same editor.
//!
//! The result is the table in docs/acp.md: the test fails if the page differs. Nothing here depends on who is faster.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};
use testkit::peers;

use crate::acp::stage::{Behind, Editor, Stage, Who, execute, on, text_of};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/acp.md");
/// The lines above and below the table.
const MARKS: [&str; 2] = ["<!-- measured -->\n", "<!-- measured: end -->"];

#[tokio::test]
async fn table_of_the_page_is_what_they_do() -> anyhow::Result<()> {
    let sdk = testkit::require_peer!(peers::ACP_SDK);
    let droid = testkit::require_peer!(peers::DROID);
    let engine = verdicts(&Who::new(sdk.clone(), Behind::Engine)).await?;
    let ours = verdicts(&Who::new(sdk.clone(), Behind::Droid(droid.clone()))).await?;
    let theirs = verdicts(&Who::new(sdk, Behind::Native(droid))).await?;
    let rows = engine.iter().zip(&ours).zip(&theirs).map(|(((what, engine), (_, ours)), (_, theirs))| {
        format!("| {what} | {engine} | {ours} | {theirs} |")
    });
    let head = ["| | `musher acp` | with droid | droid's own |", "|---|---|---|---|"].map(str::to_owned);
    let table = head.into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    let page = fs_err::read_to_string(PAGE)?;
    let written = page.split_once(MARKS[0]).and_then(|(_, rest)| rest.split_once(MARKS[1]));
    assert_eq!(written.map(|(table, _)| table.trim()), Some(table.as_str()), "the table is now:\n{table}");
    Ok(())
}

type Verdicts = Vec<(&'static str, String)>;

async fn verdicts(who: &Who) -> anyhow::Result<Verdicts> {
    let mut found = Verdicts::new();
    let mut stage = Stage::new(who, Script::new())?;
    let newer = json!({"protocolVersion": 99, "clientCapabilities": {}});
    let version = stage.editor.call("initialize", newer).await?["protocolVersion"].to_string();
    found.push(("Asked for version 99 of the protocol, it answers", version));
    stage.finish().await?;

    let mut stage = Stage::new(who, script())?;
    found.push((
        "Runs commands in the editor's terminal, if it has one",
        yes(uses_terminal(&mut stage.editor).await?),
    ));
    stage.finish().await?;

    let mut stage = Stage::within(who, |sandbox| {
        let path = sandbox.workspace().join("draft.txt");
        fs_err::write(&path, "saved\n")?;
        let read = Reply::tool("Read", json!({"file_path": path})).when(on("please read", 1));
        Ok(script().reply(read).reply(Reply::text("Read.").when(on("please read", 2))))
    })?;
    let (reads, writes) = uses_files(&mut stage.editor).await?;
    found.push(("Reads what the editor has not saved, if it tells", yes(reads)));
    found.push(("Writes files through the editor, if it does that", yes(writes)));
    stage.finish().await?;

    let mut stage = Stage::new(who, script())?;
    let editor = &mut stage.editor;
    hello(editor, &mut found).await?;
    options(editor, &mut found).await?;
    answers(editor, &mut found).await?;
    tools(editor, &mut found).await?;
    sessions(editor, &mut found).await?;
    at_once(editor, &mut found).await?;
    stage.finish().await?;
    Ok(found)
}

fn script() -> Script {
    let patch = "*** Begin Patch\n*** Add File: patched.txt\n+one\n*** End Patch\n";
    let questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n";
    let slow = |words: [&str; 3], word| Reply::text(words).delay_ms(300, 300).when(on(word, 1));
    Script::new()
        .reply(
            Reply::thinking("Let me see.")
                .and_text(["one ", "two ", "three ", "four"])
                .delay_ms(0, 100)
                .when(on("please count", 1)),
        )
        .reply(execute("for n in 1 2 3; do echo line$n; sleep 1; done", "low").when(on("please run", 1)))
        .reply(Reply::text("Ran.").when(on("please run", 2)))
        .reply(
            Reply::tool("Create", json!({"file_path": "new.txt", "content": "hello\n"}))
                .when(on("please make", 1)),
        )
        .reply(Reply::text("Made.").when(on("please make", 2)))
        .reply(Reply::tool("ApplyPatch", json!({"input": patch})).when(on("please patch", 1)))
        .reply(Reply::text("Patched.").when(on("please patch", 2)))
        .reply(
            Reply::tool("TodoWrite", json!({"todos": "1. [completed] Look\n2. [completed] Leap"}))
                .when(on("please list", 1)),
        )
        .reply(Reply::text("Listed.").when(on("please list", 2)))
        .reply(Reply::tool("AskUser", json!({"questionnaire": questionnaire})).when(on("please ask", 1)))
        .reply(Reply::text("Asked.").when(on("please ask", 2)))
        .reply(slow(["a1 ", "a2 ", "a3"], "apples"))
        .reply(slow(["b1 ", "b2 ", "b3"], "berries"))
}

/// A turn in which everything is allowed once; what was asked, and the answer.
struct Played {
    updates: Vec<Value>,
    asked: Vec<Value>,
    done: Value,
}

async fn play(editor: &mut Editor, session: &str, prompt: Value) -> anyhow::Result<Played> {
    let before = editor.told.len();
    let id = editor.start("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    let mut asked = Vec::new();
    loop {
        let line = editor
            .until("an end or a question", |line| line["done"] == id || line.get("ask").is_some())
            .await?;
        if line.get("ask").is_none() {
            let own = editor.told[before..].iter().map(|line| &line["update"]);
            let own = own.filter(|told| told["sessionId"] == *session).map(|told| told["update"].clone());
            return Ok(Played { updates: own.collect(), asked, done: line });
        }
        match line["method"].as_str() {
            Some("session/request_permission") => editor.choose(&line, "proceed_once").await?,
            _ => editor.answer(&line, json!({"action": "accept", "content": {"answer_1": "Blue"}})).await?,
        }
        asked.push(line);
    }
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn of_kind<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

async fn open(editor: &mut Editor) -> anyhow::Result<Value> {
    editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await
}

fn id_of(opened: &Value) -> String {
    opened["sessionId"].as_str().unwrap_or_default().to_owned()
}

async fn hello(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let hello = editor.hello(json!({"elicitation": {"form": {}}})).await?;
    let servers = &hello["agentCapabilities"]["mcpCapabilities"];
    let offered: Vec<_> = ["http", "sse"].into_iter().filter(|kind| servers[*kind] == true).collect();
    let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
    found.push(("MCP servers on the network it says it takes", offered));
    let directories = &hello["agentCapabilities"]["sessionCapabilities"]["additionalDirectories"];
    found.push(("Takes further folders of a workspace", yes(directories.is_object())));
    Ok(())
}

/// Whether a command is run in a terminal of the editor's. As soon as that is known, the turn is cancelled.
async fn uses_terminal(editor: &mut Editor) -> anyhow::Result<bool> {
    let session = editor.open(json!({"terminal": true})).await?;
    let prompt = editor.prompt(&session, "please run").await?;
    loop {
        let line = editor
            .until("an end or a question", |line| line["done"] == prompt || line.get("ask").is_some())
            .await?;
        match line["method"].as_str() {
            Some("session/request_permission") => editor.choose(&line, "proceed_once").await?,
            Some("terminal/create") => {
                editor.notify("session/cancel", json!({"sessionId": session})).await?;
                editor.done(prompt).await?;
                return Ok(true);
            }
            _ => return Ok(false),
        }
    }
}

/// Whether a file is read and written through the editor. It tells what is not saved, and saves what it is given.
async fn uses_files(editor: &mut Editor) -> anyhow::Result<(bool, bool)> {
    let session = editor.open(json!({"fs": {"readTextFile": true, "writeTextFile": true}})).await?;
    let mut used = Vec::new();
    for word in ["please read", "please make"] {
        let id = editor.prompt(&session, word).await?;
        loop {
            let line = editor
                .until("an end or a question", |line| line["done"] == id || line.get("ask").is_some())
                .await?;
            let params = &line["params"];
            match line["method"].as_str() {
                Some("session/request_permission") => editor.choose(&line, "proceed_once").await?,
                Some("fs/read_text_file") => editor.answer(&line, json!({"content": "not saved\n"})).await?,
                Some("fs/write_text_file") => {
                    fs_err::write(
                        params["path"].as_str().unwrap_or_default(),
                        params["content"].to_string(),
                    )?;
                    editor.answer(&line, json!({})).await?;
                }
                _ => {
                    assert_eq!(line["result"]["stopReason"], "end_turn", "{line}");
                    break;
                }
            }
            used.push(line["method"].clone());
        }
    }
    Ok((used.contains(&json!("fs/read_text_file")), used.contains(&json!("fs/write_text_file"))))
}

async fn options(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let opened = open(editor).await?;
    let session = id_of(&opened);
    let options = opened["configOptions"].as_array().cloned().unwrap_or_default();
    let option_of = |category: &str| options.iter().find(|option| option["category"] == category);
    let has: Vec<_> = ["mode", "model"].into_iter().filter(|kind| option_of(kind).is_some()).collect();
    found.push((
        "Options by their standard categories",
        if has.is_empty() { "none".into() } else { has.join(", ") },
    ));
    let option = option_of("mode").or(options.first()).cloned().unwrap_or_default();
    let change = json!({"sessionId": session, "configId": option["id"], "value": option["currentValue"]});
    let changed = editor.call("session/set_config_option", change).await?;
    found.push(("A changed option is answered with all options", yes(changed["configOptions"].is_array())));
    Ok(())
}

async fn answers(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let session = id_of(&open(editor).await?);
    let played = play(editor, &session, says("please count")).await?;
    let chunks = of_kind(&played.updates, "agent_message_chunk");
    found.push(("An answer is streamed while it is written", yes(chunks.len() > 1)));
    found.push(("Chunks name their message", yes(chunks.iter().all(|chunk| chunk["messageId"].is_string()))));
    found.push(("Thoughts", yes(!of_kind(&played.updates, "agent_thought_chunk").is_empty())));
    found.push(("How full the context is", yes(!of_kind(&played.updates, "usage_update").is_empty())));
    found.push(("The tokens of a turn", yes(played.done["result"]["usage"].is_object())));
    let played = play(editor, &session, says("please list")).await?;
    found.push(("The to-do list as a plan", yes(!of_kind(&played.updates, "plan").is_empty())));
    let titles = editor.updates(0);
    found.push(("The title of a session", yes(!of_kind(&titles, "session_info_update").is_empty())));
    let played = play(editor, &session, says("please ask")).await?;
    let form = played.asked.iter().any(|asked| asked["method"] == "elicitation/create");
    found.push(("Questions of the agent, as a form", yes(form)));
    Ok(())
}

async fn tools(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let session = id_of(&open(editor).await?);
    let played = play(editor, &session, says("please run")).await?;
    let calls: Vec<_> = played
        .updates
        .iter()
        .filter(|update| update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call")))
        .collect();
    let running = calls.iter().filter(|call| call["status"] == "in_progress");
    found.push((
        "The output of a command while it runs",
        yes(running.clone().any(|call| call["content"].to_string().contains("line1"))),
    ));
    found.push((
        "The output of a command at its end",
        yes(calls.iter().any(|call| call["content"].to_string().contains("line3"))),
    ));
    let shows_terminal =
        calls.iter().any(|call| call["content"].to_string().contains(r#""type":"terminal""#));
    found.push(("Points an editor without terminals to a terminal", yes(shows_terminal)));
    let named = of_kind(&played.updates, "tool_call").iter().all(|call| call["name"].is_string());
    found.push(("Calls name their tool", yes(named)));
    let played = play(editor, &session, says("please make")).await?;
    let has_diff =
        |asked: &Value| asked["params"]["toolCall"]["content"].to_string().contains(r#""type":"diff""#);
    found.push(("The change is in the question whether to make it", yes(played.asked.iter().any(has_diff))));
    let played = play(editor, &session, says("please patch")).await?;
    let calls = of_kind(&played.updates, "tool_call");
    let kind = calls.first().and_then(|call| call["kind"].as_str()).unwrap_or("other").to_owned();
    found.push(("The kind of a patch", kind));
    Ok(())
}

async fn sessions(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let session = id_of(&open(editor).await?);
    let note = json!({"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "a secret note"}});
    play(editor, &session, json!([{"type": "text", "text": "please count in "}, note])).await?;
    let stored = json!({"sessionId": session, "cwd": editor.cwd, "mcpServers": []});
    let before = editor.told.len();
    editor.call("session/load", stored.clone()).await?;
    let replayed = text_of(&editor.updates(before), "user_message_chunk");
    found.push((
        "A loaded prompt shows only what was typed",
        yes(replayed.contains("please count in") && !replayed.contains("secret")),
    ));
    let titled = json!({"sessionId": session, "title": "Mine"});
    for (what, method, params) in [
        ("Resume", "session/resume", stored.clone()),
        ("Fork", "session/fork", stored),
        ("Set the title", "session/set_title", titled),
        ("Close", "session/close", json!({"sessionId": session})),
        ("Delete", "session/delete", json!({"sessionId": session})),
    ] {
        let id = editor.start(method, params).await?;
        let done = editor.done(id).await?;
        found.push((what, yes(done.get("error").is_none())));
    }
    Ok(())
}

async fn at_once(editor: &mut Editor, found: &mut Verdicts) -> anyhow::Result<()> {
    let (first, second) = (id_of(&open(editor).await?), id_of(&open(editor).await?));
    let before = editor.told.len();
    let one = editor.prompt(&first, "apples").await?;
    let two = editor.prompt(&second, "berries").await?;
    let left = std::cell::Cell::new(2);
    let is_last = |line: &Value| {
        left.set(left.get() - i32::from(line["done"] == one || line["done"] == two));
        left.get() == 0
    };
    editor.until("both ends", is_last).await?;
    let heard = |session: &str| {
        let own = editor.told[before..].iter().filter(|line| line["update"]["sessionId"] == *session);
        text_of(&own.map(|line| line["update"]["update"].clone()).collect::<Vec<_>>(), "agent_message_chunk")
    };
    let apart = !heard(&first).contains('b') && !heard(&second).contains('a');
    found.push(("Two sessions at once stay apart", yes(apart)));
    Ok(())
}
