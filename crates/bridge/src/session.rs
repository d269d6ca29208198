//! The task that owns one session: it brings an agent and the front end together.
//!
//! It waits for nobody in particular: a front end that does not read stops the agent's stream, and nothing else. Every
//! request that has a reply gets exactly one, also when the session ends under it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use musher_claude::Call;
use musher_rpc::{Closed, LineSender, Lines};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::agent::{Agent, Event, Failure, Gone, Greeting};
use crate::callback::Callbacks;
use crate::config::Config;
use crate::query::{Give, Query, Stored};
use crate::wire::frame::{self, Code, ErrorPayload};
use crate::wire::request::{Command, Create};

/// How many replies may wait for a front end that does not read, before its commands wait as well.
const REPLIES: usize = 256;

/// How much of what the agent says is taken at once, in bytes, before anybody else is listened to.
const AT_ONCE: usize = 16 * 1024;

/// A command with the id of the request it came in.
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) command: Command,
}

/// Why a session has to end.
pub(crate) enum End {
    /// The front end wants it, and waits for the reply to this request.
    Kill { id: String },
    /// The bridge ends.
    Shutdown,
}

/// What connects a session with the rest.
pub(crate) struct Wiring {
    pub(crate) session_id: String,
    pub(crate) config: Arc<Config>,
    pub(crate) out: LineSender,
    pub(crate) commands: mpsc::Receiver<Asked>,
    pub(crate) ends: mpsc::Receiver<End>,
}

/// Starts an agent and serves it to the end.
pub(crate) async fn serve<A: Agent>(
    mut wiring: Wiring,
    create: Create,
    start: impl Future<Output = Result<A, Failure>>,
) {
    let mut agent = match start.await {
        Ok(agent) => agent,
        Err(failure) => return not_created(wiring, &create.id, failure).await,
    };
    let greeted = tokio::select! {
        greeted = agent.greet() => greeted,
        // nobody knows its id yet, so it is the bridge that ends
        _ = wiring.ends.recv() => return agent.end().await,
    };
    match greeted {
        Ok(greeting) => {
            let created = frame::created(&create.id, &wiring.session_id, &greeting.session_id);
            let mut session = Session::new(wiring, agent, greeting, &created);
            if let Some(prompt) = create.prompt
                && let Err(reason) = session.agent.user(prompt)
            {
                session.trouble(None, &reason);
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
        // if nobody reads any more, nobody misses it
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

/// Who waits for the answer to a call.
struct Waiting {
    id: String,
    purpose: Purpose,
    deadline: Instant,
}

#[derive(Clone, Copy)]
enum Purpose {
    Interrupt,
    Query(Give),
}

/// Why the conversation is over.
enum Over {
    Exited(Gone),
    Ended(End),
    /// Nobody reads what we write.
    Unheard,
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
        match self.converse(&mut sending).await {
            Over::Exited(gone) => {
                self.settle_all("the agent ended");
                let error = ErrorPayload::new(Code::SdkError, format!("the agent ended: {}", gone.reason));
                let last = error.details(gone.details.into()).frame(None, Some(&self.wiring.session_id));
                self.outbox.push(&[&last]);
                self.leave(sending).await;
            }
            Over::Ended(End::Kill { id }) => {
                // From here on nothing of the agent is passed on. What it said before goes out, and so do the replies among it.
                self.settle_all("the session was killed");
                let killed = frame::killed(&id, &self.wiring.session_id);
                self.outbox.push(&[&killed]);
                self.leave(sending).await;
            }
            Over::Ended(End::Shutdown) | Over::Unheard => self.agent.end().await,
        }
    }

    /// Goes on until something ends it. What was on its way to the front end by then stays in `sending`.
    async fn converse(&mut self, sending: &mut Option<Sending>) -> Over {
        loop {
            if sending.is_none() && !self.outbox.is_empty() {
                match self.wiring.out.offer(self.outbox.take()) {
                    Ok(None) => {}
                    // only who finds no room stands in line for it
                    Ok(Some(lines)) => {
                        let out = self.wiring.out.clone();
                        *sending = Some(Box::pin(async move { out.send(lines).await }));
                    }
                    Err(_gone) => return Over::Unheard,
                }
            }
            let deadline = self.next_deadline();
            tokio::select! {
                sent = wait_for(sending), if sending.is_some() => {
                    *sending = None;
                    if sent.is_err() {
                        return Over::Unheard;
                    }
                }
                // what it says has to wait for what was said before
                event = self.agent.next(), if sending.is_none() => match event {
                    Ok(event) => self.heard_all(event),
                    Err(gone) => return Over::Exited(gone),
                },
                Some(asked) = self.wiring.commands.recv(), if self.outbox.len() < REPLIES => self.obey(asked),
                Some(end) = self.wiring.ends.recv() => return Over::Ended(end),
                () = passed(deadline) => self.expire(),
            }
        }
    }

    fn heard_all(&mut self, first: Event<A::Key>) {
        self.heard(first);
        while self.outbox.size() < AT_ONCE
            && let Some(event) = self.agent.more()
        {
            self.heard(event);
        }
    }

    fn heard(&mut self, event: Event<A::Key>) {
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
                    (Purpose::Query(give), outcome) => {
                        frame::query_result(&waiting.id, session_id, outcome.map(|answer| give.of(answer)))
                    }
                };
                self.outbox.push(&[&reply]);
            }
            Event::Question { key, kind, payload } => {
                let deadline = Instant::now() + self.wiring.config.callback_timeout;
                let id = self.callbacks.ask(key, kind, deadline);
                self.outbox.push(&[&frame::callback_request(&id, session_id, &payload)]);
            }
            Event::Cancelled { key } => self.callbacks.cancel(&key),
            Event::Commands(commands) => self.greeting.commands = commands,
            Event::Trouble(reason) => self.trouble(None, &reason),
            Event::Note(text) => self.log(&text),
            Event::Nothing => {}
        }
    }

    fn obey(&mut self, Asked { id, command }: Asked) {
        match command {
            Command::Send(message) => {
                if let Err(reason) = self.agent.user(message) {
                    self.trouble(Some(&id), &reason);
                }
            }
            Command::Interrupt => match self.agent.call(&Call::Interrupt) {
                Ok(key) => self.wait(key, id, Purpose::Interrupt),
                Err(reason) => self.trouble(Some(&id), &reason),
            },
            Command::Answer(payload) => match self.callbacks.answer(&id, &payload) {
                Ok((key, answer)) => {
                    if let Err(reason) = self.agent.answer(&key, &answer) {
                        self.trouble(Some(&id), &reason);
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
                Ok(Query::Ask(call, give)) => match self.agent.call(&call) {
                    Ok(key) => self.wait(key, id, Purpose::Query(give)),
                    Err(reason) => self.query_failed(&id, &reason),
                },
                Err(reason) => {
                    let result = frame::query_result(&id, &self.wiring.session_id, Err(reason));
                    self.outbox.push(&[&result]);
                }
            },
            // comes another way, so that nothing can be in its way
            Command::Kill => self.log("bug: a kill came in the ordinary way"),
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
                self.give_up(&waiting, "the agent did not answer in time");
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

    /// Answers everything that still waits for an answer, and takes no more.
    fn settle_all(&mut self, reason: &str) {
        for (_, waiting) in std::mem::take(&mut self.calls) {
            self.give_up(&waiting, reason);
        }
        self.wiring.commands.close();
        while let Ok(Asked { id, command }) = self.wiring.commands.try_recv() {
            match command {
                Command::Send(_) | Command::Interrupt | Command::Kill => self.trouble(Some(&id), reason),
                Command::Query { .. } => self.query_failed(&id, reason),
                Command::Answer(_) => {
                    let error = ErrorPayload::new(Code::CallbackNotFound, reason);
                    self.outbox.push(&[&error.frame(Some(&id), Some(&self.wiring.session_id))]);
                }
            }
        }
    }

    /// Ends the agent, then says the last words, behind what is on its way.
    async fn leave(self, sending: Option<Sending>) {
        let Self { agent, mut outbox, mut wiring, .. } = self;
        agent.end().await;
        let farewell = async {
            if let Some(sending) = sending {
                sending.await?;
            }
            wiring.out.send(outbox.take()).await
        };
        tokio::select! {
            // if nobody reads any more, nobody misses it
            _ = farewell => {}
            // the bridge does not wait for a front end that does not read
            Some(_) = wiring.ends.recv() => {}
        }
    }

    fn give_up(&mut self, waiting: &Waiting, reason: &str) {
        match waiting.purpose {
            Purpose::Interrupt => self.trouble(Some(&waiting.id), reason),
            Purpose::Query(_) => self.query_failed(&waiting.id, reason),
        }
    }

    fn query_failed(&mut self, id: &str, reason: &str) {
        let error = ErrorPayload::new(Code::QueryMethodFailed, reason);
        self.outbox.push(&[&error.frame(Some(id), Some(&self.wiring.session_id))]);
    }

    fn trouble(&mut self, id: Option<&str>, reason: &str) {
        let error = ErrorPayload::new(Code::SdkError, reason);
        self.outbox.push(&[&error.frame(id, Some(&self.wiring.session_id))]);
    }

    fn log(&self, text: &str) {
        (self.wiring.config.log)(&format!("session {}: {text}", self.wiring.session_id));
    }
}

/// Waits for a deadline; without one, for ever.
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
