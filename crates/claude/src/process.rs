//! The CLI as a process with a conversation: the protocol on a connection, and the two ways it ends.
//!
//! It never waits to write: a CLI that does not read is an error, not a reason to stop listening to others.

use std::path::Path;
use std::sync::Arc;

use musher_rpc::{Batch, Child, Closed, Exit, Launch, LineReceiver, LineSender, NotSent, RawLine};
use tempfile::NamedTempFile;

use crate::options::Started;
use crate::user::UserMessage;
use crate::{Call, Error, Event, HookOutput, Options, Permission, Protocol, RequestId};

/// A running CLI, for those who want every event in its order; [`Session`](crate::Session) is easier to use.
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
    /// Lines that came together with one that was handed out.
    lines: Batch<RawLine>,
    outgoing: LineSender,
    _files: Vec<NamedTempFile>,
}

impl Process {
    /// Starts the CLI. `adjust` may change how, for example add variables or the thread to fork on.
    ///
    /// Nothing is said yet: the first call is [`Call::Initialize`].
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
            lines: Batch::new(),
            outgoing: connection.outgoing,
            _files: files,
        })
    }

    /// The next event; after the last one, why there are no more. Loses nothing if dropped.
    ///
    /// Requests of a kind nobody knows are answered before they are told.
    pub async fn next(&mut self) -> Result<Event, Closed> {
        loop {
            if let Some(event) = self.try_next() {
                return Ok(event);
            }
            self.incoming.recv_batch(&mut self.lines).await?;
        }
    }

    /// The next event, if its line came together with the one before: for who can take many at once.
    pub fn try_next(&mut self) -> Option<Event> {
        let event = self.protocol.receive(self.lines.pop()?);
        if let Event::Unsupported { reply, .. } = &event {
            // if this cannot be written, nothing can, and that will be seen elsewhere
            self.write(reply.clone()).ok();
        }
        Some(event)
    }

    /// Says something as the user.
    pub fn user(&mut self, message: &UserMessage) -> Result<(), Error> {
        let line = self.protocol.user(message);
        self.write(line)
    }

    /// Asks something of the CLI. The answer comes as [`Event::Answered`].
    pub fn call(&mut self, call: &Call) -> Result<RequestId, Error> {
        let (id, line) = self.protocol.call(call);
        self.write(line).inspect_err(|_| self.protocol.forget(&id)).map(|()| id)
    }

    /// Nobody waits for the answer to this call any more.
    pub fn forget(&mut self, id: &RequestId) {
        self.protocol.forget(id);
    }

    /// Answers a permission request. A question that is not open any more is no error.
    pub fn permit(&mut self, id: &RequestId, permission: &Permission) -> Result<(), Error> {
        let line = self.protocol.permit(id, permission);
        self.answer(line)
    }

    /// Answers a hook.
    pub fn hook_output(&mut self, id: &RequestId, output: &HookOutput) -> Result<(), Error> {
        let line = self.protocol.hook_output(id, output);
        self.answer(line)
    }

    /// Answers a message to an MCP server in our process.
    pub fn mcp_reply(&mut self, id: &RequestId, reply: Option<&musher_wire::Json>) -> Result<(), Error> {
        let line = self.protocol.mcp_reply(id, reply);
        self.answer(line)
    }

    /// Answers any question with an error.
    pub fn refuse(&mut self, id: &RequestId, reason: &str) -> Result<(), Error> {
        let line = self.protocol.refuse(id, reason);
        self.answer(line)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether a turn runs, as far as one can tell.
    pub fn is_busy(&self) -> bool {
        self.protocol.is_busy()
    }

    /// Ends the CLI with all it started, within about eight seconds. What it still says is thrown away.
    ///
    /// An idle one is told by the end of its input; a busy one is interrupted, because it would finish its turn first.
    pub async fn end(mut self) -> Arc<Exit> {
        let child = self.child.clone();
        let is_busy = self.protocol.is_busy();
        let mut ending =
            std::pin::pin!(async move { if is_busy { child.stop().await } else { child.close().await } });
        let mut is_open = true;
        loop {
            tokio::select! {
                exit = &mut ending => return exit,
                // a full pipe would keep it from ending by itself
                line = self.incoming.recv(), if is_open => is_open = line.is_ok(),
            }
        }
    }

    fn answer(&self, line: Option<String>) -> Result<(), Error> {
        line.map_or(Ok(()), |line| self.write(line))
    }

    fn write(&self, line: String) -> Result<(), Error> {
        self.outgoing.try_send(RawLine::from(line)).map_err(|error| match error {
            NotSent::Full => Error::Stuck,
            NotSent::Closed => Error::Closed,
        })
    }
}
