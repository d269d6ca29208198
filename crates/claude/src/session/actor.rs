//! The task that owns a conversation: it reads the CLI, serves the handles, and runs the handlers beside itself.
//!
//! While a message waits for its reader, the CLI is not read; everything else goes on.

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

/// How long a CLI that gave up at the start may take to exit.
const FAREWELL: Duration = Duration::from_secs(3);

/// What the handles ask.
#[derive(Debug)]
pub(super) enum Command {
    User(UserMessage, oneshot::Sender<Result<(), Error>>),
    Call(Call, oneshot::Sender<Result<Json, Error>>),
    Close(oneshot::Sender<Arc<Exit>>),
}

type Greeting = (RequestId, oneshot::Sender<Result<Json, Error>>);

pub(super) struct Actor {
    process: Process,
    handlers: Handlers,
    inbox: mpsc::Receiver<Command>,
    messages: mpsc::Sender<Message>,
    ended: watch::Sender<Option<Closed>>,
    greeting: Option<Greeting>,
    /// A message that waits for its reader.
    waiting: Option<Message>,
    calls: HashMap<RequestId, (String, oneshot::Sender<Result<Json, Error>>)>,
    tasks: JoinSet<Reply>,
    by_task: HashMap<Id, RequestId>,
    by_request: HashMap<RequestId, AbortHandle>,
}

/// What a handler answered.
enum Reply {
    Permission(Permission),
    Hook(HookOutput),
    Mcp(Option<Json>),
}

/// Why the loop ended.
enum Over {
    Closed(Closed),
    Asked(Option<oneshot::Sender<Arc<Exit>>>),
}

impl Actor {
    pub(super) fn new(
        process: Process,
        handlers: Handlers,
        inbox: mpsc::Receiver<Command>,
        messages: mpsc::Sender<Message>,
        ended: watch::Sender<Option<Closed>>,
        greeting: Greeting,
    ) -> Self {
        Self {
            process,
            handlers,
            inbox,
            messages,
            ended,
            greeting: Some(greeting),
            waiting: None,
            calls: HashMap::new(),
            tasks: JoinSet::new(),
            by_task: HashMap::new(),
            by_request: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self) {
        match self.converse().await {
            Over::Closed(closed) => {
                self.ended.send_replace(Some(closed.clone()));
                if let Some((_, ready)) = self.greeting.take() {
                    ready.send(Err(closed.clone().into())).ok();
                }
                for (_, (_, reply)) in self.calls.drain() {
                    reply.send(Err(closed.clone().into())).ok();
                }
                self.process.end().await;
            }
            Over::Asked(reply) => {
                drop(self.messages);
                let exit = self.process.end().await;
                self.ended.send_replace(Some(Closed::Exited(Arc::clone(&exit))));
                if let Some(reply) = reply {
                    reply.send(exit).ok();
                }
            }
        }
    }

    async fn converse(&mut self) -> Over {
        let messages = self.messages.clone();
        loop {
            tokio::select! {
                event = self.process.next(), if self.waiting.is_none() => match event {
                    Ok(event) => self.heard(event).await,
                    Err(closed) => return Over::Closed(closed),
                },
                room = messages.reserve(), if self.waiting.is_some() => {
                    // nobody reads any more: then it is not kept
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
                    Some(Command::Close(reply)) => return Over::Asked(Some(reply)),
                    None => return Over::Asked(None),
                },
            }
        }
    }

    async fn heard(&mut self, event: Event) {
        match event {
            Event::Message(message) => {
                if message.is_result() && self.greeting.is_some() {
                    self.did_not_begin(&message).await;
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
                None => self.write(|process| process.refuse(&request.id, "there is no such server")),
            },
            Event::Cancelled { id } => {
                if let Some(task) = self.by_request.remove(&id) {
                    task.abort();
                }
            }
            Event::Unsupported { subtype, .. } => {
                tracing::warn!(subtype, "the CLI asked for something unknown");
            }
            Event::Noise(text) => tracing::debug!(text, "the CLI wrote something that is no message"),
            Event::Malformed(reason) => tracing::warn!(reason, "the CLI wrote a line that cannot be read"),
            Event::Nothing => {}
        }
    }

    /// Instead of an answer to the first request came the end of a turn: an unknown session to resume, for example.
    async fn did_not_begin(&mut self, message: &Message) {
        let Some((_, ready)) = self.greeting.take() else { return };
        let said = match message.view() {
            View::Result(result) if !result.errors.is_empty() => result.errors.join("; "),
            _ => message.subtype().unwrap_or("no reason given").to_owned(),
        };
        let exit = timeout(FAREWELL, async {
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
        ready.send(Err(Error::NotBegun { message: said, exit })).ok();
    }

    fn settle(&mut self, id: &RequestId, outcome: Result<Json, crate::Refusal>) {
        if let Some((_, ready)) = self.greeting.take_if(|(hello, _)| hello == id) {
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
            // taken back by the CLI, or it panicked: the first is not open any more, the second must not stay open
            Err(_ended) => process.refuse(&id, "the handler failed"),
        });
    }

    fn write(&mut self, write: impl FnOnce(&mut Process) -> Result<(), Error>) {
        if let Err(error) = write(&mut self.process) {
            tracing::warn!(%error, "an answer to the CLI could not be written");
        }
    }
}
