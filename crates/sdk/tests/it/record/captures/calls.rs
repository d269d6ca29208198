//! Calls besides turns: load, fork, compact and rewind sessions; settings, lists, MCP servers.

use musher::wire::{
    ExecuteRewindParams, GetRewindInfoParams, LoadSessionParams, UpdateSessionSettingsParams,
};
use musher::{Session, TurnEnd};
use serde_json::json;

use crate::record::stage::{capture, capture_in_two, session};

const MISSING: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn session_is_resumed_with_its_history_and_its_directory() {
    let replay = capture("load_session");
    let id = "f766d0ae-07fd-4d17-8035-736c93f10b24";
    let session = Session::resume(id).agent(replay.agent()).open().await.unwrap();
    assert_eq!(session.id(), id);
    let state = session.state();
    assert_eq!(state.cwd.unwrap(), std::path::Path::new("/workspace"));
    assert!(!state.history.is_empty());
    assert_eq!(session.send("What did I say?").await.unwrap().text, "Mango.");

    session.client().load_session(LoadSessionParams::new(id)).await.unwrap();
    let refused = session.client().load_session(LoadSessionParams::new(MISSING)).await.unwrap_err();
    assert!(refused.is_protocol(), "{refused}");
}

#[tokio::test]
async fn unknown_session_error_names_the_id() {
    let text = fs_err::read_to_string(crate::record::stage::path("droid-0.225.2", "load_session")).unwrap();
    let last: Vec<_> = text.lines().filter(|line| line.contains(r#""id":"4""#)).collect();
    let replay = musher::Replay::parse(&last.join("\n")).unwrap();
    let error = Session::resume(MISSING).agent(replay.agent()).open().await.unwrap_err();
    assert!(error.is_session_not_found(), "{error}");
    assert!(error.with_causes().to_string().contains(MISSING));
}

#[tokio::test]
async fn fork_has_its_own_agent_and_original_stays_usable() {
    let replay = capture_in_two("fork", "load_session");
    let session = session(&replay).open().await.unwrap();
    session.send("Remember banana.").await.unwrap();
    // the recorded client continued the old session before it opened the fork
    let copied = session.client().fork_session(musher::wire::ForkSessionParams::default()).await.unwrap();
    assert_eq!(session.send("Still there?").await.unwrap().text, "Still old.");
    let fork = Session::resume(copied.new_session_id.as_str()).agent(replay.agent()).open().await.unwrap();
    assert_eq!(fork.id(), copied.new_session_id);
    assert_ne!(fork.id(), session.id());
    assert_eq!(fork.send("In the fork.").await.unwrap().text, "Fork reply.");
    fork.close().await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn summary_is_a_new_session() {
    // without the turn the recorded client had in the old session in between
    let text = fs_err::read_to_string(crate::record::stage::path("droid-0.225.2", "compact")).unwrap();
    let is_call = |line: &&str, id: &str| line.contains(r#""dir":"c2s""#) && line.contains(id);
    let lines: Vec<_> = text.lines().collect();
    let after = lines.iter().position(|line| is_call(line, r#""id":"6""#)).unwrap();
    let load = lines.iter().position(|line| is_call(line, "load_session")).unwrap();
    let replay = musher::Replay::parse(&lines[..after].join("\n")).unwrap();
    let replay = replay.then(&lines[load..].join("\n")).unwrap();

    let session = session(&replay).open().await.unwrap();
    for turn in 0..3 {
        assert_eq!(session.send("Go on.").await.unwrap().text, format!("Reply {turn}."));
    }
    let compacted = session.compact().instructions("Keep names.").await.unwrap();
    assert!(compacted.removed_messages > 0);
    assert_ne!(compacted.session.id(), session.id());
    replay.check().unwrap();
}

#[tokio::test]
async fn files_are_brought_back_to_how_they_were_before_a_message() {
    let replay = capture("rewind");
    let session = session(&replay).open().await.unwrap();
    for _ in 0..2 {
        assert_eq!(session.send("Go.").await.unwrap().end, TurnEnd::Completed);
    }
    let info =
        session.client().get_rewind_info(GetRewindInfoParams::new(session.id(), "second")).await.unwrap();
    let nothing =
        session.client().get_rewind_info(GetRewindInfoParams::new(session.id(), "nope")).await.unwrap();
    assert_ne!(info, nothing);
    let params = json!({"sessionId": session.id().as_str(), "messageId": "m", "filesToRestore": [], "filesToDelete": [], "forkTitle": "x"});
    let params: ExecuteRewindParams = serde_json::from_value(params).unwrap();
    let rewound = session.client().execute_rewind(params).await.unwrap();
    assert_ne!(rewound.new_session_id, session.id());
    session.client().load_session(LoadSessionParams::new(rewound.new_session_id)).await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn settings_that_were_changed_are_in_the_state_when_the_call_returns() {
    let replay = capture("settings_update");
    let session = session(&replay).open().await.unwrap();
    let before = session.state().settings;
    let mut seen = Vec::new();
    for _ in 0..19 {
        seen.push(session.update_settings(UpdateSessionSettingsParams::default()).await.unwrap().settings);
    }
    assert!(seen.iter().any(|settings| *settings != before));
    session.client().list_tools(musher::wire::ListToolsParams::default()).await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn title_is_in_the_state_and_a_session_can_be_closed() {
    let replay = capture("close_session");
    let session = session(&replay).open().await.unwrap();
    session.send("Go.").await.unwrap();
    session.rename("Any title").await.unwrap();
    assert!(session.state().title.is_some());
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn everything_that_can_be_listed_is_listed() {
    let replay = capture("list_everything");
    let session = session(&replay).open().await.unwrap();
    for _ in 0..3 {
        assert!(
            !session
                .client()
                .list_tools(musher::wire::ListToolsParams::default())
                .await
                .unwrap()
                .tools
                .is_empty()
        );
    }
    for _ in 0..2 {
        session.client().list_models(musher::wire::ListModelsParams::default()).await.unwrap();
    }
    assert!(!session.client().list_skills().await.unwrap().skills.is_empty());
    session.client().list_commands().await.unwrap();
    session.client().list_mcp_servers().await.unwrap();
    session.client().list_mcp_tools().await.unwrap();
    session.client().list_mcp_registry().await.unwrap();
    session.client().get_context_stats().await.unwrap();
    session.client().get_context_breakdown().await.unwrap();
    // the first one is a slash command, whose echo has another text
    for _ in 0..2 {
        assert_eq!(session.send("Go.").await.unwrap().end, TurnEnd::Completed);
    }
    let stats = session.client().get_context_stats().await.unwrap();
    assert!(stats.used.get() > 0);
    session.client().get_context_breakdown().await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn mcp_servers_are_added_switched_and_removed_and_refusals_are_errors() {
    let replay = capture("mcp_manage");
    let session = session(&replay).open().await.unwrap();
    let text = fs_err::read_to_string(crate::record::stage::path("droid-0.225.2", "mcp_manage")).unwrap();
    let mut refused = Vec::new();
    for line in text.lines().filter(|line| line.contains(r#""dir":"c2s""#)).skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let method = line["msg"]["method"].as_str().unwrap();
        let answer = session.client().call_raw(method, line["msg"]["params"].clone()).await;
        if let Err(error) = answer {
            assert!(error.is_protocol(), "{method}: {error}");
            refused.push(method.trim_start_matches("droid.").to_owned());
        }
    }
    let expected = [
        "add_mcp_server",
        "toggle_mcp_server",
        "toggle_mcp_server",
        "remove_mcp_server",
        "authenticate_mcp_server",
        "clear_mcp_auth",
        "kill_worker_session",
    ];
    assert_eq!(refused, expected);
    session.close().await.unwrap();
    replay.check().unwrap();
}
