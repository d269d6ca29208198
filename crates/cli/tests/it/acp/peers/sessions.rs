//! Sessions: resuming, isolation, and the parameters of the editor.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::acp::stage::{Stage, Who, call_of, eventually, execute, on, text_of};

pub(crate) async fn a_session_is_listed_loaded_with_its_history_resumed_forked_and_closed(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("echo seen", "low").when(on("look", 1)))
        .reply(Reply::text("I saw it.").when(on("look", 2)))
        .reply(Reply::text("Yes.").when(on("sure", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    let mode = json!({"sessionId": session, "modeId": "auto-high"});
    stage.editor.call("session/set_mode", mode).await?;
    let embedded =
        json!({"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "a secret note"}});
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look at "}, embedded]});
    stage.editor.call("session/prompt", prompt).await?;
    let asked = stage
        .model()
        .calls()
        .iter()
        .filter_map(|call| call.body.clone())
        .map(|body| body.to_string())
        .collect::<String>();
    assert!(asked.contains("a secret note"), "the model gets what was attached");
    stage.editor.call("session/close", json!({"sessionId": session})).await?;
    let closed = json!({"sessionId": session, "prompt": []});
    assert_eq!(stage.editor.refused("session/prompt", closed).await?["code"], -32002);

    let cwd = stage.editor.cwd.clone();
    let listed = stage.editor.call("session/list", json!({"cwd": cwd})).await?;
    let ids: Vec<_> =
        listed["sessions"].as_array().unwrap().iter().map(|session| session["sessionId"].clone()).collect();
    assert_eq!(ids, [json!(session)]);

    let stored = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let before = stage.editor.told.len();
    stage.editor.call("session/load", stored.clone()).await?;
    let replayed = stage.editor.updates(before);
    assert_eq!(text_of(&replayed, "user_message_chunk"), "look at @/notes.txt");
    assert_eq!(text_of(&replayed, "agent_message_chunk"), "I saw it.");
    let call = call_of(&replayed, "execute");
    assert_eq!((&call["status"], &call["title"]), (&json!("completed"), &json!("echo seen")));

    let before = stage.editor.told.len();
    stage.editor.call("session/resume", stored.clone()).await?;
    let is_message = |update: &Value| update["sessionUpdate"].as_str().unwrap().ends_with("_chunk");
    assert!(!stage.editor.updates(before).iter().any(is_message), "resuming repeats nothing");
    let (_, updates) = stage.editor.turn(&session, "sure?").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Yes.");

    let forked = stage.editor.call("session/fork", stored).await?;
    let copy = forked["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(copy, session);
    let (_, updates) = stage.editor.turn(&copy, "sure?").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Yes.");
    stage.finish().await
}

pub(crate) async fn the_editors_mcp_server_is_started_with_its_environment(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
    stage.editor.hello(json!({})).await?;
    let started = stage.sandbox().workspace().join("started.txt");
    let script = format!("printf %s \"$WORD\" > {}; cat > /dev/null", started.display());
    let env = json!([{"name": "WORD", "value": "mango"}]);
    let server = json!({"name": "probe", "command": "/bin/sh", "args": ["-c", script], "env": env});
    let cwd = stage.editor.cwd.clone();
    stage.editor.call("session/new", json!({"cwd": cwd, "mcpServers": [server]})).await?;
    eventually("the server runs", || fs_err::read_to_string(&started).is_ok_and(|word| word == "mango"))
        .await;
    stage.finish().await
}

pub(crate) async fn two_sessions_at_once_do_not_hear_each_other(who: &Who) -> anyhow::Result<()> {
    let slow = |words: [&str; 3], on| Reply::text(words).delay_ms(50, 200).when(on);
    let script = Script::new()
        .reply(slow(["a1 ", "a2 ", "a3"], on("apples", 1)))
        .reply(slow(["b1 ", "b2 ", "b3"], on("berries", 1)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    let first = editor.open(json!({})).await?;
    let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
    let second = opened["sessionId"].as_str().unwrap().to_owned();
    let one = editor.prompt(&first, "apples").await?;
    let two = editor.prompt(&second, "berries").await?;
    editor
        .until("both ends", {
            let left = std::cell::Cell::new(2);
            move |line| {
                if line["done"] == one || line["done"] == two {
                    left.set(left.get() - 1);
                }
                left.get() == 0
            }
        })
        .await?;
    for (session, expected) in [(&first, "a1 a2 a3"), (&second, "b1 b2 b3")] {
        let own = editor.told.iter().filter(|line| line["update"]["sessionId"] == **session);
        let own: Vec<_> = own.map(|line| line["update"]["update"].clone()).collect();
        assert_eq!(text_of(&own, "agent_message_chunk"), expected);
    }
    stage.finish().await
}

pub(crate) async fn many_sessions_at_once_do_not_disturb_each_other(who: &Who) -> anyhow::Result<()> {
    const MANY: usize = 4;
    let mut script = Script::new();
    for number in 0..MANY {
        let words = ["a", "b", "c"].map(|letter| format!("{letter}{number} "));
        let words = words.each_ref().map(String::as_str);
        script = script.reply(Reply::text(words).delay_ms(50, 200).when(on(&format!("fruit{number}"), 1)));
    }
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    editor.hello(json!({})).await?;
    let new = json!({"cwd": editor.cwd, "mcpServers": []});
    let mut opening = Vec::new();
    for _ in 0..MANY {
        opening.push(editor.start("session/new", new.clone()).await?);
    }
    let mut sessions = Vec::new();
    for id in opening {
        let opened = editor.answer_to(id).await?;
        sessions.push(opened["result"]["sessionId"].as_str().unwrap().to_owned());
    }
    let mut prompts = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        prompts.push(editor.prompt(session, &format!("fruit{number}")).await?);
    }
    for id in prompts {
        assert_eq!(editor.answer_to(id).await?["result"]["stopReason"], "end_turn");
    }
    for (number, session) in sessions.iter().enumerate() {
        let own = editor.told.iter().filter(|line| line["update"]["sessionId"] == **session);
        let own: Vec<_> = own.map(|line| line["update"]["update"].clone()).collect();
        let expected = format!("a{number} b{number} c{number} ");
        assert_eq!(text_of(&own, "agent_message_chunk").trim(), expected.trim());
    }
    stage.finish().await
}

pub(crate) async fn a_session_gets_a_title_by_itself(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Noted.").when(on("mango", 1))))?;
    let session = stage.editor.open(json!({})).await?;
    stage.editor.prompt(&session, "The word is mango.").await?;
    let told = stage.editor.update("session_info_update").await?;
    assert!(told["title"].as_str().is_some_and(|title| !title.is_empty()), "{told}");
    stage.finish().await
}

pub(crate) async fn a_compacted_session_continues_under_its_id(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("Noted.").when(on("mango", 1)))
        .reply(Reply::text("Going on.").when(on("further", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({"session": {"compaction": {}}})).await?;
    stage.editor.turn(&session, "The word is mango.").await?;
    let (reason, updates) = stage.editor.turn(&session, "/compact keep the word").await?;
    let compactions = updates.iter().filter(|update| update["sessionUpdate"] == "compaction_update");
    let states: Vec<_> = compactions.map(|update| update["status"].clone()).collect();
    assert_eq!(states, ["in_progress", "completed"]);
    let told = text_of(&updates, "agent_message_chunk");
    assert!(reason == "end_turn" && told.contains("replaced by a summary"), "{told}");
    let (_, updates) = stage.editor.turn(&session, "further").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Going on.");
    stage.finish().await
}

pub(crate) async fn a_deleted_session_is_gone(who: &Who) -> anyhow::Result<()> {
    let mut stage =
        Stage::new(who, Script::new().reply(Reply::text("Noted.").when(on("mango", 1)).times(2)))?;
    let editor = &mut stage.editor;
    let hello = editor.hello(json!({})).await?;
    assert!(hello["agentCapabilities"]["sessionCapabilities"]["delete"].is_object(), "{hello}");
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
        sessions.push(opened["sessionId"].as_str().unwrap().to_owned());
    }
    for session in &sessions {
        editor.turn(session, "The word is mango.").await?;
    }
    // one that is closed, and one that is open
    editor.call("session/close", json!({"sessionId": sessions[0]})).await?;
    for session in &sessions {
        let cwd = json!({"cwd": editor.cwd});
        let listed = editor.call("session/list", cwd.clone()).await?;
        assert!(listed.to_string().contains(session), "{listed}");
        editor.call("session/delete", json!({"sessionId": session})).await?;
        let listed = editor.call("session/list", cwd).await?;
        assert!(!listed.to_string().contains(session), "{listed}");
        let stored = json!({"sessionId": session, "cwd": editor.cwd, "mcpServers": []});
        assert_eq!(editor.refused("session/load", stored).await?["code"], -32002);
        let again = json!({"sessionId": session, "prompt": [{"type": "text", "text": "mango?"}]});
        assert_eq!(editor.refused("session/prompt", again).await?["code"], -32002);
    }
    // a deleted session can be deleted again; an invalid id is refused
    editor.call("session/delete", json!({"sessionId": sessions[0]})).await?;
    assert_eq!(editor.refused("session/delete", json!({"sessionId": "../x"})).await?["code"], -32602);
    stage.finish().await
}

pub(crate) async fn a_session_gets_the_title_that_was_chosen(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Noted.").when(on("mango", 1))))?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    editor.turn(&session, "The word is mango.").await?;
    let listed = async |editor: &mut crate::acp::stage::Editor| -> anyhow::Result<Value> {
        let listed = editor.call("session/list", json!({"cwd": editor.cwd})).await?;
        Ok(listed["sessions"][0]["title"].clone())
    };
    let before = editor.told.len();
    let titled =
        editor.call("session/set_title", json!({"sessionId": session, "title": " My \n fruit "})).await?;
    assert_eq!(titled["title"], "My fruit");
    let updates = editor.updates(before);
    assert!(updates.iter().any(|update| update["title"] == "My fruit"), "{updates:?}");
    assert_eq!(listed(editor).await?, "My fruit");
    // also when it is not open
    editor.call("session/close", json!({"sessionId": session})).await?;
    editor.call("session/set_title", json!({"sessionId": session, "title": "Another"})).await?;
    assert_eq!(listed(editor).await?, "Another");
    for (id, title, code) in
        [(session.as_str(), " ", -32602), ("00000000-0000-4000-8000-000000000000", "x", -32002)]
    {
        let refused = editor.refused("session/set_title", json!({"sessionId": id, "title": title})).await?;
        assert_eq!(refused["code"], code, "{refused}");
    }
    stage.finish().await
}

pub(crate) async fn the_editors_servers_on_the_network_are_reached_with_their_headers(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
    stage.editor.hello(json!({})).await?;
    let listener = tokio::net::TcpListener::from_std(stage.sandbox().listen()?)?;
    let address = listener.local_addr()?;
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::<String>::new()));
    let heard = std::sync::Arc::clone(&asked);
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 8192];
            let length = stream.read(&mut head).await.unwrap_or_default();
            heard.lock().unwrap().push(String::from_utf8_lossy(&head[..length]).to_lowercase());
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .await
                .ok();
        }
    });
    let server_of = |kind: &str| {
        let headers = json!([{"name": "X-Word", "value": format!("mango-{kind}")}]);
        json!({"type": kind, "name": kind, "url": format!("http://{address}/{kind}"), "headers": headers})
    };
    let servers = json!([server_of("http"), server_of("sse")]);
    let cwd = stage.editor.cwd.clone();
    stage.editor.call("session/new", json!({"cwd": cwd, "mcpServers": servers})).await?;
    eventually("both were asked", || {
        let asked = asked.lock().unwrap();
        ["http", "sse"].iter().all(|kind| {
            let is_it = |head: &&String| {
                head.contains(&format!(" /{kind} ")) && head.contains(&format!("mango-{kind}"))
            };
            asked.iter().any(|head| is_it(&head))
        })
    })
    .await;
    // secrets are for the protocol, not for a list of processes
    assert!(stage.sandbox().processes().iter().all(|process| !process.command.contains("mango")));
    server.abort();
    server.await.ok();
    stage.finish().await
}
