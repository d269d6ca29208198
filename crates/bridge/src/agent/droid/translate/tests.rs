//! Captures of droid 0.225.2 and 0.99.0, translated into the front end's protocol.

use musher::{Decision, Replay, Session};

use super::*;
use crate::agent::droid::modes;

const NOTHING: OutputOptions = OutputOptions { partial: false, echo: false, max_turns: None };
const PARTIAL: OutputOptions = OutputOptions { partial: true, ..NOTHING };

fn translator(options: OutputOptions) -> Translator {
    let info = SessionInfo {
        session_id: "s".to_owned(),
        cwd: "/workspace".to_owned(),
        model: "custom:fake".to_owned(),
        mode: Mode::Default,
        tools: vec!["Read".to_owned()],
        commands: vec!["hello".to_owned()],
        skills: Vec::new(),
        servers: json!([]),
    };
    Translator::new(info, options, || "id".to_owned())
}

/// Returns the first turn of a capture, as messages.
async fn play(capture: &str, options: OutputOptions, schema: Option<Value>) -> Vec<Value> {
    replay(&read(capture), capture, options, schema).await
}

fn read(capture: &str) -> String {
    let path = format!("{}/../../fixtures/wire/{capture}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs_err::read_to_string(path).unwrap()
}

async fn replay(recording: &str, capture: &str, options: OutputOptions, schema: Option<Value>) -> Vec<Value> {
    let replay = Replay::parse(recording).unwrap();
    let decision = if capture.contains("cancel") { Decision::deny() } else { Decision::allow_once() };
    let session = Session::builder()
        .agent(replay.agent())
        .cwd("/workspace")
        .on_permission_sync(move |_| decision.clone())
        .on_question_sync(|asked| asked.answer_all(|asked| asked.options.as_ref()?.first().cloned()))
        .open()
        .await
        .unwrap();
    let mut prompt = session.send("Go.").message_id("turn").partial();
    if let Some(schema) = schema {
        prompt = prompt.output_schema(schema);
    }
    let mut turn = prompt.start().await.unwrap();
    let mut translator = translator(options);
    let (mut lines, mut text) = (vec![translator.begin(turn.id())], String::new());
    while let Some(event) = turn.next().await {
        let event = event.unwrap();
        if let Event::TextDelta(delta) = &event {
            text.push_str(&delta.text);
            if capture.ends_with("/interrupt") && text.contains("three") {
                turn.cancel_token().cancel();
            }
        }
        lines.extend(translator.event(&event));
    }
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the messages in a word or two each.
fn story(messages: &[Value]) -> Vec<String> {
    let tell = |message: &Value| {
        let kind = message["type"].as_str().unwrap();
        let content = &message["message"]["content"][0];
        let detail = match kind {
            "system" | "result" => message["subtype"].as_str().unwrap().to_owned(),
            "stream_event" => {
                let event = &message["event"];
                let name = event["type"].as_str().unwrap();
                let delta = event["delta"]["type"].as_str().or(event["content_block"]["type"].as_str());
                format!("{name} {}", delta.unwrap_or_default()).trim_end().to_owned()
            }
            _ => content["type"].as_str().unwrap_or_default().to_owned(),
        };
        format!("{kind} {detail}")
    };
    let mut story: Vec<_> = messages.iter().map(tell).collect();
    // how many pieces there are is not the point
    story.dedup();
    story
}

#[tokio::test]
async fn text_turn_is_an_init_an_answer_and_a_result() {
    let messages = play("droid-0.225.2/text_turn", NOTHING, None).await;
    assert_eq!(story(&messages), ["system init", "assistant text", "result success"]);
    assert_eq!(
        messages[0],
        json!({
            "type": "system", "subtype": "init", "session_id": "s", "uuid": "id", "cwd": "/workspace", "tools": ["Read"],
            "mcp_servers": [], "model": "custom:fake", "permissionMode": "default", "slash_commands": ["hello"],
            "apiKeySource": "none", "claude_code_version": "", "output_style": "default", "agents": [], "skills": [],
            "plugins": []
        })
    );
    let zeros = json!({
        "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0
    });
    let id = messages[1]["message"]["id"].clone();
    assert_eq!(
        messages[1],
        json!({
            "type": "assistant", "session_id": "s", "uuid": "id", "parent_tool_use_id": null,
            "message": {
                "id": id, "type": "message", "role": "assistant", "model": "custom:fake",
                "content": [{"type": "text", "text": "Hello from the scripted model."}],
                "stop_reason": null, "stop_sequence": null, "usage": zeros
            }
        })
    );
    let result = &messages[2];
    assert_eq!(result["session_id"], "e794e62b-b981-4307-aaa3-4699eb8e01a9", "the one the turn ran in");
    assert_eq!(
        (&result["result"], &result["is_error"], &result["num_turns"], &result["stop_reason"]),
        (&json!("Hello from the scripted model."), &json!(false), &json!(1), &json!("end_turn"))
    );
    let usage = json!({
        "input_tokens": 800, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 200
    });
    assert_eq!(result["usage"], usage);
    assert_eq!(result["modelUsage"]["custom:fake"]["cacheReadInputTokens"], 200);
    assert!(result["duration_ms"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn cost_that_the_agent_reports_is_in_the_result() {
    let capture = "droid-0.225.2/text_turn";
    let messages = play(capture, NOTHING, None).await;
    assert_eq!(messages[2]["total_cost_usd"], 0.0, "droid reports none");
    // as the engine does
    let end = "\"type\":\"agent_turn_completed\"";
    let recording = read(capture).replace(end, &format!("{end},\"musher.costUsd\":0.25"));
    let messages = replay(&recording, capture, NOTHING, None).await;
    assert_eq!(messages[2]["total_cost_usd"], 0.25);
    assert_eq!(messages[2]["modelUsage"]["custom:fake"]["costUSD"], 0.25);
}

#[tokio::test]
async fn old_droid_yields_the_same_messages() {
    let messages = play("droid-0.99.0/text_turn", NOTHING, None).await;
    assert_eq!(story(&messages), ["system init", "assistant text", "result success"]);
}

#[tokio::test]
async fn pieces_are_events_of_the_api_with_the_same_text_as_the_whole() {
    let messages = play("droid-0.225.2/thinking_turn", PARTIAL, None).await;
    assert_eq!(
        story(&messages),
        [
            "system init",
            "stream_event message_start",
            "stream_event content_block_start thinking",
            "stream_event content_block_delta thinking_delta",
            "stream_event content_block_stop",
            "stream_event content_block_start text",
            "stream_event content_block_delta text_delta",
            "assistant thinking",
            "assistant text",
            "stream_event content_block_stop",
            "stream_event message_delta",
            "stream_event message_stop",
            "result success",
        ]
    );
    let pieces = |kind: &str| -> String {
        messages.iter().filter_map(|message| message["event"]["delta"][kind].as_str()).collect()
    };
    assert_eq!(
        (pieces("thinking").as_str(), pieces("text").as_str()),
        ("Let me think about this.", "Answer.")
    );
    let indexes: Vec<_> = messages.iter().filter_map(|message| message["event"]["index"].as_u64()).collect();
    assert!(indexes.is_sorted() && indexes.last() == Some(&1));
    let starts = messages.iter().find(|message| message["event"]["type"] == "message_start").unwrap();
    let whole = messages.iter().find(|message| message["type"] == "assistant").unwrap();
    assert_eq!(starts["event"]["message"]["id"], whole["message"]["id"]);
}

#[tokio::test]
async fn tool_call_and_its_result_are_blocks_of_two_messages() {
    let messages = play("droid-0.225.2/tool_permission_allow", PARTIAL, None).await;
    let story = story(&messages);
    let from_call =
        story.iter().position(|told| told == "stream_event content_block_start tool_use").unwrap();
    assert_eq!(
        story[from_call..from_call + 8],
        [
            "stream_event content_block_start tool_use",
            "stream_event content_block_delta input_json_delta",
            "stream_event content_block_stop",
            "assistant text",
            "assistant tool_use",
            "stream_event message_delta",
            "stream_event message_stop",
            "user tool_result",
        ]
    );
    let call = messages.iter().find(|it| it["message"]["content"][0]["type"] == "tool_use").unwrap();
    let call = &call["message"]["content"][0];
    assert_eq!(
        (&call["name"], &call["input"]["command"]),
        (&json!("Execute"), &json!("echo one > perm.txt"))
    );
    let piece = messages.iter().find_map(|it| it["event"]["delta"]["partial_json"].as_str()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(piece).unwrap(), call["input"]);
    let answer = messages.iter().find(|it| it["type"] == "user").unwrap();
    assert_eq!(
        answer["message"],
        json!({"role": "user", "content": [{
            "type": "tool_result", "tool_use_id": call["id"], "is_error": false,
            "content": "Command completed successfully\n\n[Process exited with code 0]"
        }]})
    );
    let reasons: Vec<_> =
        messages.iter().filter_map(|it| it["event"]["delta"]["stop_reason"].as_str()).collect();
    assert_eq!(reasons, ["tool_use", "end_turn"]);
    assert_eq!(messages.last().unwrap()["num_turns"], 2);
}

#[tokio::test]
async fn refused_tool_ends_the_turn_without_an_error() {
    let messages = play("droid-0.225.2/tool_permission_cancel", NOTHING, None).await;
    let expected =
        ["system init", "assistant text", "assistant tool_use", "user tool_result", "result success"];
    let story = story(&messages);
    assert_eq!(
        story.iter().filter(|told| *told != "assistant text").collect::<Vec<_>>(),
        [expected[0], expected[2], expected[3], expected[4]]
    );
    assert_eq!(messages[messages.len() - 2]["message"]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn interrupted_turn_emits_its_partial_text_and_is_an_error() {
    let messages = play("droid-0.225.2/interrupt", PARTIAL, None).await;
    let [.., partial, stop, delta, end, result] = messages.as_slice() else { panic!("too short") };
    assert_eq!(
        (&partial["aborted"], &partial["message"]["content"][0]["text"]),
        (&json!(true), &json!("one two three "))
    );
    let kinds = [stop, delta, end].map(|it| it["event"]["type"].as_str().unwrap());
    assert_eq!(kinds, ["content_block_stop", "message_delta", "message_stop"]);
    assert_eq!(
        (&result["subtype"], &result["is_error"], &result["terminal_reason"], result.get("result")),
        (&json!("error_during_execution"), &json!(true), &json!("aborted_streaming"), None)
    );
}

#[tokio::test]
async fn answer_in_a_form_is_in_the_result_and_a_wrong_one_is_an_error() {
    let schema = json!({"type": "object", "properties": {"number": {"type": "number"}}});
    let messages = play("droid-0.225.2/structured_output_ok", NOTHING, Some(schema.clone())).await;
    assert_eq!(messages.last().unwrap()["structured_output"], json!({"number": 7}));
    let messages = play("droid-0.225.2/structured_output_bad", NOTHING, Some(schema)).await;
    let result = messages.last().unwrap();
    assert_eq!(result["subtype"], "error_max_structured_output_retries");
    assert!(result["errors"][0].as_str().unwrap().contains("valid JSON"), "{result}");
}

#[tokio::test]
async fn failing_model_is_retried_or_an_error() {
    let messages = play("droid-0.225.2/model_error_429_retry", PARTIAL, None).await;
    let retry = messages.iter().find(|it| it["subtype"] == "api_retry").unwrap();
    assert_eq!((&retry["attempt"], &retry["error"]), (&json!(1), &json!("rate_limit")));
    assert_eq!(messages.last().unwrap()["subtype"], "success");
    let messages = play("droid-0.225.2/model_error_401", NOTHING, None).await;
    let result = messages.last().unwrap();
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"]),
        (&json!("error_during_execution"), &json!("model_authentication_failed"))
    );
    assert!(!result["errors"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn user_messages_are_echoed_if_requested() {
    let options = OutputOptions { echo: true, ..NOTHING };
    let messages = play("droid-0.225.2/image_message", options, None).await;
    let echo = messages.iter().find(|it| it["isReplay"] == true).unwrap();
    assert_eq!(echo["uuid"], "turn");
    assert_eq!(echo["message"]["content"][0]["source"]["media_type"], "image/png");
}

#[tokio::test]
async fn questions_are_a_call_and_its_result() {
    let messages = play("droid-0.225.2/ask_user", NOTHING, None).await;
    assert_eq!(
        story(&messages),
        ["system init", "assistant tool_use", "user tool_result", "assistant text", "result success"]
    );
}

#[tokio::test]
async fn plan_that_is_handed_over_ends_in_the_new_session() {
    let options = OutputOptions { echo: true, ..NOTHING };
    let messages = play("droid-0.225.2/spec_mode_exit", options, None).await;
    assert_eq!(messages.last().unwrap()["subtype"], "success");
}

#[test]
fn only_a_turn_that_would_continue_is_stopped_at_max_turns() {
    let mut translator = translator(OutputOptions { max_turns: Some(1), ..NOTHING });
    translator.begin("turn");
    let message = |content: Value| -> Event {
        let message = json!({"id": "m", "role": "assistant", "content": content});
        Event::Assistant(std::sync::Arc::new(serde_json::from_value(message).unwrap()))
    };
    translator.event(&message(json!([{"type": "tool_use", "id": "c", "name": "Read", "input": {}}])));
    assert!(!translator.is_spent(), "its tool runs");
    assert_eq!(translator.open_call("Read"), Some("c"));
    translator.turn.open_calls.clear();
    assert!(translator.is_spent());
    translator.stopping(Stopped::MaxTurns);
    assert!(!translator.is_spent(), "once");
    translator.begin("next");
    translator.event(&message(json!([{"type": "text", "text": "done"}])));
    assert!(!translator.is_spent(), "it is over anyway");
}

#[test]
fn new_mode_is_reported_once() {
    let mut translator = translator(NOTHING);
    let told = translator
        .mode_is(modes::current(&musher::wire::SessionSettings::default(), modes::Standing::DenyAll));
    let told: Value = serde_json::from_str(&told.unwrap()).unwrap();
    assert_eq!(
        (&told["subtype"], &told["permissionMode"], &told["status"]),
        (&json!("status"), &json!("dontAsk"), &json!(null))
    );
    assert_eq!(translator.mode_is(Mode::DontAsk), None);
}
