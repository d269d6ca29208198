//! Planning, and answers that have a shape. The order is that of the captures named in each test.

use musher_engine::{
    Autonomy, Choice, Command, Decision, Mode, NewSession, Prompt, SettingsChange, UserResponse,
};
use serde_json::{Value, json};

use crate::scripted::{Reply, calls, text};
use crate::stage::{Stage, is_idle, line, lines};

fn plan() -> Reply {
    calls("", &[("ExitSpecMode", json!({"plan": "# Plan\n1. Create a file.\n", "title": "Small plan"}))])
}

async fn planning(script: impl IntoIterator<Item = Reply>) -> Stage {
    let settings = SettingsChange { mode: Some(Mode::Spec), ..SettingsChange::default() };
    Stage::open_with(script, NewSession { settings, ..NewSession::default() }).await
}

fn choose(choice: Choice) -> UserResponse {
    UserResponse::Decision(choice.into())
}

/// `spec_mode_exit`.
#[tokio::test]
async fn accepted_plan_is_carried_out_in_the_same_turn() {
    let mut stage = planning([plan(), text("Implemented.")]).await;
    stage.say("Do it.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen[1..5], ["state Streaming", "hidden user", "message user for 2: Do it.", "hidden user"]);
    stage.agent.respond(request, choose(Choice::ProceedAutoRunLow)).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[..4],
        ["state Executing", "resolved call_0 ProceedAutoRunLow", "settings Auto Low", "call_0 executing"]
    );
    assert!(
        seen[4].starts_with("call_0 done: {\"approved\":true,\"message\":\"Spec mode exited."),
        "{}",
        seen[4]
    );
    assert_eq!(seen[5..7], ["state Streaming", "state Thinking"]);
    let saved = fs_err::read_dir(stage.home.path().join("specs")).unwrap().next().unwrap().unwrap();
    assert!(saved.file_name().to_str().unwrap().ends_with("-small-plan.md"));
}

#[tokio::test]
async fn edited_plan_is_saved_and_emitted() {
    let mut stage = planning([plan(), text("Implemented.")]).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    let changed = "# Plan\n1. Create two files.\n".to_owned();
    let response =
        UserResponse::Decision(Decision { choice: Choice::ProceedEdit, edited_plan: Some(changed.clone()) });
    stage.agent.respond(request, response).unwrap();
    let seen = stage.until_idle().await;
    let result = seen.iter().find(|line| line.starts_with("call_0 done")).unwrap();
    assert!(result.contains(r#""isEdited":true,"editStatus":"complete""#), "{result}");
    assert!(seen.contains(&"settings Auto Off".to_owned()), "{seen:?}");
    let saved = fs_err::read_dir(stage.home.path().join("specs")).unwrap().next().unwrap().unwrap();
    assert_eq!(fs_err::read_to_string(saved.path()).unwrap(), changed);
    let told = format!("{:?}", stage.model.requests().last().unwrap());
    assert!(told.contains("Create two files."), "{told}");
}

/// `spec_mode_cancel`.
#[tokio::test]
async fn rejected_plan_ends_the_turn_in_planning_mode() {
    let mut stage = planning([plan()]).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, choose(Choice::Cancel)).unwrap();
    assert_eq!(
        stage.until_idle().await,
        [
            "state Streaming",
            "resolved  Cancel",
            "call_0 failed: Error: Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.",
            "turn Completed",
            "state Idle",
        ]
    );
}

/// `spec_mode_new_session`.
#[tokio::test]
async fn plan_is_carried_out_in_a_new_session() {
    let mut stage = planning([plan(), text("Implemented.")]).await;
    stage.say("Plan it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, choose(Choice::ProceedNewSessionLow)).unwrap();
    let mut seen = Vec::new();
    loop {
        let event = stage.next().await;
        let is_old = event.session.as_ref().is_some_and(|session| session.as_str() == stage.session);
        let text = line(&event.event);
        let is_last = text == "turn SpecHandoff";
        seen.push(format!("{} {text}", if is_old { "old" } else { "new" }));
        if is_last {
            break;
        }
    }
    seen.retain(|line| !line.contains("call_0 done"));
    assert!(seen[7].starts_with("new message user: Implement the following plan:\n\n# Plan"), "{}", seen[7]);
    seen.remove(7);
    assert_eq!(
        seen,
        [
            "old state Executing",
            "old resolved call_0 ProceedNewSessionLow",
            "old settings Auto Off",
            "old call_0 executing",
            "new settings Auto Low",
            "new state Streaming",
            "new hidden user",
            "new state Thinking",
            "new state Streaming",
            "new text 0 \"Implemented.\"",
            "new text 0 complete",
            "new message assistant: Implemented.",
            "new used 800",
            "new turn Completed",
            "new state Idle",
            "old turn SpecHandoff",
        ]
    );
}

#[tokio::test]
async fn nothing_is_changed_while_planning() {
    let create = calls("", &[("Create", json!({"file_path": "x.txt", "content": "x"}))]);
    let settings = SettingsChange {
        mode: Some(Mode::Spec),
        autonomy: Some(Autonomy::High),
        ..SettingsChange::default()
    };
    let mut stage =
        Stage::open_with([create, text("ok")], NewSession { settings, ..NewSession::default() }).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await;
    assert!(seen.iter().any(|line| line.starts_with("call_0 failed")), "{seen:?}");
    assert!(!stage.work.path().join("x.txt").exists());
}

async fn shaped(schema: Value, script: Vec<Reply>) -> (Vec<String>, usize) {
    let mut stage = Stage::open(script).await;
    let prompt = Prompt { text: "Do it.".to_owned(), output_schema: Some(schema), ..Prompt::default() };
    stage.submit(Command::Prompt(Box::new(prompt)));
    let seen = lines(&stage.until(is_idle).await);
    (seen, stage.model.requests().len())
}

fn number() -> Value {
    json!({"type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"]})
}

/// `structured_output_ok`.
#[tokio::test]
async fn answer_of_the_right_shape_is_emitted_as_json() {
    let (seen, _) = shaped(number(), vec![text("{\"number\": 7}")]).await;
    assert_eq!(
        seen[seen.len() - 6..],
        [
            "text 0 complete",
            "message assistant: {\"number\":7}",
            "structured {\"number\":7}",
            "used 800",
            "turn Completed",
            "state Idle",
        ]
    );
}

/// `structured_output_bad`.
#[tokio::test]
async fn after_three_answers_of_the_wrong_shape_the_turn_fails() {
    let (seen, asked) =
        shaped(number(), vec![text("no json"), text("still none"), text("{\"number\": \"x\"}")]).await;
    assert_eq!(asked, 3);
    assert!(!seen.iter().any(|line| line.starts_with("message assistant")), "{seen:?}");
    let end = &seen[seen.len() - 4..];
    assert!(
        end[0].starts_with("problem /number ") && end[0].ends_with("Some(\"StructuredOutputError\")"),
        "{}",
        end[0]
    );
    assert_eq!(end[2..], ["turn StructuredOutputInvalid", "state Idle"]);
}

#[tokio::test]
async fn invalid_schema_fails_without_a_model_request() {
    let (seen, asked) = shaped(json!({"type": "nonsense"}), vec![]).await;
    assert_eq!(asked, 0);
    assert_eq!(seen[seen.len() - 2], "turn StructuredOutputSchemaInvalid");
}
