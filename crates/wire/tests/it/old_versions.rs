//! Lines as sent by droid 0.36 and 0.57, from notes. (0.99 and 0.225 are covered by recordings.)

use musher_wire::{
    AskUserParams, Frame, InitializeSessionResult, LoadSessionResult, Method, PermissionDetails,
    RequestPermission, SessionNotification, ToolConfirmationOutcome,
};

fn parse(notification: &str) -> SessionNotification {
    let line = format!(
        r#"{{"type":"notification","method":"droid.session_notification","params":{{"notification":{notification}}}}}"#
    );
    let Frame::Notification(frame) = Frame::parse(line.as_bytes()) else {
        panic!("not a notification: {line}")
    };
    frame.session().unwrap().notification
}

#[test]
fn notifications_of_0_57_are_known() {
    for (kind, fields) in [
        ("settings_updated", r#""settings":{"modelId":"gpt-5.1"}"#),
        ("session_title_updated", r#""title":"...""#),
        ("droid_working_state_changed", r#""newState":"executing_tool""#),
        (
            "create_message",
            r#""message":{"id":"m","role":"user","content":[{"type":"text","text":"..."}],"parentId":"root"}"#,
        ),
        ("assistant_text_delta", r#""messageId":"m","blockIndex":0,"textDelta":"OK""#),
        (
            "tool_progress_update",
            r#""toolUseId":"t","toolName":"Execute","update":{"type":"status","text":"...","timestamp":1771239439693}"#,
        ),
        ("tool_result", r#""toolUseId":"t","messageId":"m","content":"Command completed successfully""#),
        (
            "session_token_usage_changed",
            r#""sessionId":"s","tokenUsage":{"inputTokens":1,"outputTokens":1,"cacheCreationTokens":0,"cacheReadTokens":0,"thinkingTokens":0}"#,
        ),
        (
            "mcp_status_changed",
            r#""servers":[{"name":"linear","source":"user","isManaged":false,"status":"connecting","serverType":"http","hasAuthTokens":true}],"summary":{"total":1,"connected":0,"connecting":1,"failed":0,"disabled":0}"#,
        ),
        (
            "mcp_auth_required",
            r#""serverName":"linear","authUrl":"https://example.test/","message":"Authentication required for linear""#,
        ),
        ("permission_resolved", r#""requestId":"r","toolUseIds":["t"],"selectedOption":"proceed_once""#),
    ] {
        let read = parse(&format!(r#"{{"type":"{kind}",{fields}}}"#));
        assert_eq!(read.tag(), kind);
        assert!(!matches!(read, SessionNotification::Unknown(_)), "{kind}");
    }
}

#[test]
fn idle_of_0_36_parses_without_envelope_versions() {
    let read = parse(r#"{"type":"droid_working_state_changed","newState":"idle"}"#);
    assert!(
        matches!(read, SessionNotification::DroidWorkingStateChanged(changed) if changed.new_state.as_str() == "idle")
    );
}

#[test]
fn errors_of_0_57_have_a_null_id() {
    let line = br#"{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":null,"error":{"code":-32600,"message":"Invalid request format"}}"#;
    let Frame::Response(response) = Frame::parse(line) else { panic!("not a response") };
    assert_eq!(response.id, musher_wire::Id::Null);
    assert_eq!(response.outcome.unwrap_err().code, musher_wire::RpcError::INVALID_REQUEST);
}

#[test]
fn sessions_of_0_57_open_and_load() {
    let opened: InitializeSessionResult = serde_json::from_str(
        r#"{"sessionId":"probe","session":{"messages":[]},"settings":{"modelId":"gpt-5.1","reasoningEffort":"none","autonomyLevel":"auto-low","specModeReasoningEffort":"none"},"availableModels":[],"gitRepo":{"owner":"o","repoName":"r"}}"#,
    )
    .unwrap();
    assert_eq!(opened.settings.unwrap().autonomy_level.unwrap().as_str(), "auto-low");
    let loaded: LoadSessionResult = serde_json::from_str(
        r#"{"session":{"messages":[{"id":"a","role":"assistant","content":[{"type":"text","text":"OK"}],"parentId":"u","createdAt":1771250963471,"updatedAt":1771250963471}]},"settings":{},"availableModels":[],"isAgentLoopInProgress":false,"cwd":"/w"}"#,
    )
    .unwrap();
    assert_eq!(loaded.session.messages[0].text(), "OK");
}

#[test]
fn plans_of_0_57_have_option_names() {
    let line = br##"{"type":"request","method":"droid.request_permission","id":"f8","params":{"toolUses":[{"toolUse":{"type":"tool_use","id":"functions.ExitSpecMode:1","name":"ExitSpecMode","input":{"plan":"p","optionNames":["A","B"]}},"confirmationType":"exit_spec_mode","details":{"type":"exit_spec_mode","plan":"p","optionNames":["A","B"]}}],"options":[{"label":"No","value":"cancel","selectedColor":"#E54048","selectedPrefix":"x "}]}}"##;
    let Frame::Request(request) = Frame::parse(line) else { panic!("not a request") };
    assert_eq!(request.method, RequestPermission::NAME);
    let params = request.read::<RequestPermission>().unwrap();
    let PermissionDetails::ExitSpecMode(details) = &params.tool_uses[0].details else { panic!("not a plan") };
    assert_eq!(details.option_names.as_deref(), Some(["A".to_owned(), "B".to_owned()].as_slice()));
    assert_eq!(params.options[0].value, ToolConfirmationOutcome::Cancel);
}

#[test]
fn questions_of_0_57_parse() {
    let params: AskUserParams = serde_json::from_str(
        r#"{"toolCallId":"call","questions":[{"index":1,"topic":"Color","question":"Which?","options":["Red","Blue"]}]}"#,
    )
    .unwrap();
    assert_eq!(params.questions[0].index.get(), 1);
}
