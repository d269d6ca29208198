//! Raw notifications, for callers that want more than a turn's events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use musher_wire::{Notification, SessionNotificationParams};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::ReusableBoxFuture;

type Receiver = broadcast::Receiver<Arc<Notification>>;
type Received = Result<Arc<Notification>, RecvError>;

/// A subscription to the notifications of a session: a stream that ends with the session.
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
#[must_use = "a subscription that is dropped ends"]
pub struct Notifications {
    /// Waits for the next one, and gives the receiver back.
    receiving: ReusableBoxFuture<'static, (Received, Receiver)>,
    wanted: Option<String>,
    missed: u64,
}

impl Notifications {
    pub(super) fn new(sender: &broadcast::WeakSender<Arc<Notification>>) -> Self {
        // of a session that is over, nothing more comes
        let receiver = sender.upgrade().map_or_else(|| broadcast::channel(1).1, |sender| sender.subscribe());
        Self::of(receiver)
    }

    pub(super) fn of(receiver: Receiver) -> Self {
        Self { receiving: ReusableBoxFuture::new(receive(receiver)), wanted: None, missed: 0 }
    }

    /// Keeps only notifications of this type, such as `error`.
    pub fn only(mut self, kind: impl Into<String>) -> Self {
        self.wanted = Some(kind.into());
        self
    }

    /// Returns the next notification, or `None` when the session has ended.
    ///
    /// Cancel-safe: no notification is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Arc<Notification>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Returns the number of notifications missed so far because this subscription was read too slowly.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    fn wants(&self, notification: &Notification) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let params: Result<SessionNotificationParams, _> = notification.session();
        params.is_ok_and(|params| params.notification.tag() == wanted)
    }
}

async fn receive(mut receiver: Receiver) -> (Received, Receiver) {
    let received = receiver.recv().await;
    (received, receiver)
}

impl Stream for Notifications {
    type Item = Arc<Notification>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let (received, receiver) = ready!(self.receiving.poll(context));
            self.receiving.set(receive(receiver));
            match received {
                Ok(notification) if self.wants(&notification) => return Poll::Ready(Some(notification)),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return Poll::Ready(None),
            }
        }
    }
}
