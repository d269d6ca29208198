//! Titles made by a small call of the model, which replace the title made from the first message.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use musher_model::{Effort, Message as ModelMessage, Request, RetryPolicy, Usage};
use tokio::sync::oneshot;

use super::outbox::Outbox;
use super::session_end_hooks::SessionEndHooks;
use super::side_call;
use super::state::{Session, title_event};
use super::tasks::{SessionInput, SessionSender};
use crate::event::TitleCause;
use crate::models::Model;
use crate::{Environment, Event};

/// The maximum length of a title, in tokens.
const MAX_TITLE_TOKENS: u64 = 32;
/// The maximum length if the model thinks before, in tokens.
const MAX_THINKING_TOKENS: u64 = 2048;
/// How long a session stays open before a title is asked for: a run of one prompt ends before, and would pay for a title that it
/// cannot store.
const TITLE_DELAY: Duration = Duration::from_secs(1);
/// How long the model may take to make a title.
const TITLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take once the session is closed.
const CLOSING_TITLE_TIMEOUT: Duration = Duration::from_secs(2);
/// How much of the first message the model reads, in characters.
const MAX_MESSAGE_CHARS: usize = 2000;
/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 80;

impl Session {
    /// Emits the title made from the first message, and starts a call of the model for a better one.
    pub(super) fn announce_title(
        &mut self,
        environment: &Environment,
        sender: SessionSender,
        out: &mut Outbox,
    ) {
        let Some(title) = self.take_unannounced_title() else { return };
        out.push(Some(self.id().clone()), title_event(title.clone(), TitleCause::FirstMessage));
        let Some(model) = self.model() else { return };
        if !(environment.makes_titles && model.makes_titles) || self.title().is_manual() {
            return;
        }
        let first = self.conversation().messages().iter().find(|message| is_from_user(message));
        let text = first.map_or(title, |message| message.text());
        let text: String = text.chars().take(MAX_MESSAGE_CHARS).collect();
        let cancel = self.cancelled().clone();
        let (mut made, result) = oneshot::channel();
        let is_settled = Arc::new(AtomicBool::new(false));
        self.set_title_call(TitleCall { is_settled: Arc::clone(&is_settled), result });
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(TITLE_DELAY) => {}
            }
            if is_settled.swap(true, Ordering::AcqRel) {
                return;
            }
            let asked = tokio::time::timeout(TITLE_TIMEOUT, ask(model, &text));
            let asked = tokio::select! {
                // the session does not wait any longer
                () = made.closed() => return,
                asked = asked => asked,
            };
            // a call without a title counts, too
            let (title, usage) = asked.ok().flatten().unzip();
            if made.send(MadeTitle { title: title.flatten(), usage }).is_ok() {
                sender.send(SessionInput::Title).await;
            }
        });
    }

    /// Stores a title that the model has made. Returns the event that announces it.
    pub(super) fn store_made_title(&mut self) -> Option<Event> {
        let MadeTitle { title, usage } = self.take_title_call()?.result.try_recv().ok()?;
        self.title_from_model(title, usage)
    }

    /// Closes the session as [`close`](Self::close) does. A title that the model is making is paid for: it is awaited for a short time
    /// before, and stored.
    pub(super) fn close_after_title(
        mut self,
        end_hooks: Option<SessionEndHooks>,
        limit: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self.take_title_call().filter(TitleCall::has_begun) {
            None => Box::pin(self.close(end_hooks, limit)),
            Some(call) => Box::pin(async move {
                let made = tokio::time::timeout(CLOSING_TITLE_TIMEOUT, call.result).await;
                if let Ok(Ok(MadeTitle { title, usage })) = made {
                    self.title_from_model(title, usage);
                }
                self.close(end_hooks, limit).await;
            }),
        }
    }
}

/// A call of the model for a title, which begins after a delay.
#[derive(Debug)]
pub(crate) struct TitleCall {
    /// Whether the call has begun, or will never begin: the first to set it decides.
    is_settled: Arc<AtomicBool>,
    result: oneshot::Receiver<MadeTitle>,
}

/// What a call for a title has made, and what it has used.
#[derive(Debug)]
struct MadeTitle {
    title: Option<String>,
    usage: Option<Usage>,
}

impl TitleCall {
    /// Returns whether the model is asked. If not, it will not be.
    fn has_begun(&self) -> bool {
        self.is_settled.swap(true, Ordering::AcqRel)
    }
}

/// Returns whether the user wrote the message.
pub(super) fn is_from_user(message: &crate::Message) -> bool {
    message.role == crate::Role::User && message.visibility == crate::Visibility::Both
}

/// Returns the request for a title, with as little thinking as the model can do.
fn request(model: &str, efforts: &[Effort], text: &str) -> Request {
    let prompt = format!(
        "Title the task below in three to seven words, in its language. Reply with the title only.\n\n{text}"
    );
    let mut request = Request::new(model, vec![ModelMessage::user(prompt)]);
    request.effort = Effort::Off.closest(efforts);
    let is_thinking = request.effort.is_some_and(|effort| effort != Effort::Off);
    request.max_output_tokens = Some(if is_thinking { MAX_THINKING_TOKENS } else { MAX_TITLE_TOKENS });
    request
}

/// Returns the title, if the model has made one, and what the call has used. `None` if the call has failed.
async fn ask(model: Model, text: &str) -> Option<(Option<String>, Usage)> {
    let request = request(&model.name, &model.efforts, text);
    let (text, used) = side_call::ask(model.provider, request, RetryPolicy::never()).await.ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let title: String =
        line.trim().trim_matches(['"', '*', '#', '.', ' ']).chars().take(MAX_TITLE_CHARS).collect();
    Some(((!title.is_empty()).then_some(title), used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_thinks_as_little_as_it_can_about_a_title() {
        use Effort::{High, Low, Off};
        for (efforts, effort, limit) in [
            (&[Off, Low, High][..], Some(Off), MAX_TITLE_TOKENS),
            (&[Low, High], Some(Low), MAX_THINKING_TOKENS),
            (&[], None, MAX_TITLE_TOKENS),
        ] {
            let request = request("m", efforts, "Fix the test");
            assert_eq!((request.effort, request.max_output_tokens), (effort, Some(limit)));
        }
    }
}
