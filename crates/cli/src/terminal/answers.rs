//! Lines typed by the person: read only when one is wanted, and never those typed before the question was there.

use std::io::{self, BufRead as _, BufReader, IsTerminal as _};
use std::sync::mpsc as blocking;

use fs_err::File;
use tokio::sync::mpsc;

/// What answers are read from.
enum Keyboard {
    Stdin,
    Device(BufReader<File>),
}

/// Somebody at a terminal.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The terminal, if it is not stdin.
    device: Option<File>,
    wanted: blocking::SyncSender<()>,
    lines: mpsc::Receiver<Option<String>>,
}

impl Answers {
    /// Who can be asked, if there is a terminal to ask on and to answer on.
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

    /// Asks for a line, before the question is shown: what was typed until now is no answer to it.
    pub(crate) fn want(&mut self) {
        match &self.device {
            Some(device) => forget_typed(device),
            None => forget_typed(&io::stdin()),
        }
        // one that is wanted still, from a question that went away, serves this one
        self.wanted.try_send(()).ok();
    }

    /// The line, without its end; nothing if the person is gone.
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

/// The terminal itself, if stdin is something else.
fn device() -> Option<File> {
    File::open("/dev/tty").ok()
}

/// A yes that was typed before the question was there is no consent.
fn forget_typed(terminal: &impl std::os::fd::AsFd) {
    use rustix::termios::{QueueSelector, tcflush};
    // a terminal that cannot do that has typed nothing ahead
    tcflush(terminal, QueueSelector::IFlush).ok();
}
