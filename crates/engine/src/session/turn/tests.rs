//! Turns without an agent around them.

use musher_model::{Arguments, ToolCall};
use serde_json::Map;

use super::batch::MAX_CALLS_PER_ANSWER;
use super::*;
use crate::UserResponse;
use crate::permission::{Kind, Operation, Refusal, Risk, Verdict};

/// Returns a turn whose model calls these tools.
fn turn(tools: &[&str]) -> (Turn, Vec<Effect>) {
    let mut turn = {
        let limits = Limits { parallel_calls: 3, ..Limits::default() };
        Turn::new("t".to_owned(), Instant::now(), limits, Registry::builtin())
    };
    let calls = tools.iter().enumerate().map(|(index, name)| ToolCall {
        index,
        id: format!("call_{index}"),
        name: (*name).to_owned(),
        arguments: Arguments::Object(Map::new()),
    });
    let mut out = Vec::new();
    turn.begin_tools(calls.collect(), &mut out);
    (turn, out)
}

/// Returns the effects about calls, as text.
fn of_calls(out: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::Check { index, .. } => Some(format!("judge {index}")),
        Effect::Recheck { index, .. } => Some(format!("judge {index} again")),
        Effect::Run { index, .. } => Some(format!("run {index}")),
        Effect::StepDone(Next::CallModel) => Some("ask the model".to_owned()),
        _ => None,
    };
    out.iter().filter_map(one).collect()
}

fn step(turn: &mut Turn, what: impl FnOnce(&mut Turn, &mut Vec<Effect>)) -> Vec<String> {
    let mut out = Vec::new();
    what(turn, &mut out);
    of_calls(&out)
}

fn may_run(turn: &mut Turn, index: usize) -> Vec<String> {
    step(turn, |turn, out| turn.apply_verdict(index, Verdict::Run(Access::Workspace), out))
}

fn done(turn: &mut Turn, index: usize) -> Vec<String> {
    step(turn, |turn, out| turn.done(index, ToolOutput::text("ok"), out))
}

#[test]
fn limited_number_of_calls_is_checked_at_once_and_none_runs_before_all_are() {
    let (mut turn, out) = turn(&["Read"; 5]);
    assert_eq!(of_calls(&out), ["judge 0", "judge 1", "judge 2"]);
    assert_eq!(may_run(&mut turn, 1), ["judge 3"]);
    assert_eq!(may_run(&mut turn, 0), ["judge 4"]);
    assert!(may_run(&mut turn, 2).is_empty());
    assert!(may_run(&mut turn, 4).is_empty());
    assert_eq!(may_run(&mut turn, 3), ["run 0", "run 1", "run 2"]);
    assert_eq!(done(&mut turn, 1), ["run 3"]);
}

#[test]
fn call_is_rechecked_after_a_change_and_not_after_a_read() {
    let (mut turn, _) = turn(&["Read", "Execute", "Execute"]);
    may_run(&mut turn, 0);
    may_run(&mut turn, 1);
    assert_eq!(may_run(&mut turn, 2), ["run 0"]);
    assert_eq!(done(&mut turn, 0), ["run 1"]);
    assert_eq!(done(&mut turn, 1), ["judge 2 again"]);
    assert_eq!(may_run(&mut turn, 2), ["run 2"]);
    assert_eq!(done(&mut turn, 2), ["ask the model"]);
}

#[test]
fn unexpected_verdict_changes_nothing() {
    let (mut turn, _) = turn(&["Execute", "Execute"]);
    may_run(&mut turn, 0);
    assert_eq!(may_run(&mut turn, 1), ["run 0"]);
    assert!(may_run(&mut turn, 0).is_empty());
    assert!(may_run(&mut turn, 1).is_empty());
    assert!(may_run(&mut turn, 7).is_empty());
}

/// Plays the actor until the model is called: gives verdicts and runs calls at once. Returns the results in their order and whether each
/// is an error, the number of effects, and the number of calls the steps of the turn have visited.
fn play(tools: &[&str], verdict: impl Fn(usize) -> Verdict) -> (Vec<(String, bool)>, usize, usize) {
    let (mut turn, out) = turn(tools);
    let (mut results, mut performed) = (Vec::new(), 0);
    let mut effects: std::collections::VecDeque<Effect> = out.into();
    while let Some(effect) = effects.pop_front() {
        performed += 1;
        let mut out = Vec::new();
        match effect {
            Effect::Check { index, .. } => turn.apply_verdict(index, verdict(index), &mut out),
            Effect::Recheck { index, .. } => {
                turn.apply_verdict(index, Verdict::Run(Access::Workspace), &mut out);
            }
            Effect::Run { index, .. } => turn.done(index, ToolOutput::text("ok"), &mut out),
            Effect::Emit(Event::ToolResult { id, content, is_error, .. }) => {
                assert_eq!(content.len(), 1, "{id}");
                results.push((id, is_error));
            }
            _ => {}
        }
        effects.extend(out);
    }
    let Phase::Tools(batch) = &turn.phase else { panic!("the turn is over") };
    assert!(batch.is_done());
    (results, performed, batch.visits)
}

#[test]
fn calls_above_the_limit_get_an_error_result_and_do_not_run() {
    let tools = vec!["Read"; MAX_CALLS_PER_ANSWER + 2];
    let (results, ..) = play(&tools, |index| {
        assert!(index < MAX_CALLS_PER_ANSWER, "call {index} was judged");
        Verdict::Run(Access::Workspace)
    });
    assert_eq!(results.len(), tools.len(), "one result each");
    for (index, (id, is_error)) in results.iter().enumerate() {
        assert_eq!(*id, format!("call_{index}"));
        assert_eq!(*is_error, index >= MAX_CALLS_PER_ANSWER, "{index}");
    }
}

#[test]
fn work_grows_linearly_with_the_number_of_calls() {
    let refuse = |_| Verdict::Refuse(Refusal::new("no"));
    let run = |_| Verdict::Run(Access::Workspace);
    for count in [MAX_CALLS_PER_ANSWER / 4, MAX_CALLS_PER_ANSWER, 10_000] {
        for (name, (results, performed, visits)) in [
            ("refused", play(&vec!["Read"; count], refuse)),
            ("parallel", play(&vec!["Read"; count], run)),
            // each is judged again, because each follows a change
            ("alone", play(&vec!["Execute"; count], run)),
        ] {
            assert_eq!(results.len(), count, "{name}");
            // queued, checked twice, executing, run, logged, emitted
            assert!(performed <= 8 * count, "{name} {count}: {performed} effects");
            // judged, begun, announced, and once in each step for what cannot begin yet
            assert!(visits <= 8 * count, "{name} {count}: {visits} calls looked at");
        }
    }
}

#[test]
fn call_that_needs_permission_after_a_recheck_is_asked_about_before_the_next_starts() {
    let (mut turn, _) = turn(&["Execute", "Read", "Read", "Read", "Read"]);
    for index in 0..4 {
        may_run(&mut turn, index);
    }
    assert_eq!(may_run(&mut turn, 4), ["run 0"]);
    assert_eq!(done(&mut turn, 0), ["judge 1 again", "judge 2 again", "judge 3 again"]);
    let request = PermissionRequest {
        kind: Kind::Beyond {
            tool: "Read".to_owned(),
            target: "/elsewhere".to_owned(),
            operation: Operation::Read,
            reason: "a link".to_owned(),
        },
        risk: Risk::High,
        choices: vec![Choice::ProceedOnce, Choice::Cancel],
        access: Access::Anywhere,
        leaves_sandbox: false,
    };
    let mut out = Vec::new();
    turn.apply_verdict(1, Verdict::Ask(Box::new(request)), &mut out);
    let Some(Effect::AskUser(UserRequest::Permission { id, calls, .. })) = out.last() else {
        panic!("{out:?}")
    };
    assert_eq!(calls[0].id, "call_1");
    assert_eq!(may_run(&mut turn, 2), ["run 2"], "only what was judged already");
    let allow = UserResponse::Decision(Choice::ProceedOnce.into());
    assert_eq!(step(&mut turn, |turn, out| turn.respond(id, allow, out)), ["run 1"]);
    assert_eq!(may_run(&mut turn, 3), ["run 3"]);
    assert_eq!(done(&mut turn, 2), ["judge 4 again"]);
}

/// Lets the turn ask about a call; returns the id of the request.
fn asked_about(turn: &mut Turn, index: usize) -> String {
    let request = PermissionRequest {
        kind: Kind::Beyond {
            tool: "Read".to_owned(),
            target: "/elsewhere".to_owned(),
            operation: Operation::Read,
            reason: "a test".to_owned(),
        },
        risk: Risk::High,
        choices: vec![Choice::ProceedOnce, Choice::Cancel],
        access: Access::Anywhere,
        leaves_sandbox: false,
    };
    let mut out = Vec::new();
    turn.apply_verdict(index, Verdict::Ask(Box::new(request)), &mut out);
    match out.last() {
        Some(Effect::AskUser(UserRequest::Permission { id, .. })) => id.clone(),
        _ => panic!("{out:?}"),
    }
}

/// Returns the texts for the model among the effects.
fn results(out: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::AppendSilently(message) => Some(format!("{:?}", message.content)),
        _ => None,
    };
    out.iter().filter_map(one).collect()
}

#[test]
fn denial_for_now_tells_the_model_why_and_the_turn_continues() {
    let (mut turn, _) = turn(&["Execute", "Read"]);
    may_run(&mut turn, 1);
    let request = asked_about(&mut turn, 0);
    let mut out = Vec::new();
    let denial = UserResponse::DeniedForNow { reason: "use the other file".to_owned() };
    turn.respond(&request, denial, &mut out);
    assert!(results(&out)[0].contains("The user denied this call: use the other file"), "{out:?}");
    assert_eq!(of_calls(&out), ["run 1"]);
    assert!(!turn.is_over());
    assert_eq!(done(&mut turn, 1), ["ask the model"]);
}

#[test]
fn rewritten_call_is_checked_again_and_its_result_tells_the_model() {
    let (mut turn, _) = turn(&["Execute"]);
    let request = asked_about(&mut turn, 0);
    let input = Map::from_iter([("command".to_owned(), "ls".into())]);
    let rewritten = UserResponse::Rewritten { input };
    assert_eq!(step(&mut turn, |turn, out| turn.respond(&request, rewritten, out)), ["judge 0"]);
    // it may be refused, or need permission once more
    let request = asked_about(&mut turn, 0);
    let allow = UserResponse::Decision(Choice::ProceedOnce.into());
    let mut out = Vec::new();
    turn.respond(&request, allow, &mut out);
    let ran = out.iter().find_map(|effect| match effect {
        Effect::Run { call, .. } => Some(call.input.clone()),
        _ => None,
    });
    assert_eq!(ran.unwrap()["command"], "ls");
    let mut out = Vec::new();
    turn.done(0, ToolOutput::text("ok"), &mut out);
    assert!(results(&out)[0].contains("The user changed the input of this call"), "{out:?}");
}
