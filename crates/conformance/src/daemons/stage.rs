//! A daemon in a sandbox, and clients of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use musher::{Autonomy, ConnectDaemon, Daemon, Session, SessionBuilder, Turn};
use serde_json::json;
use testkit::rehearse::{Reply, Script, Server};
use testkit::{Backend, Program, Sandbox, droid, engine};
use tokio::time::timeout;

use super::proxy::{Proxy, Upstream};
use crate::Executable;

/// Free in every sandbox, because each has its own network.
const PORT: u16 = 37643;
/// How long a client waits for anything.
pub(super) const TIMEOUT: Duration = Duration::from_secs(90);

/// A daemon with a scripted model.
pub(super) struct Stage {
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) model: Server,
    executable: PathBuf,
    backend: Option<Backend>,
    daemon: Option<Program>,
}

impl Stage {
    /// Starts a daemon, and waits until it listens.
    pub(super) async fn new(executable: &Executable, script: Script) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        let backend = match executable {
            Executable::Droid(_) => {
                let backend = Backend::start(&sandbox)?;
                backend.answer("/api/cli/whoami", json!({"userId": "user_1", "orgId": "org_1"}));
                droid::configure(&sandbox, &model.url())?;
                Some(backend)
            }
            Executable::Musher(_) => {
                engine::configure(&sandbox, &model.url())?;
                None
            }
        };
        let mut stage =
            Self { sandbox: Arc::new(sandbox), model, executable: executable.path(), backend, daemon: None };
        stage.start().await?;
        Ok(stage)
    }

    /// Whether the daemon is droid's.
    pub(super) fn is_droid(&self) -> bool {
        self.backend.is_some()
    }

    /// Starts the daemon.
    pub(super) async fn start(&mut self) -> Result<()> {
        let launch = self.sandbox.launch(&self.executable);
        let launch = match &self.backend {
            Some(backend) => {
                droid::with_account(launch.args(["daemon", "--port", &PORT.to_string()]), backend)
            }
            None => launch.args(["daemon"]),
        };
        let sign = if self.is_droid() { "WebSocket endpoint" } else { "listening" };
        let mut daemon = self.sandbox.spawn(&launch)?;
        while !daemon.next_line().await?.context("the daemon ended")?.contains(sign) {}
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Kills the daemon.
    pub(super) async fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().await;
        }
    }

    /// Starts a proxy to the daemon.
    pub(super) fn proxy(&self, name: &str, cut_after: Option<u32>) -> Result<Proxy> {
        let upstream = if self.is_droid() {
            Upstream::Port(PORT)
        } else {
            Upstream::Socket(self.sandbox.home().join(".musher/daemon.sock"))
        };
        let path = self.sandbox.temp().join(format!("{name}.sock"));
        Proxy::start(&self.sandbox, upstream, &path, cut_after)
    }

    /// Returns a connection to be made through a proxy.
    pub(super) fn connect(&self, proxy: &Proxy) -> ConnectDaemon {
        let connect = Daemon::connect().url(proxy.url());
        if self.is_droid() {
            connect.token(droid::DUMMY_KEY)
        } else {
            connect.token_file(self.sandbox.home().join(".musher/daemon.token"))
        }
    }

    /// Connects a client.
    pub(super) async fn client(&self, name: &str) -> Result<Client> {
        let proxy = self.proxy(name, None)?;
        let daemon = self.connect(&proxy).await?;
        Ok(Client { daemon, proxy })
    }

    /// Returns the options of a session in the sandbox's workspace.
    pub(super) fn session(&self, daemon: &Daemon) -> SessionBuilder {
        let model = if self.is_droid() { droid::CHAT_MODEL } else { "rehearsal" };
        let session = daemon.session().cwd(self.sandbox.workspace()).autonomy(Autonomy::Off);
        if self.is_droid() { session.model(model) } else { session }
    }

    /// Ends everything; nothing may be left running.
    pub(super) async fn finish(mut self) -> Result<()> {
        self.kill().await;
        drop(self.backend.take());
        self.model.shutdown().await;
        let Some(sandbox) = Arc::into_inner(self.sandbox) else { bail!("a proxy still runs") };
        sandbox.finish().await
    }
}

/// A client, and its way to the daemon.
pub(super) struct Client {
    pub(super) daemon: Daemon,
    pub(super) proxy: Proxy,
}

impl Client {
    /// Ends the client; its sessions stay.
    pub(super) async fn leave(self) {
        self.daemon.close().await;
        drop(self.proxy);
    }
}

/// Waits for the events of a turn up to one that fits, and returns it.
pub(super) async fn until<T>(
    turn: &mut Turn,
    mut wanted: impl FnMut(musher::Event) -> Option<T>,
) -> Result<T> {
    loop {
        let event = timeout(TIMEOUT, turn.next()).await.context("no event comes")?;
        if let Some(found) = wanted(event.context("the turn ended")??) {
            return Ok(found);
        }
    }
}

/// Runs a turn to its end.
pub(super) async fn answer(session: &Session, text: &str) -> Result<String> {
    let result = timeout(TIMEOUT, session.send(text)).await.context("the turn does not end")??;
    Ok(result.text)
}
