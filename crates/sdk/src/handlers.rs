//! What the agent asks of the client: permission to use tools, and answers of the person.
//!
//! Handlers run in tasks of their own and never hold up the session. One that fails, panics or takes too long counts as a no.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use musher_wire::{
    Answer, AskUserParams, AskUserResult, Count, PermissionDetails, PermissionOption, PermissionToolUse,
    Question, RequestPermissionParams, RequestPermissionResult, ToolConfirmationOutcome as Outcome,
};
use tokio::time::timeout;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request of the agent to use tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Permission {
    /// What should run.
    pub tool_uses: Vec<PermissionToolUse>,
    /// The answers that the agent offers.
    pub options: Vec<PermissionOption>,
}

impl Permission {
    /// A request as an agent would make it, for tests of handlers.
    pub fn new(tool_uses: Vec<PermissionToolUse>, options: Vec<PermissionOption>) -> Self {
        Self { tool_uses, options }
    }

    /// The whole command, if this is about one command and nothing else.
    pub fn sole_command(&self) -> Option<&str> {
        match self.tool_uses.as_slice() {
            [PermissionToolUse { details: PermissionDetails::Exec(exec), .. }] => Some(&exec.full_command),
            _ => None,
        }
    }

    /// The plan, if the agent wants to leave spec mode.
    pub fn plan(&self) -> Option<&str> {
        self.tool_uses.iter().find_map(|tool_use| match &tool_use.details {
            PermissionDetails::ExitSpecMode(details) => Some(details.plan.as_str()),
            _ => None,
        })
    }

    /// Whether the agent offers this answer.
    pub fn offers(&self, outcome: &Outcome) -> bool {
        self.options.iter().any(|option| option.value == *outcome)
    }
}

/// The answer to a [`Permission`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    outcome: Outcome,
    comment: Option<String>,
    edited_plan: Option<String>,
}

impl Decision {
    /// Yes, this time.
    pub fn allow_once() -> Self {
        Outcome::ProceedOnce.into()
    }

    /// Yes, and do not ask again for the like.
    pub fn allow_always() -> Self {
        Outcome::ProceedAlways.into()
    }

    /// No. The turn ends.
    pub fn deny() -> Self {
        Outcome::Cancel.into()
    }

    /// Yes to a plan, as the person has changed it.
    pub fn edit_plan(plan: impl Into<String>) -> Self {
        Self { edited_plan: Some(plan.into()), ..Outcome::ProceedEdit.into() }
    }

    /// Adds a word to the answer.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// What is answered.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Why this may not be said: a plain yes or no always can, anything else only if it is offered.
    fn check(&self, asked: &Permission) -> Result<(), String> {
        let is_plan_edit = self.outcome == Outcome::ProceedEdit && asked.plan().is_some();
        if self.outcome == Outcome::ProceedEdit && self.edited_plan.is_none() {
            return Err("`proceed_edit` needs the edited plan".to_owned());
        }
        if self.outcome == Outcome::Cancel || is_plan_edit || asked.offers(&self.outcome) {
            return Ok(());
        }
        let offered: Vec<_> = asked.options.iter().map(|option| option.value.as_str()).collect();
        Err(format!("`{}` was not offered (offered: {})", self.outcome, offered.join(", ")))
    }

    fn into_wire(self) -> RequestPermissionResult {
        RequestPermissionResult {
            comment: self.comment,
            edited_spec_content: self.edited_plan,
            ..RequestPermissionResult::new(self.outcome)
        }
    }
}

impl From<Outcome> for Decision {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, comment: None, edited_plan: None }
    }
}

/// Questions of the agent to the person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Questions {
    /// The questions, in order.
    pub questions: Vec<Question>,
}

impl Questions {
    /// Answers each question by `answer`; if that gives nothing for one of them, all are declined.
    ///
    /// ```
    /// use musher::{Questions, Reply};
    ///
    /// fn first_option(asked: Questions) -> Reply {
    ///     asked.answer_all(|question| question.options.as_ref()?.first().cloned())
    /// }
    /// ```
    pub fn answer_all(&self, mut answer: impl FnMut(&Question) -> Option<String>) -> Reply {
        let answers: Option<Vec<_>> = self.questions.iter().map(&mut answer).collect();
        answers.map_or(Reply::Declined, Reply::Answers)
    }
}

/// The answer to [`Questions`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// One answer for each question, in order. Several choices are joined by `, `.
    Answers(Vec<String>),
    /// No answer. The turn ends.
    Declined,
}

impl Reply {
    fn into_wire(self, asked: &Questions) -> Result<AskUserResult, String> {
        let answers = match self {
            Self::Declined => return Ok(declined()),
            Self::Answers(answers) => answers,
        };
        if answers.len() != asked.questions.len() {
            let (given, wanted) = (answers.len(), asked.questions.len());
            return Err(format!("{given} answers were given to {wanted} questions"));
        }
        // objects, never plain strings: 0.57 waits for ever after those
        let answers = asked.questions.iter().zip(answers).map(|(question, answer)| {
            Answer::new(Count::from(question.index.get()), question.question.clone(), answer)
        });
        Ok(AskUserResult { cancelled: Some(false), ..AskUserResult::new(answers.collect::<Vec<_>>()) })
    }
}

fn declined() -> AskUserResult {
    AskUserResult { cancelled: Some(true), ..AskUserResult::new(Vec::new()) }
}

/// Decides about tools. Any `Fn(Permission) -> impl Future<Output = Decision>` is one; [`sync`](crate::sync) makes one of
/// a plain function.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides about one request.
    fn decide(&self, asked: Permission) -> Pin<Box<dyn Future<Output = Decision> + Send>>;
}

impl<F, Fut> PermissionHandler for F
where
    F: Fn(Permission) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn decide(&self, asked: Permission) -> Boxed<Decision> {
        Box::pin(self(asked))
    }
}

/// Answers questions. Any `Fn(Questions) -> impl Future<Output = Reply>` is one; [`sync`](crate::sync) makes one of a
/// plain function.
pub trait QuestionHandler: Send + Sync + 'static {
    /// Answers one set of questions.
    fn answer(&self, asked: Questions) -> Pin<Box<dyn Future<Output = Reply> + Send>>;
}

impl<F, Fut> QuestionHandler for F
where
    F: Fn(Questions) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    fn answer(&self, asked: Questions) -> Boxed<Reply> {
        Box::pin(self(asked))
    }
}

/// Makes a handler of a plain function.
///
/// ```
/// use musher::{Decision, Permission, Session, sync};
///
/// let builder = Session::builder().on_permission(sync(|asked: Permission| match asked.sole_command() {
///     Some(command) if command.starts_with("cargo ") => Decision::allow_once(),
///     _ => Decision::deny(),
/// }));
/// ```
pub fn sync<A, R>(
    function: impl Fn(A) -> R + Send + Sync + 'static,
) -> impl Fn(A) -> std::future::Ready<R> + Send + Sync + 'static {
    move |asked| std::future::ready(function(asked))
}

/// The handlers of a session.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) permission: Option<Arc<dyn PermissionHandler>>,
    pub(crate) questions: Option<Arc<dyn QuestionHandler>>,
    /// How long a handler may take. People may take their time: there is none by default.
    pub(crate) deadline: Option<Duration>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("permission", &self.permission.is_some())
            .field("questions", &self.questions.is_some())
            .field("deadline", &self.deadline)
            .finish()
    }
}

/// An answer for the wire, and why it is a no if a handler failed.
pub(crate) struct Answered<T> {
    pub(crate) result: T,
    pub(crate) is_no: bool,
    pub(crate) failure: Option<String>,
}

impl Handlers {
    /// Asks the permission handler. Without one the answer is no.
    pub(crate) async fn decide(&self, params: RequestPermissionParams) -> Answered<RequestPermissionResult> {
        let asked = Permission { tool_uses: params.tool_uses, options: params.options };
        let decided = match &self.permission {
            None => {
                tracing::warn!("the agent asks for permission and there is no handler: refused");
                Ok(Decision::deny())
            }
            Some(handler) => {
                // the handler itself may panic, before there is a future
                let decision = async { handler.decide(asked.clone()).await };
                self.guarded(decision).await.and_then(|decision| decision.check(&asked).map(|()| decision))
            }
        };
        let (decision, failure) = match decided {
            Ok(decision) => (decision, None),
            Err(failure) => (Decision::deny(), Some(format!("permission handler: {failure}"))),
        };
        let is_no = decision.outcome == Outcome::Cancel;
        Answered { result: decision.into_wire(), is_no, failure }
    }

    /// Asks the question handler. Without one the questions are declined.
    pub(crate) async fn answer(&self, params: AskUserParams) -> Answered<AskUserResult> {
        let asked = Questions { questions: params.questions };
        let answered = match &self.questions {
            None => Ok(declined()),
            Some(handler) => {
                let reply = async { handler.answer(asked.clone()).await };
                self.guarded(reply).await.and_then(|reply| reply.into_wire(&asked))
            }
        };
        let (result, failure) = match answered {
            Ok(result) => (result, None),
            Err(failure) => (declined(), Some(format!("question handler: {failure}"))),
        };
        Answered { is_no: result.cancelled == Some(true), result, failure }
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

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
