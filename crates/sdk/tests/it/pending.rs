//! Requests of the agent on the stream of a turn: answered, dropped, interrupted, late.

mod agent;

use std::time::Duration;

use musher::{
    Answers, Decision, Event, PendingPermission, PendingRequest, Session, SessionBuilder, StoppedBy, Turn,
    TurnEnd, TurnResult,
};
use tokio::time::timeout;

use agent::AgentRequests;

/// The time after which a test counts as hung.
const DEADLINE: Duration = Duration::from_secs(30);

async fn soon<T>(waited: impl Future<Output = T>) -> T {
    timeout(DEADLINE, waited).await.expect("it hangs")
}

/// A session with an agent that asks, and the answers that the agent receives.
async fn session_with(options: impl FnOnce(SessionBuilder) -> SessionBuilder) -> (Session, AgentRequests) {
    let (agent, asked) = agent::start();
    (options(Session::builder().agent(agent)).open().await.unwrap(), asked)
}

async fn session() -> (Session, AgentRequests) {
    session_with(|builder| builder).await
}

async fn ask(session: &Session, prompt: &str) -> Turn {
    session.send(prompt).ask_on_stream().start().await.unwrap()
}

async fn permission(turn: &mut Turn) -> PendingPermission {
    loop {
        match soon(turn.next()).await.expect("the turn ended").unwrap() {
            Event::Permission(pending) => return pending,
            Event::Result(result) => panic!("no request before {result:?}"),
            _ => {}
        }
    }
}

/// Reads the turn to its end; also returns the reasons of failed handlers.
async fn rest(mut turn: Turn) -> (TurnResult, Vec<String>) {
    let mut failures = Vec::new();
    loop {
        match soon(turn.next()).await.expect("no result").unwrap() {
            Event::HandlerFailed { reason } => failures.push(reason),
            Event::Result(result) => return (*result, failures),
            _ => {}
        }
    }
}

#[tokio::test]
async fn answered_request_gets_its_answer() {
    let (session, mut asked) = session().await;
    for (answer, expected) in [
        (PendingPermission::allow_once as fn(PendingPermission), "proceed_once"),
        (PendingPermission::allow_always, "proceed_always"),
        (PendingPermission::deny, "cancel"),
    ] {
        let mut turn = ask(&session, "one").await;
        let pending = permission(&mut turn).await;
        let commands = pending.request().commands().unwrap();
        assert_eq!((commands.len(), commands[0].program()), (1, "cargo"));
        answer(pending);
        assert_eq!(soon(asked.answer()).await, expected);
        assert_eq!(rest(turn).await.0.text, expected);
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn dropped_and_ignored_requests_are_denied() {
    let (session, mut asked) = session().await;
    let mut turn = ask(&session, "one").await;
    let pending = permission(&mut turn).await;
    let clone = pending.clone();
    drop(pending);
    assert!(!clone.is_settled(), "a clone is the same request");
    drop(clone);
    assert_eq!(soon(asked.answer()).await, "cancel");
    assert_eq!(rest(turn).await.0.text, "cancel");

    let result = soon(session.send("one").ask_on_stream().into_future()).await.unwrap();
    assert_eq!((result.text.as_str(), soon(asked.answer()).await.as_str()), ("cancel", "cancel"));
    session.close().await.unwrap();
}

#[tokio::test]
async fn two_requests_wait_at_once_and_are_answered_in_any_order() {
    let (session, _asked) = session().await;
    let mut turn = ask(&session, "two").await;
    let (first, second) = (permission(&mut turn).await, permission(&mut turn).await);
    assert_ne!(first, second);
    second.allow_once();
    first.allow_always();
    assert_eq!(rest(turn).await.0.text, "proceed_always proceed_once");
    session.close().await.unwrap();
}

#[tokio::test]
async fn interrupted_turn_denies_its_requests_read_or_not() {
    let (session, mut asked) = session().await;
    let mut turn = ask(&session, "two").await;
    let read = permission(&mut turn).await;
    soon(asked.requests(2)).await;
    turn.cancel_token().cancel();
    assert_eq!((soon(asked.answer()).await, soon(asked.answer()).await), ("cancel".into(), "cancel".into()));
    soon(read.settled()).await;
    read.allow_once();
    let (result, failures) = rest(turn).await;
    assert_eq!((result.end, failures.len()), (TurnEnd::Interrupted(StoppedBy::Caller), 0));

    // by the session instead of the turn
    let mut turn = ask(&session, "one").await;
    let read = permission(&mut turn).await;
    soon(session.interrupt()).await.unwrap();
    assert_eq!(soon(asked.answer()).await, "cancel");
    soon(read.settled()).await;
    assert_eq!(rest(turn).await.0.end, TurnEnd::Interrupted(StoppedBy::Caller));
    session.close().await.unwrap();
}

#[tokio::test]
async fn dropped_turn_denies_its_unread_request() {
    let (session, mut asked) = session().await;
    let turn = ask(&session, "one").await;
    soon(asked.requests(1)).await;
    drop(turn);
    assert_eq!(soon(asked.answer()).await, "cancel");
    assert_eq!(rest(ask(&session, "none").await).await.0.text, "", "the session stays usable");
    session.close().await.unwrap();
}

#[tokio::test]
async fn answer_after_the_end_of_the_turn_has_no_effect() {
    let (session, mut asked) = session().await;
    let mut turn = ask(&session, "not waiting").await;
    let pending = permission(&mut turn).await;
    assert_eq!(rest(turn).await.0.end, TurnEnd::Completed);
    soon(pending.settled()).await;
    assert_eq!(soon(asked.answer()).await, "cancel");
    pending.allow_once();
    assert_eq!(rest(ask(&session, "none").await).await.0.end, TurnEnd::Completed, "nor on the next turn");
    session.close().await.unwrap();
}

#[tokio::test]
async fn request_behind_a_full_queue_is_read_and_answered() {
    let (session, _asked) = session().await;
    let mut turn = ask(&session, "many then one").await;
    permission(&mut turn).await.allow_once();
    assert_eq!(rest(turn).await.0.text, "proceed_once");
    // held while the reader does not read: the answer goes out although the queue is full
    let mut turn = ask(&session, "one then many").await;
    permission(&mut turn).await.allow_once();
    assert_eq!(rest(turn).await.0.text, "proceed_once");
    session.close().await.unwrap();
}

#[tokio::test]
async fn questions_are_answered_declined_and_checked() {
    let (session, _asked) = session().await;
    for (given, expected, failures) in
        [(Some(vec!["Red".to_owned()]), "Red", 0), (Some(Vec::new()), "declined", 1), (None, "declined", 0)]
    {
        let mut turn = ask(&session, "question").await;
        let pending = loop {
            if let Event::Question(pending) = soon(turn.next()).await.unwrap().unwrap() {
                break pending;
            }
        };
        assert_eq!(pending.request().questions[0].question, "Which?");
        match given {
            Some(answers) => pending.answer(Answers::Given(answers)),
            None => pending.decline(),
        }
        let (result, failed) = rest(turn).await;
        assert_eq!((result.text.as_str(), failed.len()), (expected, failures));
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn late_and_impossible_answers_are_denials_with_the_reason() {
    let (session, _asked) = session_with(|builder| builder.handler_timeout(Duration::from_millis(100))).await;
    let mut turn = ask(&session, "one").await;
    let pending = permission(&mut turn).await;
    let (result, failures) = rest(turn).await;
    assert_eq!(
        (result.text.as_str(), failures),
        ("cancel", vec!["permission decision: no answer within 100ms".into()])
    );
    assert!(pending.is_settled());

    let mut turn = ask(&session, "one").await;
    permission(&mut turn).await.decide(Decision::edit_plan("none was asked for"));
    let (result, failures) = rest(turn).await;
    assert_eq!(result.text, "cancel");
    assert!(failures[0].starts_with("permission decision: `proceed_edit` was not offered"), "{failures:?}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn requests_that_no_turn_takes_go_to_the_subscription_or_the_handler() {
    let (session, mut asked) =
        session_with(|builder| builder.on_permission_sync(|_| Decision::allow_always())).await;
    // a turn that does not ask on its stream
    assert_eq!(soon(session.send("one").into_future()).await.unwrap().text, "proceed_always");
    assert_eq!(soon(asked.answer()).await, "proceed_always");
    // no turn at all
    rest(ask(&session, "later").await).await;
    assert_eq!(soon(asked.answer()).await, "proceed_always");

    let mut requests = session.requests();
    rest(ask(&session, "later").await).await;
    let Some(PendingRequest::Permission(pending)) = soon(requests.next()).await else { panic!("no request") };
    // independent of a turn that runs meanwhile
    rest(ask(&session, "none").await).await;
    assert!(!pending.is_settled());
    pending.allow_once();
    assert_eq!(soon(asked.answer()).await, "proceed_once");

    drop(requests);
    rest(ask(&session, "later").await).await;
    assert_eq!(soon(asked.answer()).await, "proceed_always", "the handler has them again");
    session.close().await.unwrap();
}
