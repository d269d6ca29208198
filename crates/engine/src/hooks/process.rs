//! Runs a command with input on stdin and collects its output: for hooks, and for slash commands that are programs.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use musher_tools::{Ended, Piped, Sandbox};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What is kept of each of the two outputs. The rest is read and dropped.
const MAX_OUTPUT: usize = 256 << 10;
/// How long output may still come after the command has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(300);

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOutput {
    /// How it ended.
    pub ended: Ended,
    /// What it said.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// Runs a command of the shell to its end, its limit, or its cancellation. Nothing it started is left behind.
pub async fn run_command(
    command: &str,
    cwd: &Path,
    environment: &[(OsString, OsString)],
    input: &[u8],
    limit: Duration,
    sandbox: Option<&Sandbox>,
    cancel: &CancellationToken,
) -> io::Result<ProcessOutput> {
    let mut piped = Piped::start(command, cwd, environment, sandbox).await?;
    let (stdin, stdout, stderr) = (piped.stdin.take(), piped.stdout.take(), piped.stderr.take());
    let mut outputs = (Vec::new(), Vec::new());
    let ended = {
        let talking = async {
            tokio::join!(tell(stdin, input), keep(stdout, &mut outputs.0), keep(stderr, &mut outputs.1));
        };
        tokio::pin!(talking);
        let running = async {
            let mut is_open = true;
            let ended = loop {
                tokio::select! {
                    ended = piped.exited() => break ended,
                    () = &mut talking, if is_open => is_open = false,
                }
            };
            if is_open {
                // something it started may hold on to its pipes
                timeout(OUTPUT_TIMEOUT, &mut talking).await.ok();
            }
            ended
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ended::Cancelled,
            ended = timeout(limit, running) => ended.unwrap_or(Ended::TimedOut),
        }
    };
    match ended {
        Ended::TimedOut | Ended::Cancelled => piped.end().await,
        // what it left behind is ended in the background
        _ => drop(piped),
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(ProcessOutput { ended, stdout: text(outputs.0), stderr: text(outputs.1) })
}

async fn tell(pipe: Option<pipe::Sender>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        // a command need not read its input
        pipe.write_all(input).await.ok();
    }
}

async fn keep(pipe: Option<pipe::Receiver>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 8 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = MAX_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(command: &str, input: &[u8], limit: Duration) -> ProcessOutput {
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        run_command(command, "/".as_ref(), &environment, input, limit, None, &CancellationToken::new())
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn command_gets_its_input_and_its_output_is_read() {
        let output = run("cat; echo bad >&2; exit 3", b"hello", Duration::from_mins(1)).await;
        let expected =
            ProcessOutput { ended: Ended::Exited(3), stdout: "hello".to_owned(), stderr: "bad\n".to_owned() };
        assert_eq!(output, expected);
    }

    #[tokio::test]
    async fn command_that_ignores_input_and_floods_output_is_handled() {
        let input = vec![b'x'; 1 << 20];
        let output = run("exec </dev/null; yes | head -c 3000000", &input, Duration::from_mins(1)).await;
        assert_eq!((output.ended, output.stdout.len()), (Ended::Exited(0), MAX_OUTPUT));
    }

    #[tokio::test]
    async fn one_that_leaves_something_running_is_not_waited_for() {
        let output = run("sleep 1000 & echo done", b"", Duration::from_mins(1)).await;
        assert_eq!((output.ended, output.stdout.as_str()), (Ended::Exited(0), "done\n"));
    }

    #[tokio::test]
    async fn limit_and_cancelling_end_it() {
        let output = run("echo begun; sleep 1000", b"", Duration::from_millis(300)).await;
        assert_eq!((output.ended, output.stdout.as_str()), (Ended::TimedOut, "begun\n"));
        let cancel = CancellationToken::new();
        cancel.cancel();
        let ended =
            run_command("sleep 1000", "/".as_ref(), &[], b"", Duration::from_mins(1), None, &cancel).await;
        assert_eq!(ended.unwrap().ended, Ended::Cancelled);
    }
}
