//! The environment of a test: a sandbox with the real droid and a scripted model, and an editor on the official SDK.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use musher_rehearse::{Reply, Script, Server, When, when};
use serde_json::{Value, json};
use testkit::peers::Installed;
use testkit::{Backend, Program, Sandbox, droid};

const EDITOR: &str = include_str!("editor.mjs");

pub(crate) struct Stage {
    // all are taken at the end
    sandbox: Option<Sandbox>,
    model: Option<Server>,
    backend: Option<Backend>,
    pub(crate) editor: Editor,
}

/// The editor: it keeps every message it received.
pub(crate) struct Editor {
    program: Option<Program>,
    pub(crate) told: Vec<Value>,
    calls: u64,
    pub(crate) cwd: String,
}

/// The participants: the editor's library, and the agent.
pub(crate) struct Who {
    sdk: Installed,
    agent: Behind,
}

/// The agent behind the editor.
pub(crate) enum Behind {
    /// `musher acp` with the real droid.
    Droid(Installed),
    /// `musher acp` with the engine in its own process, which is the default.
    Engine,
    /// `musher acp` with the engine in processes of its own, which can die like any others.
    EngineProgram,
    /// The real droid's own mode for editors.
    Native(Installed),
}

/// The setup of the user.
#[derive(Clone, Copy)]
struct UserSetup {
    key: bool,
    models: bool,
}

impl Who {
    pub(crate) fn new(sdk: Installed, agent: Behind) -> Self {
        Self { sdk, agent }
    }

    /// Whether the real droid is somewhere behind the editor.
    pub(crate) fn is_droid(&self) -> bool {
        matches!(self.agent, Behind::Droid(_) | Behind::Native(_))
    }

    /// The home of the engine, in the home of the user.
    fn engine_home(&self) -> &'static str {
        if matches!(self.agent, Behind::EngineProgram) { ".factory" } else { ".musher" }
    }

    /// Returns the command that starts the agent.
    fn command(&self) -> Vec<OsString> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let ours = [env!("CARGO_BIN_EXE_musher"), "acp", "--model", droid::CHAT_MODEL];
        match &self.agent {
            Behind::Droid(droid) => [words(&ours), words(&["--agent"]), vec![droid.entry().into()]].concat(),
            Behind::Engine => words(&ours[..2]),
            Behind::EngineProgram => [words(&ours), words(&["--agent", ours[0]])].concat(),
            Behind::Native(droid) => {
                [vec![droid.entry().into()], words(&["exec", "--output-format", "acp"])].concat()
            }
        }
    }
}

impl Stage {
    /// An editor with an agent.
    pub(crate) fn new(who: &Who, script: Script) -> Result<Self> {
        Self::start(who, |_| Ok(script), UserSetup { key: true, models: true })
    }

    /// The same, with a script that knows the sandbox.
    pub(crate) fn within(who: &Who, script: impl FnOnce(&Sandbox) -> Result<Script>) -> Result<Self> {
        Self::start(who, script, UserSetup { key: true, models: true })
    }

    /// The same, but without an API key.
    pub(crate) fn without_key(who: &Who) -> Result<Self> {
        Self::start(who, |_| Ok(Script::new()), UserSetup { key: false, models: true })
    }

    /// The same, but without a configured model.
    pub(crate) fn without_models(who: &Who) -> Result<Self> {
        Self::start(who, |_| Ok(Script::new()), UserSetup { key: true, models: false })
    }

    /// Names the scripted models in the settings.
    pub(crate) fn name_models(&self) -> Result<()> {
        droid::configure(self.sandbox(), &self.model().url())
    }

    fn start(who: &Who, script: impl FnOnce(&Sandbox) -> Result<Script>, given: UserSetup) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let script = script(&sandbox)?;
        let backend = who.is_droid().then(|| Backend::start(&sandbox)).transpose()?;
        // side calls, such as for titles, must not fail
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        if given.models {
            droid::configure(&sandbox, &model.url())?;
            if !who.is_droid() {
                let_one_think(&sandbox)?;
            }
        }
        let path = sandbox.home().join("editor.mjs");
        fs_err::write(&path, EDITOR)?;
        let launch = sandbox.launch("node").arg(path).arg(who.sdk.entry()).args(who.command());
        let launch = match &backend {
            Some(backend) => droid::with_account(launch, backend),
            None => launch,
        };
        // where the adapter looks for the sessions of a program
        let launch = launch.env("MUSHER_HOME", sandbox.home().join(who.engine_home()));
        let launch = if given.key { launch } else { launch.env("FACTORY_API_KEY", "") };
        let program = sandbox.spawn(&launch)?;
        let cwd = sandbox.workspace().to_str().context("a path of letters")?.to_owned();
        let editor = Editor { program: Some(program), told: Vec::new(), calls: 0, cwd };
        Ok(Self { sandbox: Some(sandbox), model: Some(model), backend, editor })
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is taken only at the end")
    }

    pub(crate) fn model(&self) -> &Server {
        self.model.as_ref().expect("it is taken only at the end")
    }

    /// Ends the agents behind the adapter without a word of warning.
    pub(crate) fn kill_agents(&self) -> Result<()> {
        for process in self.sandbox().processes() {
            if process.command.contains("stream-jsonrpc") {
                let pid = rustix::process::Pid::from_raw(process.pid).context("a process has an id")?;
                rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
            }
        }
        Ok(())
    }

    /// Ends the editor, and fails if the agent fails, prints anything but the protocol, or leaves processes.
    pub(crate) async fn finish(mut self) -> Result<()> {
        let strays: Vec<_> = self.editor.told.iter().filter(|line| line.get("stray").is_some()).collect();
        assert_eq!(strays, Vec::<&Value>::new());
        let ended = self.editor.program.take().context("it is taken only here")?.end().await?;
        assert_eq!(ended.status.code(), Some(0), "{:?} {}", ended.stdout, ended.stderr);
        self.model.take().context("it is taken only here")?.shutdown().await;
        drop(self.backend.take());
        self.sandbox.take().context("it is taken only here")?.finish().await
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

impl Editor {
    fn program(&mut self) -> Result<&mut Program> {
        self.program.as_mut().context("it is taken only at the end")
    }

    /// Initializes with these capabilities.
    pub(crate) async fn hello(&mut self, capabilities: Value) -> Result<Value> {
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities})).await
    }

    /// Initializes and opens a session; returns its id.
    pub(crate) async fn open(&mut self, capabilities: Value) -> Result<String> {
        self.hello(capabilities).await?;
        let opened = self.call("session/new", json!({"cwd": self.cwd, "mcpServers": []})).await?;
        Ok(opened["sessionId"].as_str().context("an id")?.to_owned())
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.start(method, params).await?;
        let done = self.done(id).await?;
        match done.get("error") {
            Some(error) => bail!("{method}: {error}"),
            None => Ok(done["result"].clone()),
        }
    }

    /// Sends a request that must fail; returns the error.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.start(method, params).await?;
        let done = self.done(id).await?;
        done.get("error").cloned().with_context(|| format!("{method} was not refused: {done}"))
    }

    /// Sends a request; returns its number.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> Result<u64> {
        self.calls += 1;
        let call = json!({"call": method, "id": self.calls, "params": params});
        self.program()?.send(&call).await?;
        Ok(self.calls)
    }

    /// Sends a prompt; returns the number of the request.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Result<u64> {
        let prompt = json!([{"type": "text", "text": text}]);
        self.start("session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    /// Runs a prompt; returns the stop reason and the updates of the turn.
    pub(crate) async fn turn(&mut self, session: &str, text: &str) -> Result<(String, Vec<Value>)> {
        let before = self.told.len();
        let id = self.prompt(session, text).await?;
        let done = self.done(id).await?;
        let reason = done["result"]["stopReason"].as_str().with_context(|| done.to_string())?.to_owned();
        Ok((reason, self.updates(before)))
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.program()?.send(&json!({"notify": method, "params": params})).await
    }

    /// Writes an unchecked line to the agent.
    pub(crate) async fn write_raw(&mut self, line: &str) -> Result<()> {
        self.program()?.send(&json!({"raw": line})).await
    }

    /// Answers a question of the agent.
    pub(crate) async fn answer(&mut self, asked: &Value, result: Value) -> Result<()> {
        self.program()?.send(&json!({"answer": asked["ask"], "result": result})).await
    }

    /// Answers a question of the agent with an error.
    pub(crate) async fn fail(&mut self, asked: &Value, error: &str) -> Result<()> {
        self.program()?.send(&json!({"answer": asked["ask"], "error": error})).await
    }

    /// From now on has terminals that work.
    pub(crate) async fn serve_terminals(&mut self) -> Result<()> {
        self.program()?.send(&json!({"serve": "terminal"})).await
    }

    /// The next question of the agent, which has to be this one.
    pub(crate) async fn asked_for(&mut self, method: &str) -> Result<Value> {
        let is_it = |line: &Value| line.get("ask").is_some() || line.get("done").is_some();
        let asked = self.until(method, is_it).await?;
        assert_eq!(
            asked["method"],
            method,
            "{asked:#} after {:#?}",
            self.told.iter().rev().take(6).collect::<Vec<_>>()
        );
        Ok(asked)
    }

    /// Chooses an option of a permission request.
    pub(crate) async fn choose(&mut self, asked: &Value, option: &str) -> Result<()> {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.answer(asked, outcome).await
    }

    /// The answer to a request.
    pub(crate) async fn done(&mut self, id: u64) -> Result<Value> {
        self.until(&format!("the answer to {id}"), |line| line["done"] == id).await
    }

    /// The answer to a request, which may have come already.
    pub(crate) async fn answer_to(&mut self, id: u64) -> Result<Value> {
        match self.told.iter().find(|line| line["done"] == id) {
            Some(done) => Ok(done.clone()),
            None => self.done(id).await,
        }
    }

    /// The next question of the agent.
    pub(crate) async fn asked(&mut self) -> Result<Value> {
        self.until("a question", |line| line.get("ask").is_some()).await
    }

    /// The next update of this kind.
    pub(crate) async fn update(&mut self, kind: &str) -> Result<Value> {
        let line = self.until(kind, |line| line["update"]["update"]["sessionUpdate"] == kind).await?;
        Ok(line["update"]["update"].clone())
    }

    pub(crate) async fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let seen = self.program()?.read_until(what, is_it).await?;
        self.told.extend(seen);
        self.told.last().cloned().context("what was waited for")
    }

    /// The updates since a moment.
    pub(crate) fn updates(&self, since: usize) -> Vec<Value> {
        let updates = self.told[since..].iter().filter_map(|line| line.get("update"));
        updates.map(|update| update["update"].clone()).collect()
    }
}

/// Gives one model reasoning efforts, as droid's own models have.
fn let_one_think(sandbox: &Sandbox) -> Result<()> {
    let path = sandbox.home().join(".factory/settings.json");
    let mut settings: Value = serde_json::from_slice(&fs_err::read(&path)?)?;
    settings["customModels"][2]["efforts"] = json!(["low", "high"]);
    Ok(fs_err::write(path, settings.to_string())?)
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

/// All text of one kind of chunk.
pub(crate) fn text_of(updates: &[Value], kind: &str) -> String {
    let chunks = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}

/// The state of a tool call after all its updates.
pub(crate) fn call_of(updates: &[Value], kind: &str) -> Value {
    // the default kind may be omitted
    let is_it = |update: &&Value| {
        update["sessionUpdate"] == "tool_call" && update["kind"].as_str().unwrap_or("other") == kind
    };
    let first = updates.iter().find(is_it);
    let mut call = first.unwrap_or_else(|| panic!("no call of kind {kind} in {updates:#?}")).clone();
    let changes = updates.iter().filter(|update| update["sessionUpdate"] == "tool_call_update");
    for change in changes.filter(|change| change["toolCallId"] == first.unwrap()["toolCallId"]) {
        for (key, value) in change.as_object().unwrap() {
            call[key] = value.clone();
        }
    }
    call
}

/// All requests to the model, as one text.
pub(crate) fn model_heard(model: &Server) -> String {
    let calls = model.calls();
    calls.iter().filter_map(|call| call.body.as_ref()).map(Value::to_string).collect()
}

/// The n-th model call of a turn whose prompt has this word.
pub(crate) fn on(word: &str, call: u32) -> When {
    when().with_tools().prompt(word).call(call)
}

/// A call of the tool that runs commands.
pub(crate) fn execute(command: &str, risk: &str) -> Reply {
    let arguments = json!({
        "command": command, "summary": "Run it", "timeout": 120,
        "riskLevel": risk, "riskLevelReason": "for a test",
    });
    Reply::tool("Execute", arguments)
}
