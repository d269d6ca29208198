//! Reads the front end and routes each request to the task of its session. Never waits for a session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{LineConnection, LineSender, RawLine};
use serde_json::json;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::agent::{Claude, Droid, Failure, ModelNames, SessionPlan};
use crate::config::{Config, Engine};
use crate::options;
use crate::session::{CommandRequest, End, Wiring, serve};
use crate::wire::frame::{Code, ErrorPayload};
use crate::wire::payload::AgentKind;
use crate::wire::request::{Command, Create, Request};

/// Maximum number of commands that wait for a session.
const MAX_PENDING_COMMANDS: usize = 256;
/// How long all sessions together may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// How long writing the last lines may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves one front end until its input ends, it does not read any more, or `stop` completes. Then all sessions are ended.
pub async fn run(config: Config, front_end: LineConnection, stop: impl Future<Output = ()>) {
    let LineConnection { mut incoming, outgoing } = front_end;
    let mut bridge = Bridge {
        config: Arc::new(config),
        out: outgoing.clone(),
        sessions: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let serve = async {
        while let Ok(line) = incoming.recv().await {
            if let Some(reply) = bridge.take(&line)
                && outgoing.send(RawLine::from(reply)).await.is_err()
            {
                return;
            }
        }
    };
    tokio::select! {
        () = serve => {}
        () = outgoing.closed() => {}
        () = stop => {}
    }
    bridge.end().await;
    outgoing.finish(FLUSH_TIMEOUT).await;
}

struct Bridge {
    config: Arc<Config>,
    out: LineSender,
    sessions: HashMap<String, Handle>,
    tasks: JoinSet<()>,
}

/// The channels to a session. Its task closes them when the session has ended.
struct Handle {
    commands: mpsc::Sender<CommandRequest>,
    ends: mpsc::Sender<End>,
}

impl Bridge {
    /// Handles a line; returns the reply if it is known at once.
    fn take(&mut self, line: &RawLine) -> Option<String> {
        match Request::parse(line)? {
            Ok(Request::Create(create)) => self.create(create),
            Ok(Request::Session { id, session_id, command }) => self.route(&id, &session_id, command),
            Err(invalid) => Some(invalid.frame()),
        }
    }

    fn create(&mut self, create: Box<Create>) -> Option<String> {
        self.sessions.retain(|_, handle| !handle.commands.is_closed());
        while self.tasks.try_join_next().is_some() {}
        for name in &create.unknown_options {
            (self.config.log)(&format!("ignored the unknown option `{name}`"));
        }
        let id = create.id.clone();
        let chosen = match self.choose(create) {
            Ok(chosen) => chosen,
            Err(message) => {
                let error = ErrorPayload::new(Code::SessionCreateFailed, message);
                return Some(error.details(json!({"phase": "validate"})).frame(Some(&id), None));
            }
        };
        let session_id = Uuid::new_v4().to_string();
        let (commands, inbox) = mpsc::channel(MAX_PENDING_COMMANDS);
        // room for a kill and a shutdown
        let (ends, end) = mpsc::channel(2);
        self.sessions.insert(session_id.clone(), Handle { commands, ends });
        let span = tracing::info_span!("session", id = %session_id);
        let config = Arc::clone(&self.config);
        let wiring = Wiring { session_id, config, out: self.out.clone(), commands: inbox, ends: end };
        match chosen {
            Chosen::Claude(create) => self.tasks.spawn(start_claude(wiring, *create).instrument(span)),
            Chosen::Droid(create, agent, plan) => {
                self.tasks.spawn(start_droid(wiring, *create, agent, *plan).instrument(span))
            }
        };
        None
    }

    /// Selects the agent and validates its options.
    fn choose(&self, mut create: Box<Create>) -> Result<Chosen, String> {
        let kind = create.options.agent.unwrap_or(AgentKind::Claude);
        options::invalid_option(&create.options, &create.cwd).map_or(Ok(()), Err)?;
        if kind == AgentKind::Claude {
            return Ok(Chosen::Claude(create));
        }
        let mut plan = SessionPlan::new(std::mem::take(&mut create.options), &create.cwd)?;
        if kind == AgentKind::Engine {
            plan.default_sandbox(self.config.sandbox.as_ref());
        } else if plan.has_sandbox() {
            return Err("this agent cannot do `sandbox`".to_owned());
        }
        let agent = match (kind, &self.config.engine) {
            (AgentKind::Engine, Engine::Embedded(make)) => {
                let engine = make()?;
                plan.know_models(ModelNames::of(engine.has_model));
                engine.agent
            }
            (AgentKind::Engine, Engine::Program(program)) => Droid::program(program, plan.cwd()),
            _ => Droid::program(&self.config.droid, plan.cwd()),
        };
        Ok(Chosen::Droid(create, agent, Box::new(plan)))
    }

    fn route(&mut self, id: &str, session_id: &str, command: Command) -> Option<String> {
        let refuse =
            |code, message: &str| Some(ErrorPayload::new(code, message).frame(Some(id), Some(session_id)));
        let unknown = || refuse(Code::SessionNotFound, "unknown session");
        if matches!(command, Command::Kill) {
            let handle = self.sessions.remove(session_id).filter(|handle| !handle.commands.is_closed());
            // fails if the session has just ended
            let is_sent =
                handle.is_some_and(|handle| handle.ends.try_send(End::Kill { id: id.to_owned() }).is_ok());
            return if is_sent { None } else { unknown() };
        }
        let Some(handle) = self.sessions.get(session_id) else { return unknown() };
        match handle.commands.try_send(CommandRequest { id: id.to_owned(), command }) {
            Ok(()) => None,
            Err(TrySendError::Closed(_)) => {
                self.sessions.remove(session_id);
                unknown()
            }
            Err(TrySendError::Full(_)) => {
                refuse(Code::SdkError, "the queue of this session is full; wait for replies")
            }
        }
    }

    /// Ends all sessions concurrently.
    async fn end(mut self) {
        for handle in self.sessions.values() {
            handle.ends.try_send(End::Shutdown).ok();
        }
        // killed sessions are ending already
        let all = async { while self.tasks.join_next().await.is_some() {} };
        timeout(END_TIMEOUT, all).await.ok();
    }
}

/// An agent with its options.
enum Chosen {
    Claude(Box<Create>),
    /// An agent of the Droid protocol: droid, or the engine.
    Droid(Box<Create>, musher::Agent, Box<SessionPlan>),
}

async fn start_claude(wiring: Wiring, create: Create) {
    let config = Arc::clone(&wiring.config);
    let cwd = PathBuf::from(&create.cwd);
    let mut create = create;
    let prepared = options::for_claude(std::mem::take(&mut create.options), config.callback_timeout);
    let start = async move { Claude::start(&config.claude, &cwd, prepared, config.agent_timeout).await };
    serve(wiring, create, start).await;
}

async fn start_droid(wiring: Wiring, create: Create, agent: musher::Agent, plan: SessionPlan) {
    for note in &plan.notes {
        (wiring.config.log)(&format!("session {}: {note}", wiring.session_id));
    }
    let droid = Droid::start(agent, plan, wiring.config.agent_timeout);
    serve(wiring, create, async move { Ok::<_, Failure>(droid) }).await;
}
