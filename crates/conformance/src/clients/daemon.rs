//! One story of clients with three daemons: the real `droid daemon` with another executable as its worker, and that executable as the
//! daemon, with its engine and with droid as the worker. The clients must see the same.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use musher_rpc::{Connection, WebSocketOptions, connect_websocket};
use musher_wire::Frame;
use serde_json::{Value, json};
use testkit::capture::matches;
use testkit::peers::{DROID, Installed};
use testkit::rehearse::{Reply, Script, Server, when};
use testkit::{Backend, Program, Sandbox, droid, require_peer};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Executable;

/// Free in every sandbox, because each has its own network.
const PORT: &str = "37643";
/// The credential of the clients, and of droid's account.
const KEY: &str = "fk-rehearsal-of-a-story";
const TIMEOUT: Duration = Duration::from_secs(90);

pub(crate) async fn it_runs_musher_for_several_sessions_and_clients(worker: &Executable) -> Result<()> {
    play(Kind::Droid(&require_peer!(DROID), worker)).await
}

pub(crate) async fn our_daemon_plays_the_same_story_with_its_engine(program: &Executable) -> Result<()> {
    play(Kind::Ours(program, None)).await
}

pub(crate) async fn our_daemon_plays_the_same_story_with_droid_as_its_worker(program: &Executable) -> Result<()> {
    play(Kind::Ours(program, Some(&require_peer!(DROID)))).await
}

/// The daemon of a story.
enum Kind<'a> {
    /// The real one, with this worker.
    Droid(&'a Installed, &'a Executable),
    /// Ours, with its engine or with droid as its worker.
    Ours(&'a Executable, Option<&'a Installed>),
}

async fn play(kind: Kind<'_>) -> Result<()> {
    let stage = Stage::new(&kind).await?;
    let outcome = story(&stage).await;
    let ended = stage.finish().await;
    outcome.and(ended)
}

async fn story(stage: &Stage) -> Result<()> {
    let mut client = stage.client("first").await?;

    // create and a turn
    let one = client.open(stage, "one").await?;
    let messages = client.turn(&one, "say hello").await?;
    assert_eq!(text_of(&messages), "Hello.");
    assert_eq!(messages.last().map(|it| &it["params"]["notification"]["newState"]), Some(&json!("idle")));

    // a permission: allowed, and it really ran
    client.send(&one, "touch it").await?;
    let asked =
        client.until(&json!({"method": "daemon.request_permission", "params": {"sessionId": one}})).await?;
    let asked = asked.last().context("it was found")?;
    assert_eq!(asked["params"]["toolUses"][0]["details"]["fullCommand"], "touch one.txt");
    client.answer(asked, "proceed_once").await?;
    let messages = client.until(&idle(&one)).await?;
    assert_eq!(text_of(&messages), "Touched.");
    assert!(stage.sandbox.workspace().join("one.txt").exists());

    // what fills the context, which the daemon asks the worker
    let breakdown = client.call("daemon.get_context_breakdown", json!({"sessionId": one})).await?;
    let used: u64 = breakdown["categories"].as_array().into_iter().flatten().filter_map(|it| it["tokens"].as_u64()).sum();
    assert!(used > 0 && breakdown["usedTokens"].as_u64() == Some(used), "{breakdown}");
    assert_eq!(breakdown["modelDisplayName"], "Rehearsal Chat", "{breakdown}");

    // nothing to end
    let unknown = json!({"sessionId": one, "workerSessionId": "unknown"});
    let refusal = client.refusal("daemon.kill_worker_session", unknown).await?;
    assert!(refusal["message"].as_str().is_some_and(|text| !text.is_empty()), "{refusal}");

    // two sessions on one connection, at once
    let two = client.open(stage, "two").await?;
    for session in [&one, &two] {
        client.send(session, "say hello").await?;
    }
    let (mut idle_one, mut idle_two, mut texts) = (false, false, [String::new(), String::new()]);
    while !(idle_one && idle_two) {
        let message = client.next().await?;
        let of = usize::from(message["params"]["sessionId"] == *two);
        texts[of].push_str(&text_of(std::slice::from_ref(&message)));
        idle_one |= matches(&idle(&one), &message);
        idle_two |= matches(&idle(&two), &message);
    }
    assert_eq!(texts, ["Hello.", "Hello."]);

    // the connection is lost while a request is pending; the next connection gets the request, and the session continues
    client.send(&two, "touch two").await?;
    client.until(&json!({"method": "daemon.request_permission", "params": {"sessionId": two}})).await?;
    drop(client);
    let mut client = stage.client("second").await?;
    let params = json!({"sessionId": two, "token": KEY});
    let load = client.request("daemon.load_session", params).await?;
    let (mut asked, mut loaded) = (None, None);
    while asked.is_none() || loaded.is_none() {
        let message = client.next().await?;
        if message["method"] == "daemon.request_permission" {
            asked = Some(message);
        } else if message["id"] == *load {
            loaded = Some(message);
        }
    }
    let (asked, loaded) = (asked.context("it was asked")?, loaded.context("it was loaded")?);
    let loaded = &loaded["result"];
    assert_eq!(loaded["isAgentLoopInProgress"], true, "{loaded}");
    assert_eq!(loaded["pendingPermissions"][0]["requestId"], asked["id"], "{loaded}");
    client.answer(&asked, "proceed_once").await?;
    client.until(&idle(&two)).await?;
    assert!(stage.sandbox.workspace().join("two.txt").exists());

    // requests that the daemon answers itself, from the session files
    let listed = client.call("daemon.list_available_sessions", json!({})).await?;
    let mut ids: Vec<_> =
        listed["sessions"].as_array().into_iter().flatten().map(|it| it["sessionId"].clone()).collect();
    let mut expected = vec![json!(one), json!(two)];
    for ids in [&mut ids, &mut expected] {
        ids.sort_by_key(Value::to_string);
    }
    assert_eq!(ids, expected, "{listed}");
    let messages = client.call("daemon.get_session_messages", json!({"sessionId": one})).await?;
    assert!(messages.to_string().contains("Touched."), "{messages}");
    let renamed =
        client.call("daemon.rename_session", json!({"sessionId": one, "title": "By the daemon"})).await?;
    assert_eq!(renamed["success"], true);

    // a closed session is resumed by the next message
    client.call("daemon.close_session", json!({"sessionId": one})).await?;
    let load = json!({"sessionId": one, "token": KEY});
    let loaded = client.call("daemon.load_session", load).await?;
    assert_eq!(loaded["session"]["title"], "By the daemon", "{loaded}");
    assert_eq!(text_of(&client.turn(&one, "say hello").await?), "Hello.");
    Ok(())
}

struct Stage {
    sandbox: Sandbox,
    backend: Backend,
    model: Server,
    daemon: Program,
}

impl Stage {
    /// Starts a daemon and waits until it listens.
    async fn new(kind: &Kind<'_>) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let backend = Backend::start(&sandbox)?;
        backend.answer("/api/cli/whoami", json!({"userId": "user_1", "orgId": "org_1"}));
        let model = sandbox.model(script())?;
        droid::configure(&sandbox, &model.url())?;
        let home = sandbox.home().join(".factory");
        let (launch, listens) = match kind {
            Kind::Droid(droid, worker) => {
                let launch = sandbox.launch(droid.entry()).args(["daemon", "--port", PORT, "--droid-path"]);
                (launch.arg(worker.path()), "WebSocket endpoint")
            }
            Kind::Ours(program, worker) => {
                let address = format!("127.0.0.1:{PORT}");
                let launch = sandbox.launch(program.path()).args(["daemon", "--token", KEY, "--listen", &address]);
                let launch = match worker {
                    Some(droid) => launch.arg("--droid-path").arg(droid.entry()),
                    None => launch,
                };
                (launch, "listening on")
            }
        };
        let launch = droid::with_account(launch.env("MUSHER_HOME", home), &backend);
        let launch = launch.env("FACTORY_API_KEY", KEY);
        let mut daemon = sandbox.spawn(&launch)?;
        while !daemon.next_line().await?.context("the daemon ended")?.contains(listens) {}
        Ok(Self { sandbox, backend, model, daemon })
    }

    /// Connects an authenticated client. Its name is part of its request ids, which the daemon requires to be unique.
    async fn client(&self, name: &'static str) -> Result<Client> {
        let (connected, connection) = oneshot::channel();
        let (alive, ended) = oneshot::channel::<()>();
        // a thread started in the sandbox is in its network
        self.sandbox.run(move || {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let url = format!("ws://127.0.0.1:{PORT}");
                    drop(connected.send(connect_websocket(&url, WebSocketOptions::default()).await));
                    drop(ended.await);
                });
            })
        })?;
        let mut client = Client { connection: connection.await??, _alive: alive, name, requests: 0 };
        let login = json!({"apiKey": KEY, "caller": "droid-sdk"});
        let user = client.call("daemon.authenticate", login).await?;
        ensure!(user["userId"].is_string() && user["orgId"].is_string(), "{user}");
        Ok(client)
    }

    /// Ends the daemon; neither it nor its workers may leave anything running.
    async fn finish(mut self) -> Result<()> {
        self.daemon.kill().await;
        drop(self.daemon);
        drop(self.backend);
        self.model.shutdown().await;
        self.sandbox.finish().await
    }
}

struct Client {
    connection: Connection,
    /// The socket is closed when this is dropped.
    _alive: oneshot::Sender<()>,
    name: &'static str,
    requests: u32,
}

impl Client {
    /// Creates a session and returns its id.
    async fn open(&mut self, stage: &Stage, machine: &str) -> Result<String> {
        let params = json!({
            "machineId": machine, "cwd": stage.sandbox.workspace(), "token": KEY,
            "modelId": droid::CHAT_MODEL, "autonomyLevel": "off",
        });
        let opened = self.call("daemon.initialize_session", params).await?;
        ensure!(opened["settings"]["modelId"] == droid::CHAT_MODEL, "{opened}");
        Ok(opened["sessionId"].as_str().context("a session has an id")?.to_owned())
    }

    /// Runs a turn to its end; returns all messages received meanwhile.
    async fn turn(&mut self, session: &str, text: &str) -> Result<Vec<Value>> {
        self.send(session, text).await?;
        let completed =
            json!({"params": {"sessionId": session, "notification": {"type": "agent_turn_completed"}}});
        let mut messages = self.until(&completed).await?;
        messages.extend(self.until(&idle(session)).await?);
        Ok(messages)
    }

    /// Sends a prompt without waiting for the response: the daemon may send its consequences first.
    async fn send(&mut self, session: &str, text: &str) -> Result<()> {
        let params = json!({"sessionId": session, "text": text});
        self.request("daemon.add_user_message", params).await.map(drop)
    }

    async fn answer(&mut self, request: &Value, option: &str) -> Result<()> {
        let result = json!({"sessionId": request["params"]["sessionId"], "selectedOption": option});
        self.say(&json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": request["id"], "result": result}))
            .await
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.request(method, params).await?;
        let messages = self.until(&json!({"type": "response", "id": id})).await?;
        let answer = messages.last().context("it was found")?;
        answer.get("result").cloned().with_context(|| format!("{method}: {answer}"))
    }

    /// Makes a call that is refused; returns the error.
    async fn refusal(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.request(method, params).await?;
        loop {
            let message = self.next().await?;
            if message["type"] == "response" && message["id"] == *id {
                return message.get("error").cloned().with_context(|| format!("{method}: {message}"));
            }
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<String> {
        self.requests += 1;
        let id = format!("{}-{}", self.name, self.requests);
        let message = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": id, "method": method, "params": params,
        });
        self.say(&message).await?;
        Ok(id)
    }

    async fn say(&mut self, message: &Value) -> Result<()> {
        Ok(self.connection.outgoing.send(Frame::parse(message.to_string().as_bytes())).await?)
    }

    async fn until(&mut self, part: &Value) -> Result<Vec<Value>> {
        let mut messages = Vec::new();
        loop {
            let message = self.next().await.with_context(|| format!("waiting for {part}"))?;
            ensure!(message.get("error").is_none(), "waiting for {part}: {message}");
            let found = matches(part, &message);
            messages.push(message);
            if found {
                return Ok(messages);
            }
        }
    }

    async fn next(&mut self) -> Result<Value> {
        let frame =
            timeout(TIMEOUT, self.connection.incoming.recv()).await.context("the daemon says nothing")??;
        let line = frame.to_line();
        match serde_json::from_str(&line) {
            Ok(message) => Ok(message),
            Err(error) => bail!("not JSON: {error}: {line}"),
        }
    }
}

fn idle(session: &str) -> Value {
    json!({"params": {"sessionId": session, "notification": {"type": "droid_working_state_changed", "newState": "idle"}}})
}

fn text_of(messages: &[Value]) -> String {
    let notifications = messages.iter().map(|message| &message["params"]["notification"]);
    notifications.filter(|it| it["type"] == "assistant_text_delta")
        .filter_map(|it| it["textDelta"].as_str())
        .collect()
}

fn script() -> Script {
    let touch = |file: &str| {
        json!({
            "command": format!("touch {file}"), "summary": "Make an empty file", "timeout": 30,
            "riskLevel": "medium", "riskLevelReason": "it writes a file",
        })
    };
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::tool("Execute", touch("one.txt")).when(when().prompt("touch it").call(1)))
        .reply(Reply::tool("Execute", touch("two.txt")).when(when().prompt("touch two").call(1)))
        .reply(Reply::text("Touched.").when(when().result_of("Execute")))
        .otherwise(Reply::text("Hello."))
}
