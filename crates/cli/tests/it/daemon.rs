//! `musher daemon`: the built program, and clients over a real WebSocket.

mod access;
mod captures;
mod disconnects;
mod faults;
mod inbox;
mod limits;
mod prompts;
mod replay;
mod resume;
mod shared; // one session in the daemon and in other processes
pub(crate) mod stage;
mod tls;
#[cfg(feature = "otlp")]
mod trace;
mod upgrade;
mod worktree;

use serde_json::json;
use stage::{Stage, has, sequences, text_of};

#[tokio::test]
async fn session_is_created_runs_a_turn_and_streams_it() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    let messages = client.turn(&session, "say hello").await;
    assert_eq!(text_of(&messages), "Hello.");
    let sequences = sequences(&messages, &session);
    let first = sequences[0];
    assert_eq!(sequences, (first..first + sequences.len() as u64).collect::<Vec<_>>());

    let opened = client.call("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(opened["sessions"][0]["sessionId"], session, "{opened}");
    assert_eq!(opened["sessions"][0]["workingState"], "idle", "{opened}");
    stage.stop();
}

#[tokio::test]
async fn methods_without_an_agent_read_the_sessions_on_disk() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.turn(&session, "say hello").await;
    fs_err::write(stage.work().join("a.txt"), "content").unwrap();

    let listed = client.call("daemon.list_available_sessions", json!({})).await;
    assert_eq!((&listed["sessions"][0]["sessionId"], &listed["hasMore"]), (&json!(session), &json!(false)));
    let params = json!({"sessionId": session, "limit": 1});
    let newest = client.call("daemon.get_session_messages", params).await;
    assert_eq!(newest["messages"][0]["content"][0]["text"], "Hello.", "{newest}");
    assert_eq!(newest["hasMore"], true);
    let older = json!({"sessionId": session, "cursor": newest["nextCursor"], "role": "user"});
    let older = client.call("daemon.get_session_messages", older).await;
    assert_eq!(older["messages"][0]["content"][0]["text"], "say hello", "{older}");

    let files = client.call("daemon.list_files", json!({"sessionId": session})).await;
    assert_eq!(files, json!({"files": ["a.txt"], "totalFiles": 1, "truncated": false}));
    let params = json!({"sessionId": session, "filePath": "a.txt"});
    assert_eq!(client.call("daemon.get_workspace_file_content", params).await["content"], "content");
    let params = json!({"sessionId": session, "filePath": "../.musher/daemon.token"});
    assert_eq!(client.refusal("daemon.get_workspace_file_content", params).await["code"], -32602);

    client.call("daemon.archive_session", json!({"sessionId": session})).await;
    client.until(&json!({"method": "daemon.session.archive_state_changed"})).await;
    assert_eq!(client.call("daemon.list_available_sessions", json!({})).await["sessions"], json!([]));
    client.call("daemon.unarchive_session", json!({"sessionId": session})).await;
    let limit = json!({"limit": 101});
    assert_eq!(client.refusal("daemon.list_available_sessions", limit).await["code"], -32602);
    stage.stop();
}

#[tokio::test]
async fn closed_session_is_revived_by_the_next_message_with_its_memory() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.turn(&session, "say hello").await;
    client.call("daemon.rename_session", json!({"sessionId": session, "title": "Named"})).await;
    client.call("daemon.close_session", json!({"sessionId": session})).await;
    let closed = client.seen.iter().any(|it| it["params"]["notification"]["type"] == "session_closed");
    assert!(closed, "it is announced before the response");
    assert_eq!(client.call("daemon.list_opened_sessions", json!({})).await, json!({"sessions": []}));

    client.seen.clear();
    let messages = client.turn(&session, "again").await;
    assert_eq!(text_of(&messages), "Hello.");
    let loaded = client.load(&session, None).await;
    assert_eq!(loaded["session"]["title"], "Named", "{loaded}");
    let texts = loaded["session"]["messages"].to_string();
    assert!(texts.contains("say hello") && texts.contains("again"), "{texts}");
    stage.stop();
}

#[tokio::test]
async fn idle_session_ends_its_agent_and_the_next_message_revives_it() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let params = json!({
        "machineId": "test", "cwd": stage.work(), "token": client.token, "inactivityTimeoutMs": 100,
    });
    let session =
        client.call("daemon.initialize_session", params).await["sessionId"].as_str().unwrap().to_owned();
    client.until(&json!({"params": {"notification": {"type": "session_inactivity"}}})).await;
    assert_eq!(client.call("daemon.list_opened_sessions", json!({})).await, json!({"sessions": []}));
    assert_eq!(text_of(&client.turn(&session, "say hello").await), "Hello.");
    stage.stop();
}

#[tokio::test]
async fn two_clients_follow_one_session_and_a_bystander_sees_its_state_only() {
    let mut stage = Stage::new();
    let mut one = stage.client().await;
    let session = one.open().await;
    let mut two = stage.client().await;
    two.load(&session, None).await;
    let mut bystander = stage.client().await;
    bystander.call("daemon.list_opened_sessions", json!({})).await;

    // sent by a client that does not follow
    bystander.request("daemon.add_user_message", json!({"sessionId": session, "text": "say hello"})).await;
    let (first, second) = (one.until_idle(&session).await, two.until_idle(&session).await);
    assert_eq!((text_of(&first), text_of(&second)), ("Hello.".to_owned(), "Hello.".to_owned()));
    let of_session = |messages: &[serde_json::Value]| {
        let is_ours = |it: &&serde_json::Value| {
            it["params"]["sessionId"] == *session && it["params"]["sequence"].is_u64()
        };
        let ours = messages.iter().filter(is_ours);
        ours.map(|it| it["params"].clone()).collect::<Vec<_>>()
    };
    let (first, second) = (of_session(&first), of_session(&second));
    // what came before the second client followed is not for it
    let begin = first.iter().position(|params| *params == second[0]).unwrap();
    assert_eq!(first[begin..], second);
    let idle = json!({"params": {"sessionId": session, "notification": {"newState": "idle"}}});
    let mut states = Vec::new();
    loop {
        let message = bystander.next().await;
        if message["method"] == "daemon.session_notification" {
            states.push(message.clone());
        }
        if has(&message, &idle) {
            break;
        }
    }
    let kinds = |it: &serde_json::Value| it["params"]["notification"]["type"].as_str().unwrap().to_owned();
    assert!(
        states
            .iter()
            .all(|it| ["droid_working_state_changed", "session_title_updated"].contains(&&*kinds(it))),
        "{states:?}"
    );
    assert!(states.iter().all(|it| it["params"].get("sequence").is_none()));
    stage.stop();
}

#[tokio::test]
async fn errors_have_the_codes_and_texts_of_the_real_daemon() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let absent = "00000000-0000-4000-8000-000000000000";
    let unknown = client.refusal("daemon.nope", json!({})).await;
    assert_eq!(
        (&unknown["code"], &unknown["message"]),
        (&json!(-32601), &json!("Method not found: daemon.nope"))
    );
    for method in ["droid.initialize_session", "daemon.list_tools", "daemon.get_context_stats", "daemon.ping"]
    {
        assert_eq!(client.refusal(method, json!({})).await["code"], -32601, "{method}");
    }
    let required = |field: &str| {
        json!({"issues": [{
            "code": "invalid_type", "expected": "string", "received": "undefined", "path": ["params", field],
            "message": "Required",
        }], "name": "ZodError"})
    };
    let no_token = json!({"machineId": "m", "cwd": stage.work()});
    assert_eq!(client.refusal("daemon.initialize_session", no_token).await["data"], required("token"));
    let no_machine = json!({"token": "t", "cwd": stage.work()});
    assert_eq!(client.refusal("daemon.initialize_session", no_machine).await["data"], required("machineId"));
    let no_session = json!({"text": "x"});
    assert_eq!(client.refusal("daemon.add_user_message", no_session).await["data"], required("sessionId"));
    let no_directory = json!({"machineId": "m", "token": "t", "cwd": "/nope/nope"});
    let refusal = client.refusal("daemon.initialize_session", no_directory).await;
    assert_eq!(
        refusal,
        json!({"code": -32602, "message": "Directory not found", "data": {"cwd": "/nope/nope"}})
    );
    let not_found = json!({"code": -32004, "message": format!("Session not found: {absent}")});
    let load = json!({"sessionId": absent, "token": "t"});
    assert_eq!(client.refusal("daemon.load_session", load).await, not_found);
    let prompt = json!({"sessionId": absent, "text": "x"});
    assert_eq!(client.refusal("daemon.add_user_message", prompt).await, not_found);
    let refusal = client.refusal("daemon.interrupt_session", json!({"sessionId": absent})).await;
    assert_eq!(refusal, json!({"code": -32603, "message": "No active session found for ID"}));
    assert_eq!(client.call("daemon.close_session", json!({"sessionId": absent})).await, json!({}));
    stage.stop();
}

#[tokio::test]
async fn fifty_sessions_run_turns_at_once_and_more_turns_than_allowed_wait() {
    let mut stage = Stage::with(stage::script(), &["--max-turns", "4"]);
    let mut client = stage.client().await;
    let mut sessions = Vec::new();
    for _ in 0..50 {
        sessions.push(client.open().await);
    }
    for session in &sessions {
        client.request("daemon.add_user_message", json!({"sessionId": session, "text": "say hello"})).await;
    }
    let mut done = std::collections::HashSet::new();
    while done.len() < sessions.len() {
        let message = client.next().await;
        assert!(message.get("error").is_none(), "{message}");
        if message["params"]["notification"]["type"] == "agent_turn_completed" {
            assert_eq!(message["params"]["notification"]["reason"], "completed", "{message}");
            done.insert(message["params"]["sessionId"].as_str().unwrap().to_owned());
        }
    }
    stage.stop();
}
