//! A session for those who just want to use it: say something, read messages, let closures answer.
//!
//! The conversation is owned by one task (`actor`); everything here sends it a message and waits.

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

/// How long the CLI may take to answer; it needs seconds to start on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many messages wait for a slow reader before the CLI has to wait as well.
const WAITING: usize = 256;

/// A session of the CLI. Clones are the same session; when the last one is dropped, it ends in the background.
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
    greeting: Arc<Json>,
    ended: watch::Receiver<Option<Closed>>,
}

/// What a session tells, in order.
#[derive(Debug)]
pub struct Messages {
    messages: mpsc::Receiver<Message>,
    ended: watch::Receiver<Option<Closed>>,
}

impl Session {
    /// Starts the CLI in a folder and waits until it is ready.
    pub async fn start(
        program: &Path,
        cwd: &Path,
        options: Options,
        handlers: Handlers,
    ) -> Result<(Self, Messages), Error> {
        Self::start_with(program, cwd, options, handlers, |launch| launch).await
    }

    /// [`start`](Self::start), with a say in how the process is launched.
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
        let (sender, messages) = mpsc::channel(WAITING);
        let (ready, greeted) = oneshot::channel();
        let (end, ended) = watch::channel(None);
        let actor = Actor::new(process, handlers, inbox, sender, end, (hello, ready));
        tokio::spawn(actor.run());

        let greeting = match timeout(PATIENCE, greeted).await {
            Ok(Ok(greeting)) => greeting?,
            Ok(Err(_gone)) => return Err(Error::Closed),
            // the commands are dropped here, which ends the actor and the process with it
            Err(_elapsed) => {
                return Err(Error::Timeout { call: initialize.subtype().to_owned(), after: PATIENCE });
            }
        };
        let session = Self { commands, greeting: Arc::new(greeting), ended: ended.clone() };
        Ok((session, Messages { messages, ended }))
    }

    /// Says something as the user, also while a turn runs.
    ///
    /// What is said during a turn may be answered within it, or together with other such messages: results cannot be counted.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<(), Error> {
        let message = message.into();
        self.ask(|reply| Command::User(message, reply)).await?
    }

    /// Asks something of the CLI.
    pub async fn call(&self, call: Call) -> Result<Json, Error> {
        let name = call.subtype().to_owned();
        match timeout(PATIENCE, self.ask(|reply| Command::Call(call, reply))).await {
            Ok(answer) => answer?,
            Err(_elapsed) => Err(Error::Timeout { call: name, after: PATIENCE }),
        }
    }

    /// Stops the turn that runs; its result follows. An idle session agrees and does nothing.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.call(Call::Interrupt).await.map(drop)
    }

    /// Changes the model; `None` for the default. The name is not checked.
    pub async fn set_model(&self, model: Option<String>) -> Result<(), Error> {
        self.call(Call::SetModel(model)).await.map(drop)
    }

    /// Changes how much may be done without asking.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.call(Call::SetPermissionMode(mode)).await.map(drop)
    }

    /// Changes how much the model may think; `None` for the default.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        self.call(Call::SetMaxThinkingTokens(tokens)).await.map(drop)
    }

    /// The MCP servers and how they stand.
    pub async fn mcp_status(&self) -> Result<Vec<Json>, Error> {
        let answer = self.call(Call::McpStatus).await?;
        read_field("mcp_status", &answer, "mcpServers")
    }

    /// Puts files back to where they were before a user message, or tells what that would change.
    pub async fn rewind_files(&self, user_message_id: &str, dry_run: bool) -> Result<Json, Error> {
        self.call(Call::RewindFiles { user_message_id: user_message_id.to_owned(), dry_run }).await
    }

    /// What the CLI said when it was ready: models, commands, account.
    pub fn greeting(&self) -> &Json {
        &self.greeting
    }

    /// The models one can choose.
    pub fn models(&self) -> Result<Vec<Json>, Error> {
        read_field("initialize", &self.greeting, "models")
    }

    /// The commands that begin with a slash, as they were at the start.
    pub fn commands(&self) -> Result<Vec<Json>, Error> {
        read_field("initialize", &self.greeting, "commands")
    }

    /// Ends the session with all it started, and tells how.
    pub async fn close(&self) -> Result<Arc<Exit>, Error> {
        match self.ask(Command::Close).await {
            // the second: it ended by itself before
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
    /// The next message. After the last one: why there are no more.
    pub async fn next(&mut self) -> Result<Message, Error> {
        match self.messages.recv().await {
            Some(message) => Ok(message),
            None => Err(why(&self.ended)),
        }
    }

    /// Reads to the end of the turn and gives its result; `see` is shown every message, the last one too.
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
