//! Turns: what is streamed, how they end, and that they can always be stopped.

use musher_rehearse::{HttpError, Reply, Script};
use serde_json::json;

use super::stage;
use crate::acp::stage::{call_of, execute, on, text_of};

#[tokio::test]
async fn an_answer_is_streamed_in_pieces_with_thoughts_and_ends_the_turn() -> anyhow::Result<()> {
    let words = ["one ", "two ", "three ", "four ", "five ", "six"];
    let answer = Reply::thinking("Let me see.").and_text(words).delay_ms(0, 20).when(on("count", 1));
    let mut stage = stage!(Script::new().reply(answer));
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
    let (reason, updates) = editor.turn(&session, "Please count.").await?;
    assert_eq!(reason, "end_turn");
    assert_eq!(text_of(&updates, "agent_message_chunk"), "one two three four five six");
    assert_eq!(text_of(&updates, "agent_thought_chunk"), "Let me see.");
    let ids: Vec<_> =
        updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk").collect();
    assert!(ids.len() > 1 && ids.iter().all(|chunk| chunk["messageId"] == ids[0]["messageId"]), "{ids:?}");
    let usage = updates.iter().find(|update| update["sessionUpdate"] == "usage_update").unwrap();
    assert!(usage["size"].as_u64() > usage["used"].as_u64(), "{usage}");
    stage.finish().await
}

#[tokio::test]
async fn what_is_unknown_is_refused_with_the_protocols_errors() -> anyhow::Result<()> {
    let mut stage = stage!(Script::new());
    let editor = &mut stage.editor;
    // the version we speak, not an echo
    let hello = editor.call("initialize", json!({"protocolVersion": 99, "clientCapabilities": {}})).await?;
    assert_eq!(hello["protocolVersion"], 1);
    let prompt = json!({"sessionId": "nobody", "prompt": []});
    assert_eq!(editor.refused("session/prompt", prompt).await?["code"], -32002);
    assert_eq!(editor.refused("session/dance", json!({})).await?["code"], -32601);
    assert_eq!(editor.refused("session/new", json!({"mcpServers": []})).await?["code"], -32602);
    let relative = json!({"cwd": "somewhere", "mcpServers": []});
    assert_eq!(editor.refused("session/new", relative).await?["code"], -32602);
    let stored =
        json!({"sessionId": "00000000-0000-4000-8000-000000000000", "cwd": editor.cwd, "mcpServers": []});
    assert_eq!(editor.refused("session/load", stored).await?["code"], -32002);
    // a cancel for nobody, and nobody minds
    editor.notify("session/cancel", json!({"sessionId": "nobody"})).await?;
    stage.finish().await
}

#[tokio::test]
async fn a_cancelled_command_is_closed_and_the_next_prompt_gets_its_whole_answer() -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("sleep 60", "low").when(on("wait", 1)))
        .reply(Reply::text(["red ", "green ", "blue"]).delay_ms(300, 300).when(on("after", 1)));
    let mut stage = stage!(script);
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

#[tokio::test]
async fn a_model_that_fails_is_an_error_of_the_prompt_and_the_session_goes_on() -> anyhow::Result<()> {
    let script = Script::new()
        // first, because the agent repeats the prompt that was not answered
        .reply(Reply::text("Here I am.").when(on("again", 1)))
        .reply(Reply::error(HttpError::new(401).message("no such key")).when(on("broken", 1)));
    let mut stage = stage!(script);
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

#[tokio::test]
async fn an_agent_that_dies_fails_its_prompt_and_comes_back_with_the_history() -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("I will.").when(on("remember", 1)))
        .reply(execute("sleep 60", "low").when(on("wait", 1)))
        .reply(Reply::text("It was mango.").when(on("which", 1)));
    let mut stage = stage!(script);
    let session = stage.editor.open(json!({})).await?;
    stage.editor.turn(&session, "remember the word mango").await?;
    let mode = json!({"sessionId": session, "modeId": "auto-high"});
    stage.editor.call("session/set_mode", mode).await?;
    let waiting = stage.editor.prompt(&session, "wait").await?;
    let running = |line: &serde_json::Value| line["update"]["update"]["status"] == "in_progress";
    stage.editor.until("the running command", running).await?;
    for process in stage.sandbox().processes() {
        if process.command.contains("stream-jsonrpc") {
            let pid = rustix::process::Pid::from_raw(process.pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        }
    }
    let failed = stage.editor.done(waiting).await?;
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let (reason, updates) = stage.editor.turn(&session, "which word was it?").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "It was mango."));
    let asked = stage.model().calls();
    let last = asked
        .iter()
        .rfind(|call| call.body.as_ref().is_some_and(|body| body.to_string().contains("which word")));
    assert!(last.unwrap().body.as_ref().unwrap().to_string().contains("remember the word mango"));
    stage.finish().await
}

#[tokio::test]
async fn the_output_of_a_command_is_shown_while_it_runs() -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("for n in 1 2 3; do echo line$n; sleep 1; done", "low").when(on("run", 1)))
        .reply(Reply::text("Done.").when(on("run", 2)));
    for feeds_terminal in [false, true] {
        let mut stage = stage!(script.clone());
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
