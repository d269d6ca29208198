//! A client of `musher exec` that sees every line, in a sandbox with a scripted model.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, Server, When, when};
use testkit::{Launch, Program, Sandbox, droid};

/// A place with a model, for any number of clients.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) model: Server,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Result<Self> {
        Self::begin(Sandbox::new()?, |_| script)
    }

    /// The same in a sandbox whose paths the script uses.
    pub(crate) fn begin(sandbox: Sandbox, script: impl FnOnce(&Sandbox) -> Script) -> Result<Self> {
        // side calls, such as for titles, must not fail
        let script = script(&sandbox).otherwise(Reply::text("A title"));
        let model = sandbox.model(script)?;
        // the engine reads these settings, too
        droid::configure(&sandbox, &model.url())?;
        Ok(Self { sandbox, model })
    }

    /// `musher exec` as a server of the protocol.
    pub(crate) fn launch(&self) -> Launch {
        let words = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
        self.sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(words)
    }

    pub(crate) fn client(&self) -> Result<Client> {
        Client::start(self, &self.launch())
    }

    /// A client with a session that needs no permission requests.
    pub(crate) async fn opened(&self) -> Result<Client> {
        let mut client = self.client()?;
        let answer = client.call("droid.initialize_session", self.session()).await?;
        ensure!(answer["result"]["sessionId"].is_string(), "{answer}");
        Ok(client)
    }

    /// The params of such a session.
    pub(crate) fn session(&self) -> Value {
        json!({
            "machineId": "m", "cwd": self.sandbox.workspace(), "modelId": droid::CHAT_MODEL,
            "autonomyLevel": "high",
        })
    }

    /// Waits until no process of the sandbox is left.
    pub(crate) async fn until_empty(&self, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        loop {
            let alive = self.sandbox.processes();
            if alive.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "still alive after {within:?}: {alive:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn finish(self) -> Result<()> {
        let Self { sandbox, model } = self;
        drop(model);
        sandbox.finish().await
    }
}

pub(crate) struct Client {
    pub(crate) program: Program,
    asked: u32,
    /// Every message so far.
    pub(crate) seen: Vec<Value>,
}

impl Client {
    /// Starts the program.
    pub(crate) fn start(stage: &Stage, launch: &Launch) -> Result<Self> {
        Ok(Self::on(stage.sandbox.spawn(launch)?))
    }

    /// A client of a program that runs.
    pub(crate) fn on(program: Program) -> Self {
        Self { program, asked: 0, seen: Vec::new() }
    }

    /// Sends a request; returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Result<String> {
        self.asked += 1;
        let id = self.asked.to_string();
        self.program.send_line(&request(&id, method, params)).await?;
        Ok(id)
    }

    /// Loads a session, which starts at the autonomy level of this process, and lets it run everything. Returns the answer.
    pub(crate) async fn loaded(&mut self, id: &str) -> Result<Value> {
        let answer = self.call("droid.load_session", json!({"sessionId": id})).await?;
        let settings = json!({"autonomyLevel": "high"});
        let set = self.call("droid.update_session_settings", settings).await?;
        ensure!(set.get("error").is_none() || answer.get("error").is_some(), "{set}");
        Ok(answer)
    }

    /// Sends a request and waits for its response.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.ask(method, params).await?;
        self.response(&id).await
    }

    pub(crate) async fn response(&mut self, id: &str) -> Result<Value> {
        self.until(&format!("response {id}"), |message| message["type"] == "response" && message["id"] == id)
            .await
    }

    /// Sends a prompt; the turn runs when this returns.
    pub(crate) async fn say(&mut self, text: &str) -> Result<()> {
        let answer = self.call("droid.add_user_message", json!({"text": text})).await?;
        ensure!(answer["result"].is_object(), "{answer}");
        Ok(())
    }

    /// Waits for a notification of this kind.
    pub(crate) async fn told(&mut self, kind: &str) -> Result<Value> {
        let message = self.until(kind, |message| message["params"]["notification"]["type"] == kind).await?;
        Ok(message["params"]["notification"].clone())
    }

    /// Waits for the end of a turn; returns its reason.
    pub(crate) async fn completed(&mut self) -> Result<String> {
        let end = self.told("agent_turn_completed").await?;
        Ok(end["reason"].as_str().context("a reason")?.to_owned())
    }

    /// Reads until a message matches.
    pub(crate) async fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let read = self.program.read_until(what, wanted).await?;
        self.seen.extend(read.iter().cloned());
        read.last().cloned().context("the last message is the one")
    }

    /// The next message, if there is one.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>> {
        let next = self.program.next().await?;
        self.seen.extend(next.clone());
        Ok(next)
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(self.program.id()).context("a process id")?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }

    /// How much memory the program holds, in bytes.
    pub(crate) fn memory(&self) -> Result<usize> {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.program.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: usize = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }
}

/// A request as a line.
pub(crate) fn request(id: &str, method: &str, params: Value) -> String {
    let mut request = json!({
        "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": id, "method": method,
    });
    request["params"] = params;
    request.to_string()
}

/// The n-th model call of a turn whose prompt has this word.
pub(crate) fn on(word: &str, call: u32) -> When {
    when().with_tools().prompt(word).call(call)
}

/// A call of the tool that runs commands.
pub(crate) fn execute(command: &str) -> Reply {
    Reply::tool("Execute", command_arguments(command))
}

pub(crate) fn command_arguments(command: &str) -> Value {
    json!({
        "command": command, "summary": "Run it", "timeout": 120, "riskLevel": "low", "riskLevelReason": "for a test",
    })
}
