//! A session with closures and streams: send messages, read messages, handle requests with closures.
//!
//! One task (`actor`) owns the conversation; everything here sends it commands and waits.

mod actor;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Exit, Launch};
use musher_wire::Json;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::user::UserMessage;
use crate::wire::message::{TurnResult, View};
use crate::{Call, Error, Handlers, Message, Options, PermissionMode, Process};
use actor::{Actor, Command};

/// How long the CLI may take to respond; on a busy machine it needs seconds to start.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
/// The number of messages that wait for a slow reader before the CLI has to wait too.
const MAX_PENDING_MESSAGES: usize = 256;

/// A session of the CLI. Clones share the session; when the last one is dropped, it ends in the background.
///
/// ```no_run
/// use musher_claude::{Handlers, Options, Permission, Session};
///
/// # async fn example() -> Result<(), musher_claude::Error> {
/// let handlers = Handlers::new().on_permission(|_request| async { Permission::allow() });
/// let (session, mut messages) =
///     Session::start("claude".as_ref(), "/workspace".as_ref(), Options::new(), handlers).await?;
/// session.send("How many files are there?").await?;
/// let result = messages.until_result(|message| println!("{}", message.text())).await?;
/// println!("{}", result.result.unwrap_or_default());
/// session.close().await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    commands: mpsc::Sender<Command>,
    initialization: Arc<Json>,
    ended: watch::Receiver<Option<Closed>>,
}

/// The messages of a session, in order.
#[derive(Debug)]
pub struct Messages {
    messages: mpsc::Receiver<Message>,
    ended: watch::Receiver<Option<Closed>>,
}

impl Session {
    /// Starts the CLI in a directory and waits until it is ready.
    pub async fn start(
        program: &Path,
        cwd: &Path,
        options: Options,
        handlers: Handlers,
    ) -> Result<(Self, Messages), Error> {
        Self::start_with(program, cwd, options, handlers, |launch| launch).await
    }

    /// Like [`start`](Self::start), but `adjust` may change how the process is launched.
    pub async fn start_with(
        program: &Path,
        cwd: &Path,
        options: Options,
        handlers: Handlers,
        adjust: impl FnOnce(Launch) -> Launch,
    ) -> Result<(Self, Messages), Error> {
        let options = handlers.register(options);
        let mut process = Process::start(program, cwd, &options, adjust).await?;
        let initialize = Call::Initialize(options.initialize());
        let hello = process.call(&initialize)?;
        let (commands, inbox) = mpsc::channel(64);
        let (sender, messages) = mpsc::channel(MAX_PENDING_MESSAGES);
        let (ready, initialized) = oneshot::channel();
        let (end, ended) = watch::channel(None);
        let actor = Actor::new(process, handlers, inbox, sender, end, (hello, ready));
        tokio::spawn(actor.run());

        let initialization = match timeout(RESPONSE_TIMEOUT, initialized).await {
            Ok(Ok(initialization)) => initialization?,
            Ok(Err(_gone)) => return Err(Error::Closed),
            // the commands are dropped here, which ends the actor and the process with it
            Err(_elapsed) => {
                return Err(Error::Timeout {
                    call: initialize.subtype().to_owned(),
                    after: RESPONSE_TIMEOUT,
                });
            }
        };
        let session = Self { commands, initialization: Arc::new(initialization), ended: ended.clone() };
        Ok((session, Messages { messages, ended }))
    }

    /// Sends a user message, also while a turn is running.
    ///
    /// A message sent during a turn may be answered within it, or together with other such messages, so results cannot be counted.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<(), Error> {
        let message = message.into();
        self.ask(|reply| Command::User(message, reply)).await?
    }

    /// Sends a call to the CLI and waits for its response.
    pub async fn call(&self, call: Call) -> Result<Json, Error> {
        let name = call.subtype().to_owned();
        match timeout(RESPONSE_TIMEOUT, self.ask(|reply| Command::Call(call, reply))).await {
            Ok(answer) => answer?,
            Err(_elapsed) => Err(Error::Timeout { call: name, after: RESPONSE_TIMEOUT }),
        }
    }

    /// Interrupts the running turn; its result follows. Does nothing in an idle session.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.call(Call::Interrupt).await.map(drop)
    }

    /// Changes the model; `None` for the default. The name is not checked.
    pub async fn set_model(&self, model: Option<String>) -> Result<(), Error> {
        self.call(Call::SetModel(model)).await.map(drop)
    }

    /// Changes the permission mode.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.call(Call::SetPermissionMode(mode)).await.map(drop)
    }

    /// Changes the maximum number of thinking tokens; `None` for the default.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        self.call(Call::SetMaxThinkingTokens(tokens)).await.map(drop)
    }

    /// Returns the MCP servers and their status.
    pub async fn mcp_status(&self) -> Result<Vec<Json>, Error> {
        let answer = self.call(Call::McpStatus).await?;
        read_field("mcp_status", &answer, "mcpServers")
    }

    /// Restores files to their state before a user message; a dry run returns what would change.
    pub async fn rewind_files(&self, user_message_id: &str, dry_run: bool) -> Result<Json, Error> {
        self.call(Call::RewindFiles { user_message_id: user_message_id.to_owned(), dry_run }).await
    }

    /// Returns the response of the CLI to the first request: models, commands, account.
    pub fn initialization(&self) -> &Json {
        &self.initialization
    }

    /// Returns the available models.
    pub fn models(&self) -> Result<Vec<Json>, Error> {
        read_field("initialize", &self.initialization, "models")
    }

    /// Returns the slash commands as of the start.
    pub fn commands(&self) -> Result<Vec<Json>, Error> {
        read_field("initialize", &self.initialization, "commands")
    }

    /// Ends the session with everything it started, and returns how it ended.
    pub async fn close(&self) -> Result<Arc<Exit>, Error> {
        match self.ask(Command::Close).await {
            // the second case: it has already ended
            Ok(exit) | Err(Error::Exited(exit)) => Ok(exit),
            Err(error) => Err(error),
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(command(reply)).await.is_err() {
            return Err(why(&self.ended));
        }
        answer.await.map_err(|_gone| why(&self.ended))
    }
}

impl Messages {
    /// Returns the next message. After the last one: why the session ended.
    pub async fn next(&mut self) -> Result<Message, Error> {
        match self.messages.recv().await {
            Some(message) => Ok(message),
            None => Err(why(&self.ended)),
        }
    }

    /// Reads to the end of the turn and returns its result; `see` is called with every message, including the last.
    pub async fn until_result(&mut self, mut see: impl FnMut(&Message)) -> Result<TurnResult, Error> {
        loop {
            let message = self.next().await?;
            see(&message);
            if let View::Result(result) = message.view() {
                return Ok(*result);
            }
        }
    }
}

fn why(ended: &watch::Receiver<Option<Closed>>) -> Error {
    ended.borrow().clone().map_or(Error::Closed, Error::from)
}

fn read_field<T: DeserializeOwned + Default>(call: &str, answer: &Json, field: &str) -> Result<T, Error> {
    let shape = |source| Error::Shape { call: call.to_owned(), source };
    let fields: musher_wire::Extra = answer.to().map_err(shape)?;
    fields.get(field).map_or_else(|| Ok(T::default()), |value| value.to().map_err(shape))
}
