//! A command that somebody else talks to: hooks, and servers on standard input and output. Started and ended like every other one.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tokio::net::unix::pipe;

use super::{Ended, GRACE, Job, Shell};

/// A running command with its three pipes. Dropping it ends the command with everything below it.
#[derive(Debug)]
pub struct Piped {
    job: Job,
    /// What it reads. Taking and dropping this tells it that nothing more comes.
    pub stdin: Option<pipe::Sender>,
    /// What it says. Somebody has to read it, or the command will wait.
    pub stdout: Option<pipe::Receiver>,
    /// What it complains about. The same.
    pub stderr: Option<pipe::Receiver>,
}

impl Piped {
    /// Starts a command of the shell. `exec` before a program spares the shell.
    pub async fn start(command: &str, cwd: &Path, environment: &[(OsString, OsString)]) -> io::Result<Self> {
        let (their_input, our_input) = io::pipe()?;
        let (our_output, their_output) = io::pipe()?;
        let (our_errors, their_errors) = io::pipe()?;
        let shell = Shell { command, cwd, environment };
        let input = Some(their_input.into());
        let job = Job::start(shell, input, their_output.into(), their_errors.into()).await?;
        Ok(Self {
            job,
            stdin: Some(pipe::Sender::from_owned_fd(our_input.into())?),
            stdout: Some(pipe::Receiver::from_owned_fd(our_output.into())?),
            stderr: Some(pipe::Receiver::from_owned_fd(our_errors.into())?),
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.job.id()
    }

    /// Waits until the command itself has ended. What it has started may go on.
    pub async fn exited(&self) -> Ended {
        self.job.exited().await
    }

    /// Asks it to end, and then ends it with everything below it. Done when this returns.
    pub async fn end(self) {
        self.job.end(GRACE).await;
        self.job.release();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_command_reads_what_is_written_and_is_ended_with_its_children() {
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let command = "read line; echo got $line; echo bad >&2; sleep 1000 & echo $!; wait";
        let mut piped = Piped::start(command, Path::new("/"), &environment).await.unwrap();
        piped.stdin.take().unwrap().write_all(b"hello\n").await.unwrap();
        let mut output = piped.stdout.take().unwrap();
        let mut text = String::new();
        while text.lines().count() < 2 || !text.ends_with('\n') {
            text.push(char::from(output.read_u8().await.unwrap()));
        }
        assert!(text.starts_with("got hello\n"));
        piped.end().await;
        let mut rest = String::new();
        // ends only when nobody holds the other end any more
        output.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "");
    }

    #[tokio::test]
    async fn the_end_of_a_command_is_told_with_its_code() {
        let piped = Piped::start("exec false", Path::new("/"), &[]).await.unwrap();
        assert_eq!(piped.exited().await, Ended::Exited(1));
    }
}
