//! Requests to the user: permissions, plans and questions.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Stage, Who, call_of, execute, model_heard, on, text_of};

/// The names and kinds of the options.
fn offered(asked: &Value) -> Vec<(String, String)> {
    let options = asked["params"]["options"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    options.map(|option| (text(&option["optionId"]), text(&option["kind"]))).collect()
}

pub(crate) async fn a_new_file_is_shown_whole_before_it_is_allowed_and_is_there_afterwards(
    who: &Who,
) -> anyhow::Result<()> {
    // the model knows no paths of the sandbox: relative ones are made absolute for the editor
    let call = Reply::tool("Create", json!({"file_path": "new.txt", "content": "hello\n"}));
    let script =
        Script::new().reply(call.when(on("create", 1))).reply(Reply::text("Done.").when(on("create", 2)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    let before = stage.editor.told.len();
    let prompt = stage.editor.prompt(&session, "create it").await?;
    let asked = stage.editor.asked().await?;
    let path = format!("{}/new.txt", stage.editor.cwd);
    let call = &asked["params"]["toolCall"];
    assert_eq!((&call["kind"], &call["title"]), (&json!("edit"), &json!("Create new.txt")));
    let (content, locations) = (&call["content"][0], &call["locations"]);
    assert_eq!((&content["type"], &content["path"]), (&json!("diff"), &json!(path)));
    assert_eq!((&content["newText"], locations), (&json!("hello\n"), &json!([{"path": path}])));
    let expected = [
        ("proceed_once", "allow_once"),
        ("always_like_this", "allow_always"),
        ("proceed_always", "allow_always"),
        ("cancel", "reject_once"),
    ];
    // droid names the file as the model does, here without a directory that could be allowed
    let expected = expected.iter().filter(|(id, _)| !(who.is_droid() && *id == "always_like_this"));
    let expected: Vec<_> = expected.map(|(id, kind)| ((*id).to_owned(), (*kind).to_owned())).collect();
    assert_eq!(offered(&asked), expected);
    stage.editor.choose(&asked, "proceed_always").await?;
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    let updates = stage.editor.updates(before);
    let call = call_of(&updates, "edit");
    assert_eq!((&call["status"], &call["content"][0]["newText"]), (&json!("completed"), &json!("hello\n")));
    assert_eq!((&call["name"], &call["rawInput"]["content"]), (&json!("Create"), &json!("hello\n")));
    assert_eq!(fs_err::read_to_string(path)?, "hello\n");
    // "always" means fewer requests from now on, and the editor is notified
    let mode = updates.iter().find(|update| update["sessionUpdate"] == "current_mode_update").unwrap();
    assert_eq!(mode["currentModeId"], "auto-low");
    stage.finish().await
}

pub(crate) async fn a_refused_command_does_not_run_and_an_allowed_one_shows_its_output(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("touch refused.txt", "medium").when(on("refuse", 1)))
        .reply(execute("echo out; exit 3", "medium").when(on("allow", 1)))
        .reply(Reply::text("It failed.").when(on("allow", 2)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    let before = stage.editor.told.len();
    let prompt = stage.editor.prompt(&session, "refuse it").await?;
    let asked = stage.editor.asked().await?;
    let shown = asked["params"]["toolCall"]["content"].to_string();
    assert!(shown.contains("touch refused.txt"), "the command can be read: {shown}");
    stage.editor.choose(&asked, "cancel").await?;
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    assert_eq!(call_of(&stage.editor.updates(before), "execute")["status"], "failed");
    assert!(!stage.sandbox().workspace().join("refused.txt").exists());

    let before = stage.editor.told.len();
    let prompt = stage.editor.prompt(&session, "allow it").await?;
    let asked = stage.editor.asked().await?;
    stage.editor.choose(&asked, "proceed_once").await?;
    stage.editor.done(prompt).await?;
    let call = call_of(&stage.editor.updates(before), "execute");
    // a command that fails is a failed call
    assert_eq!((&call["status"], &call["title"]), (&json!("failed"), &json!("echo out; exit 3")));
    assert!(call["content"].to_string().contains("out"), "{call}");
    stage.finish().await
}

pub(crate) async fn a_cancel_withdraws_the_question_and_nothing_runs(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("touch never.txt", "medium").when(on("ask", 1)))
        .reply(Reply::text("Still here.").when(on("next", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    let prompt = stage.editor.prompt(&session, "ask me").await?;
    let asked = stage.editor.asked().await?;
    stage.editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "cancelled");
    assert!(
        stage.editor.told.iter().any(|line| line["withdrawn"] == asked["ask"]),
        "the editor can take the question from the screen"
    );
    let (reason, updates) = stage.editor.turn(&session, "next").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Still here."));
    assert!(!stage.sandbox().workspace().join("never.txt").exists());
    stage.finish().await
}

pub(crate) async fn a_plan_is_shown_with_every_way_to_go_on(who: &Who) -> anyhow::Result<()> {
    let plan = Reply::tool("ExitSpecMode", json!({"title": "The plan", "plan": "# Plan\n1. Do it.\n"}));
    let script =
        Script::new().reply(plan.when(on("plan", 1))).reply(Reply::text("Done.").when(on("plan", 2)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    stage.editor.call("session/set_mode", json!({"sessionId": session, "modeId": "spec"})).await?;
    let before = stage.editor.told.len();
    let prompt = stage.editor.prompt(&session, "plan it").await?;
    let asked = stage.editor.asked().await?;
    let call = &asked["params"]["toolCall"];
    assert_eq!((&call["kind"], &call["title"]), (&json!("switch_mode"), &json!("The plan")));
    assert!(call["content"].to_string().contains("1. Do it."), "{call}");
    let ids: Vec<_> = offered(&asked).into_iter().map(|(id, _)| id).collect();
    for id in
        ["proceed_once", "proceed_auto_run_low", "proceed_auto_run_medium", "proceed_auto_run_high", "cancel"]
    {
        assert!(ids.iter().any(|offered| offered == id), "{id} in {ids:?}");
    }
    stage.editor.choose(&asked, "proceed_auto_run_low").await?;
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    let updates = stage.editor.updates(before);
    let mode = updates.iter().find(|update| update["sessionUpdate"] == "current_mode_update").unwrap();
    assert_eq!(mode["currentModeId"], "auto-low");
    stage.finish().await
}

pub(crate) async fn every_answer_to_a_plan_leads_to_its_mode(who: &Who) -> anyhow::Result<()> {
    let plan = Reply::tool("ExitSpecMode", json!({"title": "The plan", "plan": "# Plan\n1. Do it.\n"}));
    let script =
        Script::new().reply(plan.when(on("plan", 1))).reply(Reply::text("Done.").when(on("plan", 2)));
    let mut stage = Stage::new(who, script)?;
    let editor = &mut stage.editor;
    editor.hello(json!({})).await?;
    for (answer, mode, status) in [
        ("proceed_once", "normal", "completed"),
        ("proceed_auto_run_low", "auto-low", "completed"),
        ("proceed_auto_run_medium", "auto-medium", "completed"),
        ("proceed_auto_run_high", "auto-high", "completed"),
        ("cancel", "spec", "failed"),
    ] {
        let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
        let session = opened["sessionId"].as_str().unwrap().to_owned();
        editor.call("session/set_mode", json!({"sessionId": session, "modeId": "spec"})).await?;
        let before = editor.told.len();
        let prompt = editor.prompt(&session, "plan it").await?;
        let asked = editor.asked().await?;
        editor.choose(&asked, answer).await?;
        assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn", "{answer}");
        let updates = editor.updates(before);
        assert_eq!(call_of(&updates, "switch_mode")["status"], status, "{answer}");
        let told = updates.iter().rfind(|update| update["sessionUpdate"] == "current_mode_update");
        // an unchanged mode is not reported again
        assert_eq!(told.map_or(&json!("spec"), |told| &told["currentModeId"]), mode, "{answer}");
        editor.call("session/close", json!({"sessionId": session})).await?;
    }
    stage.finish().await
}

pub(crate) async fn a_plan_can_be_changed_in_editors_that_have_forms(who: &Who) -> anyhow::Result<()> {
    let plan = Reply::tool("ExitSpecMode", json!({"title": "The plan", "plan": "# Plan\n1. Do it.\n"}));
    let script =
        Script::new().reply(plan.when(on("plan", 1))).reply(Reply::text("Done.").when(on("plan", 2)));
    for has_forms in [true, false] {
        let mut stage = Stage::new(who, script.clone())?;
        let can = if has_forms { json!({"elicitation": {"form": {}}}) } else { json!({}) };
        let session = stage.editor.open(can).await?;
        let editor = &mut stage.editor;
        editor.call("session/set_mode", json!({"sessionId": session, "modeId": "spec"})).await?;
        let before = editor.told.len();
        let prompt = editor.prompt(&session, "plan it").await?;
        let asked = editor.asked().await?;
        let is_offered = offered(&asked).iter().any(|(id, _)| id == "proceed_edit");
        assert_eq!(is_offered, has_forms);
        if !has_forms {
            editor.choose(&asked, "cancel").await?;
            editor.done(prompt).await?;
            stage.finish().await?;
            continue;
        }
        editor.choose(&asked, "proceed_edit").await?;
        let form = editor.asked().await?;
        let field = &form["params"]["requestedSchema"]["properties"]["plan"];
        assert_eq!(field["default"].as_str().map(str::trim), Some("# Plan\n1. Do it."), "{form}");
        // a declined form leads to another request
        editor.answer(&form, json!({"action": "decline"})).await?;
        let again = editor.asked().await?;
        assert_eq!(again["method"], "session/request_permission");
        editor.choose(&again, "proceed_edit").await?;
        let form = editor.asked().await?;
        let changed = json!({"action": "accept", "content": {"plan": "# Plan\n1. Do it twice.\n"}});
        editor.answer(&form, changed).await?;
        assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn");
        let call = call_of(&editor.updates(before), "switch_mode");
        assert!(call["content"].to_string().contains("Do it twice."), "{call}");
        let result = call["rawOutput"].to_string().replace('\\', "");
        assert!(result.contains(r#""isEdited":true"#), "{result}");
        // droid only gives its model the path of the plan file
        let knows_plan = who.is_droid() || model_heard(stage.model()).contains("Do it twice.");
        assert!(knows_plan, "the model knows the plan as it is now");
        let homes = [".factory", ".musher"].map(|home| stage.sandbox().home().join(home).join("specs"));
        let saved = homes.iter().filter_map(|folder| fs_err::read_dir(folder).ok()).flatten();
        let saved: Vec<_> =
            saved.map(|file| fs_err::read_to_string(file?.path())).collect::<Result<_, _>>()?;
        assert_eq!(saved.iter().map(|plan| plan.trim()).collect::<Vec<_>>(), ["# Plan\n1. Do it twice."]);
        stage.finish().await?;
    }
    Ok(())
}

/// A server with one tool, which returns its input in capitals.
const SHOUTER: &str = r#"
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const tool = { name: "shout", description: "Shouts", inputSchema: { type: "object", properties: { word: { type: "string" } } } };
  const results = {
    "initialize": () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shouter", version: "1" } }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text: params.arguments.word.toUpperCase() + "!" }] }),
  };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.() ?? {} }));
});
"#;

pub(crate) async fn a_tool_of_the_editors_server_can_be_allowed_for_good(who: &Who) -> anyhow::Result<()> {
    let shout = |word: &str| Reply::tool("shouter___shout", json!({"word": word}));
    let script = Script::new()
        .reply(shout("mango").when(on("first", 1)))
        .reply(Reply::text("Loud.").when(on("first", 2)))
        .reply(shout("kiwi").when(on("second", 1)))
        .reply(Reply::text("Loud again.").when(on("second", 2)));
    let mut stage = Stage::new(who, script)?;
    stage.editor.hello(json!({})).await?;
    let path = stage.sandbox().home().join("shouter.cjs");
    fs_err::write(&path, SHOUTER)?;
    let server = json!({"name": "shouter", "command": "node", "args": [path], "env": []});
    let params = json!({"cwd": stage.editor.cwd, "mcpServers": [server]});
    let opened = stage.editor.call("session/new", params).await?;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let before = stage.editor.told.len();
    let prompt = stage.editor.prompt(&session, "first").await?;
    let asked = stage.editor.asked().await?;
    assert_eq!(asked["params"]["toolCall"]["title"], "shouter: shout");
    let expected = [
        ("proceed_once", "allow_once"),
        ("proceed_always_tools", "allow_always"),
        ("proceed_always_server", "allow_always"),
        ("proceed_always", "allow_always"),
        ("cancel", "reject_once"),
    ];
    assert_eq!(offered(&asked), expected.map(|(id, kind)| (id.to_owned(), kind.to_owned())));
    stage.editor.choose(&asked, "proceed_always_server").await?;
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    let call = call_of(&stage.editor.updates(before), "other");
    assert_eq!((&call["status"], &call["rawInput"]["word"]), (&json!("completed"), &json!("mango")));
    assert!(call["content"].to_string().contains("MANGO!"), "{call}");
    // not asked again
    let (reason, updates) = stage.editor.turn(&session, "second").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Loud again."));
    assert!(call_of(&updates, "other")["content"].to_string().contains("KIWI!"));
    stage.finish().await
}

/// A call of the tool that asks questions.
fn questions() -> Reply {
    let questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n";
    Reply::tool("AskUser", json!({"questionnaire": questionnaire}))
}

pub(crate) async fn several_questions_are_asked_one_by_one_and_can_be_declined(
    who: &Who,
) -> anyhow::Result<()> {
    let questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n\n\
                         2. [question] Which size?\n[topic] Size\n[option] Small\n[option] Large\n";
    let script = Script::new()
        .reply(Reply::tool("AskUser", json!({"questionnaire": questionnaire})).when(on("ask", 1)))
        .reply(Reply::text("Thanks.").when(on("ask", 2)));
    for is_declined in [false, true] {
        let mut stage = Stage::new(who, script.clone())?;
        let session = stage.editor.open(json!({})).await?;
        let prompt = stage.editor.prompt(&session, "ask").await?;
        let first = stage.editor.asked().await?;
        assert_eq!(first["params"]["toolCall"]["title"], "Which colour?");
        stage.editor.choose(&first, "1").await?;
        let second = stage.editor.asked().await?;
        assert_eq!(second["params"]["toolCall"]["title"], "Which size?");
        stage.editor.choose(&second, if is_declined { "skip" } else { "0" }).await?;
        assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
        let heard = model_heard(stage.model());
        let answer = heard.rsplit("Which size?").next().unwrap();
        assert_eq!(answer.contains("Small"), !is_declined, "{answer}");
        stage.finish().await?;
    }
    Ok(())
}

pub(crate) async fn questions_are_a_form_for_editors_that_have_forms_and_buttons_for_others(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(questions().when(on("first", 1)))
        .reply(Reply::text("A fine colour.").when(on("first", 2)));
    for has_forms in [true, false] {
        let mut stage = Stage::new(who, script.clone())?;
        let can = if has_forms { json!({"elicitation": {"form": {}}}) } else { json!({}) };
        let session = stage.editor.open(can).await?;
        let prompt = stage.editor.prompt(&session, "first").await?;
        let asked = stage.editor.asked().await?;
        if has_forms {
            assert_eq!(asked["method"], "elicitation/create");
            assert_eq!(asked["params"]["message"], "Which colour?");
            let accepted = json!({"action": "accept", "content": {"answer_1": "Blue"}});
            stage.editor.answer(&asked, accepted).await?;
        } else {
            let names: Vec<_> = asked["params"]["options"]
                .as_array()
                .unwrap()
                .iter()
                .map(|option| option["name"].clone())
                .collect();
            assert_eq!(names, ["Answer in a message", "Red", "Blue", "Skip"]);
            stage.editor.choose(&asked, "1").await?;
        }
        assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
        let last = stage
            .model()
            .calls()
            .into_iter()
            .rfind(|call| call.call.as_ref().is_some_and(|call| !call.tools.is_empty()));
        let body = last.unwrap().body.as_ref().unwrap().to_string();
        assert!(body.contains("Blue"), "the model hears the answer: {body}");
        stage.finish().await?;
    }
    Ok(())
}
