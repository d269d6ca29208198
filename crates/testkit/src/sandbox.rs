//! The place a real program runs in: no network but loopback, a home and a workspace of its own, nothing left at the end.
//!
//! It does not know what it starts. What an agent needs in its home is in `droid` and `claude`; talking to it is `Program`.

mod launch;
mod listeners;
mod namespace;
mod processes;
mod workspace;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

pub use launch::Launch;
use namespace::Namespace;
use processes::Belongs;
pub use processes::Leftover;
pub use workspace::README;

/// The variable every process of a sandbox carries; its value names the sandbox.
pub const MARKER: &str = "MUSHER_SANDBOX";

/// How long what was told to end may take to be gone before it counts as left over.
const SETTLE: Duration = Duration::from_secs(3);
/// How long a leftover has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// A network namespace with only loopback, with a home, a workspace and a folder for temporary files.
///
/// End it with [`finish`](Self::finish), which fails if a process or a listener is left. Dropping it kills what is left and, unless
/// the test has already failed, panics if there was anything.
///
/// ```no_run
/// # async fn example() -> anyhow::Result<()> {
/// let sandbox = testkit::Sandbox::new()?;
/// let program = sandbox.spawn(&sandbox.launch("cat"))?;
/// program.end().await?;
/// sandbox.finish().await
/// # }
/// ```
#[derive(Debug)]
pub struct Sandbox {
    namespace: Namespace,
    folder: TempDir,
    marker: String,
    is_checked: bool,
}

impl Sandbox {
    /// Makes one; needs root or `CAP_SYS_ADMIN`, `ip` and `git`.
    pub fn new() -> Result<Self> {
        let namespace = Namespace::new()?;
        let folder = tempfile::Builder::new().prefix("musher-sandbox-").tempdir()?;
        let marker = folder
            .path()
            .file_name()
            .context("a temporary folder has a name")?
            .to_string_lossy()
            .into_owned();
        let sandbox = Self { namespace, folder, marker, is_checked: false };
        fs_err::create_dir(sandbox.home())?;
        fs_err::create_dir(sandbox.temp())?;
        workspace::create(&sandbox.workspace(), &sandbox.home())?;
        Ok(sandbox)
    }

    /// The home folder its programs see.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The git repository its programs work in.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Where its programs put temporary files.
    pub fn temp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// A program in the workspace with the clean environment: `PATH`, `HOME`, `TMPDIR`, `LANG`, `TERM` and the marker.
    pub fn launch(&self, program: impl AsRef<Path>) -> Launch {
        let launch = Launch {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: self.workspace(),
        };
        launch
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TMPDIR", self.temp())
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env(MARKER, &self.marker)
    }

    /// The same launch for whoever starts agents through `musher-rpc`.
    pub fn agent(&self, launch: &Launch) -> musher_rpc::Launch {
        let agent = musher_rpc::Launch::new(&launch.program).args(&launch.args).env_clear().cwd(&launch.cwd);
        let agent = launch.env.iter().fold(agent, |agent, (key, value)| agent.env(key, value));
        agent.spawn_on(Arc::new(self.namespace.spawner()))
    }

    /// Runs a closure on the thread that lives in the namespace, and waits for it.
    ///
    /// Sockets it opens and children it starts are inside; the caller's tokio runtime, if any, is entered, so they may be tokio's.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.namespace.run(job)
    }

    /// A listener on the sandbox's loopback, at a free port.
    pub fn listen(&self) -> Result<TcpListener> {
        let listener = self.run(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))??;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// The processes alive in it now, however they came to be there.
    pub fn processes(&self) -> Vec<Leftover> {
        self.belongs().alive()
    }

    /// Checks that nothing is left, kills what is, and fails if there was anything.
    ///
    /// Call it after every program was told to end and every server in the sandbox was dropped.
    pub async fn finish(self) -> Result<()> {
        tokio::task::spawn_blocking(move || self.finish_blocking())
            .await
            .context("the check of the sandbox panicked")?
    }

    /// [`finish`](Self::finish) for a caller without a runtime.
    pub fn finish_blocking(mut self) -> Result<()> {
        self.is_checked = true;
        self.check()
    }

    fn belongs(&self) -> Belongs {
        Belongs { marker: format!("{MARKER}={}", self.marker), namespace: self.namespace.id().to_owned() }
    }

    fn check(&self) -> Result<()> {
        self.check_processes()?;
        let listeners = self.wait_no_listener()?;
        if !listeners.is_empty() {
            bail!("left listening in the sandbox: {}", listeners.join(", "));
        }
        Ok(())
    }

    fn check_processes(&self) -> Result<()> {
        let belongs = self.belongs();
        let leftovers = belongs.wait_gone(SETTLE);
        if leftovers.is_empty() {
            return Ok(());
        }
        belongs.end_all(GRACE);
        let list: Vec<_> = leftovers.iter().map(ToString::to_string).collect();
        let survivors = belongs.alive().len();
        bail!("left running in the sandbox: {} ({survivors} could not be killed)", list.join(", "));
    }

    fn wait_no_listener(&self) -> Result<Vec<String>> {
        let deadline = Instant::now() + SETTLE;
        loop {
            let listeners = self.run(listeners::listening)??;
            if listeners.is_empty() || Instant::now() >= deadline {
                return Ok(listeners);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Sandbox {
    #[expect(
        clippy::panic,
        reason = "a leak found while nothing else failed must fail the test, and drop has no other way"
    )]
    fn drop(&mut self) {
        if self.is_checked {
            return;
        }
        // Not the listeners: those of a server that was just dropped close only when its runtime gets to run.
        if std::thread::panicking() {
            self.belongs().end_all(GRACE);
        } else if let Err(error) = self.check_processes() {
            panic!(
                "{error:#}; dropped without `finish`, so an error the test was returning is hidden by this one"
            );
        }
    }
}
