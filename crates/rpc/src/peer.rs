//! One side of a connection: makes calls and matches the answers, passes everything else to an inbox.
//!
//! It knows no method. One task reads; it never waits for a callback, and only ever waits for the inbox as `inbox` tells.

mod calls;
mod inbox;
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
use calls::{Answer, Calls, Forget};
pub use inbox::{Inbox, InboxLimits, Incoming, Stray};

/// Our side of a connection. Clones are the same side; with the last one our direction of the connection is closed.
///
/// ```
/// use std::time::Duration;
/// use musher_rpc::{Incoming, Peer, memory};
/// use musher_wire::Json;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Error> {
/// let (ours, theirs) = memory();
/// let (client, _news) = Peer::start(ours);
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
}

#[derive(Debug)]
struct Side {
    outgoing: FrameSender,
    calls: Arc<Calls>,
    /// Dropped with the last clone, which the reader notices.
    _alive: oneshot::Sender<()>,
}

impl Peer {
    /// Starts the task that reads. Needs a runtime.
    pub fn start(connection: Connection) -> (Self, Inbox) {
        Self::start_with(connection, InboxLimits::default())
    }

    /// [`start`](Self::start) with other limits for what waits in the inbox.
    pub fn start_with(connection: Connection, limits: InboxLimits) -> (Self, Inbox) {
        let Connection { incoming, outgoing } = connection;
        let calls = Arc::new(Calls::default());
        let (sender, inbox) = inbox::inbox(limits);
        let (alive, handles_gone) = oneshot::channel();
        tokio::spawn(reader::read(incoming, outgoing.downgrade(), Arc::clone(&calls), sender, handles_gone));
        let side = Side { outgoing, calls, _alive: alive };
        (Self { side: Arc::new(side), lane: Lane::Data }, inbox)
    }

    /// The same side, but what is sent through it overtakes what still waits to be sent.
    ///
    /// For an interrupt, or an answer that nothing else has to come before. See [`FrameSender`] on the order.
    #[must_use]
    pub fn control(&self) -> Self {
        Self { side: Arc::clone(&self.side), lane: Lane::Control }
    }

    /// Makes a call and waits for its answer, at most this long.
    ///
    /// If the future is dropped, nobody waits any more; the answer is then reported to the inbox as [`Incoming::Late`].
    pub async fn request(
        &self,
        method: impl Into<Word>,
        params: Json,
        after: Duration,
    ) -> Result<Json, Error> {
        let (waiter, answer) = oneshot::channel();
        let id = new_id();
        self.side.calls.insert(id.clone(), waiter, None)?;
        self.wait(&Forget::new(&self.side.calls, id), method.into(), params, answer, after).await
    }

    /// Makes a call by its type, with the deadline that clients usually give it.
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
        // printed before the wait, so that the arguments need not be shareable between threads
        let request = Request::call::<M>(Id::Null, params);
        async move {
            let params = request?.params.unwrap_or_else(Json::empty_object);
            let result = self.request(M::NAME, params, M::TIMEOUT).await?;
            Ok(result.read_as(M::NAME, "result")?)
        }
    }

    /// Makes a call that may still fail after it was answered well, and gives a [`Watch`] for that.
    ///
    /// Needed for `droid.add_user_message`: without a session droid answers with a result, and then with an error.
    pub async fn request_watched(
        &self,
        method: impl Into<Word>,
        params: Json,
        after: Duration,
    ) -> Result<(Json, Watch), Error> {
        let (waiter, answer) = oneshot::channel();
        let (watcher, later) = oneshot::channel();
        let (id, method) = (new_id(), method.into());
        self.side.calls.insert(id.clone(), waiter, Some(watcher))?;
        let forget = Forget::new(&self.side.calls, id);
        let result = self.wait(&forget, method.clone(), params, answer, after).await?;
        Ok((result, Watch { method, later: Some(later), _forget: forget }))
    }

    async fn wait(
        &self,
        call: &Forget,
        method: Word,
        params: Json,
        answer: oneshot::Receiver<Answer>,
        after: Duration,
    ) -> Result<Json, Error> {
        let request = Frame::Request(Request::new(call.id().clone(), method.clone(), params));
        let sent_and_answered = async {
            self.side.outgoing.send_in(self.lane, request).await?;
            Ok(answer.await)
        };
        match timeout(after, sent_and_answered).await {
            Ok(Ok(Ok(answer))) => answer.map_err(|failure| failure.of(method)),
            // the reader has ended without a word: it was stopped with its runtime
            Ok(Ok(Err(_gone))) => Err(Error::Closed(Closed::Local)),
            Ok(Err(closed)) => Err(Error::Closed(closed)),
            Err(_elapsed) => Err(Error::Timeout { method, after }),
        }
    }

    /// Answers a call of the peer. Waits while the lane is full.
    pub async fn respond(&self, id: Id, outcome: Result<Json, RpcError>) -> Result<(), Closed> {
        self.side.outgoing.send_in(self.lane, Frame::Response(Response::new(id, outcome))).await
    }

    /// Sends news. Waits while the lane is full.
    pub async fn notify(&self, method: impl Into<Word>, params: Json) -> Result<(), Closed> {
        self.side.outgoing.send_in(self.lane, Frame::Notification(Notification::new(method, params))).await
    }

    /// Sends nothing more. What was sent before is still written, and the peer then sees the end.
    pub fn close(&self) {
        self.side.outgoing.close();
    }

    /// [`close`](Self::close), and waits until all was written; false if that took longer than `within`.
    pub async fn finish(&self, within: Duration) -> bool {
        self.side.outgoing.finish(within).await
    }

    /// Waits until the peer sends nothing more, and tells why.
    pub async fn closed(&self) -> Closed {
        self.side.calls.closed().await
    }
}

/// Tells of an error that comes after a good answer. A future that ends only if there is one, or with the connection.
///
/// Dropping it ends the watch.
#[derive(Debug)]
#[must_use = "an error that comes later is lost if nobody watches"]
pub struct Watch {
    method: Word,
    later: Option<oneshot::Receiver<Answer>>,
    _forget: Forget,
}

impl Future for Watch {
    type Output = Error;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Error> {
        let Some(later) = &mut self.later else { return Poll::Pending };
        let told = ready!(Pin::new(later).poll(context));
        self.later = None;
        match told {
            Ok(Err(failure)) => Poll::Ready(failure.of(self.method.clone())),
            // nobody is told of a success, and the reader says why before it ends
            Ok(Ok(_)) | Err(_) => Poll::Ready(Error::Closed(Closed::Local)),
        }
    }
}

/// Random, because a daemon passes the ids of several clients on to one session.
fn new_id() -> Id {
    Id::from(Uuid::new_v4().to_string())
}
