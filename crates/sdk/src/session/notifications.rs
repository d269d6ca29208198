//! Raw notifications, for who wants more than a turn's events.

use std::sync::Arc;

use musher_wire::{Notification, SessionNotificationParams};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// A subscription to the notifications of a session. Ends with the session.
///
/// ```no_run
/// # async fn example(session: musher::Session) -> musher::Result<()> {
/// let mut errors = session.notifications().only("error");
/// tokio::spawn(async move {
///     while let Some(notification) = errors.next().await {
///         eprintln!("{:?}", notification.params);
///     }
/// });
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Notifications {
    receiver: broadcast::Receiver<Arc<Notification>>,
    wanted: Option<String>,
    missed: u64,
}

impl Notifications {
    pub(super) fn new(sender: &broadcast::WeakSender<Arc<Notification>>) -> Self {
        // of a session that is over, nothing more comes
        let receiver = sender.upgrade().map_or_else(|| broadcast::channel(1).1, |sender| sender.subscribe());
        Self::of(receiver)
    }

    pub(super) fn of(receiver: broadcast::Receiver<Arc<Notification>>) -> Self {
        Self { receiver, wanted: None, missed: 0 }
    }

    /// Only those of this type.
    #[must_use]
    pub fn only(mut self, kind: impl Into<String>) -> Self {
        self.wanted = Some(kind.into());
        self
    }

    /// The next one, or nothing when the session is over.
    pub async fn next(&mut self) -> Option<Arc<Notification>> {
        loop {
            match self.receiver.recv().await {
                Ok(notification) if self.wants(&notification) => return Some(notification),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// How many were missed so far, because we were too slow.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    fn wants(&self, notification: &Notification) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let params: Result<SessionNotificationParams, _> = notification.session();
        params.is_ok_and(|params| params.notification.tag() == wanted)
    }
}
