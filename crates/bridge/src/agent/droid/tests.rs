//! Sessions over captures: the shell around the translation.
//!
//! A capture has the calls of its own client; the lists that a session asks for when it opens are put in between.

use musher::Replay;
use musher_claude::{Permission, PermissionMode};
use serde_json::{Value, json};

use super::*;
use crate::agent::QuestionKind;

const LISTS: [(&str, &str); 5] = [
    ("list_tools", r#"{"tools":[{"id":"read-cli","llmId":"Read"}]}"#),
    ("list_commands", r#"{"commands":[{"name":"hello","description":"Say hi","argumentHint":"<name>"}]}"#),
    ("list_skills", r#"{"skills":[]}"#),
    ("list_mcp_servers", r#"{"servers":[]}"#),
    ("list_mcp_tools", r#"{"tools":[]}"#),
];

/// Returns a capture of droid 0.225.2 with the lists in it.
fn capture(name: &str) -> Replay {
    let path = format!("{}/../../fixtures/wire/droid-0.225.2/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs_err::read_to_string(path).unwrap();
    let mut whole = String::new();
    let mut is_open = false;
    for line in text.lines() {
        whole.extend([line, "\n"]);
        if !is_open && line.contains("\"availableModels\"") {
            is_open = true;
            for (method, result) in LISTS {
                let request = json!({"dir": "c2s", "msg": {
                    "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": method,
                    "method": format!("droid.{method}"), "params": {}
                }});
                let response = json!({"dir": "s2c", "msg": {
                    "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": method,
                    "result": serde_json::from_str::<Value>(result).unwrap()
                }});
                whole.extend([request.to_string(), "\n".to_owned(), response.to_string(), "\n".to_owned()]);
            }
        }
    }
    Replay::parse(&whole).unwrap()
}

async fn droid(name: &str, options: Value) -> (Droid, Greeting) {
    let plan = SessionPlan::new(serde_json::from_value(options).unwrap(), "/workspace").unwrap();
    let mut droid = Droid::start(capture(name).agent(), plan, Duration::from_mins(1));
    let greeting = droid.greet().await.unwrap();
    (droid, greeting)
}

fn go() -> PromptContent {
    PromptContent::Text("Go.".to_owned())
}

/// Returns the next message that is of this type; what comes before is dropped.
async fn message(droid: &mut Droid, kind: &str) -> Value {
    loop {
        if let Event::Message(text) = droid.next().await.unwrap() {
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == kind {
                return message;
            }
        }
    }
}

async fn question(droid: &mut Droid) -> (u64, Value, bool) {
    let mut is_called = false;
    loop {
        match droid.next().await.unwrap() {
            Event::Question { key, kind, payload } => {
                assert_eq!(kind, QuestionKind::Permission);
                return (key, serde_json::to_value(payload).unwrap(), is_called);
            }
            Event::Message(text) => is_called |= text.contains("tool_use"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn greeting_lists_models_and_commands_as_the_cli_does() {
    let (mut droid, greeting) = droid("text_turn", json!({})).await;
    assert_eq!(greeting.session_id, "e794e62b-b981-4307-aaa3-4699eb8e01a9");
    assert_eq!(
        greeting.commands.to_value().unwrap(),
        json!([{"name": "hello", "description": "Say hi", "argumentHint": "<name>"}])
    );
    let models = greeting.models.to_value().unwrap();
    assert!(models[0]["value"].is_string() && models[0]["displayName"].is_string());
    assert!(greeting.account.is_none());
    droid.user(go()).unwrap();
    let init = message(&mut droid, "system").await;
    assert_eq!((&init["tools"], &init["slash_commands"]), (&json!(["Read"]), &json!(["hello"])));
    assert_eq!(message(&mut droid, "result").await["subtype"], "success");
    droid.end().await;
}

#[tokio::test]
async fn request_follows_its_tool_call_and_its_answer_goes_back() {
    let (mut droid, _) = droid("tool_permission_allow", json!({})).await;
    droid.user(go()).unwrap();
    let (key, payload, is_called) = question(&mut droid).await;
    assert_eq!((&payload["tool_name"], is_called), (&json!("Execute"), true));
    droid.answer(&key, &Answer::Permission(Permission::allow())).unwrap();
    assert!(droid.answer(&key, &Answer::Permission(Permission::allow())).is_err(), "once");
    let result = message(&mut droid, "result").await;
    assert_eq!((&result["subtype"], &result["permission_denials"]), (&json!("success"), &json!([])));
    droid.end().await;
}

#[tokio::test]
async fn denial_is_in_the_result_and_ends_the_turn_as_an_error_only_if_requested() {
    for (interrupt, subtype) in [(None, "success"), (Some(true), "error_during_execution")] {
        let (mut droid, _) = droid("tool_permission_cancel", json!({})).await;
        droid.user(go()).unwrap();
        let (key, payload, _) = question(&mut droid).await;
        let no = Permission::Deny { message: "Not here".to_owned(), interrupt };
        droid.answer(&key, &Answer::Permission(no)).unwrap();
        let result = message(&mut droid, "result").await;
        assert_eq!(result["subtype"], subtype);
        assert_eq!(
            result["permission_denials"],
            json!([{
                "tool_name": payload["tool_name"], "tool_use_id": payload["tool_use_id"], "tool_input": payload["tool_input"]
            }])
        );
        droid.end().await;
    }
}

#[tokio::test]
async fn allowed_or_denied_tools_are_not_asked_for() {
    for (capture, options, denials) in [
        ("tool_permission_allow", json!({"allowed_tools": ["Bash"]}), 0),
        ("tool_permission_allow", json!({"permission_mode": "bypassPermissions"}), 0),
        ("tool_permission_cancel", json!({"permission_mode": "dontAsk"}), 1),
    ] {
        let (mut droid, _) = droid(capture, options).await;
        droid.user(go()).unwrap();
        let result = loop {
            match droid.next().await.unwrap() {
                Event::Question { .. } => panic!("it was asked"),
                Event::Message(text) if text.contains("\"result\"") => break text,
                _ => {}
            }
        };
        let result: Value = serde_json::from_str(&result).unwrap();
        assert_eq!(result["permission_denials"].as_array().unwrap().len(), denials, "{capture}");
        droid.end().await;
    }
}

#[tokio::test]
async fn question_to_the_user_is_answered_by_its_text() {
    let (mut droid, _) = droid("ask_user", json!({})).await;
    droid.user(go()).unwrap();
    let (key, payload, is_called) = question(&mut droid).await;
    assert_eq!((&payload["tool_name"], is_called), (&json!("AskUserQuestion"), true));
    assert!(payload["tool_use_id"].is_string());
    let answers = json!({"answers": {"Which color?": "Red", "Which size?": "S"}});
    let yes = Permission::Allow { updated_input: Some(answers.into()), updated_permissions: None };
    droid.answer(&key, &Answer::Permission(yes)).unwrap();
    let told = message(&mut droid, "user").await;
    assert!(told.to_string().contains("[answer] Red"), "{told}");
    assert_eq!(message(&mut droid, "result").await["subtype"], "success");
    droid.end().await;
}

#[tokio::test]
async fn interrupt_takes_back_the_question_and_is_answered_before_the_result() {
    let (mut droid, _) = droid("permission_no_answer_interrupt", json!({})).await;
    droid.user(go()).unwrap();
    let (question, ..) = question(&mut droid).await;
    let interrupt = droid.call(&Call::Interrupt).unwrap();
    let mut story = Vec::new();
    while story.last() != Some(&"result") {
        match droid.next().await.unwrap() {
            Event::Answered { key, outcome } => {
                assert_eq!((key, outcome.is_ok()), (interrupt, true));
                story.push("answered");
            }
            Event::Cancelled { key } => {
                assert_eq!(key, question);
                story.push("cancelled");
            }
            Event::Message(text) if text.contains("\"type\":\"result\"") => story.push("result"),
            _ => {}
        }
    }
    story.sort_unstable();
    assert_eq!(story, ["answered", "cancelled", "result"]);
    assert!(droid.answer(&question, &Answer::Permission(Permission::allow())).is_err());
    droid.end().await;
}

#[tokio::test]
async fn unsupported_calls_and_content_are_refused() {
    let (mut droid, _) = droid("text_turn", json!({})).await;
    for call in [
        Call::SetMaxThinkingTokens(Some(5)),
        Call::SetModel(Some("no-such-model".to_owned())),
        Call::SetPermissionMode(PermissionMode::BypassPermissions),
    ] {
        let asked = droid.call(&call).unwrap();
        loop {
            if let Event::Answered { key, outcome } = droid.next().await.unwrap() {
                assert!(key == asked && outcome.is_err(), "{call:?}");
                break;
            }
        }
    }
    let odd = PromptContent::Blocks(vec![json!({"type": "tool_result"}).into()]);
    assert!(droid.user(odd).is_err());
    droid.end().await;
}

#[tokio::test]
async fn missing_agent_opens_no_session() {
    let plan = SessionPlan::new(crate::wire::payload::SessionOptions::default(), "/").unwrap();
    let agent = Droid::program(Path::new("/no/such/droid"), plan.cwd());
    let failure = Droid::start(agent, plan, Duration::from_mins(1)).greet().await.unwrap_err();
    assert_eq!(failure.details, json!({"phase": "spawn"}), "{}", failure.message);
}
