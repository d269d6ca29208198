//! What waits for a person: one inbox, and one answer that counts.

use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn first_of_two_answers_counts_and_the_other_client_sees_it() {
    let mut stage = Stage::new();
    let mut one = stage.client().await;
    let session = one.open().await;
    let mut two = stage.client().await;
    two.load(&session, None).await;
    one.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    let asked = one.until(&json!({"method": "daemon.request_permission"})).await;
    let also = two.until(&json!({"method": "daemon.request_permission"})).await;
    assert_eq!((&asked["id"], &asked["params"]["sessionId"]), (&also["id"], &json!(session)));

    one.answer(&asked, json!({"sessionId": session, "selectedOption": "cancel"})).await;
    let resolved = json!({"params": {"notification": {"type": "permission_resolved"}}});
    assert_eq!(two.until(&resolved).await["params"]["notification"]["selectedOption"], "cancel");
    two.answer(&also, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
    one.until_idle(&session).await;
    // the second answer has arrived before this call
    two.call("daemon.list_opened_sessions", json!({})).await;
    assert!(!stage.work().join("made.txt").exists(), "only the first answer counts");
    stage.stop();
}

#[tokio::test]
async fn inbox_lists_all_sessions_announces_changes_and_takes_answers_from_anyone() {
    let mut stage = Stage::new();
    let mut person = stage.client().await;
    assert_eq!(person.call("daemon.list_inbox", json!({})).await, json!({"items": []}));
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;

    let changed = person.until(&json!({"method": "daemon.inbox_changed"})).await;
    let listed = person.call("daemon.list_inbox", json!({})).await;
    assert_eq!(changed["params"], listed);
    let item = &listed["items"][0];
    assert_eq!((&item["kind"], &item["sessionId"]), (&json!("permission"), &json!(session)), "{item}");
    assert_eq!(item["cwd"], json!(stage.work()), "{item}");
    assert_eq!(item["request"]["toolUses"][0]["toolUse"]["name"], "Execute", "{item}");
    assert!(item["createdAt"].as_u64().is_some_and(|at| at > 1_600_000_000_000), "{item}");

    let answer = json!({"requestId": item["requestId"], "result": {"selectedOption": "proceed_once"}});
    assert_eq!(person.call("daemon.answer_inbox", answer.clone()).await, json!({"accepted": true}));
    client.until_idle(&session).await;
    assert!(stage.work().join("made.txt").exists());
    assert_eq!(person.call("daemon.answer_inbox", answer).await, json!({"accepted": false}));
    assert_eq!(person.call("daemon.list_inbox", json!({})).await, json!({"items": []}));
    stage.stop();
}

#[tokio::test]
async fn request_waits_without_any_client_and_is_withdrawn_with_its_turn() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    drop(client);
    let mut client = stage.client().await;
    let listed = client.call("daemon.list_inbox", json!({})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    client.call("daemon.interrupt_session", json!({"sessionId": session})).await;
    client.until(&json!({"method": "daemon.inbox_changed", "params": {"items": []}})).await;
    stage.stop();
}
