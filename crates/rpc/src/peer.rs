//! One side of a connection: makes calls, each with a timeout, matches the responses, and passes everything else to an inbox.
//!
//! It knows no method. One task reads; it never waits for a callback, and waits for room in the inbox as `inbox` describes.

mod calls;
mod inbox;
mod pending;
mod reader;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use musher_wire::{Frame, Id, Json, Method, Notification, Request, Response, RpcError, Word};
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use crate::queue::Lane;
use crate::{Closed, Connection, Error, FrameSender};
use calls::{CallGuard, Calls, Failure, Outcome};
pub use inbox::{Inbox, InboxLimits, Incoming, Stray};

/// Our side of a connection. Clones are the same side; dropping the last one closes our direction of the connection.
///
/// ```
/// use std::time::Duration;
/// use musher_rpc::{Incoming, Peer, memory};
/// use musher_wire::Json;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Error> {
/// let (ours, theirs) = memory();
/// let (client, _inbox) = Peer::start(ours);
/// let (agent, mut inbox) = Peer::start(theirs);
///
/// tokio::spawn(async move {
///     while let Some(incoming) = inbox.recv().await {
///         if let Incoming::Request(request) = incoming {
///             agent.respond(request.id, Ok(Json::empty_object())).await.ok();
///         }
///     }
/// });
/// let result = client.request("droid.list_tools", Json::empty_object(), Duration::from_secs(30)).await?;
/// assert_eq!(result.text(), "{}");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Peer {
    side: Arc<Side>,
    lane: Lane,
    meta: Option<Json>,
}

#[derive(Debug)]
struct Side {
    outgoing: FrameSender,
    calls: Arc<Calls>,
    /// Tells the reader that the last clone was dropped.
    _alive: oneshot::Sender<()>,
}

impl Peer {
    /// Starts the task that reads. Needs a runtime.
    pub fn start(connection: Connection) -> (Self, Inbox) {
        Self::start_with(connection, InboxLimits::default())
    }

    /// [`start`](Self::start) with other limits of the inbox.
    pub fn start_with(connection: Connection, limits: InboxLimits) -> (Self, Inbox) {
        let Connection { incoming, outgoing } = connection;
        let calls = Arc::new(Calls::default());
        let (sender, inbox) = inbox::inbox(limits);
        let (alive, handles_gone) = oneshot::channel();
        tokio::spawn(reader::read(incoming, outgoing.downgrade(), Arc::clone(&calls), sender, handles_gone));
        let side = Side { outgoing, calls, _alive: alive };
        (Self { side: Arc::new(side), lane: Lane::Data, meta: None }, inbox)
    }

    /// Returns a handle whose messages overtake messages that still wait to be sent.
    ///
    /// For an interrupt, or a response that depends on no earlier message. See [`FrameSender`] on the order.
    #[must_use]
    pub fn control(&self) -> Self {
        Self { lane: Lane::Control, ..self.clone() }
    }

    /// Returns a handle whose calls carry this `_meta`, such as the trace they belong to.
    #[must_use]
    pub fn with_meta(&self, meta: Json) -> Self {
        Self { meta: Some(meta), ..self.clone() }
    }

    /// Makes a call and waits for its response, for at most `after`.
    ///
    /// If the future is dropped, the call is no longer pending; its response then comes to the inbox as [`Incoming::Late`].
    pub async fn request(
        &self,
        method: impl Into<Word>,
        params: Json,
        after: Duration,
    ) -> Result<Json, Error> {
        let (result, _call) = self.exchange(method.into(), params, after, None).await?;
        Ok(result)
    }

    /// Makes a call by its type, with the timeout that clients usually have for it.
    ///
    /// ```no_run
    /// # async fn example(peer: musher_rpc::Peer) -> Result<(), musher_rpc::Error> {
    /// use musher_wire::{ListTools, ListToolsParams};
    ///
    /// let tools = peer.call::<ListTools>(&ListToolsParams::default()).await?;
    /// # Ok(()) }
    /// ```
    pub fn call<'a, M: Method>(
        &'a self,
        params: &M::Params,
    ) -> impl Future<Output = Result<M::Result, Error>> + Send + use<'a, M> {
        // printed before the first await, so that the arguments need not be `Sync`
        let request = Request::call::<M>(Id::Null, params);
        async move {
            let params = request?.params.unwrap_or_else(Json::empty_object);
            let result = self.request(M::NAME, params, M::TIMEOUT).await?;
            Ok(result.read_as(M::NAME, "result")?)
        }
    }

    /// Makes a call that may fail after it succeeded, and returns a [`Watch`] for that.
    ///
    /// Needed for `droid.add_user_message`: without a session droid answers with a result, and then with an error.
    pub async fn request_watched(
        &self,
        method: impl Into<Word>,
        params: Json,
        after: Duration,
    ) -> Result<(Json, Watch), Error> {
        let (watcher, later) = oneshot::channel();
        let method = method.into();
        let (result, call) = self.exchange(method.clone(), params, after, Some(watcher)).await?;
        Ok((result, Watch { method, later: Some(later), _call: call }))
    }

    async fn exchange(
        &self,
        method: Word,
        params: Json,
        after: Duration,
        watcher: Option<oneshot::Sender<Outcome>>,
    ) -> Result<(Json, CallGuard), Error> {
        let (waiter, response) = oneshot::channel();
        // random, because a daemon passes the ids of several clients on to one session
        let id = Id::from(Uuid::new_v4().to_string());
        let call = self.side.calls.insert(id.clone(), waiter, watcher)?;
        let mut request = Request::new(id, method.clone(), params);
        request.envelope.meta.clone_from(&self.meta);
        let exchange = async {
            self.side.outgoing.send_in(self.lane, Frame::Request(request)).await?;
            // without a result, the reader was stopped with its runtime
            response.await.unwrap_or(Err(Failure::Closed(Closed::Local)))
        };
        match timeout(after, exchange).await {
            Ok(Ok(result)) => Ok((result, call)),
            Ok(Err(failure)) => Err(failure.of(method)),
            Err(_elapsed) => Err(Error::Timeout { method, after }),
        }
    }

    /// Responds to a call of the peer. Waits while the lane is full.
    pub async fn respond(&self, id: Id, outcome: Result<Json, RpcError>) -> Result<(), Closed> {
        self.side.outgoing.send_in(self.lane, Frame::Response(Response::new(id, outcome))).await
    }

    /// Sends a notification. Waits while the lane is full.
    pub async fn notify(&self, method: impl Into<Word>, params: Json) -> Result<(), Closed> {
        self.side.outgoing.send_in(self.lane, Frame::Notification(Notification::new(method, params))).await
    }

    /// Sends nothing more. Messages sent before are still written, then the peer sees the end.
    pub fn close(&self) {
        self.side.outgoing.close();
    }

    /// [`close`](Self::close), and waits until everything is written. Returns whether that took no longer than `within`.
    pub async fn finish(&self, within: Duration) -> bool {
        self.side.outgoing.finish(within).await
    }

    /// Waits until the peer sends nothing more, and returns the reason.
    pub async fn closed(&self) -> Closed {
        self.side.calls.closed().await
    }
}

/// A future of the error that comes after a result. It completes only with such an error, or with the connection.
///
/// Dropping it ends the watch.
#[derive(Debug)]
#[must_use = "an error that comes later is lost without its watch"]
pub struct Watch {
    method: Word,
    later: Option<oneshot::Receiver<Outcome>>,
    _call: CallGuard,
}

impl Future for Watch {
    type Output = Error;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Error> {
        let Some(later) = &mut self.later else { return Poll::Pending };
        let outcome = ready!(Pin::new(later).poll(context));
        self.later = None;
        match outcome {
            Ok(Err(failure)) => Poll::Ready(failure.of(self.method.clone())),
            // watchers get no results, and the reader sends the reason before it ends
            Ok(Ok(_)) | Err(_) => Poll::Ready(Error::Closed(Closed::Local)),
        }
    }
}
