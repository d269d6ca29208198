//! Turns: what is streamed, how they end, and that they can always be stopped.

use musher_rehearse::{HttpError, Reply, Script};
use serde_json::json;

use crate::acp::stage::{Stage, Who, call_of, execute, on, text_of};

pub(crate) async fn an_answer_is_streamed_in_pieces_with_thoughts_and_ends_the_turn(
    who: &Who,
) -> anyhow::Result<()> {
    let words = ["one ", "two ", "three ", "four ", "five ", "six"];
    let answer = Reply::thinking("Let me see.").and_text(words).delay_ms(0, 20).when(on("count", 1));
    let mut stage = Stage::new(who, Script::new().reply(answer))?;
    let editor = &mut stage.editor;
    let hello = editor.hello(json!({})).await?;
    assert_eq!((&hello["protocolVersion"], &hello["agentInfo"]["name"]), (&json!(1), &json!("musher")));
    let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
    assert!(
        editor.updates(0).is_empty(),
        "nothing is said about a session before the editor knows its id: {:?}",
        editor.updates(0)
    );
    assert_eq!(opened["modes"]["currentModeId"], "normal");
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let before = editor.told.len();
    let prompt = editor.prompt(&session, "Please count.").await?;
    let done = editor.done(prompt).await?;
    let updates = editor.updates(before);
    assert_eq!(done["result"]["stopReason"], "end_turn");
    let used = &done["result"]["usage"];
    assert!(used["inputTokens"].as_u64() > Some(0) && used["outputTokens"].as_u64() > Some(0), "{done}");
    assert!(used["totalTokens"].as_u64() >= used["inputTokens"].as_u64(), "{done}");
    assert_eq!(text_of(&updates, "agent_message_chunk"), "one two three four five six");
    assert_eq!(text_of(&updates, "agent_thought_chunk"), "Let me see.");
    let ids: Vec<_> =
        updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk").collect();
    assert!(ids.len() > 1 && ids.iter().all(|chunk| chunk["messageId"] == ids[0]["messageId"]), "{ids:?}");
    let usage = updates.iter().find(|update| update["sessionUpdate"] == "usage_update").unwrap();
    assert!(usage["size"].as_u64() > usage["used"].as_u64(), "{usage}");
    stage.finish().await
}

pub(crate) async fn initialize_announces_the_capabilities(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
    let hello = stage.editor.hello(json!({})).await?;
    let can = &hello["agentCapabilities"];
    assert_eq!((&hello["protocolVersion"], &can["loadSession"]), (&json!(1), &json!(true)));
    let prompts = &can["promptCapabilities"];
    assert_eq!((&prompts["image"], &prompts["embeddedContext"]), (&json!(true), &json!(true)), "{hello}");
    // the agents take none
    assert_ne!(prompts["audio"], true);
    let servers = &can["mcpCapabilities"];
    assert_eq!((&servers["http"], &servers["sse"]), (&json!(true), &json!(true)), "{hello}");
    for what in ["list", "resume", "close", "delete", "fork", "title"] {
        assert!(can["sessionCapabilities"][what].is_object(), "{what}: {hello}");
    }
    assert!(!hello["authMethods"].as_array().unwrap().is_empty(), "{hello}");
    stage.finish().await
}

pub(crate) async fn a_line_that_is_not_json_is_refused_and_harms_nothing(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Still here.").when(on("hello", 1))))?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    for (line, code) in [("{\"jsonrpc\": oops", -32700), ("[1, 2]", -32600), ("\u{fffd}", -32700)] {
        editor.write_raw(line).await?;
        let refused = editor.until("a refusal", |line| line.get("unheard").is_some()).await?;
        assert_eq!(refused["unheard"]["code"], code, "{line}");
    }
    let (reason, updates) = editor.turn(&session, "hello").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Still here."));
    stage.finish().await
}

pub(crate) async fn what_is_unknown_is_refused_with_the_protocols_errors(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
    let editor = &mut stage.editor;
    // the version we speak, not an echo
    let hello = editor.call("initialize", json!({"protocolVersion": 99, "clientCapabilities": {}})).await?;
    assert_eq!(hello["protocolVersion"], 1);
    let prompt = json!({"sessionId": "unknown", "prompt": []});
    assert_eq!(editor.refused("session/prompt", prompt).await?["code"], -32002);
    assert_eq!(editor.refused("session/dance", json!({})).await?["code"], -32601);
    assert_eq!(editor.refused("session/new", json!({"mcpServers": []})).await?["code"], -32602);
    let relative = json!({"cwd": "somewhere", "mcpServers": []});
    assert_eq!(editor.refused("session/new", relative).await?["code"], -32602);
    let stored =
        json!({"sessionId": "00000000-0000-4000-8000-000000000000", "cwd": editor.cwd, "mcpServers": []});
    assert_eq!(editor.refused("session/load", stored).await?["code"], -32002);
    // a cancel for an unknown session is ignored
    editor.notify("session/cancel", json!({"sessionId": "unknown"})).await?;
    stage.finish().await
}

pub(crate) async fn a_cancelled_command_is_closed_and_the_next_prompt_gets_its_whole_answer(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("sleep 60", "low").when(on("wait", 1)))
        .reply(Reply::text(["red ", "green ", "blue"]).delay_ms(300, 300).when(on("after", 1)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    let mode = json!({"sessionId": session, "modeId": "auto-high"});
    editor.call("session/set_mode", mode).await?;
    let before = editor.told.len();
    let waiting = editor.prompt(&session, "Please wait.").await?;
    editor.until("the running command", |line| line["update"]["update"]["status"] == "in_progress").await?;
    // both at once, as editors do when a message is sent in the middle of a turn
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    let next = editor.prompt(&session, "And after that?").await?;
    let cancelled = editor.done(waiting).await?;
    assert_eq!(cancelled["result"]["stopReason"], "cancelled");
    assert_eq!(call_of(&editor.updates(before), "execute")["status"], "failed");
    let before = editor.told.len();
    assert_eq!(editor.done(next).await?["result"]["stopReason"], "end_turn");
    assert_eq!(text_of(&editor.updates(before), "agent_message_chunk"), "red green blue");
    stage.finish().await
}

pub(crate) async fn a_model_that_fails_is_an_error_of_the_prompt_and_the_session_continues(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        // first, because the agent repeats the prompt that was not answered
        .reply(Reply::text("Here I am.").when(on("again", 1)))
        .reply(Reply::error(HttpError::new(401).message("no such key")).when(on("broken", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    let prompt = json!([{"type": "text", "text": "broken"}]);
    let error =
        stage.editor.refused("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().unwrap().starts_with("401 no such key"), "{error}");
    let (reason, updates) = stage.editor.turn(&session, "again").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Here I am."));
    stage.finish().await
}

pub(crate) async fn the_output_of_a_command_is_shown_while_it_runs(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("for n in 1 2 3; do echo line$n; sleep 1; done", "low").when(on("run", 1)))
        .reply(Reply::text("Done.").when(on("run", 2)));
    for feeds_terminal in [false, true] {
        let mut stage = Stage::new(who, script.clone())?;
        let session = stage.editor.open(json!({"_meta": {"terminal_output": feeds_terminal}})).await?;
        let mode = json!({"sessionId": session, "modeId": "auto-high"});
        stage.editor.call("session/set_mode", mode).await?;
        let (_, updates) = stage.editor.turn(&session, "run").await?;
        let running = updates.iter().filter(|update| update["status"] == "in_progress");
        let shown = |update: &serde_json::Value| {
            let told =
                if feeds_terminal { &update["_meta"]["terminal_output"]["data"] } else { &update["content"] };
            told.to_string().contains("line1")
        };
        assert!(running.clone().any(shown), "{updates:#?}");
        let last = call_of(&updates, "execute");
        assert_eq!(last["status"], "completed", "{last}");
        if feeds_terminal {
            assert_eq!(last["_meta"]["terminal_exit"]["exit_code"], 0, "{last}");
        } else {
            assert!(last["content"].to_string().contains("line3"), "{last}");
        }
        stage.finish().await?;
    }
    Ok(())
}

pub(crate) async fn a_cancelled_answer_stops_and_the_next_prompt_gets_its_whole_answer(
    who: &Who,
) -> anyhow::Result<()> {
    let words: [String; 100] = std::array::from_fn(|n| format!("word{n} "));
    let script = Script::new()
        // first, because the agent repeats the prompt that was not answered
        .reply(Reply::text(["red ", "green ", "blue"]).delay_ms(100, 100).when(on("after", 1)))
        .reply(Reply::text(words.each_ref().map(String::as_str)).delay_ms(0, 300).when(on("talk", 1)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    let before = editor.told.len();
    let talking = editor.prompt(&session, "Please talk.").await?;
    editor.update("agent_message_chunk").await?;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(editor.done(talking).await?["result"]["stopReason"], "cancelled");
    let said = text_of(&editor.updates(before), "agent_message_chunk");
    assert!(said.starts_with("word0") && !said.contains("word99"), "{said}");
    let (reason, updates) = editor.turn(&session, "And after that?").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "red green blue"));
    // a cancel when nothing runs does nothing
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    stage.finish().await
}

pub(crate) async fn a_loaded_session_can_be_cancelled(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("Noted.").when(on("mango", 1)))
        .reply(execute("sleep 60", "low").when(on("wait", 1)))
        .reply(Reply::text("Still here.").when(on("next", 1)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    editor.turn(&session, "The word is mango.").await?;
    let stored = json!({"sessionId": session, "cwd": editor.cwd, "mcpServers": []});
    editor.call("session/load", stored).await?;
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-high"})).await?;
    let before = editor.told.len();
    let waiting = editor.prompt(&session, "wait").await?;
    editor.until("the running command", |line| line["update"]["update"]["status"] == "in_progress").await?;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(editor.done(waiting).await?["result"]["stopReason"], "cancelled");
    assert_eq!(call_of(&editor.updates(before), "execute")["status"], "failed");
    let (reason, updates) = editor.turn(&session, "next").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Still here."));
    stage.finish().await
}

pub(crate) async fn two_prompts_at_once_are_answered_one_after_the_other(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text(["one ", "two ", "three"]).delay_ms(100, 100).when(on("count", 1)))
        .reply(Reply::text("red").when(on("colour", 1)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    let session = editor.open(json!({})).await?;
    let before = editor.told.len();
    let first = editor.prompt(&session, "count").await?;
    let second = editor.prompt(&session, "a colour").await?;
    assert_eq!(editor.done(first).await?["result"]["stopReason"], "end_turn");
    assert_eq!(text_of(&editor.updates(before), "agent_message_chunk"), "one two three");
    let before = editor.told.len();
    assert_eq!(editor.done(second).await?["result"]["stopReason"], "end_turn");
    assert_eq!(text_of(&editor.updates(before), "agent_message_chunk"), "red");
    stage.finish().await
}
