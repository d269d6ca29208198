//! Commands in the editor's terminals, with as much of what holds for our own as the editor lets us keep.
//!
//! The command gets the same environment and nothing to read: a file that the shell reads first takes away what the editor has added.
//! It carries our marks, in its environment and in its limits, so it is ended with everything below it, also by the guard, wherever the
//! editor has started it. What an editor cannot give: all of a very long output, for it keeps only the end.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_process::{Mark, kill_marked, start_guard};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::environment::MANNERS;
use super::first::First;
use super::{Ended, Finished, GRACE, Processes, Shell, plain, shell};
use crate::{Editor, TerminalExit, TerminalOrder};

/// How long the editor may take to open a terminal.
const OPENING: Duration = Duration::from_secs(10);
/// How long one is waited for that nobody wants any more, so that it can be closed.
const TOO_LATE: Duration = Duration::from_mins(1);
/// How long it may take for what follows the end of a command.
const ANSWERING: Duration = Duration::from_secs(2);
/// So much of the output an editor keeps for us.
const KEPT: u64 = 1 << 20;

/// Runs a command to its end, its limit, or its cancellation. `None` if the editor refused before anything began.
///
/// `begun` is told the id of the terminal.
pub(crate) async fn run_in_terminal(
    editor: &Arc<dyn Editor>,
    shell: Shell<'_>,
    limit: Duration,
    scratch: &Path,
    processes: &Processes,
    cancel: &CancellationToken,
    begun: impl FnOnce(&str),
) -> io::Result<Option<Finished>> {
    let mark = Mark::random();
    let first = match First::write(scratch, shell.environment, &mark) {
        Ok(first) => first,
        Err(error) => {
            tracing::warn!(%error, "a terminal cannot be prepared: the command runs without one");
            return Ok(None);
        }
    };
    let order = order(shell, &mark, first.path());
    // should we die, it ends what carries our mark
    tokio::task::spawn_blocking(start_guard).await.ok();
    let mut terminal =
        Terminal { editor: Arc::clone(editor), id: None, mark, is_over: false, first: Some(first) };
    let mut opening = Opening::begin(Arc::clone(editor), order);
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            terminal.call_off(opening);
            return Ok(Some(finished(Ended::Cancelled, Capture::new(scratch))));
        }
        opened = timeout(OPENING, &mut opening.0) => opened,
    };
    let id = match opened {
        Ok(Ok(Ok(id))) => id,
        Ok(Ok(Err(reason))) => {
            tracing::warn!(reason, "the editor opens no terminal: the command runs without one");
            terminal.is_over = true;
            return Ok(None);
        }
        // what waits for the editor does not fail; should it, there is no terminal
        Ok(Err(failed)) => return Err(io::Error::other(failed)),
        Err(_elapsed) => {
            terminal.call_off(opening);
            let reason =
                "the editor has not answered in time; the command was called off, but may have begun";
            return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
        }
    };
    terminal.id = Some(id.clone());
    begun(&id);
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
    io::Error::other(format!("the editor has lost the terminal: {reason}"))
}

pub(super) fn order(shell: Shell<'_>, mark: &Mark, first: &Path) -> TerminalOrder {
    let (name, value) = mark.variable();
    let ours = [
        (name.to_owned(), value),
        // read by the shell before its command
        ("BASH_ENV".to_owned(), first.to_string_lossy().into_owned()),
    ];
    let manners = MANNERS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    TerminalOrder {
        program: shell::path().to_owned(),
        arguments: shell.arguments().map(str::to_owned).into(),
        // the rest is in the file
        variables: ours.into_iter().chain(manners).collect(),
        cwd: shell.cwd.to_owned(),
        kept: KEPT,
    }
}

/// A terminal of the editor's. Whatever becomes of the run, its command is ended and the editor told that nobody asks any more.
struct Terminal {
    editor: Arc<dyn Editor>,
    id: Option<String>,
    mark: Mark,
    /// Nothing is left to be ended.
    is_over: bool,
    first: Option<First>,
}

/// A terminal that is being opened. Letting go of it takes the request back.
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
    /// The command is not wanted before it is known whether it has begun: if it begins now it does nothing, and the terminal is closed.
    fn call_off(&mut self, mut opening: Opening) {
        let Some(first) = self.first.take() else { return };
        first.call_off();
        let editor = Arc::clone(&self.editor);
        tokio::spawn(async move {
            if let Ok(Ok(Ok(id))) = timeout(TOO_LATE, &mut opening.0).await {
                timeout(ANSWERING, editor.release_terminal(id)).await.ok();
            }
            drop(first);
        });
    }

    async fn output(&self, id: &str) -> String {
        match timeout(ANSWERING, self.editor.terminal_output(id.to_owned())).await {
            Ok(Ok(output)) => {
                let text = plain::plain(&output.text);
                if !output.is_cut {
                    return text;
                }
                format!(
                    "[... the beginning is gone: the editor has kept the last {} KB ...]\n{text}",
                    KEPT >> 10
                )
            }
            Ok(Err(reason)) => format!("[The editor has not told the output: {reason}]\n"),
            Err(_elapsed) => "[The editor has not told the output in time]\n".to_owned(),
        }
    }

    /// What the command has left running ends with the session, like everything else.
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
        if let Some(first) = self.first.take().filter(|_| self.id.is_none() && !self.is_over) {
            // nobody will know whether it begins: the few bytes that keep it from that stay
            first.call_off();
            std::mem::forget(first);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (editor, id, mark, is_over) =
            (Arc::clone(&self.editor), self.id.take(), self.mark.clone(), self.is_over);
        runtime.spawn(async move {
            if !is_over {
                end(&editor, id.as_deref(), mark).await;
            }
            if let Some(id) = id {
                timeout(ANSWERING, editor.release_terminal(id)).await.ok();
            }
        });
    }
}

/// Ends a command with everything below it.
async fn end(editor: &Arc<dyn Editor>, id: Option<&str>, mark: Mark) {
    if let Some(id) = id {
        // an editor that does not do it has done nothing worse than we do next
        timeout(GRACE, editor.kill_terminal(id.to_owned())).await.ok();
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
    fn the_end_of_a_terminal_is_told_like_any_other() {
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
