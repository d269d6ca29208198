//! A command with piped streams: hooks, and MCP servers on stdio. Started and ended like every other command.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use musher_process::Sandbox;
use tokio::net::unix::pipe;

use super::{Ended, GRACE_TIMEOUT, Job, Shell};

/// A running command with its three pipes. Dropping it ends the command with all its descendants.
#[derive(Debug)]
pub struct Piped {
    job: Job,
    /// The command's input. Dropping it signals the end of input.
    pub stdin: Option<pipe::Sender>,
    /// The command's output. It must be read, or the command blocks.
    pub stdout: Option<pipe::Receiver>,
    /// The command's error output. It must be read, or the command blocks.
    pub stderr: Option<pipe::Receiver>,
}

impl Piped {
    /// Starts a shell command. `exec` before a program replaces the shell.
    ///
    /// Without a sandbox it may change and connect to everything.
    pub async fn start(
        command: &str,
        cwd: &Path,
        environment: &[(OsString, OsString)],
        sandbox: Option<&Sandbox>,
    ) -> io::Result<Self> {
        let (their_input, our_input) = io::pipe()?;
        let (our_output, their_output) = io::pipe()?;
        let (our_errors, their_errors) = io::pipe()?;
        let shell = Shell { command, cwd, environment, sandbox, launcher: None };
        let input = Some(their_input.into());
        let job = Job::start(shell, input, their_output.into(), their_errors.into()).await?;
        Ok(Self {
            job,
            stdin: Some(pipe::Sender::from_owned_fd(our_input.into())?),
            stdout: Some(pipe::Receiver::from_owned_fd(our_output.into())?),
            stderr: Some(pipe::Receiver::from_owned_fd(our_errors.into())?),
        })
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.job.id()
    }

    /// Waits until the command itself has ended. Its background processes may continue.
    pub async fn exited(&self) -> Ended {
        self.job.exited().await
    }

    /// Asks the command to end, then kills it with all its descendants. They are gone when this returns.
    pub async fn end(self) {
        self.job.end(GRACE_TIMEOUT).await;
        self.job.release();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn command_reads_its_input_and_ends_with_its_children() {
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let command = "read line; echo got $line; echo bad >&2; sleep 1000 & echo $!; wait";
        let mut piped = Piped::start(command, Path::new("/"), &environment, None).await.unwrap();
        piped.stdin.take().unwrap().write_all(b"hello\n").await.unwrap();
        let mut output = piped.stdout.take().unwrap();
        let mut text = String::new();
        while text.lines().count() < 2 || !text.ends_with('\n') {
            text.push(char::from(output.read_u8().await.unwrap()));
        }
        assert!(text.starts_with("got hello\n"));
        piped.end().await;
        let mut rest = String::new();
        // ends only when all processes have closed the other end
        output.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "");
    }

    #[tokio::test]
    async fn exited_returns_the_exit_code() {
        let piped = Piped::start("exec false", Path::new("/"), &[], None).await.unwrap();
        assert_eq!(piped.exited().await, Ended::Exited(1));
    }
}
