//! The two tasks of every transport: one reads messages into a connection, one writes messages out of it.
//!
//! Each is the only owner of its half of the transport. They know no method and no id.

use std::future::Future;
use std::io;

use tokio::time::sleep;

use crate::connection::{Connection, Ending, LINGER, Limits, MessageReceiver, MessageSender, pair};
use crate::message::Message;
use crate::{Batch, Closed};

/// Where messages come from.
pub(crate) trait Source: Send + 'static {
    type Message: Message;
    /// Waits for input and adds what it holds to `messages`. Fails when there is no more, after it added the last ones.
    ///
    /// Must lose nothing when the future is dropped: a half-read line is kept in `self`.
    fn fill(
        &mut self,
        messages: &mut Batch<Self::Message>,
    ) -> impl Future<Output = Result<(), Closed>> + Send;
}

/// Where messages go.
pub(crate) trait Sink: Send + 'static {
    type Message: Message;
    /// Takes a message, perhaps into a buffer.
    fn write(&mut self, message: Self::Message) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Sends on what is in the buffer.
    fn flush(&mut self) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Tells the peer that no more will come.
    fn close(&mut self) -> impl Future<Output = Result<(), Closed>> + Send;
    /// Waits until the sink has something to say by itself. Must lose nothing when the future is dropped.
    fn due(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Says it.
    fn tend(&mut self) -> impl Future<Output = Result<(), Closed>> + Send {
        async { Ok(()) }
    }
}

/// A reason to stop reading and writing although nothing has failed yet: the peer is known to be gone.
pub(crate) type Dying = Ending;

/// Starts both tasks. Needs a runtime.
pub(crate) fn start<M: Message>(
    source: impl Source<Message = M>,
    sink: impl Sink<Message = M>,
    limits: Limits,
) -> Connection<M> {
    start_with(source, sink, limits, Dying::default(), async |reason| reason)
}

/// Starts both tasks; `last_word` may give a better reason for the end than the one that was seen.
pub(crate) fn start_with<M, F>(
    source: impl Source<Message = M>,
    sink: impl Sink<Message = M>,
    limits: Limits,
    dying: Dying,
    last_word: impl FnOnce(Closed) -> F + Send + 'static,
) -> Connection<M>
where
    M: Message,
    F: Future<Output = Closed> + Send + 'static,
{
    let ((near, near_end), (far, _)) = pair(limits, Limits { data: limits.incoming, ..limits });
    tokio::spawn(write(sink, far.incoming, dying.clone()));
    tokio::spawn(async move {
        let reason = read(source, &far.outgoing, &dying).await;
        near_end.settle(last_word(reason).await);
        // only now may the receiver see the end: it asks for the reason at once
        drop(far.outgoing);
    });
    near
}

async fn read<S: Source>(mut source: S, outgoing: &MessageSender<S::Message>, dying: &Dying) -> Closed {
    let mut messages = Batch::new();
    loop {
        // What is raced here is one read of some bytes, not the reading of a line: `fill` keeps its state in the source.
        let filled = tokio::select! {
            biased;
            () = outgoing.closed() => return Closed::Local,
            filled = source.fill(&mut messages) => filled,
            reason = silence(dying) => Err(reason),
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
async fn silence(dying: &Dying) -> Closed {
    let reason = dying.wait().await;
    sleep(LINGER).await;
    reason
}

async fn write<S: Sink>(mut sink: S, mut incoming: MessageReceiver<S::Message>, dying: Dying) {
    if let Err(reason) = write_all(&mut sink, &mut incoming, &dying).await {
        tracing::debug!(%reason, "writing to the peer ended");
        // if we hung up ourselves, the reader asked for it and knows why
        if !matches!(reason, Closed::Local) {
            dying.settle(reason);
        }
    }
    // From here on sending fails, and whoever tries is told the reason that the reader finds.
}

async fn write_all<S: Sink>(
    sink: &mut S,
    incoming: &mut MessageReceiver<S::Message>,
    dying: &Dying,
) -> Result<(), Closed> {
    let mut messages = Batch::new();
    loop {
        let next = tokio::select! {
            biased;
            next = incoming.recv_batch(&mut messages) => next,
            () = sink.due() => {
                sink.tend().await?;
                continue;
            }
            reason = dying.wait() => return Err(reason),
        };
        if next.is_err() {
            return sink.close().await;
        }
        while !messages.is_empty() {
            while let Some(message) = messages.pop() {
                sink.write(message).await?;
            }
            incoming.try_recv_batch(&mut messages);
        }
        sink.flush().await?;
    }
}

pub(crate) fn broken(error: io::Error) -> Closed {
    Closed::from(error)
}
