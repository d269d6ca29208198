//! Questions of the agent to the user.

use crate::Count;
use crate::object::object;

object! {
    /// Parameters of `ask_user`.
    pub struct AskUserParams {
        /// Id of the tool call that asks.
        tool_call_id: String = "toolCallId",
        /// The questions, in display order.
        questions: Vec<Question> = "questions",
    }
}

object! {
    /// A question.
    pub struct Question {
        /// Position of the question, counted from 1. Repeated in the answer.
        index: Count = "index",
        /// Text of the question.
        question: String = "question",
    } optional {
        /// Short heading for the question.
        topic: String = "topic",
        /// Suggested answers. Free text is accepted as well.
        options: Vec<String> = "options",
        /// Whether several options may be selected. Default: false.
        multi_select: bool = "multiSelect",
    }
}

object! {
    /// Result of `ask_user`. Answers must be objects: plain strings make 0.57 hang.
    pub struct AskUserResult {
        /// One answer per question; empty if cancelled.
        answers: Vec<Answer> = "answers",
    } optional {
        /// Whether the user declined to answer, which ends the turn. Default: false.
        cancelled: bool = "cancelled",
    }
}

object! {
    /// The answer to one question. Several selected options are joined by `, `.
    pub struct Answer {
        /// Index of the question that is answered.
        index: Count = "index",
        /// Text of the question that is answered.
        question: String = "question",
        /// The user's answer.
        answer: String = "answer",
    }
}

object! {
    /// A pending question, in the result of `load_session`. Respond to it with the JSON-RPC id `requestId`.
    pub struct PendingAskUser {
        /// JSON-RPC id to use in the response.
        request_id: String = "requestId",
        /// Id of the tool call that asks.
        tool_call_id: String = "toolCallId",
        /// The questions, in display order.
        questions: Vec<Question> = "questions",
    }
}
