//! The task that owns one session: it connects an agent and the front end.
//!
//! It never blocks as a whole: a front end that does not read stops the agent's stream, and nothing else. Every request that has a reply
//! gets exactly one, also if the session ends first.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use musher_claude::Call;
use musher_rpc::{Closed, LineSender, Lines, NotSent};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::agent::{Agent, Event, Failure, Gone, Greeting};
use crate::callback::Callbacks;
use crate::config::Config;
use crate::query::{Query, ResultPart, Stored};
use crate::wire::frame::{self, Code, ErrorPayload};
use crate::wire::request::{Command, Create};

/// Maximum number of lines that wait for a front end that does not read; then its commands wait too.
const MAX_PENDING_LINES: usize = 256;

/// Maximum size of agent messages that are collected before other inputs are processed, in bytes.
const BATCH_BYTES_LIMIT: usize = 16 * 1024;

/// A command with the id of its request.
pub(crate) struct CommandRequest {
    pub(crate) id: String,
    pub(crate) command: Command,
}

/// Why a session must end.
pub(crate) enum End {
    /// The front end ends it; the reply goes to this request.
    Kill { id: String },
    /// The bridge ends.
    Shutdown,
}

/// The connections of a session.
pub(crate) struct Wiring {
    pub(crate) session_id: String,
    pub(crate) config: Arc<Config>,
    pub(crate) out: LineSender,
    pub(crate) commands: mpsc::Receiver<CommandRequest>,
    pub(crate) ends: mpsc::Receiver<End>,
}

/// Starts an agent and serves it until the session ends.
pub(crate) async fn serve<A: Agent>(
    mut wiring: Wiring,
    create: Create,
    start: impl Future<Output = Result<A, Failure>>,
) {
    let mut agent = match start.await {
        Ok(agent) => agent,
        Err(failure) => return not_created(wiring, &create.id, failure).await,
    };
    let started = tokio::select! {
        started = agent.greet() => started,
        // its id is not known to the front end yet, so only the bridge can end it
        _ = wiring.ends.recv() => return agent.end().await,
    };
    match started {
        Ok(greeting) => {
            tracing::info!(agent_session = %greeting.session_id, "session started");
            let created = frame::created(&create.id, &wiring.session_id, &greeting.session_id);
            let mut session = Session::new(wiring, agent, greeting, &created);
            if let Some(prompt) = create.prompt
                && let Err(reason) = session.agent.user(prompt)
            {
                session.error(None, &reason);
            }
            session.run().await;
        }
        Err(failure) => {
            agent.end().await;
            not_created(wiring, &create.id, failure).await;
        }
    }
}

async fn not_created(mut wiring: Wiring, id: &str, failure: Failure) {
    wiring.commands.close();
    let error = ErrorPayload::new(Code::SessionCreateFailed, failure.message).details(failure.details);
    tokio::select! {
        // a front end that does not read any more does not need the reply
        _ = wiring.out.send(error.frame(Some(id), None).into()) => {}
        Some(_) = wiring.ends.recv() => {}
    }
}

struct Session<A: Agent> {
    wiring: Wiring,
    agent: A,
    greeting: Greeting,
    callbacks: Callbacks<A::Key>,
    calls: HashMap<A::Key, Waiting>,
    /// Lines for the front end, in order.
    outbox: Lines,
}

/// A pending call.
struct Waiting {
    id: String,
    purpose: Purpose,
    deadline: Instant,
}

#[derive(Clone, Copy)]
enum Purpose {
    Interrupt,
    Query(ResultPart),
}

/// Why the session ended.
enum EndCause {
    Exited(Gone),
    Ended(End),
    /// The front end does not read any more.
    FrontEndGone,
}

impl EndCause {
    fn name(&self) -> &'static str {
        match self {
            Self::Exited(_) => "the agent ended",
            Self::Ended(End::Kill { .. }) => "killed",
            Self::Ended(End::Shutdown) => "shutdown",
            Self::FrontEndGone => "the front end is gone",
        }
    }
}

type Sending = Pin<Box<dyn Future<Output = Result<(), Closed>> + Send>>;

impl<A: Agent> Session<A> {
    fn new(wiring: Wiring, agent: A, greeting: Greeting, first: &str) -> Self {
        let mut outbox = Lines::default();
        outbox.push(&[first]);
        Self { wiring, agent, greeting, callbacks: Callbacks::new(), calls: HashMap::new(), outbox }
    }

    async fn run(mut self) {
        let mut sending = None;
        let cause = self.run_until_end(&mut sending).await;
        tracing::info!(reason = cause.name(), "session ended");
        match cause {
            EndCause::Exited(gone) => {
                self.settle_all("the agent ended");
                let error = ErrorPayload::new(Code::SdkError, format!("the agent ended: {}", gone.reason));
                let last = error.details(gone.details.into()).frame(None, Some(&self.wiring.session_id));
                self.outbox.push(&[&last]);
                self.finish(sending).await;
            }
            EndCause::Ended(End::Kill { id }) => {
                // From here on no message of the agent is passed on. Earlier messages are still sent, and so are the replies among them.
                self.settle_all("the session was killed");
                let killed = frame::killed(&id, &self.wiring.session_id);
                self.outbox.push(&[&killed]);
                self.finish(sending).await;
            }
            EndCause::Ended(End::Shutdown) | EndCause::FrontEndGone => self.agent.end().await,
        }
    }

    /// Runs until the session ends. Lines that are being sent at that point stay in `sending`.
    async fn run_until_end(&mut self, sending: &mut Option<Sending>) -> EndCause {
        loop {
            if sending.is_none() && !self.outbox.is_empty() {
                match self.wiring.out.try_send(self.outbox.take()) {
                    Ok(()) => {}
                    // wait only if there is no room
                    Err(NotSent::Full(lines)) => {
                        let out = self.wiring.out.clone();
                        *sending = Some(Box::pin(async move { out.send(lines).await }));
                    }
                    Err(NotSent::Closed) => return EndCause::FrontEndGone,
                }
            }
            let deadline = self.next_deadline();
            tokio::select! {
                sent = wait_for(sending), if sending.is_some() => {
                    *sending = None;
                    if sent.is_err() {
                        return EndCause::FrontEndGone;
                    }
                }
                // the agent's next message waits for the earlier ones
                event = self.agent.next(), if sending.is_none() => match event {
                    Ok(event) => self.handle_events(event),
                    Err(gone) => return EndCause::Exited(gone),
                },
                Some(request) = self.wiring.commands.recv(), if self.outbox.len() < MAX_PENDING_LINES => self.handle_command(request),
                Some(end) = self.wiring.ends.recv() => return EndCause::Ended(end),
                () = passed(deadline) => self.expire(),
            }
        }
    }

    fn handle_events(&mut self, first: Event<A::Key>) {
        self.handle_event(first);
        while self.outbox.size() < BATCH_BYTES_LIMIT
            && let Some(event) = self.agent.more()
        {
            self.handle_event(event);
        }
    }

    fn handle_event(&mut self, event: Event<A::Key>) {
        let session_id = &self.wiring.session_id;
        match event {
            Event::Message(message) => self.outbox.push(&frame::sdk_message(session_id, &message)),
            Event::Answered { key, outcome } => {
                let Some(waiting) = self.calls.remove(&key) else { return };
                let reply = match (waiting.purpose, outcome) {
                    (Purpose::Interrupt, Ok(_)) => frame::interrupted(&waiting.id, session_id),
                    (Purpose::Interrupt, Err(reason)) => {
                        ErrorPayload::new(Code::SdkError, reason).frame(Some(&waiting.id), Some(session_id))
                    }
                    (Purpose::Query(part), outcome) => {
                        frame::query_result(&waiting.id, session_id, outcome.map(|answer| part.of(answer)))
                    }
                };
                self.outbox.push(&[&reply]);
            }
            Event::Question { key, kind, payload } => {
                let deadline = Instant::now() + self.wiring.config.callback_timeout;
                let id = self.callbacks.ask(key, kind, deadline);
                tracing::info!(id, ?kind, "callback");
                self.outbox.push(&[&frame::callback_request(&id, session_id, &payload)]);
            }
            Event::Cancelled { key } => self.callbacks.cancel(&key),
            Event::Commands(commands) => self.greeting.commands = commands,
            Event::Trouble(reason) => self.error(None, &reason),
            Event::Note(text) => self.log(&text),
            Event::Nothing => {}
        }
    }

    fn handle_command(&mut self, CommandRequest { id, command }: CommandRequest) {
        match command {
            Command::Send(message) => {
                if let Err(reason) = self.agent.user(message) {
                    self.error(Some(&id), &reason);
                }
            }
            Command::Interrupt => match self.agent.call(&Call::Interrupt) {
                Ok(key) => self.wait(key, id, Purpose::Interrupt),
                Err(reason) => self.error(Some(&id), &reason),
            },
            Command::Answer(payload) => match self.callbacks.answer(&id, &payload) {
                Ok((key, answer)) => {
                    if let Err(reason) = self.agent.answer(&key, &answer) {
                        self.error(Some(&id), &reason);
                    }
                }
                Err(error) => self.outbox.push(&[&error.frame(Some(&id), Some(&self.wiring.session_id))]),
            },
            Command::Query { method, args } => match Query::parse(&method, &args) {
                Ok(Query::Stored(stored)) => {
                    let known = match stored {
                        Stored::Models => Some(&self.greeting.models),
                        Stored::Commands => Some(&self.greeting.commands),
                        Stored::Account => self.greeting.account.as_ref(),
                    };
                    let known = known.cloned().ok_or_else(|| format!("this agent does not have `{method}`"));
                    let result = frame::query_result(&id, &self.wiring.session_id, known);
                    self.outbox.push(&[&result]);
                }
                Ok(Query::Ask(call, part)) => match self.agent.call(&call) {
                    Ok(key) => self.wait(key, id, Purpose::Query(part)),
                    Err(reason) => self.query_failed(&id, &reason),
                },
                Err(reason) => {
                    let result = frame::query_result(&id, &self.wiring.session_id, Err(reason));
                    self.outbox.push(&[&result]);
                }
            },
            // sent over a channel of its own, so that nothing delays it
            Command::Kill => self.log("bug: a kill arrived in the command queue"),
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        for (id, key, answer) in self.callbacks.expired(now) {
            if let Err(reason) = self.agent.answer(&key, &answer) {
                self.log(&reason);
            }
            let error = ErrorPayload::new(Code::CallbackTimeout, "the callback was not answered in time");
            self.outbox.push(&[&error.frame(Some(&id), Some(&self.wiring.session_id))]);
        }
        let late: Vec<_> =
            self.calls.iter().filter(|(_, it)| it.deadline <= now).map(|(key, _)| key.clone()).collect();
        for key in late {
            self.agent.forget(&key);
            if let Some(waiting) = self.calls.remove(&key) {
                self.call_failed(&waiting, "the agent did not answer in time");
            }
        }
    }

    fn wait(&mut self, key: A::Key, id: String, purpose: Purpose) {
        let deadline = Instant::now() + self.wiring.config.agent_timeout;
        self.calls.insert(key, Waiting { id, purpose, deadline });
    }

    fn next_deadline(&self) -> Option<Instant> {
        let calls = self.calls.values().map(|waiting| waiting.deadline).min();
        [self.callbacks.next_deadline(), calls].into_iter().flatten().min()
    }

    /// Answers everything that is pending with an error, and accepts no more commands.
    fn settle_all(&mut self, reason: &str) {
        for (_, waiting) in std::mem::take(&mut self.calls) {
            self.call_failed(&waiting, reason);
        }
        self.wiring.commands.close();
        while let Ok(CommandRequest { id, command }) = self.wiring.commands.try_recv() {
            match command {
                Command::Send(_) | Command::Interrupt | Command::Kill => self.error(Some(&id), reason),
                Command::Query { .. } => self.query_failed(&id, reason),
                Command::Answer(_) => {
                    let error = ErrorPayload::new(Code::CallbackNotFound, reason);
                    self.outbox.push(&[&error.frame(Some(&id), Some(&self.wiring.session_id))]);
                }
            }
        }
    }

    /// Ends the agent, then sends the remaining lines after those being sent.
    async fn finish(self, sending: Option<Sending>) {
        let Self { agent, mut outbox, mut wiring, .. } = self;
        agent.end().await;
        let flushed = async {
            if let Some(sending) = sending {
                sending.await?;
            }
            wiring.out.send(outbox.take()).await
        };
        tokio::select! {
            // a front end that does not read any more does not need the lines
            _ = flushed => {}
            // the bridge does not wait for a front end that does not read
            Some(_) = wiring.ends.recv() => {}
        }
    }

    fn call_failed(&mut self, waiting: &Waiting, reason: &str) {
        match waiting.purpose {
            Purpose::Interrupt => self.error(Some(&waiting.id), reason),
            Purpose::Query(_) => self.query_failed(&waiting.id, reason),
        }
    }

    fn query_failed(&mut self, id: &str, reason: &str) {
        let error = ErrorPayload::new(Code::QueryMethodFailed, reason);
        self.outbox.push(&[&error.frame(Some(id), Some(&self.wiring.session_id))]);
    }

    fn error(&mut self, id: Option<&str>, reason: &str) {
        let error = ErrorPayload::new(Code::SdkError, reason);
        self.outbox.push(&[&error.frame(id, Some(&self.wiring.session_id))]);
    }

    fn log(&self, text: &str) {
        (self.wiring.config.log)(&format!("session {}: {text}", self.wiring.session_id));
    }
}

/// Waits for a deadline; without one, forever.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn wait_for(sending: &mut Option<Sending>) -> Result<(), Closed> {
    match sending {
        Some(sending) => sending.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
