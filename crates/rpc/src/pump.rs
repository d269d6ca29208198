//! The two tasks of every transport: one reads messages into a connection, one writes messages out of it.
//!
//! Each is the only owner of its half of the transport. They know no method and no id.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::SetOnce;
use tokio::time::sleep;

use crate::connection::{Connection, LINGER, Limits, MessageReceiver, MessageSender, pair};
use crate::message::Message;
use crate::{Closed, with_causes};

/// Where messages come from.
pub(crate) trait Source: Send + 'static {
    type Message: Message;
    /// Waits for input and adds its messages to `messages`. Fails when there is no more, after it added the last ones.
    ///
    /// Must lose nothing when the future is dropped: a partial line is kept in `self`.
    fn fill(
        &mut self,
        messages: &mut VecDeque<Self::Message>,
    ) -> impl Future<Output = Result<(), Closed>> + Send;
}

/// Where messages go.
pub(crate) trait Sink: Send + 'static {
    type Message: Message;
    /// Writes a message, perhaps into a buffer.
    fn write(&mut self, message: Self::Message) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Writes the buffer out.
    fn flush(&mut self) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Ends the output, after everything has been written.
    fn close(self) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Waits until the sink has to act between messages. Must lose nothing when the future is dropped.
    fn due(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Acts, after [`due`](Self::due).
    fn act(&mut self) -> impl Future<Output = Result<(), Closed>> + Send {
        async { Ok(()) }
    }
}

/// The reason why the peer is known to be gone, if it is, although nothing has failed yet.
pub(crate) type Dying = Arc<SetOnce<Closed>>;

/// Starts both tasks. Needs a runtime.
pub(crate) fn start<M: Message>(
    source: impl Source<Message = M>,
    sink: impl Sink<Message = M>,
    limits: Limits,
) -> Connection<M> {
    start_with(source, sink, limits, Dying::default(), async |reason| reason)
}

/// Starts both tasks; `explain` may replace the reason of the end by a better one.
pub(crate) fn start_with<M, F>(
    source: impl Source<Message = M>,
    sink: impl Sink<Message = M>,
    limits: Limits,
    dying: Dying,
    explain: impl FnOnce(Closed) -> F + Send + 'static,
) -> Connection<M>
where
    M: Message,
    F: Future<Output = Closed> + Send + 'static,
{
    let (near, far) = pair(limits, Limits { data: limits.incoming, ..limits });
    let Connection { incoming, outgoing } = far;
    tokio::spawn(write(sink, incoming, Dying::clone(&dying)));
    tokio::spawn(async move {
        let reason = read(source, &outgoing, &dying).await;
        outgoing.close_because(explain(reason).await);
    });
    near
}

async fn read<S: Source>(mut source: S, outgoing: &MessageSender<S::Message>, dying: &Dying) -> Closed {
    let mut messages = VecDeque::new();
    loop {
        // One read of some bytes is raced here, not the reading of a line: `fill` keeps its state in the source.
        let filled = tokio::select! {
            biased;
            () = outgoing.closed() => return Closed::Local,
            filled = source.fill(&mut messages) => filled,
            reason = linger(dying) => Err(reason),
        };
        if !messages.is_empty() && outgoing.send_batch(&mut messages).await.is_err() {
            return Closed::Local;
        }
        if let Err(reason) = filled {
            return reason;
        }
    }
}

/// Ends some time after the peer was found dead; a new wait for each read, so that a full pipe is still emptied.
async fn linger(dying: &Dying) -> Closed {
    let reason = dying.wait().await;
    sleep(LINGER).await;
    reason.clone()
}

async fn write<S: Sink>(sink: S, incoming: MessageReceiver<S::Message>, dying: Dying) {
    if let Err(reason) = write_all(sink, incoming, &dying).await {
        tracing::debug!(reason = %with_causes(&reason), "writing to the peer ended");
        // after a close that the reader asked for, the reader knows the reason
        if !matches!(reason, Closed::Local) {
            dying.set(reason).ok();
        }
    }
}

async fn write_all<S: Sink>(
    mut sink: S,
    mut incoming: MessageReceiver<S::Message>,
    dying: &Dying,
) -> Result<(), Closed> {
    let mut messages = VecDeque::new();
    loop {
        let next = tokio::select! {
            biased;
            next = incoming.recv_batch(&mut messages) => next,
            () = sink.due() => {
                sink.act().await?;
                continue;
            }
            reason = dying.wait() => return Err(reason.clone()),
        };
        if next.is_err() {
            return sink.close().await;
        }
        while !messages.is_empty() {
            while let Some(message) = messages.pop_front() {
                sink.write(message).await?;
            }
            incoming.try_recv_batch(&mut messages);
        }
        sink.flush().await?;
    }
}
