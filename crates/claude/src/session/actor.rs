//! The task that owns a conversation: it reads the CLI, serves the handles, and runs handlers in tasks of their own.
//!
//! While a message waits for its reader, the CLI is not read; everything else continues.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Exit};
use musher_wire::Json;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::timeout;

use crate::user::UserMessage;
use crate::wire::message::View;
use crate::{Call, Error, Event, Handlers, HookOutput, Message, Permission, Process, RequestId};

/// How long a CLI that failed to start may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// A command of a handle.
#[derive(Debug)]
pub(super) enum Command {
    User(UserMessage, oneshot::Sender<Result<(), Error>>),
    Call(Call, oneshot::Sender<Result<Json, Error>>),
    Close(oneshot::Sender<Arc<Exit>>),
}

type Initialization = (RequestId, oneshot::Sender<Result<Json, Error>>);

pub(super) struct Actor {
    process: Process,
    handlers: Handlers,
    inbox: mpsc::Receiver<Command>,
    messages: mpsc::Sender<Message>,
    ended: watch::Sender<Option<Closed>>,
    initialization: Option<Initialization>,
    /// A message that waits for its reader.
    waiting: Option<Message>,
    calls: HashMap<RequestId, (String, oneshot::Sender<Result<Json, Error>>)>,
    tasks: JoinSet<Reply>,
    by_task: HashMap<Id, RequestId>,
    by_request: HashMap<RequestId, AbortHandle>,
}

/// The answer of a handler.
enum Reply {
    Permission(Permission),
    Hook(HookOutput),
    Mcp(Option<Json>),
}

/// Why the loop ended.
enum EndCause {
    Closed(Closed),
    CloseRequested(Option<oneshot::Sender<Arc<Exit>>>),
}

impl Actor {
    pub(super) fn new(
        process: Process,
        handlers: Handlers,
        inbox: mpsc::Receiver<Command>,
        messages: mpsc::Sender<Message>,
        ended: watch::Sender<Option<Closed>>,
        initialization: Initialization,
    ) -> Self {
        Self {
            process,
            handlers,
            inbox,
            messages,
            ended,
            initialization: Some(initialization),
            waiting: None,
            calls: HashMap::new(),
            tasks: JoinSet::new(),
            by_task: HashMap::new(),
            by_request: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self) {
        match self.run_until_end().await {
            EndCause::Closed(closed) => {
                self.ended.send_replace(Some(closed.clone()));
                if let Some((_, ready)) = self.initialization.take() {
                    ready.send(Err(closed.clone().into())).ok();
                }
                for (_, (_, reply)) in self.calls.drain() {
                    reply.send(Err(closed.clone().into())).ok();
                }
                self.process.end().await;
            }
            EndCause::CloseRequested(reply) => {
                drop(self.messages);
                let exit = self.process.end().await;
                self.ended.send_replace(Some(Closed::Exited(Arc::clone(&exit))));
                if let Some(reply) = reply {
                    reply.send(exit).ok();
                }
            }
        }
    }

    async fn run_until_end(&mut self) -> EndCause {
        let messages = self.messages.clone();
        loop {
            tokio::select! {
                event = self.process.next(), if self.waiting.is_none() => match event {
                    Ok(event) => self.handle_event(event).await,
                    Err(closed) => return EndCause::Closed(closed),
                },
                room = messages.reserve(), if self.waiting.is_some() => {
                    // without a reader, the message is dropped
                    if let (Ok(room), Some(message)) = (room, self.waiting.take()) {
                        room.send(message);
                    }
                }
                Some(done) = self.tasks.join_next_with_id() => self.answered(done),
                command = self.inbox.recv() => match command {
                    Some(Command::User(message, reply)) => {
                        reply.send(self.process.user(&message)).ok();
                    }
                    Some(Command::Call(call, reply)) => match self.process.call(&call) {
                        Ok(id) => drop(self.calls.insert(id, (call.subtype().to_owned(), reply))),
                        Err(error) => drop(reply.send(Err(error))),
                    },
                    Some(Command::Close(reply)) => return EndCause::CloseRequested(Some(reply)),
                    None => return EndCause::CloseRequested(None),
                },
            }
        }
    }

    async fn handle_event(&mut self, event: Event) {
        match event {
            Event::Message(message) => {
                if message.is_result() && self.initialization.is_some() {
                    self.failed_to_start(&message).await;
                }
                self.waiting = Some(message);
            }
            Event::Answered { id, outcome } => self.settle(&id, outcome),
            Event::Permission(request) => {
                let id = request.id.clone();
                let decision = self.handlers.decide(request);
                self.handle(id, async { Reply::Permission(decision.await) });
            }
            Event::Hook(request) => {
                let id = request.id.clone();
                let output = self.handlers.call_hook(request);
                self.handle(id, async { Reply::Hook(output.await) });
            }
            Event::Mcp(request) => match self.handlers.server(&request.server_name).cloned() {
                Some(server) => {
                    let message = request.message;
                    self.handle(request.id, async move { Reply::Mcp(server.answer(&message).await) });
                }
                None => self.write(|process| process.refuse(&request.id, "unknown MCP server")),
            },
            Event::Cancelled { id } => {
                if let Some(task) = self.by_request.remove(&id) {
                    task.abort();
                }
            }
            Event::Unsupported { subtype, .. } => {
                tracing::warn!(subtype, "the CLI sent an unknown request");
            }
            Event::Noise(text) => tracing::debug!(text, "the CLI wrote output that is not a message"),
            Event::Malformed(reason) => tracing::warn!(reason, "the CLI wrote a malformed line"),
            Event::Nothing => {}
        }
    }

    /// The end of a turn came instead of a response to the first request, for example because the session to resume is unknown.
    async fn failed_to_start(&mut self, message: &Message) {
        let Some((_, ready)) = self.initialization.take() else { return };
        let reason = match message.view() {
            View::Result(result) if !result.errors.is_empty() => result.errors.join("; "),
            _ => message.subtype().unwrap_or("no reason given").to_owned(),
        };
        let exit = timeout(EXIT_TIMEOUT, async {
            loop {
                if let Err(closed) = self.process.next().await {
                    return closed;
                }
            }
        });
        let exit = match exit.await {
            Ok(Closed::Exited(exit)) => Some(exit),
            _ => None,
        };
        ready.send(Err(Error::NotStarted { message: reason, exit })).ok();
    }

    fn settle(&mut self, id: &RequestId, outcome: Result<Json, crate::Refusal>) {
        if let Some((_, ready)) = self.initialization.take_if(|(hello, _)| hello == id) {
            let refused = |source| Error::Refused { call: "initialize".to_owned(), source };
            ready.send(outcome.map_err(refused)).ok();
        } else if let Some((call, reply)) = self.calls.remove(id) {
            reply.send(outcome.map_err(|source| Error::Refused { call, source })).ok();
        }
    }

    fn handle(&mut self, id: RequestId, handler: impl Future<Output = Reply> + Send + 'static) {
        let task = self.tasks.spawn(handler);
        self.by_task.insert(task.id(), id.clone());
        self.by_request.insert(id, task);
    }

    fn answered(&mut self, done: Result<(Id, Reply), JoinError>) {
        let task = done.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let Some(id) = self.by_task.remove(&task) else { return };
        self.by_request.remove(&id);
        self.write(|process| match done {
            Ok((_, Reply::Permission(permission))) => process.permit(&id, &permission),
            Ok((_, Reply::Hook(output))) => process.hook_output(&id, &output),
            Ok((_, Reply::Mcp(reply))) => process.mcp_reply(&id, reply.as_ref()),
            // aborted because the CLI cancelled it, or panicked: a cancelled request is not pending any more, the other gets an error
            Err(_ended) => process.refuse(&id, "the handler failed"),
        });
    }

    fn write(&mut self, write: impl FnOnce(&mut Process) -> Result<(), Error>) {
        if let Err(error) = write(&mut self.process) {
            tracing::warn!(%error, "cannot write a response to the CLI");
        }
    }
}
