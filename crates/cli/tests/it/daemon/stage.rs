//! A daemon in an empty home with a scripted model, and clients of it over a real WebSocket.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use musher_rpc::{Connection, WebSocketOptions, connect_websocket};
use musher_wire::Frame;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, Server, when};
use tokio::time::timeout;

use crate::program::{Running, command};

/// Generous: it only ends tests that would never end.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A daemon.
pub(crate) struct Stage {
    pub(crate) home: tempfile::TempDir,
    model: Server,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    daemon: Option<Running>,
    pub(crate) address: String,
}

impl Stage {
    /// Starts a daemon on a free port.
    pub(crate) fn new() -> Self {
        Self::with(script(), &[])
    }

    /// Starts a daemon on a free port with this model and more arguments.
    pub(crate) fn with(script: Script, arguments: &[&str]) -> Self {
        Self::with_variables(script, arguments, &[])
    }

    /// Starts a daemon as [`with`](Self::with), with more environment variables.
    pub(crate) fn with_variables(script: Script, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let model = Server::bind("127.0.0.1:0", script).unwrap();
        let musher = home.path().join(".musher");
        fs_err::create_dir_all(&musher).unwrap();
        fs_err::create_dir_all(home.path().join("work")).unwrap();
        let settings = json!({
            "model": "custom:scripted",
            "customModels": [{
                "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", model.url()),
                "apiKey": "none", "provider": "generic-chat-completion-api", "price": {"input": 1, "output": 1},
            }],
        });
        fs_err::write(musher.join("settings.json"), settings.to_string()).unwrap();
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut stage = Self { home, model, arguments, variables, daemon: None, address: String::new() };
        stage.start();
        stage
    }

    /// Starts the daemon, also again.
    pub(crate) fn start(&mut self) {
        let daemon = Running::spawn(self.command(&["--listen", "127.0.0.1:0"]));
        let line = daemon.line();
        line.strip_prefix("listening on ").expect(&line).clone_into(&mut self.address);
        self.daemon = Some(daemon);
    }

    /// Waits until the process listens again, as another program. Returns the address.
    pub(crate) fn listening_again(&self) -> String {
        let line = self.daemon.as_ref().unwrap().line();
        line.strip_prefix("listening on ").expect(&line).to_owned()
    }

    /// The command that starts the daemon.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&["daemon"]);
        command.args(arguments).args(&self.arguments);
        command.env("HOME", self.home.path()).env("PATH", std::env::var_os("PATH").unwrap());
        command.env("NO_PROXY", "127.0.0.1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn token(&self) -> String {
        let file = self.home.path().join(".musher/daemon.token");
        fs_err::read_to_string(file).unwrap().trim().to_owned()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    pub(crate) fn id(&self) -> u32 {
        self.daemon.as_ref().unwrap().id()
    }

    /// The last call of the model for a turn with this word, as text.
    pub(crate) fn asked_last(&self, word: &str) -> String {
        let calls =
            self.model.calls().into_iter().filter_map(|call| call.body.as_ref().map(Value::to_string));
        calls.filter(|call| call.contains(word) && call.contains("\"tools\"")).last().unwrap_or_default()
    }

    /// Kills the daemon without a chance to do anything.
    pub(crate) fn kill(&mut self) {
        self.daemon = None;
    }

    /// Ends the daemon with a signal, which must be its success.
    pub(crate) fn stop(&mut self) {
        let run = self.daemon.take().unwrap().stop("-TERM");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }

    /// Connects a client without a login.
    pub(crate) async fn stranger(&self) -> Client {
        self.over(connect_websocket(&self.address, WebSocketOptions::default()).await.unwrap())
    }

    /// A client on this connection, without a login.
    pub(crate) fn over(&self, connection: Connection) -> Client {
        Client { connection, token: self.token(), work: self.work(), seen: Vec::new() }
    }

    /// Connects an authenticated client.
    pub(crate) async fn client(&self) -> Client {
        let mut client = self.stranger().await;
        let login = json!({"apiKey": client.token, "caller": "test"});
        client.call("daemon.authenticate", login).await;
        client
    }
}

/// A client.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) token: String,
    work: PathBuf,
    /// Messages that came while a response was awaited.
    pub(crate) seen: Vec<Value>,
}

impl Client {
    /// Creates a session and returns its id.
    pub(crate) async fn open(&mut self) -> String {
        let params = json!({"machineId": "test", "cwd": self.work, "token": self.token});
        let opened = self.call("daemon.initialize_session", params).await;
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Loads a session, with what was missed after this event.
    pub(crate) async fn load(&mut self, session: &str, after: Option<u64>) -> Value {
        let mut params = json!({"sessionId": session, "token": self.token});
        if let Some(after) = after {
            params["afterSequence"] = after.into();
        }
        self.call("daemon.load_session", params).await
    }

    /// Sends a prompt and returns everything up to the end of its turn.
    pub(crate) async fn turn(&mut self, session: &str, text: &str) -> Vec<Value> {
        self.request("daemon.add_user_message", json!({"sessionId": session, "text": text})).await;
        self.until_idle(session).await
    }

    /// Returns everything up to the end of a turn.
    pub(crate) async fn until_idle(&mut self, session: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        let mut is_completed = false;
        loop {
            let message = self.next().await;
            let notification = &message["params"]["notification"];
            let is_ours = message["params"]["sessionId"] == session;
            is_completed |= is_ours && notification["type"] == "agent_turn_completed";
            let is_idle = is_ours && notification["newState"] == "idle";
            messages.push(message);
            if is_completed && is_idle {
                return messages;
            }
        }
    }

    /// Makes a call that succeeds.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Makes a call that is refused.
    pub(crate) async fn refusal(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params).await;
        assert!(response.get("result").is_none(), "{method}: {response}");
        response["error"].clone()
    }

    async fn response(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let mut passed = Vec::new();
        loop {
            let message = self.receive().await;
            if message["type"] == "response" && message["id"] == *id {
                self.seen.extend(passed);
                return message;
            }
            passed.push(message);
        }
    }

    /// Makes a call without waiting for the response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> String {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = format!("test-{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        self.send(json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": id, "method": method, "params": params,
        }))
        .await;
        id
    }

    /// Answers a request of the daemon.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": request["id"], "result": result,
        }))
        .await;
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.connection.outgoing.send(Frame::parse(message.to_string().as_bytes())).await.unwrap();
    }

    /// Waits for a message with this part: fields that are equal, as far as they are given.
    pub(crate) async fn until(&mut self, part: &Value) -> Value {
        loop {
            let message = self.next().await;
            if has(&message, part) {
                return message;
            }
        }
    }

    /// Returns the next message.
    pub(crate) async fn next(&mut self) -> Value {
        if self.seen.is_empty() { self.receive().await } else { self.seen.remove(0) }
    }

    async fn receive(&mut self) -> Value {
        let received = timeout(DEADLINE, self.connection.incoming.recv()).await;
        let frame = received.expect("the daemon says something").expect("the daemon is there");
        serde_json::from_str(&frame.to_line()).unwrap()
    }
}

/// Whether a message has the fields of `part`, at all depths.
pub(crate) fn has(message: &Value, part: &Value) -> bool {
    match part {
        Value::Object(fields) => fields.iter().all(|(name, value)| has(&message[name], value)),
        other => message == other,
    }
}

/// The text that a model has said in these messages.
pub(crate) fn text_of(messages: &[Value]) -> String {
    let notifications = messages.iter().map(|message| &message["params"]["notification"]);
    notifications
        .filter(|it| it["type"] == "assistant_text_delta")
        .filter_map(|it| it["textDelta"].as_str())
        .collect()
}

/// The sequences of the notifications of a session.
pub(crate) fn sequences(messages: &[Value], session: &str) -> Vec<u64> {
    let ours = messages.iter().filter(|message| message["params"]["sessionId"] == session);
    ours.filter_map(|message| message["params"]["sequence"].as_u64()).collect()
}

/// A model that says hello, and makes a file when a prompt says `touch it`.
pub(crate) fn script() -> Script {
    let touch = json!({
        "command": "touch made.txt", "summary": "Make a file", "timeout": 30,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::tool("Execute", touch).when(when().prompt("touch it").call(1)))
        .reply(Reply::text("Touched.").when(when().result_of("Execute")))
        .otherwise(Reply::text("Hello."))
}
