//! Turns that this chat has not begun: those of other clients of a daemon, of subagents that ended in the background, and of prompts that
//! were to join a turn and got their own.

use std::time::{Duration, Instant};

use musher::wire::{
    DroidWorkingState, MessageRole, Notification, SessionNotification, SessionNotificationParams,
};
use musher::{Notifications, Session, SessionState, Turn};
use tokio::sync::watch;

use super::{Boxed, Shell};

/// How long the agent may take to become idle after the end of a turn.
const SETTLE: Duration = Duration::from_millis(200);

/// What there is to follow.
pub(super) struct Following {
    states: watch::Receiver<SessionState>,
    has_states: bool,
    /// The messages of the session: the only sign of a prompt whose turn is not followed yet.
    messages: Notifications,
    has_messages: bool,
    /// When to look whether a turn runs.
    at: Option<Instant>,
    starting: Option<Boxed<musher::Result<Option<Turn>>>>,
    /// Whether the turn that runs is not one of this chat.
    pub(super) is_followed: bool,
}

/// What was noticed.
pub(super) enum Noticed {
    Nothing,
    Turn(musher::Result<Option<Turn>>),
    /// A prompt of another client: its id and its text.
    Prompt(String, String),
}

impl Following {
    /// Follows a session, in which a turn may run already.
    pub(super) fn new(session: &Session) -> Self {
        Self {
            states: session.watch_state(),
            has_states: true,
            messages: session.notifications().only("create_message"),
            has_messages: true,
            at: Some(Instant::now()),
            starting: None,
            is_followed: false,
        }
    }

    /// A turn has ended; maybe another one begins.
    pub(super) fn ended(&mut self) {
        self.is_followed = false;
        self.at = Some(Instant::now() + SETTLE);
    }

    /// Returns whether the clock is needed.
    pub(super) fn is_waiting(&self) -> bool {
        self.at.is_some()
    }

    /// Begins to follow a turn, if one runs and it is time. `is_free` is false while a turn of this chat runs or starts.
    pub(super) fn begin(&mut self, session: &Session, is_free: bool) {
        if self.at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.at = None;
        let is_working = !matches!(
            session.state().working,
            DroidWorkingState::Idle | DroidWorkingState::CompactingConversation
        );
        if is_free && is_working && self.starting.is_none() {
            self.starting = Some(Box::pin(session.follow().partial().ask_on_stream().into_future()));
        }
    }

    /// Waits for the next thing to notice. Dropping this future loses nothing.
    pub(super) async fn next(&mut self) -> Noticed {
        let Self { states, has_states, messages, has_messages, at, starting, .. } = self;
        tokio::select! {
            biased;
            turn = started(starting) => {
                *starting = None;
                Noticed::Turn(turn)
            }
            message = messages.next(), if *has_messages => {
                *has_messages = message.is_some();
                let prompt = message.and_then(|message| prompt(&message));
                prompt.map_or(Noticed::Nothing, |(id, text)| Noticed::Prompt(id, text))
            }
            changed = states.changed(), if *has_states => {
                *has_states = changed.is_ok();
                at.get_or_insert_with(Instant::now);
                Noticed::Nothing
            }
            () = std::future::pending() => Noticed::Nothing,
        }
    }
}

async fn started(starting: &mut Option<Boxed<musher::Result<Option<Turn>>>>) -> musher::Result<Option<Turn>> {
    match starting {
        Some(starting) => starting.await,
        None => std::future::pending().await,
    }
}

/// Returns the prompt in a notification, if it is one.
fn prompt(notification: &Notification) -> Option<(String, String)> {
    let params: SessionNotificationParams = notification.params.as_ref()?.to().ok()?;
    let SessionNotification::CreateMessage(created) = params.notification else { return None };
    let message = created.message;
    let is_prompt = message.role == MessageRole::User && message.is_for_people();
    (is_prompt && !message.text().trim().is_empty()).then(|| (message.id.clone(), message.text()))
}

impl Shell {
    pub(super) fn noticed(&mut self, noticed: Noticed) {
        match noticed {
            Noticed::Turn(Ok(Some(turn))) if self.turn.is_none() && self.starting.is_none() => {
                self.is_dirty = true;
                self.following.is_followed = true;
                self.cancel = turn.cancel_token();
                self.turn = Some(turn);
                self.app.followed();
            }
            Noticed::Turn(Err(error)) => tracing::debug!(%error, "no turn to follow"),
            // while a turn runs here, its own events have them in their order
            Noticed::Prompt(id, text) if self.turn.is_none() && self.starting.is_none() => {
                self.is_dirty = true;
                self.app.prompted(&id, &text);
            }
            Noticed::Nothing | Noticed::Turn(Ok(_)) | Noticed::Prompt(..) => {}
        }
    }
}
