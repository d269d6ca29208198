//! What the events of a subagent mean for the agent that started it: what it says last, what it used, what it asks. Pure.

use musher_model::{ToolUse, Usage};

use super::task_result::Outcome;
use crate::event::{ChildStep, ToolPhase, TurnEnd};
use crate::{Choice, Happening, Question};
use musher_message::Role;

/// So much of a result is shown.
const SNIPPET: usize = 200;

/// News of a subagent.
#[derive(Debug)]
pub(crate) enum News {
    /// Somebody has to decide.
    Asks(Question),
    /// That is settled.
    Settled { question: String, tool_use_ids: Vec<String>, choice: Choice },
    /// It has used tokens, since the last such news.
    Used(Usage),
    /// It goes on.
    Step(ChildStep),
    /// Hooks run for it.
    Hook(Box<Happening>),
    /// It has ended; nothing of it runs any more.
    Ended,
}

/// What an event leads to.
#[derive(Debug)]
pub(crate) enum Seen {
    Nothing,
    News(News),
    Over(Outcome),
}

/// What was seen of a subagent.
#[derive(Debug)]
pub(crate) struct Watch {
    /// What its session had used before the last news.
    used: Usage,
    last_message: String,
    last_problem: Option<String>,
    is_refused: bool,
    /// The calls that have no result yet.
    calls: Vec<ToolUse>,
}

impl Watch {
    /// Of a session that has used so much already.
    pub(crate) fn new(used: Usage) -> Self {
        Self { used, last_message: String::new(), last_problem: None, is_refused: false, calls: Vec::new() }
    }

    /// Takes in an event.
    pub(crate) fn take(&mut self, what: Happening) -> Seen {
        match what {
            Happening::Message { message, .. } if message.role == Role::Assistant => {
                self.last_message = message.text();
                if self.last_message.is_empty() {
                    return Seen::Nothing;
                }
                Seen::News(News::Step(ChildStep::Said(self.last_message.clone())))
            }
            Happening::Question(question) => Seen::News(News::Asks(question)),
            Happening::PermissionResolved { question, tool_use_ids, choice } => {
                self.is_refused |= choice == Choice::Cancel;
                Seen::News(News::Settled { question, tool_use_ids, choice })
            }
            Happening::Usage { total, .. } => {
                let before = std::mem::replace(&mut self.used, total);
                Seen::News(News::Used(difference(total, before)))
            }
            Happening::ToolCall { id, name, input } => {
                // announced twice: first without arguments
                self.calls.retain(|call| call.id != id);
                self.calls.push(ToolUse { id, name, input });
                Seen::Nothing
            }
            Happening::ToolPhase { id, name, phase: ToolPhase::Executing } => {
                let input = self.calls.iter().find(|call| call.id == id).map(|call| call.input.clone());
                let input = input.unwrap_or_default();
                Seen::News(News::Step(ChildStep::Called { name, input }))
            }
            Happening::ToolResult { id, content, is_error, .. } => {
                let place = self.calls.iter().position(|call| call.id == id);
                let name = place.map(|place| self.calls.remove(place).name).unwrap_or_default();
                Seen::News(News::Step(ChildStep::Returned { name, snippet: snippet(&content), is_error }))
            }
            hook @ (Happening::HookStarted(_) | Happening::HookCompleted(_)) => {
                Seen::News(News::Hook(Box::new(hook)))
            }
            Happening::Problem { message, .. } => {
                self.last_problem = Some(message);
                Seen::Nothing
            }
            Happening::TurnCompleted(completed) => Seen::Over(self.outcome(completed.reason)),
            _ => Seen::Nothing,
        }
    }

    fn outcome(&mut self, reason: TurnEnd) -> Outcome {
        match reason {
            TurnEnd::Completed if self.is_refused => Outcome::Refused,
            TurnEnd::Completed => Outcome::Done(std::mem::take(&mut self.last_message)),
            TurnEnd::Cancelled | TurnEnd::ProcessExit => Outcome::Stopped,
            TurnEnd::PermissionRejected => Outcome::Failed(
                "The subagent was stopped: a call needs permission, and nobody can be asked.".to_owned(),
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
        musher_tools::Part::Image { .. } => None,
    });
    text.unwrap_or_default().chars().take(SNIPPET).collect()
}

fn difference(now: Usage, before: Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(before.input),
        output: now.output.saturating_sub(before.output),
        cache_read: now.cache_read.saturating_sub(before.cache_read),
        cache_write: now.cache_write.saturating_sub(before.cache_write),
        thinking: now.thinking.saturating_sub(before.thinking),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TurnCompleted;
    use std::time::Duration;

    fn completed(reason: TurnEnd) -> Happening {
        let none = Usage::default();
        Happening::TurnCompleted(Box::new(TurnCompleted {
            turn_id: "t".to_owned(),
            reason,
            usage: none,
            cumulative: none,
            child: none,
            cumulative_child: none,
            took: Duration::ZERO,
        }))
    }

    fn end(before: Vec<Happening>, reason: TurnEnd) -> Outcome {
        let mut watch = Watch::new(Usage::default());
        for what in before {
            watch.take(what);
        }
        match watch.take(completed(reason)) {
            Seen::Over(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_what_was_used_since_the_last_news_counts() {
        let of = |input| Usage { input, ..Usage::default() };
        let mut watch = Watch::new(of(100));
        let mut used = |total| match watch.take(Happening::Usage {
            total: of(total),
            inclusive: of(total),
            last_call: None,
        }) {
            Seen::News(News::Used(usage)) => usage.input,
            other => panic!("{other:?}"),
        };
        assert_eq!((used(130), used(150), used(150)), (30, 20, 0));
    }

    #[test]
    fn a_refusal_is_no_message_and_a_failure_says_why() {
        let refused = Happening::PermissionResolved {
            question: "q".to_owned(),
            tool_use_ids: Vec::new(),
            choice: Choice::Cancel,
        };
        assert_eq!(end(vec![refused], TurnEnd::Completed), Outcome::Refused);
        let problem =
            Happening::Problem { message: "no network".to_owned(), kind: String::new(), name: None };
        let failed = end(vec![problem], TurnEnd::ModelProviderUnreachable);
        assert_eq!(failed, Outcome::Failed("The subagent failed: no network".to_owned()));
        assert_eq!(end(Vec::new(), TurnEnd::ProcessExit), Outcome::Stopped);
    }
}
