//! Description of a program to start: arguments, environment, and its ties to this process.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::{fmt, io};

use crate::{Child, Sandbox, Spawner, spawn};

/// A program to start, with its options.
///
/// ```
/// use musher_process::Command;
///
/// let command = Command::new("env").env("TOKEN", "secret-123").env_remove("HOME").cwd("/");
/// assert!(!format!("{command:?}").contains("secret-123"));
/// ```
#[derive(Clone)]
pub struct Command {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    /// In the order of the calls; `None` removes a variable.
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) is_env_cleared: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) parent_death: ParentDeath,
    pub(crate) keeps_descendants: bool,
    pub(crate) has_core_dumps: bool,
    pub(crate) adopts_orphans: bool,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) spawner: Option<Arc<dyn Spawner>>,
}

/// The signal that the kernel sends to a program if this process dies without ending it first, for example by SIGKILL. Linux only.
///
/// In both cases the guard then kills all processes that the program started, on every system, even behind a wrapper script.
///
/// ```
/// use musher_process::{Command, ParentDeath};
///
/// let command = Command::new("claude").on_parent_death(ParentDeath::Interrupt);
/// # drop(command);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParentDeath {
    /// SIGKILL.
    #[default]
    Kill,
    /// SIGINT, for a program that ends its own children before it exits. It is killed 2 s later.
    Interrupt,
}

/// The standard streams of a program.
///
/// ```
/// use std::io::Read as _;
/// use std::process::Stdio;
/// use musher_process::{Command, Streams};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let streams = Streams { stdout: Stdio::piped(), ..Streams::null() };
/// let mut child = Command::new("echo").arg("hello").spawn(streams).await?;
/// let mut output = String::new();
/// child.stdout.take().expect("it was piped").read_to_string(&mut output)?;
/// assert_eq!(output, "hello\n");
/// child.reap()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: Stdio,
    /// Standard output.
    pub stdout: Stdio,
    /// Standard error.
    pub stderr: Stdio,
}

impl Streams {
    /// Returns three pipes, whose other ends are in the [`Child`].
    pub fn piped() -> Self {
        Self { stdin: Stdio::piped(), stdout: Stdio::piped(), stderr: Stdio::piped() }
    }

    /// Returns empty input, and discards all output.
    pub fn null() -> Self {
        Self { stdin: Stdio::null(), stdout: Stdio::null(), stderr: Stdio::null() }
    }
}

impl Command {
    /// Creates a command. The program is looked up in `PATH` if it is a plain name.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            is_env_cleared: false,
            cwd: None,
            parent_death: ParentDeath::default(),
            keeps_descendants: false,
            has_core_dumps: true,
            adopts_orphans: false,
            sandbox: None,
            spawner: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Sets several environment variables.
    #[must_use]
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self {
        variables.into_iter().fold(self, |command, (name, value)| command.env(name, value))
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts with an empty environment instead of the inherited one. The order of this call and `env` does not matter.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.is_env_cleared = true;
        self
    }

    /// Sets the working directory. The default is that of this process.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.cwd = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets what happens to the program when this process dies. The default is [`ParentDeath::Kill`].
    #[must_use]
    pub fn on_parent_death(mut self, parent_death: ParentDeath) -> Self {
        self.parent_death = parent_death;
        self
    }

    /// Keeps the descendants of the program running when the program itself exits.
    ///
    /// By default, [`Child::reap`] kills them. Kept descendants can be found by their [`Mark`](crate::Mark), and the guard ends them with this process.
    #[must_use]
    pub fn keep_descendants(mut self) -> Self {
        self.keeps_descendants = true;
        self
    }

    /// Disables core dumps of the program and its descendants.
    #[must_use]
    pub fn no_core_dumps(mut self) -> Self {
        self.has_core_dumps = false;
        self
    }

    /// Makes the program the parent of its orphaned descendants, so that they are still found by descent. Linux only.
    ///
    /// For programs that reap any child, as shells do: otherwise zombies would accumulate.
    #[must_use]
    pub fn adopt_orphans(mut self) -> Self {
        self.adopts_orphans = true;
        self
    }

    /// Sets the sandbox of the program and of everything it starts. By default there is none.
    #[must_use]
    pub fn sandbox(mut self, sandbox: impl Into<Option<Sandbox>>) -> Self {
        self.sandbox = sandbox.into();
        self
    }

    /// Sets the thread that forks, instead of the default one. See [`Spawner`].
    #[must_use]
    pub fn spawn_on(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.spawner = Some(spawner);
        self
    }

    /// Returns the program as it was given.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the working directory, if one was set.
    pub fn current_dir(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Starts the program. If the future is dropped before it completes, the program is killed.
    pub async fn spawn(&self, streams: Streams) -> io::Result<Child> {
        spawn::spawn(self, streams).await
    }
}

/// Omits the values of the environment: any of them may be a secret.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("is_env_cleared", &self.is_env_cleared)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
