//! Runs commands in the editor's terminals, with the guarantees of musher's own commands as far as the editor allows.
//!
//! The command gets the same environment and empty input: a prelude that the shell reads first removes what the editor added. The command
//! carries musher's marks in its environment and its limits, so it is ended with all its descendants, also if this process is killed, wherever the
//! editor started it. One guarantee is missing: an editor keeps only the end of a very long output.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_process::{Mark, Sandbox, kill_marked, start_guard};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::environment::NON_INTERACTIVE;
use super::shell_prelude::ShellPrelude;
use super::{Ended, Finished, GRACE_TIMEOUT, Processes, Shell, plain, shell};
use crate::{Editor, TerminalExit, TerminalOrder};

/// The command of the launcher; the arguments of [`Sandbox::launch`] follow.
pub const LAUNCH_COMMAND: &str = "sandbox-launch";

/// How long the editor may take to open a terminal.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a cancelled terminal is awaited, so that it can be closed.
const CANCELLED_OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// How long the editor may take for each request after a command has ended.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of bytes of output that an editor keeps.
const KEPT_OUTPUT_BYTES: u64 = 1 << 20;

/// Runs a command until it ends, its timeout passes, or it is cancelled. Returns `None` if the editor refused before anything started.
///
/// `on_start` receives the id of the terminal.
pub(crate) async fn run_in_terminal(
    editor: &Arc<dyn Editor>,
    shell: Shell<'_>,
    limit: Duration,
    scratch: &Path,
    processes: &Processes,
    cancel: &CancellationToken,
    on_start: impl FnOnce(&str),
) -> io::Result<Option<Finished>> {
    let Some(launch) = Launch::of(shell) else {
        tracing::debug!("nothing can start the sandbox in a terminal: the command runs without one");
        return Ok(None);
    };
    let mark = Mark::random();
    let environment = environment(shell);
    let prelude = match ShellPrelude::write(scratch, &environment, &mark) {
        Ok(prelude) => prelude,
        Err(error) => {
            tracing::warn!(%error, "cannot prepare a terminal: the command runs without one");
            return Ok(None);
        }
    };
    let order = order(shell, launch, &mark, prelude.path());
    // if this process is killed, everything that carries the mark is ended
    tokio::task::spawn_blocking(start_guard).await.ok();
    let mut terminal =
        Terminal { editor: Arc::clone(editor), id: None, mark, is_over: false, prelude: Some(prelude) };
    let mut opening = Opening::begin(Arc::clone(editor), order);
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            terminal.cancel(opening);
            return Ok(Some(finished(Ended::Cancelled, Capture::new(scratch))));
        }
        opened = timeout(OPEN_TIMEOUT, &mut opening.0) => opened,
    };
    let id = match opened {
        Ok(Ok(Ok(id))) => id,
        Ok(Ok(Err(reason))) => {
            tracing::warn!(reason, "the editor cannot open a terminal: the command runs without one");
            terminal.is_over = true;
            return Ok(None);
        }
        // only a panic or a runtime shutdown leads here; then there is no terminal
        Ok(Err(failed)) => return Err(io::Error::other(failed)),
        Err(_elapsed) => {
            terminal.cancel(opening);
            let reason = "the editor did not answer in time; the command was cancelled, but may have started";
            return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
        }
    };
    terminal.id = Some(id.clone());
    on_start(&id);
    let ended = tokio::select! {
        exit = editor.terminal_exit(id.clone()) => how(&exit.map_err(|reason| lost(&reason))?),
        () = cancel.cancelled() => Ended::Cancelled,
        () = sleep(limit) => Ended::TimedOut,
    };
    if matches!(ended, Ended::Cancelled | Ended::TimedOut) {
        end(editor, Some(&id), terminal.mark.clone()).await;
    }
    let mut capture = Capture::new(scratch);
    if ended != Ended::Cancelled {
        capture.push(terminal.output(&id).await.as_bytes());
        terminal.keep_remains(processes, shell.command).await;
    }
    terminal.is_over = true;
    Ok(Some(finished(ended, capture)))
}

fn finished(ended: Ended, capture: Capture) -> Finished {
    Finished { ended, output: capture.finish() }
}

fn lost(reason: &str) -> io::Error {
    io::Error::other(format!("the editor lost the terminal: {reason}"))
}

/// The program that the editor starts, with its arguments: the shell, or the launcher of its sandbox.
#[derive(Debug)]
pub(super) struct Launch {
    program: String,
    arguments: Vec<String>,
}

impl Launch {
    /// Returns `None` if the shell needs a sandbox and there is no launcher for it.
    pub(super) fn of(shell: Shell<'_>) -> Option<Self> {
        let words = shell.arguments().map(str::to_owned);
        let Some(sandbox) = shell.sandbox else {
            return Some(Self { program: shell::path().to_owned(), arguments: words.into() });
        };
        let sandbox = sandbox.arguments().into_iter().map(OsString::into_string);
        let mut arguments = vec![LAUNCH_COMMAND.to_owned()];
        // editors take text only
        arguments.extend(sandbox.collect::<Result<Vec<_>, _>>().ok()?);
        arguments.push(shell::path().to_owned());
        arguments.extend(words);
        Some(Self { program: shell.launcher?.to_str()?.to_owned(), arguments })
    }
}

/// Returns the environment of the shell: its sandbox has a directory for temporary files.
fn environment(shell: Shell<'_>) -> Vec<(OsString, OsString)> {
    let temp = shell.sandbox.and_then(Sandbox::temp_folder);
    let mut environment = shell.environment.to_vec();
    if let Some(temp) = temp {
        environment.retain(|(name, _)| name != "TMPDIR");
        environment.push(("TMPDIR".into(), temp.into()));
    }
    environment
}

pub(super) fn order(shell: Shell<'_>, launch: Launch, mark: &Mark, prelude: &Path) -> TerminalOrder {
    let (name, value) = mark.variable();
    let ours = [
        (name.to_owned(), value),
        // the shell reads this file before its command
        ("BASH_ENV".to_owned(), prelude.to_string_lossy().into_owned()),
    ];
    let non_interactive = NON_INTERACTIVE.map(|(name, value)| (name.to_owned(), value.to_owned()));
    TerminalOrder {
        program: launch.program,
        arguments: launch.arguments,
        // all other variables are in the file
        variables: ours.into_iter().chain(non_interactive).collect(),
        cwd: shell.cwd.to_owned(),
        kept: KEPT_OUTPUT_BYTES,
    }
}

/// A terminal of the editor. When it is dropped, its command is ended and the terminal released.
struct Terminal {
    editor: Arc<dyn Editor>,
    id: Option<String>,
    mark: Mark,
    /// Nothing is left to end.
    is_over: bool,
    prelude: Option<ShellPrelude>,
}

/// A terminal that is being opened. Dropping it cancels the request.
struct Opening(JoinHandle<Result<String, String>>);

impl Opening {
    fn begin(editor: Arc<dyn Editor>, order: TerminalOrder) -> Self {
        Self(tokio::spawn(async move { editor.open_terminal(order).await }))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Terminal {
    /// Cancels a command that may or may not have started: if it starts now, it exits at once, and the terminal is closed.
    fn cancel(&mut self, mut opening: Opening) {
        let Some(prelude) = self.prelude.take() else { return };
        prelude.cancel();
        let editor = Arc::clone(&self.editor);
        tokio::spawn(async move {
            if let Ok(Ok(Ok(id))) = timeout(CANCELLED_OPEN_TIMEOUT, &mut opening.0).await {
                timeout(REQUEST_TIMEOUT, editor.release_terminal(id)).await.ok();
            }
            drop(prelude);
        });
    }

    async fn output(&self, id: &str) -> String {
        match timeout(REQUEST_TIMEOUT, self.editor.terminal_output(id.to_owned())).await {
            Ok(Ok(output)) => {
                let text = plain::plain(&output.text);
                if !output.is_cut {
                    return text;
                }
                format!(
                    "[... the beginning is missing: the editor keeps only the last {} KB ...]\n{text}",
                    KEPT_OUTPUT_BYTES >> 10
                )
            }
            Ok(Err(reason)) => format!("[The editor did not return the output: {reason}]\n"),
            Err(_elapsed) => "[The editor did not return the output in time]\n".to_owned(),
        }
    }

    /// Tracks what the command left running, so that it ends with the session.
    async fn keep_remains(&self, processes: &Processes, command: &str) {
        let mark = self.mark.clone();
        let is_alive = tokio::task::spawn_blocking(move || mark.is_alive()).await;
        if is_alive.unwrap_or(true) {
            processes.keep_marked(&self.mark, command);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(prelude) = self.prelude.take().filter(|_| self.id.is_none() && !self.is_over) {
            // unknown whether the shell starts later: the small file that makes it exit stays
            prelude.cancel();
            std::mem::forget(prelude);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (editor, id, mark, is_over) =
            (Arc::clone(&self.editor), self.id.take(), self.mark.clone(), self.is_over);
        runtime.spawn(async move {
            if !is_over {
                end(&editor, id.as_deref(), mark).await;
            }
            if let Some(id) = id {
                timeout(REQUEST_TIMEOUT, editor.release_terminal(id)).await.ok();
            }
        });
    }
}

/// Ends a command with all its descendants.
async fn end(editor: &Arc<dyn Editor>, id: Option<&str>, mark: Mark) {
    if let Some(id) = id {
        // the result does not matter: everything with the mark is killed next
        timeout(GRACE_TIMEOUT, editor.kill_terminal(id.to_owned())).await.ok();
    }
    tokio::task::spawn_blocking(move || kill_marked([&mark])).await.ok();
}

fn how(exit: &TerminalExit) -> Ended {
    const SIGNALS: [(&str, i32); 8] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("SEGV", 11),
        ("PIPE", 13),
        ("TERM", 15),
    ];
    let number = |signal: &str| {
        let name = signal.strip_prefix("SIG").unwrap_or(signal);
        let known = SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
        known.or_else(|| name.parse().ok())
    };
    match (exit.code, &exit.signal) {
        (Some(code), _) => Ended::Exited(i32::try_from(code).unwrap_or(-1)),
        (None, Some(signal)) => number(signal).map_or(Ended::Exited(-1), Ended::Killed),
        (None, None) => Ended::Exited(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_of_a_terminal_is_converted_like_that_of_a_process() {
        let exit = |code, signal: Option<&str>| TerminalExit { code, signal: signal.map(str::to_owned) };
        for (exit, expected) in [
            (exit(Some(0), None), Ended::Exited(0)),
            (exit(Some(3), Some("SIGTERM")), Ended::Exited(3)),
            (exit(None, Some("SIGKILL")), Ended::Killed(9)),
            (exit(None, Some("15")), Ended::Killed(15)),
            (exit(None, Some("SIGWHAT")), Ended::Exited(-1)),
            (exit(None, None), Ended::Exited(-1)),
        ] {
            assert_eq!(how(&exit), expected);
        }
    }
}
