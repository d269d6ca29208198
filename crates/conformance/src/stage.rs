//! A sandbox with an agent and a scripted model, ready for sessions.

use std::future::Future;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use musher::{Agent, Event, ResumeBuilder, Session, SessionBuilder, Turn};
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Server, When, when};
use testkit::{Backend, Sandbox, droid};

/// The time limit of everything that a test waits for.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// Everything a session needs. End it with [`Stage::finish`].
#[derive(Debug)]
pub struct Stage {
    // `None` only after `finish`
    sandbox: Option<Sandbox>,
    /// The scripted model.
    pub model: Server,
    agent: Agent,
    kind: Kind,
}

/// The kind of an agent, for tests that depend on it.
#[derive(Debug)]
pub enum Kind {
    /// The real droid, with the stand-in for its vendor's service.
    Droid(Backend),
    /// The engine as a program.
    Program,
    /// The engine in the process of the test.
    InProcess,
}

impl Stage {
    /// Combines what a target has prepared.
    pub fn new(sandbox: Sandbox, model: Server, agent: Agent, kind: Kind) -> Self {
        Self { sandbox: Some(sandbox), model, agent, kind }
    }

    /// Returns the sandbox with the agent and its files.
    pub fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is taken only at the end")
    }

    /// Returns the agent of the sandbox.
    pub fn agent(&self) -> Agent {
        self.agent.clone()
    }

    /// Returns the stand-in for the vendor's service, if the agent uses one.
    pub fn backend(&self) -> Option<&Backend> {
        match &self.kind {
            Kind::Droid(backend) => Some(backend),
            Kind::Program | Kind::InProcess => None,
        }
    }

    /// Whether the agent is droid itself.
    pub fn is_droid(&self) -> bool {
        matches!(self.kind, Kind::Droid(_))
    }

    /// Whether the agent is a process of its own.
    pub fn is_program(&self) -> bool {
        !matches!(self.kind, Kind::InProcess)
    }

    /// Returns the directory of the agent's files.
    pub fn agent_home(&self) -> PathBuf {
        self.sandbox().home().join(if self.is_droid() { ".factory" } else { ".musher" })
    }

    /// Creates a listener that the agent can reach.
    pub fn listen(&self) -> Result<TcpListener> {
        if self.is_program() {
            return self.sandbox().listen();
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Creates a session builder for the sandbox's workspace, with the scripted model.
    pub fn session(&self) -> SessionBuilder {
        Session::builder().agent(self.agent()).cwd(self.sandbox().workspace()).model(droid::CHAT_MODEL)
    }

    /// Creates a builder that resumes a session.
    pub fn resume(&self, id: impl Into<String>) -> ResumeBuilder {
        Session::resume(id).agent(self.agent())
    }

    /// Returns the text of each model request of a turn, without side requests.
    pub fn asked(&self) -> Vec<String> {
        let calls = self.model.calls();
        let calls = calls.iter().filter(|call| call.call.as_ref().is_some_and(|call| !call.tools.is_empty()));
        calls.map(|call| call.body.as_ref().map(Value::to_string).unwrap_or_default()).collect()
    }

    /// Fails if anything is left running.
    pub async fn finish(mut self) -> Result<()> {
        let sandbox = self.sandbox.take().context("it is taken only here")?;
        drop(self);
        sandbox.finish().await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // a test that returns an error leaves things running; its error is more useful
        if let Some(sandbox) = self.sandbox.take()
            && !std::thread::panicking()
        {
            drop(sandbox.finish_blocking());
        }
    }
}

/// Matches the n-th model call of a turn whose prompt contains this word.
pub fn on(word: &str, call: u32) -> When {
    when().with_tools().prompt(word).call(call)
}

/// A call of the Execute tool. At autonomy off it needs permission, unless the command is known to be harmless.
pub fn execute(command: &str, risk: &str) -> Reply {
    let arguments = json!({
        "command": command, "summary": "Run it", "timeout": 120,
        "riskLevel": risk, "riskLevelReason": "for a test",
    });
    Reply::tool("Execute", arguments)
}

/// Waits with a deadline.
pub async fn soon<T>(what: &str, waited: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(TIMEOUT, waited).await.with_context(|| format!("timed out waiting for {what}"))
}

/// Reads a turn until an event matches.
pub async fn until(turn: &mut Turn, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<Event> {
    let reading = async {
        while let Some(event) = turn.next().await {
            let event = event?;
            if wanted(&event) {
                return Ok(event);
            }
        }
        anyhow::bail!("the turn ended before {what}")
    };
    soon(what, reading).await?
}
