use musher_wire::{
    Answer, AskUserParams, Count, PermissionDetails, PermissionOption, PermissionToolUse, Question,
    RequestPermissionParams, ToolConfirmationOutcome as Outcome,
};
use musher_wire::{ExecDetails, ExitSpecModeDetails, Json, ToolConfirmationType, ToolUse};

use super::*;

fn asked(details: impl Into<PermissionDetails>, offered: &[Outcome]) -> PermissionRequest {
    let tool = ToolUse::standalone("t", "Execute", Json::empty_object());
    let tool_use = PermissionToolUse::new(tool, ToolConfirmationType::Exec, details);
    let options = offered.iter().map(|value| PermissionOption::new("label", value.clone()));
    RequestPermissionParams::new(vec![tool_use], options.collect::<Vec<_>>()).into()
}

fn command() -> PermissionRequest {
    asked(ExecDetails::new("rm -rf x"), &[Outcome::ProceedOnce, Outcome::ProceedAlways, Outcome::Cancel])
}

fn handlers<Fut>(handler: impl Fn(PermissionRequest) -> Fut + Send + Sync + 'static) -> Handlers
where
    Fut: Future<Output = Decision> + Send + 'static,
{
    Handlers { permission: Some(Arc::new(FromFn(handler))), ..Handlers::default() }
}

/// Wraps the result of a plain function in the future that a handler returns.
fn sync<A, R>(function: impl Fn(A) -> R + Send + Sync + 'static) -> impl Fn(A) -> std::future::Ready<R> {
    move |request| std::future::ready(function(request))
}

#[tokio::test]
async fn request_without_handler_is_denied() {
    let answered = Handlers::default().decide(command()).await;
    assert_eq!(answered.result.selected_option, Outcome::Cancel);
    assert!(answered.is_denial && answered.failure.is_none());
}

#[tokio::test]
async fn closures_of_both_kinds_decide() {
    let of_function = handlers(sync(|asked: PermissionRequest| match asked.sole_command() {
        Some("rm -rf x") => Decision::allow_always(),
        _ => Decision::deny(),
    }));
    assert_eq!(of_function.decide(command()).await.result.selected_option, Outcome::ProceedAlways);
    let of_future = handlers(|_: PermissionRequest| async { Decision::deny().comment("not today") });
    assert_eq!(of_future.decide(command()).await.result.comment.as_deref(), Some("not today"));
}

#[tokio::test]
async fn answer_that_was_not_offered_is_denied_with_reason() {
    let answered =
        handlers(sync(|_: PermissionRequest| Outcome::ProceedAutoRunHigh.into())).decide(command()).await;
    assert_eq!(answered.result.selected_option, Outcome::Cancel);
    assert_eq!(
        answered.failure.unwrap(),
        "permission handler: `proceed_auto_run_high` was not offered (offered: proceed_once, proceed_always, cancel)"
    );
}

#[tokio::test]
async fn panicking_handler_denies_with_reason() {
    let answered =
        handlers(sync(|_: PermissionRequest| -> Decision { panic!("oops") })).decide(command()).await;
    assert!(answered.is_denial);
    assert_eq!(answered.failure.unwrap(), "permission handler: it panicked: oops");
}

#[tokio::test(start_paused = true)]
async fn handler_that_never_returns_denies_after_timeout() {
    let mut handlers = handlers(|_: PermissionRequest| std::future::pending::<Decision>());
    handlers.deadline = Some(Duration::from_mins(1));
    let answered = handlers.decide(command()).await;
    assert_eq!(answered.failure.unwrap(), "permission handler: no answer within 60s");
}

#[tokio::test]
async fn edited_plan_may_be_answered_to_a_plan_only() {
    let edit = || handlers(sync(|_: PermissionRequest| Decision::edit_plan("better")));
    let plan = asked(ExitSpecModeDetails::new("plan"), &[Outcome::ProceedOnce, Outcome::Cancel]);
    let answered = edit().decide(plan).await;
    assert_eq!(answered.result.edited_spec_content.as_deref(), Some("better"));
    assert!(edit().decide(command()).await.failure.is_some());
    let bare = handlers(sync(|_: PermissionRequest| Outcome::ProceedEdit.into()));
    let plan = asked(ExitSpecModeDetails::new("plan"), &[Outcome::Cancel]);
    assert!(bare.decide(plan).await.failure.unwrap().contains("needs the edited plan"));
}

fn questions() -> QuestionRequest {
    let question =
        Question { options: Some(vec!["Red".to_owned(), "Blue".to_owned()]), ..Question::new(1, "Which?") };
    AskUserParams::new("call", vec![question]).into()
}

fn answerer<Fut>(handler: impl Fn(QuestionRequest) -> Fut + Send + Sync + 'static) -> Handlers
where
    Fut: Future<Output = Answers> + Send + 'static,
{
    Handlers { questions: Some(Arc::new(FromFn(handler))), ..Handlers::default() }
}

#[tokio::test]
async fn answers_are_objects_with_the_question() {
    let first = answerer(sync(|asked: QuestionRequest| {
        asked.answer_all(|question| question.options.as_ref()?.first().cloned())
    }));
    let answered = first.answer(questions()).await;
    let expected = Answer::new(Count::from(1), "Which?", "Red");
    assert_eq!((answered.result.answers, answered.result.cancelled), (vec![expected], Some(false)));
}

#[tokio::test]
async fn too_few_answers_and_no_handler_decline() {
    let none = answerer(sync(|_: QuestionRequest| Answers::Given(Vec::new()))).answer(questions()).await;
    assert!(none.is_denial);
    assert_eq!(none.failure.unwrap(), "question handler: 0 answers were given to 1 questions");
    let absent = Handlers::default().answer(questions()).await;
    assert_eq!(absent.result.cancelled, Some(true));
    let some_missing =
        answerer(sync(|asked: QuestionRequest| asked.answer_all(|_| None))).answer(questions()).await;
    assert!(some_missing.is_denial && some_missing.failure.is_none());
}

#[tokio::test(start_paused = true)]
async fn pending_request_is_denied_at_the_deadline_with_the_reason() {
    let handlers = Handlers { deadline: Some(Duration::from_mins(1)), ..Handlers::default() };
    let (pending, waiting) = crate::PendingPermission::new(command());
    let over = CancellationToken::new();
    let answered = handlers.pending_permission(pending.request(), waiting, &over, false).await;
    assert_eq!(answered.failure.unwrap(), "permission decision: no answer within 60s");
    assert!(answered.is_denial && pending.is_settled());
}

#[tokio::test]
async fn void_request_is_denied_without_a_decision() {
    let (pending, waiting) = crate::PendingPermission::new(command());
    let over = CancellationToken::new();
    over.cancel();
    pending.allow_once();
    let answered = Handlers::default().pending_permission(&command(), waiting, &over, false).await;
    assert_eq!(answered.result.selected_option, Outcome::Cancel);
    assert!(!answered.is_denial && answered.failure.is_none());
}

#[tokio::test]
async fn dropped_request_of_a_shared_session_is_left_to_others() {
    let (pending, waiting) = crate::PendingPermission::new(command());
    drop(pending);
    let over = CancellationToken::new();
    let answered = Handlers::default().pending_permission(&command(), waiting, &over, true).await;
    assert!(answered.is_left_open && !answered.is_denial);
}
