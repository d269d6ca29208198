//! Limits: sessions, turns at once, tokens and money.

use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, Usage, when};

use super::stage::{Client, Stage, script, text_of};

/// A model whose every answer is counted with 1000 tokens. It wants to run a command when a prompt says `touch it`.
fn counting() -> Script {
    let usage = || Usage { input: Some(900), output: Some(100), ..Usage::default() };
    let touch = json!({
        "command": "touch made.txt", "summary": "Make a file", "timeout": 30,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(
            Reply::text("A title")
                .usage(Usage { input: Some(0), output: Some(0), ..Usage::default() })
                .when(when().without_tools()),
        )
        .reply(Reply::tool("Execute", touch).usage(usage()).when(when().prompt("touch it").call(1)))
        .otherwise(Reply::text("Hello.").usage(usage()))
}

async fn refused(client: &mut Client, session: &str) -> String {
    let params = json!({"sessionId": session, "text": "more"});
    let refusal = client.refusal("daemon.add_user_message", params).await;
    assert_eq!(refusal["code"], -32603, "{refusal}");
    refusal["message"].as_str().unwrap().to_owned()
}

fn reason(messages: &[Value]) -> &Value {
    let completed = messages.iter().find(|it| it["params"]["notification"]["type"] == "agent_turn_completed");
    &completed.unwrap()["params"]["notification"]["reason"]
}

#[tokio::test]
async fn session_over_its_tokens_runs_no_turn_also_after_a_restart_and_others_do() {
    let mut stage = Stage::with(counting(), &["--max-tokens-per-session", "1500"]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    assert_eq!(reason(&client.turn(&one, "say hello").await), "completed");
    client.turn(&one, "say hello").await;
    let refusal = refused(&mut client, &one).await;
    assert!(refusal.starts_with("budget of 1500 tokens per session exceeded: 2"), "{refusal}");
    assert_eq!(text_of(&client.turn(&two, "say hello").await), "Hello.");
    stage.stop();
    stage.start();
    let mut client = stage.client().await;
    assert!(refused(&mut client, &one).await.contains("per session exceeded"));
    stage.stop();
}

#[tokio::test]
async fn turn_that_exceeds_the_budget_is_interrupted_and_says_why() {
    let mut stage = Stage::with(counting(), &["--max-tokens-per-session", "500"]);
    let mut client = stage.client().await;
    let session = client.open().await;
    // the call of the model would wait for a person for ever
    let messages = client.turn(&session, "touch it").await;
    assert_eq!(reason(&messages), "cancelled", "{messages:?}");
    let error = messages.iter().find(|it| it["params"]["notification"]["errorType"] == "BudgetError");
    assert!(error.is_some(), "{messages:?}");
    assert!(!stage.work().join("made.txt").exists());
    stage.stop();
}

#[tokio::test]
async fn money_of_a_day_is_shared_by_all_sessions_also_after_a_restart() {
    // 1000 tokens cost $0.001
    let mut stage = Stage::with(counting(), &["--max-usd-per-day", "0.0015"]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    assert_eq!(text_of(&client.turn(&one, "say hello").await), "Hello.");
    assert_eq!(text_of(&client.turn(&two, "say hello").await), "Hello.");
    for session in [&one, &two] {
        let refusal = refused(&mut client, session).await;
        assert!(refusal.contains("per day exceeded"), "{refusal}");
    }
    stage.stop();
    stage.start();
    let mut client = stage.client().await;
    let new = client.open().await;
    assert!(refused(&mut client, &new).await.contains("per day exceeded"));
    stage.stop();
}

#[tokio::test]
async fn session_beyond_the_limit_is_refused_until_another_is_closed() {
    let mut stage = Stage::with(script(), &["--max-sessions", "1"]);
    let mut client = stage.client().await;
    let session = client.open().await;
    let params = json!({"machineId": "test", "cwd": stage.work(), "token": client.token});
    let refusal = client.refusal("daemon.initialize_session", params.clone()).await;
    assert!(refusal["message"].as_str().unwrap().contains("the limit"), "{refusal}");
    drop(client);
    let mut client = stage.client().await;
    client.call("daemon.close_session", json!({"sessionId": session})).await;
    // its task ends when the last client that follows is gone and its agent has ended
    loop {
        let opened = client.request("daemon.initialize_session", params.clone()).await;
        let response = client.until(&json!({"type": "response", "id": opened})).await;
        if response.get("error").is_none() {
            break;
        }
        client.call("daemon.list_opened_sessions", json!({})).await;
    }
    stage.stop();
}

#[tokio::test]
async fn turn_beyond_the_limit_begins_when_another_has_ended() {
    let mut stage = Stage::with(script(), &["--max-turns", "1"]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    client.request("daemon.add_user_message", json!({"sessionId": one, "text": "touch it"})).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    client.call("daemon.add_user_message", json!({"sessionId": two, "text": "say hello"})).await;
    // answered by the agent: it would have begun with the prompt
    client.call("daemon.list_skills", json!({"sessionId": two})).await;
    let is_of_two = |it: &Value| {
        it["params"]["sessionId"] == *two && it["params"]["notification"]["type"] == "create_message"
    };
    assert!(!client.seen.iter().any(is_of_two), "{:?}", client.seen);
    client.answer(&asked, json!({"sessionId": one, "selectedOption": "proceed_once"})).await;
    assert_eq!(text_of(&client.until_idle(&two).await).replace("Touched.", ""), "Hello.");
    stage.stop();
}
