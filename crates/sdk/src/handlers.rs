//! Handlers: functions of the program that answer the agent's requests.
//!
//! Handlers run in tasks of their own and never hold up the session. One that fails, panics or takes too long counts as a denial.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use musher_wire::{AskUserResult, RequestPermissionResult};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::requests::{Waiting, declined};
use crate::{Answers, Decision, PermissionRequest, QuestionRequest};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Decides on permission requests, for policies with state of their own. For closures, see
/// [`on_permission`](crate::SessionBuilder::on_permission).
///
/// ```
/// use std::pin::Pin;
/// use musher::{Decision, PermissionHandler, PermissionRequest, Session};
///
/// struct OnlyThese(Vec<String>);
///
/// impl PermissionHandler for OnlyThese {
///     fn decide(&self, request: PermissionRequest) -> Pin<Box<dyn Future<Output = Decision> + Send>> {
///         let commands = request.commands().unwrap_or_default();
///         let is_known = |program| self.0.iter().any(|known| known == program);
///         let is_fine = !commands.is_empty() && commands.iter().all(|it| is_known(it.program()));
///         Box::pin(async move { if is_fine { Decision::allow_once() } else { Decision::deny() } })
///     }
/// }
///
/// let builder = Session::builder().permission_handler(OnlyThese(vec!["date".to_owned()]));
/// ```
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides on one request.
    fn decide(&self, request: PermissionRequest) -> Pin<Box<dyn Future<Output = Decision> + Send>>;
}

/// Answers questions, for sources of answers with state of their own. For closures, see
/// [`on_question`](crate::SessionBuilder::on_question).
pub trait QuestionHandler: Send + Sync + 'static {
    /// Answers one set of questions.
    fn answer(&self, request: QuestionRequest) -> Pin<Box<dyn Future<Output = Answers> + Send>>;
}

/// A closure as a handler. A trait on the closure itself would not let the type of its argument be inferred.
pub(crate) struct FromFn<F>(pub(crate) F);

impl<F, Fut> PermissionHandler for FromFn<F>
where
    F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn decide(&self, request: PermissionRequest) -> Boxed<Decision> {
        Box::pin(self.0(request))
    }
}

impl<F, Fut> QuestionHandler for FromFn<F>
where
    F: Fn(QuestionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answers> + Send + 'static,
{
    fn answer(&self, request: QuestionRequest) -> Boxed<Answers> {
        Box::pin(self.0(request))
    }
}

/// The handlers of a session.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) permission: Option<Arc<dyn PermissionHandler>>,
    pub(crate) questions: Option<Arc<dyn QuestionHandler>>,
    pub(crate) editor: crate::editor::Editor,
    /// The time limit for an answer. There is no limit by default, because users may take long.
    pub(crate) deadline: Option<Duration>,
    /// Other clients may answer, too: a request that neither a turn of this side nor a handler takes stays open.
    pub(crate) is_shared: bool,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("permission", &self.permission.is_some())
            .field("questions", &self.questions.is_some())
            .field("editor", &self.editor)
            .field("deadline", &self.deadline)
            .field("is_shared", &self.is_shared)
            .finish()
    }
}

/// An answer for the wire, and the reason if a handler failed to give one.
pub(crate) struct Answered<T> {
    pub(crate) result: T,
    /// Whether the handler or the user denied the request, which ends the turn.
    pub(crate) is_denial: bool,
    pub(crate) failure: Option<String>,
    /// The request stays open, for another client to answer.
    pub(crate) is_left_open: bool,
}

impl<T> Answered<T> {
    /// Returns the answer to a request that is void: it is not the user's denial.
    fn void(result: T) -> Self {
        Self { result, is_denial: false, failure: None, is_left_open: false }
    }

    /// No answer.
    fn left_open(result: T) -> Self {
        Self { is_left_open: true, ..Self::void(result) }
    }
}

impl Handlers {
    /// Asks the permission handler. Without one the request is denied.
    pub(crate) async fn decide(&self, request: PermissionRequest) -> Answered<RequestPermissionResult> {
        let decided = match &self.permission {
            None => {
                tracing::warn!("permission request without a handler: denied");
                Ok(Decision::deny())
            }
            Some(handler) => {
                // the handler itself may panic, before there is a future
                let decision = async { handler.decide(request.clone()).await };
                self.guarded(decision).await
            }
        };
        permission_result("permission handler", decided, &request)
    }

    /// Asks the question handler. Without one the questions are declined.
    pub(crate) async fn answer(&self, request: QuestionRequest) -> Answered<AskUserResult> {
        let answered = match &self.questions {
            None => Ok(Answers::Declined),
            Some(handler) => {
                let answers = async { handler.answer(request.clone()).await };
                self.guarded(answers).await
            }
        };
        question_result("question handler", answered, &request)
    }

    /// Waits for the decision about a pending request. It is denied if there is no decision, and void when `over` is cancelled.
    /// If it `may_stay_open`, it is left to others in both cases.
    pub(crate) async fn pending_permission(
        &self,
        request: &PermissionRequest,
        waiting: Waiting<Decision>,
        over: &CancellationToken,
        may_stay_open: bool,
    ) -> Answered<RequestPermissionResult> {
        match self.pending(waiting, over).await {
            Some(Ok(None)) | None if may_stay_open => Answered::left_open(Decision::deny().into_wire()),
            Some(decided) => {
                let decided = decided.map(|decision| decision.unwrap_or_else(Decision::deny));
                permission_result("permission decision", decided, request)
            }
            None => Answered::void(Decision::deny().into_wire()),
        }
    }

    /// Waits for the answers to pending questions. They are declined if there is no answer, and void when `over` is cancelled.
    /// If they `may_stay_open`, they are left to others in both cases.
    pub(crate) async fn pending_question(
        &self,
        request: &QuestionRequest,
        waiting: Waiting<Answers>,
        over: &CancellationToken,
        may_stay_open: bool,
    ) -> Answered<AskUserResult> {
        match self.pending(waiting, over).await {
            Some(Ok(None)) | None if may_stay_open => Answered::left_open(declined()),
            Some(answered) => {
                let answered = answered.map(|answers| answers.unwrap_or(Answers::Declined));
                question_result("question answer", answered, request)
            }
            None => Answered::void(declined()),
        }
    }

    /// Waits for an answer: `None` if the request is void, no answer if it was dropped.
    async fn pending<A>(
        &self,
        waiting: Waiting<A>,
        over: &CancellationToken,
    ) -> Option<Result<Option<A>, String>> {
        tokio::select! {
            biased;
            () = over.cancelled() => None,
            answered = self.guarded(waiting.answer()) => Some(answered),
        }
    }

    async fn guarded<T>(&self, handler: impl Future<Output = T>) -> Result<T, String> {
        let caught = AssertUnwindSafe(handler).catch_unwind();
        let finished = match self.deadline {
            Some(deadline) => match timeout(deadline, caught).await {
                Ok(finished) => finished,
                Err(_elapsed) => return Err(format!("no answer within {deadline:?}")),
            },
            None => caught.await,
        };
        finished.map_err(|panic| format!("it panicked: {}", panic_text(panic.as_ref())))
    }
}

fn permission_result(
    by: &str,
    decided: Result<Decision, String>,
    request: &PermissionRequest,
) -> Answered<RequestPermissionResult> {
    let checked = decided.and_then(|decision| decision.check(request).map(|()| decision));
    let (decision, failure) = match checked {
        Ok(decision) => (decision, None),
        Err(failure) => (Decision::deny(), Some(format!("{by}: {failure}"))),
    };
    let is_denial = decision.is_denial();
    Answered { is_denial, failure, ..Answered::void(decision.into_wire()) }
}

fn question_result(
    by: &str,
    answered: Result<Answers, String>,
    request: &QuestionRequest,
) -> Answered<AskUserResult> {
    let (result, failure) = match answered.and_then(|answers| answers.into_wire(request)) {
        Ok(result) => (result, None),
        Err(failure) => (declined(), Some(format!("{by}: {failure}"))),
    };
    Answered { is_denial: result.cancelled == Some(true), failure, ..Answered::void(result) }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
