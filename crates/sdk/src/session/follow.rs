//! Follows a turn that another client began, or that ran before the session was resumed.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Command, NewTurn, Session, TurnLimits};
use crate::turn::queue;
use crate::{Error, Result, Turn};

impl Session {
    /// Follows the turn that runs although no turn of this side does: another client began it, or it ran before the session was
    /// resumed. Awaits to `None` if the session is idle.
    ///
    /// Dropping the [`Turn`] leaves it running; cancelling it interrupts it. Prompts of this side wait until it has ended or is dropped.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// if let Some(turn) = session.follow().await? {
    ///     println!("{}", turn.finish().await?.text);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn follow(&self) -> Follow {
        Follow { session: self.clone(), wants_partial: false, asks_on_stream: false }
    }
}

/// A turn to follow, once this is awaited. See [`Session::follow`].
#[derive(Debug, Clone)]
#[must_use = "the turn is followed when this is awaited"]
pub struct Follow {
    session: Session,
    wants_partial: bool,
    asks_on_stream: bool,
}

impl Follow {
    /// Adds the partial events to the stream, as [`Prompt::partial`](crate::Prompt::partial) does.
    pub fn partial(mut self) -> Self {
        self.wants_partial = true;
        self
    }

    /// Emits the agent's requests on the stream, as [`Prompt::ask_on_stream`](crate::Prompt::ask_on_stream) does. A request that
    /// is dropped stays open, for another client.
    pub fn ask_on_stream(mut self) -> Self {
        self.asks_on_stream = true;
        self
    }
}

impl IntoFuture for Follow {
    type Output = Result<Option<Turn>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let handle = Arc::clone(&self.session.handle);
            let gone = || Error::session("it is closed");
            let permit = tokio::select! {
                permit = Arc::clone(&handle.turns).acquire_owned() => permit.map_err(|_closed| gone())?,
                () = handle.commands.closed() => return Err(gone()),
            };
            let (sender, events) = queue();
            let (follows, is_running) = oneshot::channel();
            let cancel = CancellationToken::new();
            let new = NewTurn {
                turn_id: String::new(),
                wants_output: false,
                wants_partial: self.wants_partial,
                asks_on_stream: self.asks_on_stream,
                limits: TurnLimits::default(),
                events: sender,
                cancel: cancel.clone(),
                follows: Some(follows),
                permit,
                over: CancellationToken::new().drop_guard(),
            };
            handle.commands.send(Command::Begin(Box::new(new))).await.map_err(|_closed| gone())?;
            if !is_running.await.map_err(|_closed| gone())? {
                return Ok(None);
            }
            Ok(Some(Turn {
                id: String::new(),
                events,
                cancel,
                result: None,
                is_over: false,
                _session: handle,
            }))
        })
    }
}
