//! Sessions on disk beside the real droid: the engine reads its files, and droid resumes the engine's sessions.

use std::path::PathBuf;

use anyhow::Result;
use musher::wire::UpdateSessionSettingsParams;
use musher::{Agent, Decision, Session, read_session};
use musher_engine::SessionId;
use musher_engine::store::Store;
use serde_json::{Value, json};
use testkit::peers::{DROID, Installed, PYTHON_SDK};
use testkit::rehearse::{Reply, Script, Server, when};
use testkit::{Backend, Launch, Sandbox, droid, require_peer};

const LIST: &str = r"
import asyncio, json
from droid_sdk import list_sessions

for s in asyncio.run(list_sessions()):
    print(json.dumps([s.id, s.title, s.message_count, str(s.cwd)]))
";

/// A droid in a sandbox, with a scripted model.
pub(super) struct Stage {
    pub(super) sandbox: Sandbox,
    pub(super) model: Server,
    backend: Backend,
    launch: Launch,
}

impl Stage {
    pub(super) fn new(droid: &Installed, script: Script) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let backend = Backend::start(&sandbox)?;
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        let launch = droid::launch(&sandbox, droid, &model.url(), &backend)?;
        Ok(Self { sandbox, model, backend, launch })
    }

    pub(super) fn agent(&self) -> Agent {
        Agent::launch(self.sandbox.agent(&self.launch))
    }

    pub(super) fn home(&self) -> PathBuf {
        self.sandbox.home().join(".factory")
    }

    /// Fails if anything is left running.
    pub(super) async fn finish(self) -> Result<()> {
        drop((self.model, self.backend));
        self.sandbox.finish().await
    }
}

#[tokio::test]
async fn session_of_droid_is_loaded_and_resumed() -> Result<()> {
    let command = json!({
        "command": "echo made > made.txt", "summary": "Write a file", "timeout": 10,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    let script = Script::new()
        .reply(Reply::thinking("Let me see.").and_tool("Execute", command).when(when().with_tools().call(1)))
        .reply(Reply::text("Done.").when(when().with_tools()));
    let stage = Stage::new(&require_peer!(DROID), script)?;
    let session = Session::builder()
        .agent(stage.agent())
        .cwd(stage.sandbox.workspace())
        .model(droid::ANTHROPIC_MODEL)
        .on_permission_sync(|_| Decision::allow_once())
        .open()
        .await?;
    session.send("Write a file.").await?;
    session.rename("By hand").await?;
    let id = SessionId::new(session.id().as_str())?;
    session.close().await?;

    let theirs = Store::open(stage.home());
    let stored = theirs.read(&id)?;
    assert!(stored.damage.is_none(), "{}", stored.damage);
    assert_eq!((stored.start.title(), stored.start.cwd()), ("By hand", Some(stage.sandbox.workspace())));
    let by_the_sdk = read_session(id.as_str()).sessions_dir(theirs.sessions_folder()).await?;
    let ours: Vec<_> = stored
        .messages
        .iter()
        .map(|message| json!([message.id, message.role.name(), message.text(), message.created_at_ms]))
        .collect();
    let shape = |message: Value| {
        let parts = message["content"].as_array().into_iter().flatten();
        let text: Vec<_> = parts.filter_map(|part| part["text"].as_str()).collect();
        json!([message["id"], message["role"], text.join("\n"), message["createdAt"]])
    };
    let expected = by_the_sdk.messages().map(|message| serde_json::to_value(message).map(shape));
    assert_eq!(ours, expected.collect::<Result<Vec<_>, _>>()?);
    assert!(ours.len() > 4);

    let home = tempfile::tempdir()?;
    let store = Store::open(home.path());
    store.import(&stage.home(), &id)?;
    let loaded = store.load(&id)?;
    assert!(loaded.session.damage.is_none(), "{}", loaded.session.damage);
    assert_eq!(loaded.session.messages, stored.messages);
    assert_eq!(loaded.session.settings.get("model"), stored.settings.get("model"));
    stage.finish().await
}

#[tokio::test]
async fn droid_lists_and_resumes_sessions_of_the_engine() -> Result<()> {
    let (droid, python) = (require_peer!(DROID), require_peer!(PYTHON_SDK));
    let script = Script::new().reply(Reply::text("Still mango.").when(when().with_tools().prompt("And now")));
    let stage = Stage::new(&droid, script)?;
    let store = Store::open(stage.home());
    let workspace = stage.sandbox.workspace();
    let mut log = crate::stored_sessions::write_session(&store, "of-ours", &workspace);
    log.set_title("Made by us", true)?;
    drop(log);

    let listed = stage.sandbox.output(&stage.sandbox.launch(python.entry()).args(["-c", LIST])).await?;
    let expected = json!(["of-ours", "Made by us", 6, workspace]).to_string();
    let listed: Vec<Value> =
        listed.stdout.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    assert_eq!(listed.iter().map(Value::to_string).collect::<Vec<_>>(), [expected]);

    let resumed = Session::resume("of-ours").agent(stage.agent()).open().await?;
    let state = resumed.state();
    assert_eq!(state.title.as_deref(), Some("Made by us"));
    let texts: Vec<_> = state.history.iter().map(|message| message.text()).collect();
    assert!(texts.contains(&"There is mango.txt.".to_owned()), "{texts:?}");
    let model =
        UpdateSessionSettingsParams { model_id: Some(droid::CHAT_MODEL.to_owned()), ..Default::default() };
    resumed.update_settings(model).await?;
    assert_eq!(resumed.send("And now?").await?.text, "Still mango.");
    resumed.close().await?;
    let asked = stage
        .model
        .calls()
        .iter()
        .filter_map(|call| call.body.as_ref())
        .map(Value::to_string)
        .collect::<String>();
    assert!(asked.contains("There is mango.txt.") && asked.contains("call_1"), "the model gets it");

    // and the engine resumes that
    let stored = store.load(&SessionId::new("of-ours")?)?.session;
    assert!(stored.damage.is_none(), "{}", stored.damage);
    let texts: Vec<_> = stored.messages.iter().map(musher_engine::Message::text).collect();
    assert!(texts.contains(&"Still mango.".to_owned()), "{texts:?}");
    stage.finish().await
}
