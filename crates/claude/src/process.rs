//! The CLI as a process with a conversation: the protocol on a connection, and the ways it ends.
//!
//! Writing never blocks: a CLI that does not read is an error, not a reason to stop reading.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use musher_rpc::{Child, Closed, Exit, Launch, LineReceiver, LineSender, NotSent, RawLine};
use tempfile::NamedTempFile;

use crate::options::Started;
use crate::user::UserMessage;
use crate::{Call, Error, Event, HookOutput, Options, Permission, Protocol, RequestId};

/// A running CLI, for callers that need every event in order; [`Session`](crate::Session) is easier to use.
///
/// ```no_run
/// use musher_claude::{Call, Event, Options, Process};
///
/// # async fn example() -> Result<(), musher_claude::Error> {
/// let options = Options::new();
/// let mut process = Process::start("claude".as_ref(), "/workspace".as_ref(), &options, |launch| launch).await?;
/// let hello = process.call(&Call::Initialize(options.initialize()))?;
/// while let Ok(event) = process.next().await {
///     match event {
///         Event::Answered { id, .. } if id == hello => process.user(&"Say hello.".into())?,
///         Event::Message(message) if message.is_result() => break,
///         _ => {}
///     }
/// }
/// process.end().await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Process {
    protocol: Protocol,
    child: Child,
    incoming: LineReceiver,
    /// Lines that arrived together with one that was already returned.
    lines: VecDeque<RawLine>,
    outgoing: LineSender,
    _files: Vec<NamedTempFile>,
}

impl Process {
    /// Starts the CLI. `adjust` may change the launch, for example add variables or the thread to fork on.
    ///
    /// Sends nothing yet: the first call is [`Call::Initialize`].
    pub async fn start(
        program: &Path,
        cwd: &Path,
        options: &Options,
        adjust: impl FnOnce(Launch) -> Launch,
    ) -> Result<Self, Error> {
        let Started { launch, files } = options.start(program, cwd).map_err(Error::Prepare)?;
        let (child, connection) = Child::spawn_lines(adjust(launch)).await?;
        Ok(Self {
            protocol: Protocol::new(),
            child,
            incoming: connection.incoming,
            lines: VecDeque::new(),
            outgoing: connection.outgoing,
            _files: files,
        })
    }

    /// Returns the next event; after the last one, why the conversation ended. Cancel-safe.
    ///
    /// Requests of an unknown kind are answered with an error before their event is returned.
    pub async fn next(&mut self) -> Result<Event, Closed> {
        loop {
            if let Some(event) = self.try_next() {
                return Ok(event);
            }
            self.incoming.recv_batch(&mut self.lines).await?;
        }
    }

    /// Returns the next event if its line arrived together with the one before, for callers that process events in batches.
    pub fn try_next(&mut self) -> Option<Event> {
        let event = self.protocol.receive(self.lines.pop_front()?);
        if let Event::Unsupported { reply, .. } = &event {
            // if this write fails, so does every other, and the caller notices that
            self.write(reply.clone()).ok();
        }
        Some(event)
    }

    /// Sends a user message.
    pub fn user(&mut self, message: &UserMessage) -> Result<(), Error> {
        let line = self.protocol.user(message);
        self.write(line)
    }

    /// Sends a call to the CLI. The response arrives as [`Event::Answered`].
    pub fn call(&mut self, call: &Call) -> Result<RequestId, Error> {
        let (id, line) = self.protocol.call(call);
        self.write(line).inspect_err(|_| self.protocol.forget(&id)).map(|()| id)
    }

    /// Drops a call: its response is ignored.
    pub fn forget(&mut self, id: &RequestId) {
        self.protocol.forget(id);
    }

    /// Answers a permission request. Does nothing if the request is not pending any more.
    pub fn permit(&mut self, id: &RequestId, permission: &Permission) -> Result<(), Error> {
        let line = self.protocol.permit(id, permission);
        self.answer(line)
    }

    /// Answers a hook request.
    pub fn hook_output(&mut self, id: &RequestId, output: &HookOutput) -> Result<(), Error> {
        let line = self.protocol.hook_output(id, output);
        self.answer(line)
    }

    /// Answers a message to an in-process MCP server.
    pub fn mcp_reply(&mut self, id: &RequestId, reply: Option<&musher_wire::Json>) -> Result<(), Error> {
        let line = self.protocol.mcp_reply(id, reply);
        self.answer(line)
    }

    /// Answers any request with an error.
    pub fn refuse(&mut self, id: &RequestId, reason: &str) -> Result<(), Error> {
        let line = self.protocol.refuse(id, reason);
        self.answer(line)
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether a turn is running, as far as the protocol shows it.
    pub fn is_busy(&self) -> bool {
        self.protocol.is_busy()
    }

    /// Ends the CLI with everything it started, within about eight seconds. Its remaining output is discarded.
    ///
    /// The end of its input ends an idle CLI; a busy one is interrupted first, because it would finish its turn otherwise.
    pub async fn end(mut self) -> Arc<Exit> {
        let child = self.child.clone();
        let is_busy = self.protocol.is_busy();
        let mut ending =
            std::pin::pin!(async move { if is_busy { child.stop().await } else { child.close().await } });
        let mut is_open = true;
        loop {
            tokio::select! {
                exit = &mut ending => return exit,
                // a full pipe would keep it from ending
                line = self.incoming.recv(), if is_open => is_open = line.is_ok(),
            }
        }
    }

    fn answer(&self, line: Option<String>) -> Result<(), Error> {
        line.map_or(Ok(()), |line| self.write(line))
    }

    fn write(&self, line: String) -> Result<(), Error> {
        self.outgoing.try_send(RawLine::from(line)).map_err(|error| match error {
            NotSent::Full(_) => Error::Stuck,
            NotSent::Closed => Error::Closed,
        })
    }
}
