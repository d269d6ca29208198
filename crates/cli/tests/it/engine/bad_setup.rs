//! Broken settings, missing folders, unknown models: a clear error that names the place, and the rest keeps working.

use anyhow::Result;
use serde_json::json;
use testkit::rehearse::{Reply, Script};

use super::client::{Client, Stage, on};

fn hello() -> Script {
    Script::new().reply(Reply::text("Hello.").when(on("Hello", 1)))
}

/// The texts of all errors so far.
fn errors(client: &Client) -> Vec<String> {
    let notification = client.seen.iter().map(|message| &message["params"]["notification"]);
    let errors = notification.filter(|notification| notification["type"] == "error");
    errors.map(|error| error["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn settings_file_that_cannot_be_parsed_refuses_sessions_until_it_is_fixed() -> Result<()> {
    let stage = Stage::new(hello())?;
    let home = stage.sandbox.home().join(".musher");
    fs_err::create_dir_all(&home)?;
    fs_err::write(home.join("settings.json"), "{\n  \"model\": \"custom:x\",\n  oops\n}\n")?;
    let mut client = stage.client()?;
    let refused = client.call("droid.initialize_session", stage.session()).await?;
    let told = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains(".musher/settings.json:3:3: key must be a string\n  -> fix it"), "{refused}");
    fs_err::write(home.join("settings.json"), "{}")?;
    let opened = client.call("droid.initialize_session", stage.session()).await?;
    assert!(opened["result"].is_object(), "{opened}");
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn mistakes_that_restrict_nothing_are_named_and_the_rest_counts() -> Result<()> {
    let stage = Stage::new(hello())?;
    let home = stage.sandbox.home().join(".musher");
    fs_err::create_dir_all(&home)?;
    fs_err::write(home.join("settings.json"), "{\"reasoningEffort\": 7}")?;
    fs_err::write(
        home.join("mcp.json"),
        "{\"mcpServers\": {\"good\": {\"command\": \"true\"}, \"bad\": 7}}",
    )?;
    let mut client = stage.opened().await?;
    let told = errors(&client).join("\n");
    assert!(told.contains(".musher/settings.json: reasoningEffort: "), "file and field: {told}");
    assert!(told.contains(".musher/mcp.json: mcpServers.bad: "), "file and field: {told}");
    let servers = client.call("droid.list_mcp_servers", json!({})).await?;
    assert_eq!(servers["result"]["servers"][0]["name"], "good", "{servers}");
    // the models are in droid's settings
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn settings_that_cannot_be_read_refuse_sessions() -> Result<()> {
    let stage = Stage::new(hello())?;
    let home = stage.sandbox.home().join(".musher");
    fs_err::create_dir_all(home.join("settings.json"))?;
    let mut client = stage.client()?;
    let refused = client.call("droid.initialize_session", stage.session()).await?;
    let told = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains(".musher/settings.json: not a regular file"), "{refused}");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn missing_folder_and_an_unknown_session_are_errors_and_then_all_works() -> Result<()> {
    let stage = Stage::new(hello())?;
    let mut client = stage.client()?;
    let mut session = stage.session();
    session["cwd"] = json!("/no/such/folder");
    let answer = client.call("droid.initialize_session", session).await?;
    assert!(answer["error"].to_string().contains("/no/such/folder"), "{answer}");
    for id in ["00000000-0000-4000-8000-000000000000", "../../etc/passwd", ""] {
        let answer = client.call("droid.load_session", json!({"sessionId": id})).await?;
        assert!(answer["error"].is_object(), "{id}: {answer}");
    }
    // before there is a session, everything else says so
    let answer = client.call("droid.add_user_message", json!({"text": "Hello."})).await?;
    assert!(answer["error"].is_object(), "{answer}");
    let answer = client.call("droid.initialize_session", stage.session()).await?;
    assert!(answer["result"].is_object(), "{answer}");
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn unknown_model_is_replaced_by_the_default_one_and_the_client_is_notified() -> Result<()> {
    let stage = Stage::new(hello())?;
    let mut client = stage.client()?;
    let mut session = stage.session();
    session["modelId"] = json!("no-such-model");
    let answer = client.call("droid.initialize_session", session).await?;
    assert_eq!(answer["result"]["settings"]["modelId"], "custom:Rehearsal-Chat-0", "{answer}");
    let told = errors(&client).join("\n");
    assert!(told.contains("no-such-model") && told.contains("custom:Rehearsal-Chat"), "{told}");
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn damaged_session_opens_and_says_so() -> Result<()> {
    let stage = Stage::new(hello())?;
    let mut client = stage.client()?;
    let opened = client.call("droid.initialize_session", stage.session()).await?;
    let id = opened["result"]["sessionId"].as_str().unwrap_or_default().to_owned();
    client.say("Hello.").await?;
    client.completed().await?;
    client.program.end().await?;

    let sessions = stage.sandbox.home().join(".musher/sessions");
    let folder = fs_err::read_dir(sessions)?.next().expect("a folder")?.path();
    let log = folder.join(format!("{id}.jsonl"));
    let text = fs_err::read_to_string(&log)?;
    // garbage in the middle, a torn record at the end
    let (first, rest) = text.split_once('\n').expect("more than one line");
    fs_err::write(&log, format!("{first}\nGARBAGE\0\n{rest}{{\"type\":\"message\",\"id\":\"to"))?;
    let mut client = stage.client()?;
    let loaded = client.call("droid.load_session", json!({"sessionId": id})).await?;
    let messages = loaded["result"]["session"]["messages"].to_string();
    assert!(messages.contains("Hello."), "{loaded}");
    assert!(errors(&client).iter().any(|error| error.contains("damaged")), "{:?}", errors(&client));
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    client.program.end().await?;
    stage.finish().await
}
