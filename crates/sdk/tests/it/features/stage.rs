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

/// How long anything may take that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Everything a session needs. End it with [`Stage::finish`].
pub(crate) struct Stage {
    // taken at the end
    sandbox: Option<Sandbox>,
    pub(crate) model: Server,
    agent: Agent,
    nature: Nature,
}

/// What tests must know of the agent.
#[allow(dead_code, reason = "whoever includes this makes one of them")]
pub(crate) enum Nature {
    /// The real one, with the stand-in for its vendor's service.
    Droid(Backend),
    /// The engine as a program.
    Program,
    /// The engine in the process of the test.
    InProcess,
}

impl Stage {
    pub(crate) fn new(sandbox: Sandbox, model: Server, agent: Agent, nature: Nature) -> Self {
        Self { sandbox: Some(sandbox), model, agent, nature }
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is taken only at the end")
    }

    /// The agent of the sandbox.
    pub(crate) fn agent(&self) -> Agent {
        self.agent.clone()
    }

    /// The stand-in for the vendor's service, if the agent asks it anything.
    pub(crate) fn backend(&self) -> Option<&Backend> {
        match &self.nature {
            Nature::Droid(backend) => Some(backend),
            Nature::Program | Nature::InProcess => None,
        }
    }

    /// Whether the agent is droid itself.
    pub(crate) fn is_droid(&self) -> bool {
        matches!(self.nature, Nature::Droid(_))
    }

    /// Whether the agent is a process of its own.
    pub(crate) fn is_program(&self) -> bool {
        !matches!(self.nature, Nature::InProcess)
    }

    /// Where the agent keeps its files.
    pub(crate) fn agent_home(&self) -> PathBuf {
        self.sandbox().home().join(if self.is_droid() { ".factory" } else { ".musher" })
    }

    /// A listener that the agent can reach.
    pub(crate) fn listen(&self) -> Result<TcpListener> {
        if self.is_program() {
            return self.sandbox().listen();
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// A session in the sandbox's workspace, with the scripted model.
    pub(crate) fn session(&self) -> SessionBuilder {
        Session::builder().agent(self.agent()).cwd(self.sandbox().workspace()).model(droid::CHAT_MODEL)
    }

    /// A session that was there before.
    pub(crate) fn resume(&self, id: impl Into<String>) -> ResumeBuilder {
        Session::resume(id).agent(self.agent())
    }

    /// What the model was asked by turns, not by side calls: the text of each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        let calls = self.model.calls();
        let calls = calls.iter().filter(|call| call.call.as_ref().is_some_and(|call| !call.tools.is_empty()));
        calls.map(|call| call.body.as_ref().map(Value::to_string).unwrap_or_default()).collect()
    }

    /// Fails if anything is left running.
    pub(crate) async fn finish(mut self) -> Result<()> {
        let sandbox = self.sandbox.take().context("it is taken only here")?;
        drop(self);
        sandbox.finish().await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // a test that returns an error left things running; the error says more than that
        if let Some(sandbox) = self.sandbox.take()
            && !std::thread::panicking()
        {
            drop(sandbox.finish_blocking());
        }
    }
}

/// The n-th model call of a turn whose prompt has this word.
pub(crate) fn on(word: &str, call: u32) -> When {
    when().with_tools().prompt(word).call(call)
}

/// A call of the tool that runs commands. Without autonomy it is asked for, unless the risk is known to be none.
pub(crate) fn execute(command: &str, risk: &str) -> Reply {
    let arguments = json!({
        "command": command, "summary": "Run it", "timeout": 120,
        "riskLevel": risk, "riskLevelReason": "for a test",
    });
    Reply::tool("Execute", arguments)
}

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: &str, waited: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(PATIENCE, waited).await.with_context(|| format!("waited too long for {what}"))
}

/// Reads a turn until an event is as wanted.
pub(crate) async fn until(turn: &mut Turn, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<Event> {
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
