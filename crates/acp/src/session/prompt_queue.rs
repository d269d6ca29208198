//! The prompts of a session: one runs, the others wait in the order in which they arrived.

use std::collections::VecDeque;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};
use futures_util::future::select_all;
use musher::CancellationToken;
use tokio::task;

use crate::convert::content::Parts;
use crate::registry::explained;

/// How many prompts may wait behind the running one.
const MAX_WAITING_PROMPTS: usize = 64;

/// A prompt that is not answered yet.
#[derive(Debug)]
pub(super) struct QueuedPrompt {
    pub(super) parts: Parts,
    /// Cancels it; cancelled when it is answered, too.
    pub(super) token: CancellationToken,
    pub(super) responder: Responder<PromptResponse>,
}

/// The prompt whose task runs.
#[derive(Debug)]
pub(super) struct RunningPrompt {
    pub(super) task: task::Id,
    pub(super) token: CancellationToken,
    pub(super) responder: Responder<PromptResponse>,
}

impl QueuedPrompt {
    /// Answers that too many prompts wait.
    pub(super) fn refuse(self) {
        let reason = "too many prompts are waiting in this session";
        self.answer(Err(explained(&Error::internal_error(), reason)));
    }

    pub(super) fn answer(self, answer: Result<PromptResponse, Error>) {
        respond(self.responder, &self.token, answer);
    }
}

impl RunningPrompt {
    /// Answers the prompt. A cancelled prompt always gets the stop reason `cancelled`.
    pub(super) fn answer(self, ended: Result<PromptResponse, Error>) {
        let answer = match ended {
            Ok(ended) if self.token.is_cancelled() => Ok(cancelled().usage(ended.usage)),
            Err(_) if self.token.is_cancelled() => Ok(cancelled()),
            ended => ended,
        };
        respond(self.responder, &self.token, answer);
    }
}

/// The prompts that wait.
#[derive(Debug, Default)]
pub(super) struct PromptQueue(VecDeque<QueuedPrompt>);

impl PromptQueue {
    /// Adds a prompt, unless too many wait already: then it is refused.
    pub(super) fn push(&mut self, prompt: QueuedPrompt) {
        if self.0.len() >= MAX_WAITING_PROMPTS {
            return prompt.refuse();
        }
        self.0.push_back(prompt);
    }

    /// Removes the oldest.
    pub(super) fn pop(&mut self) -> Option<QueuedPrompt> {
        self.0.pop_front()
    }

    /// Waits until one of them is cancelled.
    pub(super) async fn cancelled(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        // the prompts themselves cannot be shared between threads, their tokens can
        let tokens: Vec<_> = self.0.iter().map(|prompt| &prompt.token).collect();
        select_all(tokens.into_iter().map(|token| Box::pin(token.cancelled()))).await;
    }

    /// Answers those that were cancelled.
    pub(super) fn answer_cancelled(&mut self) {
        let (ended, waiting): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|prompt| prompt.token.is_cancelled());
        self.0 = waiting;
        for prompt in ended {
            prompt.answer(Ok(cancelled()));
        }
    }
}

/// Returns the answer to a cancelled prompt.
pub(super) fn cancelled() -> PromptResponse {
    PromptResponse::new(StopReason::Cancelled)
}

fn respond(
    responder: Responder<PromptResponse>,
    token: &CancellationToken,
    answer: Result<PromptResponse, Error>,
) {
    // an editor that is gone needs no answer
    responder.respond_with_result(answer).ok();
    token.cancel();
}
