//! Compares every notification with what droid sent in the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use musher_engine::{
    Autonomy, Choice, CommandId, Content, Effort, Message, Mode, Part, PendingLogin, Role, ServerView,
    Settings, SubagentStep, ToolSelection, Usage, Visibility, WorkingState,
};
use serde_json::{Map, Value, json};

use super::*;

/// For each kind of notification in the recordings: whether the session is named, and all fields that were seen.
fn recorded() -> BTreeMap<String, (bool, BTreeSet<String>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/wire/droid-0.225.2");
    let mut kinds = BTreeMap::<String, (bool, BTreeSet<String>)>::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for line in fs_err::read_to_string(path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let params = &record["msg"]["params"];
            let Some(notification) = params["notification"].as_object() else { continue };
            let Some(kind) = notification.get("type").and_then(Value::as_str) else { continue };
            let seen = kinds.entry(kind.to_owned()).or_default();
            seen.0 |= params.get("sessionId").is_some();
            seen.1.extend(notification.keys().cloned());
        }
    }
    // observed as docs/protocol/droid.md describes, but in no recording
    let fields = ["type", "text", "requestId"].map(str::to_owned).into();
    kinds.insert("queued_messages_discarded".to_owned(), (false, fields));
    kinds
}

fn converted(event: Event) -> Value {
    let session = Some(SessionId::new("s-1").unwrap());
    match outgoing(SessionEvent { session, event }, &Pending::default(), "host") {
        Outgoing::Frame(frame) => serde_json::from_str(&frame.to_line()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn message() -> Message {
    Message {
        id: "m".to_owned(),
        role: Role::User,
        content: vec![Content::Text("Hello".to_owned())],
        created_at_ms: 5,
        updated_at_ms: 6,
        parent_id: None,
        visibility: Visibility::Both,
        model_id: None,
        reasoning_effort: None,
        extra: Map::new(),
    }
}

fn settings() -> Box<Settings> {
    Box::new(Settings {
        model: "custom:m".to_owned(),
        effort: Effort::Off,
        mode: Mode::Auto,
        autonomy: Autonomy::Medium,
        spec_model: None,
        spec_effort: None,
        tools: ToolSelection::default(),
        tags: None,
        compaction_token_limit: None,
        compaction_check: true,
        system_prompt: None,
    })
}

fn all_events() -> Vec<Event> {
    let id = || Arc::<str>::from("m");
    let call = || ("c".to_owned(), "Execute".to_owned());
    let command_id = || Some(CommandId("7".into()));
    let usage = Usage::default();
    vec![
        Event::State(WorkingState::Thinking),
        Event::Message { message: Arc::new(message()), command_id: command_id() },
        Event::TextDelta { message_id: id(), block: 0, text: "Hi".to_owned() },
        Event::TextComplete { message_id: id(), block: 0 },
        Event::ThinkingDelta { message_id: id(), block: 0, text: "Hm".to_owned() },
        Event::ThinkingComplete { message_id: id(), block: 0, took: Duration::from_millis(7) },
        Event::Retracted { message_id: id() },
        Event::ToolCall { id: call().0, name: call().1, input: Map::new() },
        Event::ToolPhase { id: call().0, name: call().1, phase: ToolPhase::Queued },
        Event::ToolProgress {
            id: call().0,
            name: call().1,
            text: String::new(),
            full_output: Some("x".to_owned()),
            terminal: "t".to_owned(),
            at_ms: 9,
        },
        Event::ToolResult {
            id: call().0,
            message_id: id(),
            content: vec![Part::Text("done".to_owned())],
            is_error: false,
        },
        Event::PermissionResolved {
            request: "q".to_owned(),
            tool_use_ids: vec!["c".to_owned()],
            choice: Choice::ProceedOnce,
        },
        Event::TurnCompleted(Box::new(TurnCompleted {
            turn_id: "m".to_owned(),
            reason: TurnEnd::Completed,
            usage,
            cumulative: usage,
            child: usage,
            cumulative_child: usage,
            cost: Cost::default(),
            took: Duration::from_secs(1),
        })),
        Event::Usage { total: usage, inclusive: usage, last_call: Some(usage), cost: Cost::default() },
        Event::Settings { settings: settings(), command_id: command_id() },
        Event::Title { title: "T".to_owned(), cause: TitleCause::Manual, command_id: command_id() },
        Event::StructuredOutput { message_id: id(), output: json!({"number": 7}) },
        Event::Problem { message: "401".to_owned(), kind: "Error".to_owned(), name: None },
        Event::Retry {
            attempt: 1,
            reason: RetryReason::Overloaded,
            delay: Duration::from_secs(1),
            message: "m".to_owned(),
        },
        Event::Discarded { text: "later".to_owned(), command_id: command_id() },
        Event::McpStatus(vec![ServerView {
            name: "s".to_owned(),
            status: "connected".to_owned(),
            source: "user".to_owned(),
            kind: "stdio".to_owned(),
            error: None,
            tool_count: Some(2),
            ..ServerView::default()
        }]),
        Event::McpLogin {
            server: "s".to_owned(),
            login: PendingLogin { url: "u".to_owned(), state: "st".to_owned(), message: "m".to_owned() },
        },
        Event::McpAuthentication {
            server: "s".to_owned(),
            outcome: "cancelled".to_owned(),
            message: "no".to_owned(),
        },
        Event::HookStarted(Box::new(HookRun { event: "Stop".to_owned(), ..HookRun::default() })),
        Event::HookCompleted(Box::new(HookRun { event: "Stop".to_owned(), ..HookRun::default() })),
    ]
}

#[test]
fn notifications_have_the_same_session_id_and_fields_as_droid() {
    let recorded = recorded();
    let mut seen = BTreeSet::new();
    for event in all_events() {
        let line = converted(event);
        let notification = line["params"]["notification"].as_object().unwrap();
        let kind = notification["type"].as_str().unwrap();
        let (is_named, fields) = recorded.get(kind).unwrap_or_else(|| panic!("{kind} was never recorded"));
        assert_eq!(line["params"].get("sessionId").is_some(), *is_named, "{kind}");
        // clients show these if they know them: when the model is called again, and why
        let is_ours = |key: &str| kind == "llm_retry" && matches!(key, "delayMs" | "message");
        let unknown: Vec<_> =
            notification.keys().filter(|key| !fields.contains(*key) && !is_ours(key)).collect();
        assert!(unknown.is_empty(), "{kind} has {unknown:?}, which droid never sent");
        seen.insert(kind.to_owned());
    }
    let missing: Vec<_> = recorded.keys().filter(|kind| !seen.contains(*kind)).collect();
    assert!(missing.is_empty(), "recorded, but not converted: {missing:?}");
}

#[test]
fn text_delta_is_converted_completely() {
    assert_eq!(
        converted(Event::TextDelta { message_id: "m".into(), block: 1, text: "a \"b\"\n".to_owned() }),
        json!({
            "jsonrpc": "2.0", "type": "notification",
            "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.220.0",
            "method": "droid.session_notification",
            "params": {
                "sessionId": "s-1",
                "notification": {
                    "type": "assistant_text_delta", "messageId": "m", "blockIndex": 1, "textDelta": "a \"b\"\n"
                }
            }
        })
    );
}

#[test]
fn message_for_the_model_alone_is_announced_without_its_text() {
    let mut hidden = message();
    hidden.id = "context-m".to_owned();
    hidden.visibility = Visibility::LlmOnly;
    let line = converted(Event::Message { message: Arc::new(hidden), command_id: None });
    assert_eq!(
        line["params"]["notification"]["message"],
        json!({
            "id": "context-m", "role": "user", "content": [], "createdAt": 5, "updatedAt": 6,
            "parentId": "root", "visibility": "llm_only"
        })
    );
}

#[test]
fn settings_in_response_to_a_request_are_complete_and_others_short() {
    let complete =
        converted(Event::Settings { settings: settings(), command_id: Some(CommandId("7".into())) });
    let short = converted(Event::Settings { settings: settings(), command_id: None });
    let keys = |line: &Value| -> Vec<String> {
        line["params"]["notification"]["settings"].as_object().unwrap().keys().cloned().collect()
    };
    let mut expected = vec![
        "modelId",
        "reasoningEffort",
        "autonomyMode",
        "interactionMode",
        "autonomyLevel",
        "availableAutonomyLevels",
        "compactionThresholdCheckEnabled",
    ];
    assert_eq!(keys(&short), expected);
    expected.extend(["additionalToolIds", "enabledToolIds", "disabledToolIds", "restrictToolIds"]);
    assert_eq!(keys(&complete), expected);
    assert_eq!(complete["params"]["notification"]["settings"]["autonomyMode"], "auto-medium");
}

#[test]
fn subagent_step_becomes_progress_of_the_call_that_started_it() {
    let steps = [
        (SubagentStep::Message("Hm.".to_owned()), json!({"type": "message", "text": "Hm."})),
        (
            SubagentStep::ToolCall { name: "LS".to_owned(), input: Map::new() },
            json!({"type": "tool_call", "toolName": "LS", "parameters": {}}),
        ),
        (
            SubagentStep::ToolResult {
                name: "LS".to_owned(),
                snippet: "total 0".to_owned(),
                is_error: false,
            },
            json!({"type": "tool_result", "toolName": "LS", "status": "success", "valueSnippet": "total 0"}),
        ),
    ];
    for (step, mut expected) in steps {
        let (id, session) = ("call".to_owned(), SessionId::new("s-2").unwrap());
        let line = converted(Event::SubagentProgress { id, session, step });
        let notification = &line["params"]["notification"];
        assert_eq!(
            (&notification["type"], &notification["toolUseId"]),
            (&json!("tool_progress_update"), &json!("call"))
        );
        assert_eq!(notification["toolName"], "Task");
        let update = &notification["update"];
        expected["timestamp"] = update["timestamp"].clone();
        expected["subagentSessionId"] = json!("s-2");
        assert_eq!(*update, expected);
    }
}
