//! Two API keys and one session: what was made with one key is resumed with another.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::peers::DROID;
use testkit::rehearse::{Reply, Script, when};
use testkit::{Backend, Program, Sandbox, droid, require_peer};

use crate::Executable;

pub(crate) async fn session_made_with_one_key_is_resumed_with_another(ours: &Executable) -> Result<()> {
    resume_with_another_key(&Executable::Droid(require_peer!(DROID))).await?;
    resume_with_another_key(ours).await
}

async fn resume_with_another_key(agent: &Executable) -> Result<()> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    backend.answer("/api/cli/whoami", json!({"userId": "user_1", "orgId": "org_1"}));
    let script = Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("It was mango.").when(when().prompt("which word")))
        .otherwise(Reply::text("Noted."));
    let model = sandbox.model(script)?;
    droid::configure(&sandbox, &model.url())?;
    let start = |key: &str| -> Result<Program> {
        let launch = sandbox
            .launch(agent.path())
            .args(["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"])
            .env("MUSHER_HOME", sandbox.home().join(".factory"));
        sandbox.spawn(&droid::with_account(launch, &backend).env("FACTORY_API_KEY", key))
    };

    let mut first = start("fk-one")?;
    let params = json!({"machineId": "m", "cwd": sandbox.workspace(), "modelId": droid::CHAT_MODEL});
    let opened = call(&mut first, "droid.initialize_session", params).await?;
    let session = opened["sessionId"].as_str().context("a session has an id")?.to_owned();
    turn(&mut first, "remember the word mango").await?;
    call(&mut first, "droid.close_session", json!({})).await?;
    first.end().await?;

    let mut second = start("fk-two")?;
    let loaded = call(&mut second, "droid.load_session", json!({"sessionId": session})).await?;
    let history = loaded["session"]["messages"].to_string();
    ensure!(history.contains("remember the word mango") && history.contains("Noted."), "{loaded}");
    let said = turn(&mut second, "which word was it?").await?;
    ensure!(said.contains("It was mango."), "{}: {said}", agent.name());
    let calls = model.calls();
    let asked = |text: &str| {
        let bodies = calls.iter().rev().filter_map(|call| Some(call.body.as_ref()?.to_string()));
        bodies.into_iter().find(|body| body.contains(text))
    };
    ensure!(asked("which word").is_some_and(|body| body.contains("remember the word mango")), "the model has the history");
    drop(second.end().await?);
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await
}

async fn call(program: &mut Program, method: &str, params: Value) -> Result<Value> {
    program.send(&request(method, params)).await?;
    let read = program.read_until(method, |message| message["type"] == "response" && message["id"] == method).await?;
    let answer = read.last().context("the response is the last")?;
    answer.get("result").cloned().with_context(|| format!("{method}: {answer}"))
}

/// Runs a turn; returns all that was received, as text.
async fn turn(program: &mut Program, text: &str) -> Result<String> {
    program.send(&request("droid.add_user_message", json!({"text": text}))).await?;
    let is_end = |message: &Value| message["params"]["notification"]["type"] == "agent_turn_completed";
    let read = program.read_until("the end of the turn", is_end).await?;
    Ok(Value::from(read).to_string())
}

fn request(method: &str, params: Value) -> Value {
    let mut request = json!({
        "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.220.0", "type": "request",
        "id": method, "method": method,
    });
    request["params"] = params;
    request
}
