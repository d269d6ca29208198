//! A sandbox with the real droid and a scripted model, ready for sessions.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use musher::{Agent, Event, ResumeBuilder, Session, SessionBuilder, Turn};
use serde_json::{Value, json};
use testkit::peers::Installed;
use testkit::rehearse::{Reply, Script, Server, When, when};
use testkit::{Backend, Launch, Sandbox, droid};

/// How long anything may take that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Everything a session needs. End it with [`Stage::finish`].
pub(crate) struct Stage {
    // taken at the end
    sandbox: Option<Sandbox>,
    pub(crate) model: Server,
    pub(crate) backend: Backend,
    launch: Launch,
    droid: PathBuf,
}

impl Stage {
    pub(crate) fn new(droid: &Installed, script: Script) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let backend = Backend::start(&sandbox)?;
        // side calls, such as for titles, must not fail
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        let launch = droid::launch(&sandbox, droid, &model.url(), &backend)?;
        Ok(Self { sandbox: Some(sandbox), model, droid: droid.entry(), backend, launch })
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is taken only at the end")
    }

    /// The droid of the sandbox.
    pub(crate) fn agent(&self) -> Agent {
        Agent::launch(self.sandbox().agent(&self.launch))
    }

    /// The program of the droid.
    pub(crate) fn droid(&self) -> &Path {
        &self.droid
    }

    /// A program in the sandbox that uses the droid: one of our examples.
    pub(crate) fn example(&self, name: &str) -> Launch {
        // this test is in `deps`, beside the folder of the examples, which are built with all targets
        let tests = std::env::current_exe().expect("a test has a path");
        let folder = tests.ancestors().nth(2).expect("a test is in a folder").join("examples");
        let program = folder.join(name);
        assert!(program.exists(), "{} is missing: run `cargo build --examples`", program.display());
        let launch = self.sandbox().launch(program).env("MUSHER_AGENT", &self.droid);
        droid::with_account(launch, &self.backend)
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
