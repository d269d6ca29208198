//! The course of turns, without an agent around them.

use musher_model::{Arguments, ToolCall};
use serde_json::Map;

use super::*;

/// A turn whose model makes so many calls of a tool.
fn turn(tools: &[&str]) -> (Turn, Vec<Effect>) {
    let mut turn =
        Turn::new("t".to_owned(), Instant::now(), Limits { parallel_calls: 3, ..Limits::default() });
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

/// What is to be done with calls.
fn of_calls(out: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::Prepare { index, .. } => Some(format!("judge {index}")),
        Effect::JudgeAgain { index, .. } => Some(format!("judge {index} again")),
        Effect::Run { index, .. } => Some(format!("run {index}")),
        Effect::Settled(Next::Ask) => Some("ask the model".to_owned()),
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
    step(turn, |turn, out| turn.prepared(index, Verdict::Run(Access::Workspace), out))
}

fn done(turn: &mut Turn, index: usize) -> Vec<String> {
    step(turn, |turn, out| turn.done(index, ToolOutput::text("ok"), out))
}

#[test]
fn only_so_many_calls_are_judged_at_once_and_none_runs_before_all_are() {
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
fn a_call_that_follows_a_change_is_judged_again_and_one_that_follows_a_look_is_not() {
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
fn a_verdict_nobody_asked_for_changes_nothing() {
    let (mut turn, _) = turn(&["Execute", "Execute"]);
    may_run(&mut turn, 0);
    assert_eq!(may_run(&mut turn, 1), ["run 0"]);
    assert!(may_run(&mut turn, 0).is_empty());
    assert!(may_run(&mut turn, 1).is_empty());
    assert!(may_run(&mut turn, 7).is_empty());
}
