//! The real `droid`, two versions of it: one turn with a tool, from start to finish.

use musher_rehearse::{Api, Reply, Script, when};
use serde_json::{Value, json};
use testkit::capture::{Direction, Record, Scenario, matches, play};
use testkit::peers::{DROID, DROID_OLD, Installed};
use testkit::{Backend, Sandbox, droid, require_peer};

#[tokio::test]
async fn droid_asks_runs_the_command_and_completes_the_turn() -> anyhow::Result<()> {
    let droid = require_peer!(DROID);
    let turn_end =
        json!({"params": {"notification": {"type": "agent_turn_completed", "reason": "completed"}}});
    let close = [
        json!({"request": {"method": "droid.close_session", "params": {}}}),
        json!({"until": {"type": "response", "id": "3", "result": {}}}),
    ];
    let records = one_turn_with_a_command(&droid, &turn_end, &close).await?;
    let init = first(&records, &json!({"type": "response", "id": "1"}));
    assert_eq!(init["result"]["settings"]["modelId"], droid::CHAT_MODEL);
    assert_eq!(init["factoryProtocolVersion"], "1.220.0");
    Ok(())
}

#[tokio::test]
async fn old_droid_ends_its_turn_with_idle() -> anyhow::Result<()> {
    let droid = require_peer!(DROID_OLD);
    let turn_end =
        json!({"params": {"notification": {"type": "droid_working_state_changed", "newState": "idle"}}});
    let records = one_turn_with_a_command(&droid, &turn_end, &[json!("close_input")]).await?;
    let completed = json!({"params": {"notification": {"type": "agent_turn_completed"}}});
    assert!(!records.iter().any(|record| matches(&completed, &record.msg)));
    assert_eq!(first(&records, &json!({"type": "response", "id": "1"}))["factoryProtocolVersion"], "1.15.0");
    Ok(())
}

#[tokio::test]
async fn droid_reaches_the_scripted_model_over_all_three_apis() -> anyhow::Result<()> {
    let droid = require_peer!(DROID);
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(Script::new().otherwise(Reply::text("Hello.")))?;
    let program = sandbox.spawn(&droid::launch(&sandbox, &droid, &model.url(), &backend)?)?;

    let mut steps = Vec::new();
    for name in [droid::CHAT_MODEL, droid::RESPONSES_MODEL, droid::ANTHROPIC_MODEL] {
        let params = json!({"machineId": "m1", "cwd": sandbox.workspace(), "modelId": name});
        steps.push(json!({"request": {"method": "droid.initialize_session", "params": params}}));
        steps.push(json!({"until": {"type": "response", "result": {"settings": {"modelId": name}}}}));
        steps
            .push(json!({"request": {"method": "droid.add_user_message", "params": {"text": "Say hello."}}}));
        steps.push(json!({"until": {"params": {"notification": {"type": "agent_turn_completed", "reason": "completed"}}}}));
    }
    steps.push(json!({"request": {"method": "droid.close_session", "params": {}}}));
    let scenario = serde_json::from_value(json!({"about": "a turn with each model", "steps": steps}))?;
    let records = play(program, &scenario, &[]).await?;
    assert_eq!(text_of(&records), "Hello.Hello.Hello.");

    // Side requests, such as for a title, offer no tools.
    let calls = model.calls();
    let turns =
        calls.iter().filter_map(|request| request.call.as_ref()).filter(|call| !call.tools.is_empty());
    let apis: Vec<_> = turns.map(|call| call.api).collect();
    assert_eq!(apis, [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic]);
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await
}

async fn one_turn_with_a_command(
    droid: &Installed,
    turn_end: &Value,
    close: &[Value],
) -> anyhow::Result<Vec<Record>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(command_script())?;
    let program = sandbox.spawn(&droid::launch(&sandbox, droid, &model.url(), &backend)?)?;

    let workspace = sandbox.workspace();
    let mut scenario: Scenario = serde_json::from_value(json!({
        "about": "a command that needs a permission",
        "answers": [{"when": {"method": "droid.request_permission"}, "result": {"selectedOption": "proceed_once"}}],
        "steps": [
            {"request": {"method": "droid.initialize_session", "params": {
                "machineId": "m1", "cwd": workspace, "modelId": droid::CHAT_MODEL, "autonomyLevel": "off",
            }}},
            {"until": {"type": "response", "id": "1"}},
            {"request": {"method": "droid.add_user_message", "params": {"text": "Write the file."}}},
            {"until": turn_end},
        ],
    }))?;
    for step in close {
        scenario.steps.push(serde_json::from_value(step.clone())?);
    }
    let records = play(program, &scenario, &[]).await?;

    let request = first(&records, &json!({"method": "droid.request_permission"}));
    let details = &request["params"]["toolUses"][0]["details"];
    assert_eq!(details["fullCommand"], "printf one > made.txt");
    let result = first(&records, &json!({"params": {"notification": {"type": "tool_result"}}}));
    assert_eq!(result["params"]["notification"]["isError"], false);
    assert_eq!(fs_err::read_to_string(workspace.join("made.txt"))?, "one", "the command really ran");
    assert_eq!(text_of(&records), "I will write it.Finished.");

    drop(backend);
    model.shutdown().await;
    sandbox.finish().await?;
    Ok(records)
}

fn command_script() -> Script {
    let arguments = json!({
        "command": "printf one > made.txt",
        "summary": "Write one small file",
        "timeout": 60,
        "riskLevel": "medium",
        "riskLevelReason": "writes a file",
    });
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("I will write it.").and_tool("Execute", arguments).when(when().call(1)))
        .reply(Reply::text("Finished.").when(when().result_of("Execute")))
}

fn first<'a>(records: &'a [Record], part: &Value) -> &'a Value {
    let found = records.iter().find(|record| record.dir == Direction::S2c && matches(part, &record.msg));
    &found.unwrap_or_else(|| panic!("no message with {part}")).msg
}

fn text_of(records: &[Record]) -> String {
    let deltas = records.iter().map(|record| &record.msg["params"]["notification"]);
    deltas
        .filter(|it| it["type"] == "assistant_text_delta")
        .filter_map(|it| it["textDelta"].as_str())
        .collect()
}
