//! The environment of a real program: no network but loopback, its own home and workspace, and a check for leftovers.
//!
//! It knows nothing about the programs. `droid` and `claude` set up the home; `Program` communicates.

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

/// The variable that every process of a sandbox has; its value identifies the sandbox.
pub const MARKER: &str = "MUSHER_SANDBOX";

/// How long a process that was asked to end may take before it counts as a leftover.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a leftover may take to end between SIGTERM and SIGKILL.
const GRACE_TIMEOUT: Duration = Duration::from_secs(2);

/// A network namespace with only loopback, with a home, a workspace and a directory for temporary files.
///
/// End it with [`finish`](Self::finish), which fails if a process or a listener is left. Dropping it kills leftovers and, unless the test
/// has already failed, panics if there were any.
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
    /// Creates a sandbox; needs root or `CAP_SYS_ADMIN`, `ip` and `git`.
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

    /// Returns the home directory of its programs.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the git repository in which its programs work.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Returns the directory for temporary files of its programs.
    pub fn temp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Returns the launch of a program in the workspace with a clean environment: `PATH`, `HOME`, `TMPDIR`, `LANG`, `TERM` and the marker.
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

    /// Converts a launch for callers that start agents with `musher-rpc`.
    pub fn agent(&self, launch: &Launch) -> musher_rpc::Launch {
        let agent = musher_rpc::Launch::new(&launch.program).args(&launch.args).env_clear().cwd(&launch.cwd);
        let agent = launch.env.iter().fold(agent, |agent, (key, value)| agent.env(key, value));
        agent.spawn_on(Arc::new(self.namespace.spawner()))
    }

    /// Runs a closure on the thread in the namespace, and waits for it.
    ///
    /// Sockets that it opens and children that it starts are inside. The caller's tokio runtime, if any, is entered, so they may be
    /// tokio's.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.namespace.run(job)
    }

    /// Opens a listener on the sandbox's loopback, at a free port.
    pub fn listen(&self) -> Result<TcpListener> {
        let listener = self.run(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))??;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Returns the living processes of the sandbox, whatever started them.
    pub fn processes(&self) -> Vec<Leftover> {
        self.belongs().alive()
    }

    /// Checks for leftovers, kills them, and fails if there were any.
    ///
    /// Call it after every program was asked to end and every server in the sandbox was dropped.
    pub async fn finish(self) -> Result<()> {
        tokio::task::spawn_blocking(move || self.finish_blocking())
            .await
            .context("the check of the sandbox panicked")?
    }

    /// Like [`finish`](Self::finish), for a caller without a runtime.
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
        let leftovers = belongs.wait_gone(SETTLE_TIMEOUT);
        if leftovers.is_empty() {
            return Ok(());
        }
        belongs.end_all(GRACE_TIMEOUT);
        let list: Vec<_> = leftovers.iter().map(ToString::to_string).collect();
        let survivors = belongs.alive().len();
        bail!("left running in the sandbox: {} ({survivors} could not be killed)", list.join(", "));
    }

    fn wait_no_listener(&self) -> Result<Vec<String>> {
        let deadline = Instant::now() + SETTLE_TIMEOUT;
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
        reason = "a leak must fail the test if nothing else has, and drop has no other way"
    )]
    fn drop(&mut self) {
        if self.is_checked {
            return;
        }
        // listeners are not checked: a server that was just dropped closes them only when its runtime runs
        if std::thread::panicking() {
            self.belongs().end_all(GRACE_TIMEOUT);
        } else if let Err(error) = self.check_processes() {
            panic!(
                "{error:#}; dropped without `finish`, so an error the test was returning is hidden by this one"
            );
        }
    }
}
