//! An agent that plays a session with a scripted model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use testkit::rehearse::{RecordedRequest, Script, Server};
use testkit::{Backend, Program, Sandbox, droid};

use super::session;

/// A model whose name has the traits of a current Claude model.
pub(super) const CLAUDE: &str = "custom:claude-opus-5-5";
/// A model whose name has the traits of a current GPT model.
pub(super) const GPT: &str = "custom:gpt-5.5";

/// An MCP server with 60 tools.
const SERVER: &str = r#"
import json, sys
def tool(n):
    text = {"type": "string", "description": "The text of the record, as plain text without any markup."}
    limit = {"type": "integer", "description": "The maximum number of records to return; 20 by default."}
    where = {"type": "string", "description": "A filter, such as `state = open and owner = me`."}
    return {"name": "record_tool_%02d" % n, "description": "Works on the records of kind %d of the tracker: finds those that match a filter and changes them." % n,
            "inputSchema": {"type": "object", "properties": {"text": text, "limit": limit, "where": where}, "required": ["where"]}}
for line in sys.stdin:
    message = json.loads(line)
    result = {}
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "tracker", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [tool(n) for n in range(60)]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// Plays a session, and returns the model calls.
pub(super) async fn play(
    program: &Path,
    model: &str,
    script: impl FnOnce(&Path) -> Script,
    prompts: &[String],
) -> Result<Vec<Arc<RecordedRequest>>> {
    let mut stage = Stage::new(program, script)?;
    let played = play_all(&mut stage, model, prompts).await;
    stage.finish(played).await
}

/// Opens a session and plays turns.
pub(super) async fn play_all(stage: &mut Stage, model: &str, prompts: &[String]) -> Result<()> {
    stage.open(model).await?;
    for prompt in prompts {
        stage.say(prompt).await?;
    }
    Ok(())
}

/// An agent in a sandbox, with a scripted model.
pub(super) struct Stage {
    program: PathBuf,
    sandbox: Sandbox,
    server: Server,
    backend: Backend,
    agent: Option<Program>,
    session: String,
    calls: usize,
}

impl Stage {
    /// Writes the files and the settings.
    pub(super) fn new(program: &Path, script: impl FnOnce(&Path) -> Script) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let folder = sandbox.workspace();
        session::write_files(&folder)?;
        let server = sandbox.model(script(&folder))?;
        let backend = Backend::start(&sandbox)?;
        droid::configure(&sandbox, &server.url())?;
        let settings = sandbox.home().join(".factory/settings.json");
        let mut content: Value = serde_json::from_slice(&fs_err::read(&settings)?)?;
        let models = content["customModels"].as_array_mut().context("there are no models")?;
        for (id, provider, url) in
            [(CLAUDE, "anthropic", server.url()), (GPT, "openai", server.url() + "/v1")]
        {
            let name = id.trim_start_matches("custom:");
            models.push(json!({
                "model": name, "displayName": name, "baseUrl": url, "apiKey": droid::DUMMY_KEY, "provider": provider,
            }));
        }
        fs_err::write(&settings, content.to_string())?;
        let program = program.to_owned();
        Ok(Self { program, sandbox, server, backend, agent: None, session: String::new(), calls: 0 })
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.sandbox.workspace()
    }

    /// Configures an MCP server with 60 tools.
    pub(super) fn add_many_tools(&self) -> Result<()> {
        let path = self.sandbox.home().join("tracker.py");
        fs_err::write(&path, SERVER)?;
        let servers =
            json!({"mcpServers": {"tracker": {"type": "stdio", "command": "python3", "args": [path]}}});
        fs_err::write(self.sandbox.home().join(".factory/mcp.json"), servers.to_string())?;
        Ok(())
    }

    /// Opens a session with a model.
    pub(super) async fn open(&mut self, model: &str) -> Result<()> {
        let params = json!({
            "machineId": "bench", "cwd": self.folder(), "modelId": model, "autonomyLevel": "high", "interactionMode": "auto",
        });
        self.start()?;
        let answer = self.call("droid.initialize_session", params).await?;
        let id = answer["result"]["sessionId"].as_str();
        id.context("the agent names no session")?.clone_into(&mut self.session);
        Ok(())
    }

    /// Ends the agent, and resumes the session with a new one.
    pub(super) async fn resume(&mut self) -> Result<()> {
        self.end().await?;
        self.start()?;
        let params = json!({"sessionId": self.session, "machineId": "bench"});
        self.call("droid.load_session", params).await?;
        // musher does not restore the level of a resumed session
        self.call("droid.update_session_settings", json!({"autonomyLevel": "high"})).await?;
        Ok(())
    }

    fn start(&mut self) -> Result<()> {
        let formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
        let launch = self.sandbox.launch(&self.program).args(["exec"]).args(formats);
        self.agent = Some(self.sandbox.spawn(&droid::with_account(launch, &self.backend))?);
        Ok(())
    }

    async fn end(&mut self) -> Result<()> {
        match self.agent.take() {
            Some(agent) => agent.end().await.map(drop),
            None => Ok(()),
        }
    }

    /// Plays a turn.
    pub(super) async fn say(&mut self, prompt: &str) -> Result<()> {
        self.call("droid.add_user_message", json!({"text": prompt})).await?;
        let kind = |message: &Value, kind: &str| message["params"]["notification"]["type"] == kind;
        self.until(|message| kind(message, "agent_turn_completed")).await?;
        self.until(|message| message["params"]["notification"]["newState"] == "idle").await.map(drop)
    }

    /// Makes a call, and returns the response. The response to a prompt may come after the events of its turn.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.calls.to_string();
        self.calls += 1;
        let message = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": id, "method": method, "params": params,
        });
        let agent = self.agent.as_mut().context("no agent runs")?;
        agent.send(&message).await?;
        if method == "droid.add_user_message" {
            return Ok(Value::Null);
        }
        self.until(|message| message["id"] == id.as_str() && message["type"] == "response").await
    }

    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let agent = self.agent.as_mut().context("no agent runs")?;
        let mut last = Value::Null;
        loop {
            let next = agent.next().await.with_context(|| format!("the last message was {last}"))?;
            let message = next.context("the agent has ended")?;
            last.clone_from(&message);
            if message["type"] == "response" && !message["error"].is_null() {
                bail!("the agent refused: {}", message["error"]);
            }
            if is_it(&message) {
                return Ok(message);
            }
        }
    }

    /// Ends everything, and returns the model calls, or the error with which the session has ended.
    pub(super) async fn finish(mut self, played: Result<()>) -> Result<Vec<Arc<RecordedRequest>>> {
        let ended = self.end().await;
        let requests = self.server.calls();
        self.server.shutdown().await;
        drop(self.backend);
        let left = self.sandbox.finish().await;
        played.and(ended).and(left)?;
        Ok(requests)
    }
}
