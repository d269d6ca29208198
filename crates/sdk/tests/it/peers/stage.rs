//! A sandbox with the real droid and a scripted model, ready for sessions.

use anyhow::Result;
use musher::{Agent, Session, SessionBuilder};
use testkit::peers::Installed;
use testkit::rehearse::{Script, Server};
use testkit::{Backend, Launch, Sandbox, droid};

/// Everything a session needs. End it with [`Stage::finish`].
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) model: Server,
    backend: Backend,
    launch: Launch,
}

impl Stage {
    pub(crate) fn new(droid: &Installed, script: Script) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let backend = Backend::start(&sandbox)?;
        let model = sandbox.model(script)?;
        let launch = droid::launch(&sandbox, droid, &model.url(), &backend)?;
        Ok(Self { sandbox, model, backend, launch })
    }

    /// The droid of the sandbox.
    pub(crate) fn agent(&self) -> Agent {
        Agent::launch(self.sandbox.agent(&self.launch))
    }

    /// A session in the sandbox's workspace, with the scripted model.
    pub(crate) fn session(&self) -> SessionBuilder {
        Session::builder().agent(self.agent()).cwd(self.sandbox.workspace()).model(droid::CHAT_MODEL)
    }

    /// Fails if anything is left running.
    pub(crate) async fn finish(self) -> Result<()> {
        drop(self.model);
        drop(self.backend);
        self.sandbox.finish().await
    }
}
