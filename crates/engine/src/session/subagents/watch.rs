//! Turns the events of a subagent into reports for the session that has started it. Pure.

use musher_model::{ToolUse, Usage};

use super::task_result::Outcome;
use crate::cost::Cost;
use crate::event::{SubagentStep, ToolPhase, TurnEnd};
use crate::session::state::difference;
use crate::{Choice, Event, UserRequest};
use musher_message::Role;

/// The maximum length of a shown result, in characters.
const MAX_SNIPPET: usize = 200;

/// A report of a subagent.
#[derive(Debug)]
pub(crate) enum SubagentReport {
    /// The user has to respond.
    Request(UserRequest),
    /// A request is resolved.
    Resolved { request: String, tool_use_ids: Vec<String>, choice: Choice },
    /// Tokens used since the last such report, and their cost.
    Used(Usage, Cost),
    /// A step of its work.
    Step(SubagentStep),
    /// Hooks of its session have started or ended.
    Hook(Box<Event>),
    /// It has ended, and all its tasks.
    Ended,
}

/// What an event leads to.
#[derive(Debug)]
pub(crate) enum Seen {
    Nothing,
    Report(SubagentReport),
    Ended(Outcome),
}

/// The state of a subagent, as far as its events tell.
#[derive(Debug)]
pub(crate) struct Watch {
    /// What its session had used at the last report.
    used: Usage,
    spent: Cost,
    last_message: String,
    last_problem: Option<String>,
    is_denied: bool,
    /// The calls that have no result yet.
    calls: Vec<ToolUse>,
}

impl Watch {
    /// Watches a session that has used this much already.
    pub(crate) fn new(used: Usage, spent: Cost) -> Self {
        let (last_message, calls) = (String::new(), Vec::new());
        Self { used, spent, last_message, last_problem: None, is_denied: false, calls }
    }

    /// Takes in an event.
    pub(crate) fn take(&mut self, event: Event) -> Seen {
        match event {
            Event::Message { message, .. } if message.role == Role::Assistant => {
                self.last_message = message.text();
                if self.last_message.is_empty() {
                    return Seen::Nothing;
                }
                Seen::Report(SubagentReport::Step(SubagentStep::Message(self.last_message.clone())))
            }
            Event::UserRequest(request) => Seen::Report(SubagentReport::Request(request)),
            Event::PermissionResolved { request, tool_use_ids, choice } => {
                self.is_denied |= choice == Choice::Cancel;
                Seen::Report(SubagentReport::Resolved { request, tool_use_ids, choice })
            }
            Event::Usage { total, cost, .. } => {
                let before = std::mem::replace(&mut self.used, total);
                let spent = std::mem::replace(&mut self.spent, cost);
                Seen::Report(SubagentReport::Used(difference(total, before), cost.since(spent)))
            }
            Event::ToolCall { id, name, input } => {
                // emitted twice: first without arguments
                self.calls.retain(|call| call.id != id);
                self.calls.push(ToolUse::new(id, name, input));
                Seen::Nothing
            }
            Event::ToolPhase { id, name, phase: ToolPhase::Executing } => {
                let input = self.calls.iter().find(|call| call.id == id).map(|call| call.input.clone());
                let input = input.unwrap_or_default();
                Seen::Report(SubagentReport::Step(SubagentStep::ToolCall { name, input }))
            }
            Event::ToolResult { id, content, is_error, .. } => {
                let place = self.calls.iter().position(|call| call.id == id);
                let name = place.map(|place| self.calls.remove(place).name).unwrap_or_default();
                Seen::Report(SubagentReport::Step(SubagentStep::ToolResult {
                    name,
                    snippet: snippet(&content),
                    is_error,
                }))
            }
            hook @ (Event::HookStarted(_) | Event::HookCompleted(_)) => {
                Seen::Report(SubagentReport::Hook(Box::new(hook)))
            }
            Event::Problem { message, .. } => {
                self.last_problem = Some(message);
                Seen::Nothing
            }
            Event::TurnCompleted(completed) => Seen::Ended(self.outcome(completed.reason)),
            _ => Seen::Nothing,
        }
    }

    fn outcome(&mut self, reason: TurnEnd) -> Outcome {
        match reason {
            TurnEnd::Completed if self.is_denied => Outcome::Denied,
            TurnEnd::Completed => Outcome::Done(std::mem::take(&mut self.last_message)),
            TurnEnd::Cancelled | TurnEnd::ProcessExit => Outcome::Stopped,
            TurnEnd::PermissionRejected => Outcome::Failed(
                "The subagent was stopped: a call needs permission, and the user cannot be asked.".to_owned(),
            ),
            reason => {
                let problem = self.last_problem.take();
                let problem = problem.unwrap_or_else(|| reason.name().to_owned());
                Outcome::Failed(format!("The subagent failed: {problem}"))
            }
        }
    }
}

fn snippet(content: &[musher_tools::Part]) -> String {
    let text = content.iter().find_map(|part| match part {
        musher_tools::Part::Text(text) => Some(text.as_str()),
        musher_tools::Part::Image { .. } | musher_tools::Part::Document(_) => None,
    });
    text.unwrap_or_default().chars().take(MAX_SNIPPET).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TurnCompleted;
    use std::time::Duration;

    fn completed(reason: TurnEnd) -> Event {
        let none = Usage::default();
        Event::TurnCompleted(Box::new(TurnCompleted {
            turn_id: "t".to_owned(),
            reason,
            usage: none,
            cumulative: none,
            child: none,
            cumulative_child: none,
            cost: Cost::default(),
            took: Duration::ZERO,
        }))
    }

    fn end(before: Vec<Event>, reason: TurnEnd) -> Outcome {
        let mut watch = Watch::new(Usage::default(), Cost::default());
        for event in before {
            watch.take(event);
        }
        match watch.take(completed(reason)) {
            Seen::Ended(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn usage_since_the_last_report_is_reported() {
        let of = |input| Usage { input, ..Usage::default() };
        let mut watch = Watch::new(of(100), Cost::default());
        let mut used = |total| match watch.take(Event::Usage {
            total: of(total),
            inclusive: of(total),
            last_call: None,
            cost: Cost::default(),
        }) {
            Seen::Report(SubagentReport::Used(usage, _)) => usage.input,
            other => panic!("{other:?}"),
        };
        assert_eq!((used(130), used(150), used(150)), (30, 20, 0));
    }

    #[test]
    fn denied_subagent_has_no_message_and_a_failed_one_says_why() {
        let denied = Event::PermissionResolved {
            request: "q".to_owned(),
            tool_use_ids: Vec::new(),
            choice: Choice::Cancel,
        };
        assert_eq!(end(vec![denied], TurnEnd::Completed), Outcome::Denied);
        let problem = Event::Problem { message: "no network".to_owned(), kind: String::new(), name: None };
        let failed = end(vec![problem], TurnEnd::ModelProviderUnreachable);
        assert_eq!(failed, Outcome::Failed("The subagent failed: no network".to_owned()));
        assert_eq!(end(Vec::new(), TurnEnd::ProcessExit), Outcome::Stopped);
    }
}
