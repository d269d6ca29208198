//! Describes a request of the agent, and approves it for `--yes`.

use musher::PendingRequest;

use crate::sanitize::sanitized;
use crate::view;

/// Maximum length of a question in one line.
const MAX_QUESTION: usize = 200;

/// Returns what the agent asks for, in one line.
pub(super) fn subject(request: &PendingRequest) -> String {
    match request {
        PendingRequest::Permission(pending) => view::reason(pending.request()),
        PendingRequest::Question(pending) => {
            let questions = pending.request().questions.iter();
            questions.map(|it| sanitized(&it.question, MAX_QUESTION)).collect::<Vec<_>>().join("; ")
        }
    }
}

/// Allows the tool calls, or chooses the first answer that is offered.
pub(super) fn agree(request: PendingRequest) {
    match request {
        PendingRequest::Permission(pending) => pending.allow_once(),
        PendingRequest::Question(pending) => {
            let first = pending.request().answer_all(|question| question.options.as_ref()?.first().cloned());
            pending.answer(first);
        }
    }
}
