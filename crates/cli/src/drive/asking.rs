//! What the agent asks, on its way from the handlers of the session to whoever owns the screen.

use musher::{Decision, Permission, PermissionHandler, QuestionHandler, Questions, Reply};
use tokio::sync::{mpsc, oneshot};

use crate::sanitize::sanitized;
use crate::view;

/// So many requests may wait for the person; more make their handlers wait.
const WAITING: usize = 16;

/// A request, and where its answer goes.
#[derive(Debug)]
pub(crate) enum Asked {
    Permission(Permission, oneshot::Sender<Decision>),
    Questions(Questions, oneshot::Sender<Reply>),
}

/// Where requests come out.
#[derive(Debug)]
pub(crate) struct Asks(pub(super) mpsc::Receiver<Asked>);

/// A way for requests.
pub(crate) fn channel() -> (mpsc::Sender<Asked>, Asks) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (sender, Asks(receiver))
}

/// What the session does with what the agent asks. Whoever cannot be reached says no.
pub(crate) fn handlers(
    way: mpsc::Sender<Asked>,
) -> (impl PermissionHandler + use<>, impl QuestionHandler + use<>) {
    let also = way.clone();
    let on_permission = move |asked: Permission| {
        let way = way.clone();
        async move { ask(way, asked, Asked::Permission).await.unwrap_or_else(Decision::deny) }
    };
    let on_question = move |asked: Questions| {
        let way = also.clone();
        async move { ask(way, asked, Asked::Questions).await.unwrap_or(Reply::Declined) }
    };
    (on_permission, on_question)
}

/// Sends a request and waits for its answer; there is none if nobody listens any more.
async fn ask<A, R>(
    way: mpsc::Sender<Asked>,
    asked: A,
    wrap: impl FnOnce(A, oneshot::Sender<R>) -> Asked,
) -> Option<R> {
    let (reply, answer) = oneshot::channel();
    way.send(wrap(asked, reply)).await.ok()?;
    answer.await.ok()
}

impl Asked {
    /// What it is about, in one line.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Permission(asked, _) => view::reason(asked),
            Self::Questions(asked, _) => {
                let questions = asked.questions.iter().map(|it| sanitized(&it.question, 200));
                questions.collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// Says no. Whoever asked may be gone by now.
    pub(super) fn refuse(self) {
        match self {
            Self::Permission(_, reply) => drop(reply.send(Decision::deny())),
            Self::Questions(_, reply) => drop(reply.send(Reply::Declined)),
        }
    }

    /// Says yes, or takes the first answer that is offered.
    pub(super) fn agree(self) {
        match self {
            Self::Permission(_, reply) => drop(reply.send(Decision::allow_once())),
            Self::Questions(asked, reply) => {
                let first = asked.answer_all(|question| question.options.as_ref()?.first().cloned());
                drop(reply.send(first));
            }
        }
    }
}
