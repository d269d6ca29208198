//! A running program of a sandbox, with line-based input and output; every wait has a deadline.
//!
//! Deliberately simple: it matches no ids and answers nothing by itself. Tests of the real transport start a [`Launch`] themselves.

mod stderr;

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{Launch, Sandbox};
use stderr::Tail;

/// How long one wait may take: real agents need ten seconds to start on a loaded machine.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a program that ignored the end of its input may take after SIGTERM.
const GRACE_TIMEOUT: Duration = Duration::from_secs(10);

/// A process of the sandbox with its three pipes; killed when dropped.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Tail,
    wait_timeout: Duration,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// The unread lines of standard output.
    pub stdout: Vec<String>,
    /// The end of standard error.
    pub stderr: String,
}

impl Sandbox {
    /// Starts a program in the sandbox, in its own process group; needs a tokio runtime.
    pub fn spawn(&self, launch: &Launch) -> Result<Program> {
        let name =
            launch.program.file_name().unwrap_or(launch.program.as_os_str()).to_string_lossy().into_owned();
        let mut command = command(launch);
        let mut child = self
            .run(move || command.spawn())?
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let pid = child.id().context("a child that was just started has an id")?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        let stderr = child.stderr.take().context("standard error is piped")?;
        Ok(Program {
            name,
            group: Pid::from_raw(i32::try_from(pid)?),
            stdin: child.stdin.take(),
            stdout: BufReader::new(stdout).lines(),
            stderr: Tail::follow(stderr),
            child,
            wait_timeout: DEFAULT_TIMEOUT,
        })
    }

    /// Starts a program, closes its input and waits for its end.
    pub async fn output(&self, launch: &Launch) -> Result<Ended> {
        self.spawn(launch)?.end().await
    }
}

impl Program {
    /// Returns the process id, which is also the id of the group.
    pub fn id(&self) -> i32 {
        self.group.as_raw()
    }

    /// Sets how long one wait may take.
    #[must_use]
    pub fn wait_timeout(mut self, timeout: Duration) -> Self {
        self.wait_timeout = timeout;
        self
    }

    /// Writes a message as a line.
    pub async fn send(&mut self, message: &Value) -> Result<()> {
        self.send_line(&message.to_string()).await
    }

    /// Writes a line.
    pub async fn send_line(&mut self, line: &str) -> Result<()> {
        self.send_bytes(format!("{line}\n").as_bytes()).await
    }

    /// Writes bytes unchanged.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self.stdin.as_mut().context("standard input is closed")?;
        let write = async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        };
        let written = timeout(self.wait_timeout, write).await;
        written
            .with_context(|| format!("{} does not read its input", self.name))?
            .with_context(|| self.report("cannot write"))
    }

    /// Closes standard input, which ends most agents.
    pub fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Returns the next message, or `None` at the end of the output.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        self.next_before("a message", Instant::now() + self.wait_timeout).await
    }

    /// Returns the next line of a program that does not print messages, or `None` at the end of the output.
    pub async fn next_line(&mut self) -> Result<Option<String>> {
        match timeout(self.wait_timeout, self.stdout.next_line()).await {
            Ok(line) => Ok(line?),
            Err(_elapsed) => bail!(self.report(&format!("no line in {:?}", self.wait_timeout))),
        }
    }

    /// Reads up to and including the first message for which `is_it` holds; returns all messages read.
    pub async fn read_until(
        &mut self,
        what: &str,
        mut is_it: impl FnMut(&Value) -> bool,
    ) -> Result<Vec<Value>> {
        let deadline = Instant::now() + self.wait_timeout;
        let mut seen = Vec::new();
        while let Some(message) = self.next_before(what, deadline).await? {
            let found = is_it(&message);
            seen.push(message);
            if found {
                return Ok(seen);
            }
        }
        let last = seen.last().map(ToString::to_string).unwrap_or_default();
        bail!("{}; last message: {last}", self.report(&format!("output ended before {what}")));
    }

    /// Closes standard input and waits for the end; if that fails, kills the whole process group and returns an error.
    pub async fn end(mut self) -> Result<Ended> {
        self.close_stdin();
        let mut rest = Vec::new();
        let ended =
            timeout(self.wait_timeout, read_and_wait(&mut self.stdout, &mut self.child, &mut rest)).await;
        match ended {
            Ok(status) => {
                Ok(Ended { status: status?, stdout: rest, stderr: self.stderr.finish(GRACE_TIMEOUT).await })
            }
            Err(_elapsed) => {
                let report = self.report("did not end when its input did");
                self.kill().await;
                bail!(report)
            }
        }
    }

    /// Ends the whole process group: SIGTERM, time to react, SIGKILL.
    pub async fn kill(&mut self) {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            // an error means that it is gone already
            killpg(self.group, signal).ok();
            if timeout(GRACE_TIMEOUT, self.child.wait()).await.is_ok() {
                break;
            }
        }
        // processes of the group that outlived its leader
        killpg(self.group, Signal::SIGKILL).ok();
    }

    async fn next_before(&mut self, what: &str, deadline: Instant) -> Result<Option<Value>> {
        loop {
            let Ok(line) = timeout_at(deadline, self.stdout.next_line()).await else {
                bail!(self.report(&format!("no {what} in {:?}", self.wait_timeout)));
            };
            match line? {
                None => return Ok(None),
                Some(line) if line.trim().is_empty() => {}
                Some(line) => {
                    let message = serde_json::from_str(&line);
                    return message.map(Some).with_context(|| self.report(&format!("not JSON: {line}")));
                }
            }
        }
    }

    /// Formats an event with the program's name and its standard error.
    pub(crate) fn report(&self, what: &str) -> String {
        format!("{}: {what}; standard error: {:?}", self.name, self.stderr.so_far())
    }
}

impl Drop for Program {
    /// A group outlives its leader; its remaining processes are killed too.
    fn drop(&mut self) {
        // after the leader was reaped, its id may belong to another process
        if self.child.id().is_some() {
            killpg(self.group, Signal::SIGKILL).ok();
        }
    }
}

async fn read_and_wait(
    stdout: &mut Lines<BufReader<ChildStdout>>,
    child: &mut Child,
    rest: &mut Vec<String>,
) -> Result<ExitStatus> {
    let drain = async {
        while let Some(line) = stdout.next_line().await? {
            rest.push(line);
        }
        Ok::<_, std::io::Error>(())
    };
    let (status, drained) = tokio::join!(child.wait(), drain);
    drained?;
    Ok(status?)
}

#[expect(clippy::disallowed_methods, reason = "real programs under test are started here")]
#[expect(unsafe_code, reason = "there is no safe way to have a child die with us")]
fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    // SAFETY: `prctl` is one system call; it allocates nothing and takes no lock, so it may run between fork and exec.
    unsafe {
        command.pre_exec(|| prctl::set_pdeathsig(Signal::SIGKILL).map_err(Into::into));
    }
    command
}
