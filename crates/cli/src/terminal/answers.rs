//! Lines typed by the user: read only on request, and never those typed before the question was shown.

use std::io::{self, BufRead as _, BufReader, IsTerminal as _};
use std::sync::mpsc as blocking;

use fs_err::File;
use tokio::sync::mpsc;

/// The source of typed answers.
enum Keyboard {
    Stdin,
    Device(BufReader<File>),
}

/// A user at a terminal.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The terminal, if it is not stdin.
    device: Option<File>,
    wanted: blocking::SyncSender<()>,
    lines: mpsc::Receiver<Option<String>>,
}

impl Answers {
    /// Opens the keyboard if there is a terminal to show questions on and to read answers from.
    pub(crate) fn at_terminal() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let device = if io::stdin().is_terminal() { None } else { Some(device()?) };
        let keyboard = match &device {
            Some(device) => Keyboard::Device(BufReader::new(device.try_clone().ok()?)),
            None => Keyboard::Stdin,
        };
        let (wanted, requests) = blocking::sync_channel(1);
        let (sender, lines) = mpsc::channel(1);
        // A thread of its own, since a read from a terminal cannot be stopped: it ends with the process.
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || serve(keyboard, &requests, &sender))
            .ok()?;
        Some(Self { device, wanted, lines })
    }

    /// Asks for a line, before the question is shown: input typed before this call is discarded.
    pub(crate) fn want(&mut self) {
        match &self.device {
            Some(device) => forget_typed(device),
            None => forget_typed(&io::stdin()),
        }
        // a pending request for a line, left by a withdrawn question, serves this question
        self.wanted.try_send(()).ok();
    }

    /// Asks for a line and returns it; lines that were typed before count.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.wanted.try_send(()).ok();
        self.line().await
    }

    /// Returns the next line; `None` if the terminal was closed.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await.flatten()
    }
}

fn serve(mut keyboard: Keyboard, requests: &blocking::Receiver<()>, lines: &mpsc::Sender<Option<String>>) {
    while requests.recv().is_ok() {
        let mut line = String::new();
        let read = match &mut keyboard {
            Keyboard::Stdin => io::stdin().lock().read_line(&mut line),
            Keyboard::Device(device) => device.read_line(&mut line),
        };
        let line = read.is_ok_and(|count| count > 0).then_some(line);
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Returns the terminal itself, if stdin is something else.
fn device() -> Option<File> {
    File::open("/dev/tty").ok()
}

/// Discards pending input: a yes typed before the question was shown must not approve it.
fn forget_typed(terminal: &impl std::os::fd::AsFd) {
    use rustix::termios::{QueueSelector, tcflush};
    // a terminal without this operation has no pending input
    tcflush(terminal, QueueSelector::IFlush).ok();
}
