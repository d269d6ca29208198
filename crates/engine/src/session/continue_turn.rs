//! Continues a turn that ended with its process: calls that have not started are checked and asked about as before, then the model is
//! called. Calls that had started have a result that says so (the store writes it), and are not repeated.

use std::sync::Arc;
use std::time::Instant;

use musher_message::{Content, Message, Role, ToolUse, Visibility};
use musher_store::Purpose;

use super::actor::Actor;
use super::turn::Turn;
use crate::Event;
use crate::command::ContinueTurn;

/// Where an interrupted turn continues.
#[derive(Debug, PartialEq)]
struct Point {
    /// The id of the turn: that of its prompt.
    turn_id: String,
    /// The calls that have not started.
    calls: Vec<ToolUse>,
    /// The message with the results of the other calls of the same answer, if there are any.
    results_id: Option<String>,
}

/// Returns the prompt of the last turn.
fn prompt<'a>(mut messages: impl DoubleEndedIterator<Item = &'a Message>) -> Option<&'a Message> {
    messages.rfind(|message| message.role == Role::User && message.visibility != Visibility::LlmOnly)
}

/// Returns whether the last turn of these messages is one that is to continue.
pub(super) fn is_for(which: &ContinueTurn, messages: &[Message]) -> bool {
    match which {
        ContinueTurn::No => false,
        ContinueTurn::Last => true,
        ContinueTurn::Of(ids) => prompt(messages.iter()).is_some_and(|prompt| ids.contains(&prompt.id)),
    }
}

/// Finds where the last turn continues; `None` if it was complete.
fn point(messages: &[Arc<Message>], open_calls: &[String]) -> Option<Point> {
    let turn_id = prompt(messages.iter().map(|message| &**message))?.id.clone();
    let after = &messages[messages.iter().rposition(|message| message.id == turn_id)?..];
    let Some(answer) = after.iter().rposition(|message| message.role == Role::Assistant) else {
        // the model had not answered yet
        return Some(Point { turn_id, calls: Vec::new(), results_id: None });
    };
    let calls: Vec<&ToolUse> = after[answer].content.iter().filter_map(call).collect();
    let results_id =
        after[answer..].iter().find(|message| message.role == Role::Tool).map(|it| it.id.clone());
    let is_over = calls.is_empty() && after[answer + 1..].iter().all(|message| message.role != Role::User);
    let calls = calls.into_iter().filter(|call| open_calls.contains(&call.id)).cloned().collect();
    (!is_over).then_some(Point { turn_id, calls, results_id })
}

fn call(content: &Content) -> Option<&ToolUse> {
    match content {
        Content::ToolUse(call) => Some(call),
        _ => None,
    }
}

impl Actor {
    /// Continues the turn that was interrupted, if the session was loaded for that.
    pub(super) fn continue_interrupted(&mut self) {
        let Some(session) = &mut self.session else { return };
        let Some(open_calls) = session.take_interrupted() else { return };
        let Some(point) = point(session.conversation().messages(), &open_calls) else { return };
        if let Err(error) = session.acquire(Purpose::Turn) {
            return self.emit(Event::problem(error.with_causes().to_string(), "PersistenceError"));
        }
        self.emit_unsent();
        tracing::info!(turn = point.turn_id, calls = point.calls.len(), "continues an interrupted turn");
        let (limits, tools) = (self.environment.limits, self.environment.tools.clone());
        self.turns.begin(Turn::new(point.turn_id, Instant::now(), limits, tools));
        if let Some(mut active) = self.active() {
            active.session.begin_turn_cost();
            active.step(|turn, effects| turn.continue_from(point.calls, point.results_id, effects));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::session::turn::message;

    fn text(id: &str, role: Role) -> Arc<Message> {
        Arc::new(message(id.to_owned(), role, vec![Content::Text(id.to_owned())], Visibility::Both))
    }

    fn calling(ids: &[&str]) -> Arc<Message> {
        let calls = ids.iter().map(|id| Content::ToolUse(ToolUse::new(*id, "Execute", Map::new())));
        Arc::new(message("calling".to_owned(), Role::Assistant, calls.collect(), Visibility::Both))
    }

    fn open(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn turn_continues_with_its_open_calls_or_with_the_model_and_a_complete_one_does_not() {
        let user = || text("u", Role::User);
        assert_eq!(point(&[], &[]), None);
        assert_eq!(point(&[user(), text("a", Role::Assistant)], &[]), None);
        let unanswered = point(&[user(), text("a", Role::Assistant), text("v", Role::User)], &[]).unwrap();
        assert_eq!(unanswered, Point { turn_id: "v".to_owned(), calls: Vec::new(), results_id: None });
        let waiting = point(&[user(), calling(&["1", "2"])], &open(&["2"])).unwrap();
        assert_eq!((waiting.calls[0].id.as_str(), waiting.calls.len(), waiting.results_id), ("2", 1, None));
        let partial = point(&[user(), calling(&["1", "2"]), text("r", Role::Tool)], &open(&["2"])).unwrap();
        assert_eq!((partial.calls.len(), partial.results_id.as_deref()), (1, Some("r")));
        let answered = point(&[user(), calling(&["1"]), text("r", Role::Tool)], &[]).unwrap();
        assert_eq!(answered.calls, []);
    }
}
