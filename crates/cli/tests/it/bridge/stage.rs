//! The environment of a test: a sandbox, a bridge in it, and an app that talks to the bridge.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use musher_rehearse::{Reply, Script, Server};
use serde_json::{Value, json};
use testkit::peers::Installed;
use testkit::{Backend, Launch, Program, Sandbox, claude, droid};

/// The stand-in for the CLI.
pub(crate) const FAKE: &str = include_str!("fake_claude.py");

pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) model: Option<Server>,
    pub(crate) app: App,
    /// The setup of droid besides a model.
    backend: Option<Backend>,
}

/// The app: it keeps every message it received.
pub(crate) struct App {
    pub(crate) program: Program,
    pub(crate) told: Vec<Value>,
    asked: usize,
    cwd: String,
}

impl Stage {
    /// A bridge with the stand-in for the CLI.
    pub(crate) fn fake(args: &[&str], env: &[(&str, &str)]) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let path = fake_claude(&sandbox)?;
        let mut launch = bridge(&sandbox)
            .arg("--claude")
            .arg(&path)
            .args(args)
            .env("MUSHER_DROID", sandbox.home().join("droid"));
        for (name, value) in env {
            launch = launch.env(name, value);
        }
        Self::on(sandbox, None, &launch)
    }

    /// A bridge with the real CLI and a scripted model.
    pub(crate) fn real(installed: &Installed, script: Script, args: &[&str]) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let model = sandbox.model(script)?;
        let needs = claude::launch(&sandbox, installed, &model.url());
        let mut launch = bridge(&sandbox).args(args).env("MUSHER_CLAUDE", &needs.program);
        for (name, value) in &needs.env {
            launch = launch.env(name, value);
        }
        Self::on(sandbox, Some(model), &launch)
    }

    /// A bridge with the real droid and a scripted model.
    pub(crate) fn droid(installed: &Installed, script: Script, args: &[&str]) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let backend = Backend::start(&sandbox)?;
        // side calls, such as for titles, must not fail
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        droid::configure(&sandbox, &model.url())?;
        let launch = bridge(&sandbox).args(args).env("MUSHER_DROID", installed.entry());
        let launch = droid::with_account(launch, &backend);
        Ok(Self { backend: Some(backend), ..Self::on(sandbox, Some(model), &launch)? })
    }

    /// A bridge whose engine has a scripted model.
    pub(crate) fn engine(script: Script) -> Result<Self> {
        Self::with_engine(script, bridge)
    }

    /// The same with the small program, which finds the engine in `musher` beside it.
    pub(crate) fn engine_beside(script: Script) -> Result<Self> {
        Self::with_engine(script, bridge_alone)
    }

    fn with_engine(script: Script, bridge: fn(&Sandbox) -> Launch) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let model = sandbox.model(script)?;
        // the engine reads these settings, too
        droid::configure(&sandbox, &model.url())?;
        let launch = bridge(&sandbox);
        Self::on(sandbox, Some(model), &launch)
    }

    /// Both kinds of an engine, with models of the settings and of a vendor with a key.
    pub(crate) fn with_vendor(script: Script, is_beside: bool) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let model = sandbox.model(script)?;
        droid::configure(&sandbox, &model.url())?;
        let launch = if is_beside { bridge_alone(&sandbox) } else { bridge(&sandbox) };
        let address = format!("{}/v1", model.url());
        let launch = launch.env("OPENAI_API_KEY", "x").env("OPENAI_BASE_URL", address);
        Self::on(sandbox, Some(model), &launch)
    }

    /// The small program with the stand-in for the CLI.
    pub(crate) fn alone(args: &[&str]) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let launch = bridge_alone(&sandbox).arg("--claude").arg(fake_claude(&sandbox)?).args(args);
        Self::on(sandbox, None, &launch)
    }

    fn on(sandbox: Sandbox, model: Option<Server>, launch: &Launch) -> Result<Self> {
        let program = sandbox.spawn(launch)?;
        let cwd = sandbox.workspace().to_str().context("a path of letters")?.to_owned();
        Ok(Self { app: App { program, told: Vec::new(), asked: 0, cwd }, sandbox, model, backend: None })
    }

    /// How many bytes the stand-in has written.
    pub(crate) fn written_by_agent(&self) -> usize {
        let agent = self.sandbox.processes().into_iter().find(|it| it.command.contains("python")).unwrap();
        let io = fs_err::read_to_string(format!("/proc/{}/io", agent.pid)).unwrap();
        io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
    }

    /// Waits until the stand-in cannot write any more: its count of written bytes stands still.
    pub(crate) async fn until_the_agent_waits(&self) {
        let last = std::cell::Cell::new((0, 0));
        eventually("the agent has to wait", || {
            let now = self.written_by_agent();
            let (before, times) = last.get();
            last.set(if before == now && now > 100_000 { (now, times + 1) } else { (now, 0) });
            last.get().1 >= 10
        })
        .await;
    }

    /// Ends the bridge by the end of its input, and fails if it fails or leaves processes.
    pub(crate) async fn finish(self) -> Result<()> {
        let Self { sandbox, model, app, backend } = self;
        let ended = app.program.end().await?;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        drop(backend);
        drop_model(model).await;
        sandbox.finish().await
    }

    /// Fails if processes are left, after the bridge was ended in some other way.
    pub(crate) async fn finish_without_bridge(self) -> Result<()> {
        let Self { sandbox, model, app, backend } = self;
        drop((app, backend));
        drop_model(model).await;
        sandbox.finish().await
    }
}

async fn drop_model(model: Option<Server>) {
    if let Some(model) = model {
        model.shutdown().await;
    }
}

pub(crate) fn bridge(sandbox: &Sandbox) -> Launch {
    sandbox.launch(env!("CARGO_BIN_EXE_musher")).arg("bridge")
}

/// Installs the stand-in; returns its path.
fn fake_claude(sandbox: &Sandbox) -> Result<PathBuf> {
    let path = sandbox.home().join("claude");
    fs_err::write(&path, format!("#!/usr/bin/env python3\n{FAKE}"))?;
    fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(path)
}

/// The small program.
fn bridge_alone(sandbox: &Sandbox) -> Launch {
    sandbox.launch(env!("CARGO_BIN_EXE_musher-bridge"))
}

impl App {
    /// Sends a message; returns its id.
    pub(crate) async fn ask(&mut self, kind: &str, session: Option<&str>, payload: Value) -> Result<String> {
        self.asked += 1;
        let id = format!("r{}", self.asked);
        let mut message = json!({"type": kind, "id": id, "payload": payload});
        if let Some(session) = session {
            message["session_id"] = session.into();
        }
        self.program.send(&message).await?;
        Ok(id)
    }

    /// Requests a session; returns the id of the request.
    pub(crate) async fn ask_for_session(&mut self, prompt: &str, options: Value) -> Result<String> {
        let payload = json!({"prompt": prompt, "cwd": self.cwd, "options": options});
        self.ask("session.create", None, payload).await
    }

    /// Starts a session; returns its id.
    pub(crate) async fn create(&mut self, prompt: &str, options: Value) -> Result<String> {
        let id = self.ask_for_session(prompt, options).await?;
        let created = self.reply(&id).await?;
        assert_eq!(created["type"], "session.created", "{created}");
        Ok(created["session_id"].as_str().unwrap().to_owned())
    }

    /// Sends a message of the user.
    pub(crate) async fn say(&mut self, session: &str, message: &str) -> Result<String> {
        self.ask("session.send", Some(session), json!({"message": message})).await
    }

    /// Answers a callback.
    pub(crate) async fn answer(&mut self, callback: &Value, payload: Value) -> Result<()> {
        let message = json!({
            "type": "callback.response", "id": callback["id"], "session_id": callback["session_id"], "payload": payload
        });
        self.program.send(&message).await
    }

    /// Calls a method; returns the payload of the result.
    pub(crate) async fn query(&mut self, session: &str, method: &str, args: Value) -> Result<Value> {
        let id = self.ask("query.call", Some(session), json!({"method": method, "args": args})).await?;
        let result = self.reply(&id).await?;
        assert_eq!(result["type"], "query.result", "{result}");
        Ok(result["payload"].clone())
    }

    /// The next line that matches; earlier lines are kept.
    pub(crate) async fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let seen = self.program.read_until(what, is_it).await?;
        self.told.extend(seen);
        self.told.last().cloned().context("what was waited for")
    }

    /// The reply to a request.
    pub(crate) async fn reply(&mut self, id: &str) -> Result<Value> {
        self.until(&format!("the reply to {id}"), |line| line["id"] == id).await
    }

    /// The next message of an agent of this kind.
    pub(crate) async fn message(&mut self, session: &str, kind: &str) -> Result<Value> {
        let line = self
            .until(&format!("a message `{kind}`"), |line| {
                line["session_id"] == session
                    && line["type"] == "sdk.message"
                    && line["payload"]["type"] == kind
            })
            .await?;
        Ok(line["payload"].clone())
    }

    /// The next question of an agent.
    pub(crate) async fn callback(&mut self, session: &str) -> Result<Value> {
        self.until("a callback", |line| line["session_id"] == session && line["type"] == "callback.request")
            .await
    }

    /// The next error, and its code.
    pub(crate) async fn error(&mut self, code: &str) -> Result<Value> {
        let error = self.until(&format!("the error {code}"), |line| line["type"] == "error").await?;
        if error["payload"]["code"] != code {
            bail!("not {code}: {error}");
        }
        Ok(error)
    }
}

/// Polls for a condition without an event.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), wait).await.is_ok(), "never: {what}");
}
