//! Questions of the model to the person.

use crate::Count;
use crate::object::object;

object! {
    /// Arguments of `ask_user`.
    pub struct AskUserParams {
        tool_call_id: String = "toolCallId",
        questions: Vec<Question> = "questions",
    }
}

object! {
    /// One question.
    pub struct Question {
        /// Counted from 1.
        index: Count = "index",
        question: String = "question",
    } optional {
        topic: String = "topic",
        options: Vec<String> = "options",
        multi_select: bool = "multiSelect",
    }
}

object! {
    /// Answer of `ask_user`. The answers are objects: plain strings make 0.57 hang.
    pub struct AskUserResult {
        answers: Vec<Answer> = "answers",
    } optional {
        cancelled: bool = "cancelled",
    }
}

object! {
    /// One answer. Several choices are joined by `, `.
    pub struct Answer {
        index: Count = "index",
        question: String = "question",
        answer: String = "answer",
    }
}

object! {
    /// A question that waits, in the answer to `load_session`. Answer it under `requestId`.
    pub struct PendingAskUser {
        request_id: String = "requestId",
        tool_call_id: String = "toolCallId",
        questions: Vec<Question> = "questions",
    }
}
