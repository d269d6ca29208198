//! What a new user meets in an editor: names of models, and errors that say what to do.

use std::process::Command;

use musher_rehearse::{HttpError, Reply, Script, when};
use serde_json::{Value, json};

use super::editor::Editor;
use crate::run::stage::{Stage, execute};

/// `musher acp` with models of the settings and of a vendor with a key.
fn with_vendor(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.musher(&[&["acp"], arguments].concat());
    command.env("OPENAI_API_KEY", "x").env("OPENAI_BASE_URL", format!("{}/v1", stage.model_url()));
    command
}

fn greets() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Hi.").when(when().with_tools())))
}

/// Says no to everything.
fn never(_request: &Value) -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// The model of the last call that was not for a title.
fn asked_last(stage: &Stage) -> String {
    let calls = stage.calls();
    let last = calls.iter().rfind(|call| call.call.as_ref().is_some_and(|call| !call.tools.is_empty()));
    last.unwrap().body.as_ref().unwrap()["model"].as_str().unwrap().to_owned()
}

/// The reason of an error, which clients look for in two places.
fn reason(answer: &Value) -> &str {
    let error = &answer["error"];
    assert_eq!(error["message"], error["data"]["details"], "{answer}");
    error["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

const NAMES: [(&str, &str); 7] = [
    ("custom:Scripted-0", "scripted"),
    ("custom:scripted", "scripted"),
    ("scripted", "scripted"),
    ("gpt-5.1", "gpt-5.1"),
    ("custom:gpt-5.1", "gpt-5.1"),
    ("openai/gpt-5.1", "gpt-5.1"),
    ("openai/brand-new", "brand-new"),
];

#[test]
fn every_name_of_a_model_can_be_chosen_in_each_of_the_ways_of_editors() {
    let stage = greets();
    let mut editor = Editor::start(with_vendor(&stage, &[]));
    let session = editor.open(&stage.workspace());
    for (name, model) in NAMES {
        let option = json!({"sessionId": session, "configId": "model", "value": name});
        let set = editor.call("session/set_config_option", option);
        let options = set["result"]["configOptions"].as_array().unwrap_or_else(|| panic!("{name}: {set}"));
        let current = options.iter().find(|option| option["id"] == "model").unwrap();
        // the model is in the list once, whatever it is called
        let values: Vec<_> = current["options"].as_array().unwrap().iter().map(|it| &it["value"]).collect();
        assert_eq!(
            values.iter().filter(|it| **it == &current["currentValue"]).count(),
            1,
            "{name}: {current}"
        );
        assert!(
            name.ends_with("brand-new") || current["currentValue"].as_str().unwrap().starts_with("custom:")
        );
        let (done, _) = editor.turn(&session, "hello", never);
        assert_eq!(done["result"]["stopReason"], "end_turn", "{name}: {done}");
        assert_eq!(asked_last(&stage), model, "{name}");
        let set = editor.call("session/set_model", json!({"sessionId": session, "modelId": name}));
        assert!(set["result"].is_object(), "{name}: {set}");
        let (done, updates) = editor.turn(&session, &format!("/model {name}"), never);
        assert_eq!(done["result"]["stopReason"], "end_turn", "{name}: {done}");
        assert!(format!("{updates:?}").contains("The model is now"), "{name}: {updates:?}");
    }
    for name in ["gpt-nope", "custom:nope", "nowhere/gpt-5.1"] {
        let set = editor.call("session/set_model", json!({"sessionId": session, "modelId": name}));
        let reason = reason(&set);
        assert!(reason.starts_with(&format!("unknown model `{name}`; available models: ")), "{reason}");
    }
}

#[test]
fn every_name_of_a_model_can_be_an_argument_and_a_wrong_one_is_an_error() {
    let stage = greets();
    for (name, model) in NAMES {
        let mut editor = Editor::start(with_vendor(&stage, &["-m", name]));
        let session = editor.open(&stage.workspace());
        let (done, _) = editor.turn(&session, "hello", never);
        assert_eq!(
            (&done["result"]["stopReason"], asked_last(&stage).as_str()),
            (&json!("end_turn"), model),
            "{name}"
        );
    }
    let mut editor = Editor::start(with_vendor(&stage, &["-m", "custom:nope"]));
    let opened = editor.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
    assert!(reason(&opened).starts_with("unknown model `custom:nope`; available models: "), "{opened}");
}

#[test]
fn key_of_a_vendor_without_listed_models_leads_to_the_name_to_pass() {
    let stage = greets();
    fs_err::remove_file(stage.home().join("settings.json")).unwrap();
    let start = |arguments: &[&str]| {
        let mut command = stage.musher(&[&["acp"], arguments].concat());
        command.env("OPENROUTER_API_KEY", "x");
        Editor::start(command)
    };
    let mut editor = start(&[]);
    let new = json!({"cwd": stage.workspace(), "mcpServers": []});
    for (method, params) in [("session/new", new.clone()), ("authenticate", json!({"methodId": "model"}))] {
        let refused = editor.call(method, params);
        assert_eq!(refused["error"]["code"], -32000, "{refused}");
        let reason = reason(&refused);
        assert!(reason.contains("OPENROUTER_API_KEY is set"), "{method}: {reason}");
        assert!(reason.contains("`--model openrouter/"), "{method}: {reason}");
        assert!(!reason.contains("Set a key") && !reason.contains("no vendor key"), "{method}: {reason}");
    }
    let mut editor = start(&["--model", "openrouter/qwen/qwen3-coder"]);
    assert!(editor.call("authenticate", json!({"methodId": "model"}))["result"].is_object());
    assert!(editor.call("session/new", new)["result"]["sessionId"].is_string());
}

#[test]
fn reason_of_every_error_is_in_its_message_and_in_its_details() {
    let failing = Reply::error(HttpError::new(401).message("no such key")).times(9);
    let stage = Stage::new(Script::new().reply(failing));
    let mut editor = Editor::start(stage.musher(&["acp"]));
    let session = editor.open(&stage.workspace());
    let (done, _) = editor.turn(&session, "hello", never);
    assert!(reason(&done).contains("no such key"), "{done}");
    let unknown = "11111111-2222-4333-8444-555555555555";
    let refused = editor
        .call("session/load", json!({"sessionId": unknown, "cwd": stage.workspace(), "mcpServers": []}));
    assert!(reason(&refused).contains(&format!("unknown session `{unknown}`")), "{refused}");
    let refused = editor.call("session/prompt", Editor::prompt(unknown, "hello"));
    assert!(reason(&refused).contains(&format!("unknown session `{unknown}`")), "{refused}");
    let nowhere = stage.workspace().join("nowhere");
    let refused = editor.call("session/new", json!({"cwd": nowhere, "mcpServers": []}));
    assert!(reason(&refused).contains("does not exist") && !reason(&refused).contains("droid."), "{refused}");
    let refused = editor.call("session/new", json!({"cwd": "here", "mcpServers": []}));
    assert!(reason(&refused).contains("`here` is not an absolute path"), "{refused}");
}

#[test]
fn plan_that_did_not_change_is_sent_once() {
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Leap"});
    let write = |call: u32| Reply::tool("TodoWrite", todos.clone()).when(when().with_tools().call(call));
    let script = Script::new()
        .reply(write(1))
        .reply(write(2))
        .reply(Reply::text("So far.").when(when().with_tools().call(3)));
    let stage = Stage::new(script);
    let mut editor = Editor::start(stage.musher(&["acp"]));
    let session = editor.open(&stage.workspace());
    let (done, updates) = editor.turn(&session, "plan it", never);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    let plans: Vec<_> = updates.iter().filter(|update| update["sessionUpdate"] == "plan").collect();
    assert_eq!(plans.len(), 1, "{plans:?}");
    assert_eq!(plans[0]["entries"].as_array().unwrap().len(), 2, "{plans:?}");
}

#[test]
fn editor_that_always_takes_the_first_option_answers_no_question() {
    let stage = Stage::new(crate::run::stage::asks());
    let mut editor = Editor::start(stage.musher(&["acp"]));
    let session = editor.open(&stage.workspace());
    let first = |request: &Value| {
        let option = &request["params"]["options"][0]["optionId"];
        json!({"outcome": {"outcome": "selected", "optionId": option}})
    };
    let (done, updates) = editor.turn(&session, "ask me", first);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    let text: String = updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect();
    assert!(text.contains("Which colour?"), "the question is a message: {text}");
    let calls = stage.calls();
    let messages = calls.iter().filter_map(|call| call.body.as_ref()?["messages"].as_array());
    let results: Vec<_> = messages.flatten().filter(|message| message["role"] == "tool").collect();
    let results = format!("{results:?}");
    assert!(!results.contains("red") && !results.contains("blue"), "nothing was answered: {results}");
}

/// The ids of the options of a permission request.
fn options_of(request: &Value) -> Vec<&str> {
    let options = request["params"]["options"].as_array().unwrap().iter();
    options.map(|option| option["optionId"].as_str().unwrap()).collect()
}

fn choose(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[test]
fn command_that_is_allowed_like_this_is_not_asked_for_again_and_another_is() {
    let lines = ["git init one && touch a", "git init two", "touch a && git init three", "touch b", "git gc"];
    let step = |call: u32| when().with_tools().call(call);
    let script = lines
        .iter()
        .zip(1..)
        .fold(Script::new(), |script, (line, call)| script.reply(execute(line).when(step(call))));
    let stage = Stage::new(script.reply(Reply::text("Done.").when(step(6))));
    let mut editor = Editor::start(stage.musher(&["acp"]));
    let session = editor.open(&stage.workspace());
    let mut asked = Vec::new();
    let (done, _) = editor.turn(&session, "make them", |request| {
        let command = request["params"]["toolCall"]["rawInput"]["command"].as_str();
        asked.push(command.unwrap_or_else(|| panic!("{request}")).to_owned());
        let options = options_of(request);
        assert_eq!(options[..2], ["proceed_once", "always_like_this"], "{request}");
        assert_eq!(options[options.len() - 2..], ["proceed_always", "cancel"], "{request}");
        if asked.len() == 1 {
            let label = &request["params"]["options"][1]["name"];
            let expected = "Yes, and always allow commands that start with `git init`, and exactly `touch a` in this session";
            assert_eq!(label, expected, "{request}");
            choose("always_like_this")
        } else {
            choose("proceed_once")
        }
    });
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(asked, [lines[0], lines[3], lines[4]]);
    for made in ["one", "two", "three"] {
        assert!(stage.workspace().join(made).join(".git").exists(), "{made}");
    }
}

#[test]
fn command_that_has_no_narrow_grant_offers_the_broad_one_last() {
    let line = "printf x > made.txt && sh made.txt";
    let step = |call: u32| when().with_tools().call(call);
    let script = Script::new().reply(execute(line).when(step(1))).reply(Reply::text("Done.").when(step(2)));
    let stage = Stage::new(script);
    let mut editor = Editor::start(stage.musher(&["acp"]));
    let session = editor.open(&stage.workspace());
    let mut asked = 0;
    editor.turn(&session, "make it", |request| {
        asked += 1;
        assert_eq!(options_of(request), ["proceed_once", "proceed_always", "cancel"], "{request}");
        let label = request["params"]["options"][1]["name"].as_str().unwrap();
        assert!(label.contains("don't ask again in this session"), "it says how much: {label}");
        choose("cancel")
    });
    assert_eq!(asked, 1);
}
