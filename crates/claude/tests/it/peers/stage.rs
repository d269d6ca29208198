//! The environment of a test: a sandbox, a scripted model, and a way to start sessions inside.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use musher_claude::{Error, Handlers, Messages, Options, Session};
use musher_rehearse::{Script, Server};
use musher_rpc::{Launch, Spawner};
use testkit::peers::Installed;
use testkit::{Sandbox, claude};

/// Real agents need many seconds on a loaded machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(90);

pub(crate) struct Stage {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) model: Server,
    claude: Installed,
}

impl Stage {
    pub(crate) fn new(claude: Installed, script: Script) -> Result<Self> {
        Self::scripted(claude, |_workspace| script)
    }

    /// Creates a stage with a script that depends on the workspace.
    pub(crate) fn scripted(claude: Installed, script: impl FnOnce(&Path) -> Script) -> Result<Self> {
        let sandbox = Arc::new(Sandbox::new()?);
        let model = sandbox.model(script(&sandbox.workspace()))?;
        Ok(Self { sandbox, model, claude })
    }

    pub(crate) async fn start(
        &self,
        options: Options,
        handlers: Handlers,
    ) -> Result<(Session, Messages), Error> {
        let launch = claude::launch(&self.sandbox, &self.claude, &self.model.url());
        let spawner = Arc::new(Inside(Arc::clone(&self.sandbox)));
        let adjust = |mut ours: Launch| {
            ours = ours.env_clear().spawn_on(spawner);
            for (name, value) in &launch.env {
                ours = ours.env(name, value);
            }
            ours
        };
        Session::start_with(&launch.program, &launch.cwd, options, handlers, adjust).await
    }

    /// Ends everything and fails if something is left.
    pub(crate) async fn finish(self) -> Result<()> {
        self.model.shutdown().await;
        // the last forks keep it alive for a moment
        let sandbox = soon(async {
            let mut shared = self.sandbox;
            loop {
                match Arc::try_unwrap(shared) {
                    Ok(sandbox) => return sandbox,
                    Err(back) => shared = back,
                }
                tokio::task::yield_now().await;
            }
        })
        .await;
        sandbox.finish().await
    }
}

/// Forks inside the namespace of a sandbox.
struct Inside(Arc<Sandbox>);

impl Spawner for Inside {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.run(job).expect("the sandbox is open");
    }
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inside")
    }
}

/// Waits for something that must happen.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("it should have happened long ago")
}

/// Runs a test with both versions.
macro_rules! on_both {
    ($($name:ident, $old_name:ident => $test:ident;)*) => {
        $(
            #[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                $test(testkit::require_peer!(testkit::peers::CLAUDE)).await
            }

            #[tokio::test]
            async fn $old_name() -> anyhow::Result<()> {
                $test(testkit::require_peer!(testkit::peers::CLAUDE_OLD)).await
            }
        )*
    };
}

pub(crate) use on_both;
