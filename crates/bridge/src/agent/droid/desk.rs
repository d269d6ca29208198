//! Where the SDK's handlers bring the agent's questions, to be answered by the task of the session.
//!
//! A handler waits for its answer as long as it takes; when its question is withdrawn, the SDK drops it, and that is seen at the
//! other end of the answer's channel. A desk that is gone is a no.

use musher::{Decision, Permission, PermissionHandler, QuestionHandler, Questions, Reply};
use tokio::sync::{mpsc, oneshot};

/// How many questions may wait to be looked at; an agent has few at a time.
const WAITING: usize = 64;

/// A question of the agent, and the way back.
#[derive(Debug)]
pub(super) enum Asked {
    Permission(Permission, oneshot::Sender<Decision>),
    Questions(Questions, oneshot::Sender<Reply>),
}

/// The handlers' side.
#[derive(Debug, Clone)]
pub(super) struct Desk(mpsc::Sender<Asked>);

pub(super) fn desk() -> (Desk, mpsc::Receiver<Asked>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Desk(sender), receiver)
}

impl Desk {
    pub(super) fn permission_handler(&self) -> impl PermissionHandler {
        let desk = self.0.clone();
        move |asked: Permission| {
            let desk = desk.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                // if nobody takes it, the channel back is gone with it
                desk.send(Asked::Permission(asked, answer)).await.ok();
                answered.await.unwrap_or_else(|_gone| Decision::deny())
            }
        }
    }

    pub(super) fn question_handler(&self) -> impl QuestionHandler {
        let desk = self.0.clone();
        move |asked: Questions| {
            let desk = desk.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                desk.send(Asked::Questions(asked, answer)).await.ok();
                answered.await.unwrap_or(Reply::Declined)
            }
        }
    }
}
