use musher_wire::{ExecDetails, ExitSpecModeDetails, Json, ToolConfirmationType, ToolUse};

use super::*;

fn asked(details: impl Into<PermissionDetails>, offered: &[Outcome]) -> RequestPermissionParams {
    let tool = ToolUse::standalone("t", "Execute", Json::empty_object());
    let tool_use = PermissionToolUse::new(tool, ToolConfirmationType::Exec, details);
    let options = offered.iter().map(|value| PermissionOption::new("label", value.clone()));
    RequestPermissionParams::new(vec![tool_use], options.collect::<Vec<_>>())
}

fn command() -> RequestPermissionParams {
    asked(ExecDetails::new("rm -rf x"), &[Outcome::ProceedOnce, Outcome::ProceedAlways, Outcome::Cancel])
}

fn handlers(handler: impl PermissionHandler) -> Handlers {
    Handlers { permission: Some(Arc::new(handler)), ..Handlers::default() }
}

#[tokio::test]
async fn without_a_handler_the_answer_is_no() {
    let answered = Handlers::default().decide(command()).await;
    assert_eq!(answered.result.selected_option, Outcome::Cancel);
    assert!(answered.is_no && answered.failure.is_none());
}

#[tokio::test]
async fn closures_of_both_kinds_decide() {
    let of_function = handlers(sync(|asked: Permission| match asked.sole_command() {
        Some("rm -rf x") => Decision::allow_always(),
        _ => Decision::deny(),
    }));
    assert_eq!(of_function.decide(command()).await.result.selected_option, Outcome::ProceedAlways);
    let of_future = handlers(|_: Permission| async { Decision::deny().comment("not today") });
    assert_eq!(of_future.decide(command()).await.result.comment.as_deref(), Some("not today"));
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_a_no_with_the_reason() {
    let answered = handlers(sync(|_: Permission| Outcome::ProceedAutoRunHigh.into())).decide(command()).await;
    assert_eq!(answered.result.selected_option, Outcome::Cancel);
    assert_eq!(
        answered.failure.unwrap(),
        "permission handler: `proceed_auto_run_high` was not offered (offered: proceed_once, proceed_always, cancel)"
    );
}

#[tokio::test]
async fn a_handler_that_panics_is_a_no_with_the_reason() {
    let answered = handlers(sync(|_: Permission| -> Decision { panic!("oops") })).decide(command()).await;
    assert!(answered.is_no);
    assert_eq!(answered.failure.unwrap(), "permission handler: it panicked: oops");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_returns_is_a_no_at_its_deadline() {
    let mut handlers = handlers(|_: Permission| std::future::pending::<Decision>());
    handlers.deadline = Some(Duration::from_mins(1));
    let answered = handlers.decide(command()).await;
    assert_eq!(answered.failure.unwrap(), "permission handler: no answer within 60s");
}

#[tokio::test]
async fn an_edited_plan_may_be_answered_to_a_plan_only() {
    let edit = || handlers(sync(|_: Permission| Decision::edit_plan("better")));
    let plan = asked(ExitSpecModeDetails::new("plan"), &[Outcome::ProceedOnce, Outcome::Cancel]);
    let answered = edit().decide(plan).await;
    assert_eq!(answered.result.edited_spec_content.as_deref(), Some("better"));
    assert!(edit().decide(command()).await.failure.is_some());
    let bare = handlers(sync(|_: Permission| Outcome::ProceedEdit.into()));
    let plan = asked(ExitSpecModeDetails::new("plan"), &[Outcome::Cancel]);
    assert!(bare.decide(plan).await.failure.unwrap().contains("needs the edited plan"));
}

fn questions() -> AskUserParams {
    let question =
        Question { options: Some(vec!["Red".to_owned(), "Blue".to_owned()]), ..Question::new(1, "Which?") };
    AskUserParams::new("call", vec![question])
}

fn answerer(handler: impl QuestionHandler) -> Handlers {
    Handlers { questions: Some(Arc::new(handler)), ..Handlers::default() }
}

#[tokio::test]
async fn answers_are_objects_with_the_question() {
    let first = answerer(sync(|asked: Questions| {
        asked.answer_all(|question| question.options.as_ref()?.first().cloned())
    }));
    let answered = first.answer(questions()).await;
    let expected = Answer::new(Count::from(1), "Which?", "Red");
    assert_eq!((answered.result.answers, answered.result.cancelled), (vec![expected], Some(false)));
}

#[tokio::test]
async fn too_few_answers_and_no_handler_decline() {
    let none = answerer(sync(|_: Questions| Reply::Answers(Vec::new()))).answer(questions()).await;
    assert!(none.is_no);
    assert_eq!(none.failure.unwrap(), "question handler: 0 answers were given to 1 questions");
    let absent = Handlers::default().answer(questions()).await;
    assert_eq!(absent.result.cancelled, Some(true));
    let some_missing =
        answerer(sync(|asked: Questions| asked.answer_all(|_| None))).answer(questions()).await;
    assert!(some_missing.is_no && some_missing.failure.is_none());
}
