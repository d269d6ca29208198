//! Runs the built program. Whatever happens to a test, the program does not outlive it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(20);

/// The output and the exit code of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    command_of(env!("CARGO_BIN_EXE_musher"), arguments)
}

#[expect(clippy::disallowed_methods, reason = "the tests start the program under test")]
fn command_of(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program to its end.
pub(crate) fn musher(arguments: &[&str]) -> Run {
    ended(command(arguments))
}

/// Runs the small program to its end.
pub(crate) fn bridge_alone(arguments: &[&str]) -> Run {
    ended(command_of(env!("CARGO_BIN_EXE_musher-bridge"), arguments))
}

/// Runs the program to its end, in another directory or with variables.
pub(crate) fn musher_with(arguments: &[&str], set_up: impl FnOnce(&mut Command)) -> Run {
    let mut command = command(arguments);
    set_up(&mut command);
    ended(command)
}

/// Runs a command of the program to its end.
pub(crate) fn ended(command: Command) -> Run {
    let mut running = Running::spawn(command);
    let stdout = running.rest_of_stdout();
    running.end(stdout)
}

/// A program that serves until it is stopped.
pub(crate) struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    stderr: Option<std::thread::JoinHandle<String>>,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(command(arguments))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::sync_channel(4096);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stderr = child.stderr.take().unwrap();
        let stderr = Some(std::thread::spawn(move || all_of(stderr)));
        Self { child, lines, stderr }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line on stdout.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line on stdout within the deadline")
    }

    /// Waits until it has ended by itself.
    pub(crate) fn finish(mut self) -> Run {
        let stdout = self.rest_of_stdout();
        self.end(stdout)
    }

    fn rest_of_stdout(&self) -> String {
        let mut text = String::new();
        loop {
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => text = text + &line + "\n",
                Err(mpsc::RecvTimeoutError::Disconnected) => return text,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the program does not end; so far: {text}"),
            }
        }
    }

    /// Asks the program to end with a signal, and waits until it has.
    #[cfg(unix)]
    #[expect(
        clippy::disallowed_methods,
        reason = "a signal can be sent without unsafe code only by a program"
    )]
    pub(crate) fn stop(mut self, signal: &str) -> Run {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let stdout = self.rest_of_stdout();
        self.end(stdout)
    }

    /// To be called when stdout is at its end, so that waiting is short.
    fn end(&mut self, stdout: String) -> Run {
        let code = self.child.wait().unwrap().code();
        let stderr = self.stderr.take().unwrap().join().unwrap();
        Run { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn all_of(mut stderr: ChildStderr) -> String {
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    text
}
