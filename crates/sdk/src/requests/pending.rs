//! A pending request in an event: shared by the clones of the event, denied when the last one is dropped.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Answers, Decision, PermissionRequest, QuestionRequest};
use crate::Event;

/// A pending permission request.
///
/// ```no_run
/// # async fn example(session: musher::Session) -> musher::Result<()> {
/// use musher::Event;
///
/// let mut turn = session.send("Tidy up.").ask_on_stream().start().await?;
/// while let Some(event) = turn.next().await {
///     if let Event::Permission(pending) = event? {
///         let is_plan = pending.request().plan().is_some();
///         if is_plan { pending.allow_once() } else { pending.deny() }
///     }
/// }
/// # Ok(()) }
/// ```
pub type PendingPermission = Pending<PermissionRequest, Decision>;

/// Pending questions of the agent.
pub type PendingQuestion = Pending<QuestionRequest, Answers>;

/// A pending request of the agent.
///
/// Clones are the same request. The first answer counts. The request is denied when the last clone is dropped, when its turn is interrupted
/// or dropped, and when [`handler_timeout`](crate::SessionBuilder::handler_timeout) has passed; a later answer has no effect.
pub struct Pending<Q, A> {
    shared: Arc<Shared<Q, A>>,
}

struct Shared<Q, A> {
    request: Arc<Q>,
    /// Dropped with the last clone, which the waiting side takes as a denial.
    answer: Mutex<Option<oneshot::Sender<A>>>,
    settled: CancellationToken,
}

/// The side that waits for the answer. Dropping it settles the request.
#[derive(Debug)]
pub(crate) struct Waiting<A> {
    answer: oneshot::Receiver<A>,
    _settled: DropGuard,
}

impl<A> Waiting<A> {
    /// Waits for the answer; `None` if the request was dropped without one.
    pub(crate) async fn answer(self) -> Option<A> {
        self.answer.await.ok()
    }
}

impl<Q, A> Pending<Q, A> {
    pub(crate) fn new(request: Q) -> (Self, Waiting<A>) {
        let (sender, answer) = oneshot::channel();
        let settled = CancellationToken::new();
        let waiting = Waiting { answer, _settled: settled.clone().drop_guard() };
        let shared = Shared { request: Arc::new(request), answer: Mutex::new(Some(sender)), settled };
        (Self { shared: Arc::new(shared) }, waiting)
    }

    /// Returns the request.
    pub fn request(&self) -> &Q {
        &self.shared.request
    }

    /// Returns the request for the side that waits, which must not keep the answer's sender alive.
    pub(crate) fn shared_request(&self) -> Arc<Q> {
        Arc::clone(&self.shared.request)
    }

    /// Returns whether an answer no longer has an effect: the request was answered, or its turn has ended.
    pub fn is_settled(&self) -> bool {
        self.shared.settled.is_cancelled()
    }

    /// Waits until the request is settled. The future does not keep the request alive.
    pub fn settled(&self) -> impl Future<Output = ()> + Send + use<Q, A> {
        self.shared.settled.clone().cancelled_owned()
    }

    fn give(&self, answer: A) {
        let sender = self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // a request that was settled meanwhile needs no answer
            sender.send(answer).ok();
        }
    }
}

impl PendingPermission {
    /// Allows the tool calls once.
    pub fn allow_once(self) {
        self.decide(Decision::allow_once());
    }

    /// Allows the tool calls, and similar later ones.
    pub fn allow_always(self) {
        self.decide(Decision::allow_always());
    }

    /// Denies the tool calls, which ends the turn.
    pub fn deny(self) {
        self.decide(Decision::deny());
    }

    /// Answers with any decision.
    ///
    /// A decision that the agent did not offer counts as a denial; [`Event::HandlerFailed`] then has the reason.
    pub fn decide(self, decision: Decision) {
        self.give(decision);
    }
}

impl PendingQuestion {
    /// Answers the questions.
    ///
    /// Answers that do not match the number of questions decline them; [`Event::HandlerFailed`] then has the reason.
    pub fn answer(self, answers: Answers) {
        self.give(answers);
    }

    /// Declines the questions, which ends the turn.
    pub fn decline(self) {
        self.give(Answers::Declined);
    }
}

impl<Q, A> Clone for Pending<Q, A> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// Two values are equal if they are the same request, not if their content is equal.
impl<Q, A> PartialEq for Pending<Q, A> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<Q: fmt::Debug, A> fmt::Debug for Pending<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_settled = self.is_settled();
        f.debug_struct("Pending")
            .field("request", &self.shared.request)
            .field("is_settled", &is_settled)
            .finish()
    }
}

/// A request of either kind. Dropping it denies or declines it.
#[derive(Debug, Clone, PartialEq)]
pub enum PendingRequest {
    /// The agent asks whether tool calls may run.
    Permission(PendingPermission),
    /// The agent asks the user something.
    Question(PendingQuestion),
}

impl From<PendingRequest> for Event {
    fn from(request: PendingRequest) -> Self {
        match request {
            PendingRequest::Permission(pending) => Self::Permission(pending),
            PendingRequest::Question(pending) => Self::Question(pending),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    fn pending() -> (PendingPermission, Waiting<Decision>) {
        Pending::new(PermissionRequest::new(Vec::new(), Vec::new()))
    }

    #[tokio::test]
    async fn first_answer_of_any_clone_counts() {
        let (pending, waiting) = pending();
        let clone = pending.clone();
        assert_eq!(pending, clone);
        clone.allow_once();
        pending.clone().deny();
        assert_eq!(waiting.answer().await, Some(Decision::allow_once()));
        assert!(pending.is_settled());
        pending.allow_always();
    }

    #[tokio::test]
    async fn last_dropped_clone_ends_the_wait() {
        let (pending, waiting) = pending();
        let clone = pending.clone();
        drop(pending);
        let mut answer = pin!(waiting.answer());
        let polled = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        drop(clone);
        assert_eq!(answer.await, None);
    }

    #[tokio::test]
    async fn dropped_waiting_side_settles_the_request() {
        let (pending, waiting) = pending();
        let settled = pending.settled();
        assert!(!pending.is_settled());
        drop(waiting);
        settled.await;
        assert!(pending.is_settled());
        pending.allow_once();
    }

    #[test]
    fn requests_with_the_same_content_are_not_equal() {
        assert_ne!(pending().0, pending().0);
    }
}
