//! The terminal of a chat: raw mode, its size, its keyboard on a thread, and its state as it was before, whatever happens.
//!
//! A thin shell: it decides nothing. The thread can be paused while another program has the terminal, and can say that no key is left
//! that was typed before.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use super::painter::Paint;

/// Bracketed paste, focus reports, and keys with their modifiers where the terminal can tell them.
const ENTER: &str = "\u{1b}[?2004h\u{1b}[?1004h\u{1b}[>1u";
const LEAVE: &str = "\u{1b}[<u\u{1b}[?1004l\u{1b}[?2004l\u{1b}[?25h\u{1b}[0m";

/// The settings of the terminal before the chat, for the hook of a panic.
static BEFORE: OnceLock<Termios> = OnceLock::new();

/// What the keyboard thread reports.
#[derive(Debug)]
pub(crate) enum Typed {
    Bytes(Vec<u8>),
    /// All bytes that were typed before the question were reported.
    NothingLeft,
    /// The thread no longer reads.
    Paused,
    /// The terminal is gone.
    Closed,
}

/// The terminal in raw mode.
#[derive(Debug)]
pub(crate) struct Tty {
    before: Termios,
    wake: PipeWriter,
}

/// Returns whether stdin and stdout are a terminal.
pub(crate) fn is_terminal() -> bool {
    isatty(rustix::stdio::stdin()) && isatty(rustix::stdio::stdout())
}

/// Returns the columns and rows of the screen.
pub(crate) fn size() -> (usize, usize) {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok();
    let (columns, rows) = size.map_or((0, 0), |size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    let or = |value: usize, otherwise| if value == 0 { otherwise } else { value };
    (or(columns, 80).max(10), or(rows, 24).max(4))
}

impl Tty {
    /// Puts the terminal into raw mode, and starts to read the keyboard.
    pub(crate) fn open() -> io::Result<(Self, mpsc::Receiver<Typed>)> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        if BEFORE.set(before.clone()).is_ok() {
            let hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if let Some(before) = BEFORE.get() {
                    restore(before);
                }
                hook(info);
            }));
        }
        let (wakened, wake) = io::pipe()?;
        let (sender, typed) = mpsc::channel(64);
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || read(wakened, &sender))?;
        let tty = Self { before, wake };
        tty.enter()?;
        Ok((tty, typed))
    }

    /// Puts the terminal into raw mode.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?;
        write(&Paint::commands(ENTER))
    }

    /// Puts the terminal back into the state before.
    pub(crate) fn leave(&self) {
        restore(&self.before);
    }

    /// Requests [`Typed::NothingLeft`].
    pub(crate) fn ask_whether_nothing_is_left(&mut self) {
        self.tell(b'n');
    }

    /// Stops the reading, until [`Tty::resume`]; reports [`Typed::Paused`].
    pub(crate) fn pause(&mut self) {
        self.tell(b'p');
    }

    pub(crate) fn resume(&mut self) {
        self.tell(b'r');
    }

    fn tell(&mut self, command: u8) {
        // the thread is gone only if the terminal is
        drop(self.wake.write_all(&[command]));
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.leave();
    }
}

fn restore(before: &Termios) {
    drop(write(&Paint::commands(LEAVE)));
    // nothing more can be done for a terminal that is gone
    tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before).ok();
}

/// Writes to the terminal.
pub(crate) fn write(paint: &Paint) -> io::Result<()> {
    crate::printer::paint(paint)
}

fn read(mut wakened: PipeReader, typed: &mpsc::Sender<Typed>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut is_asked = false;
    loop {
        let stdin = rustix::stdio::stdin();
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&wakened, PollFlags::IN)];
        let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut waiting, is_asked.then_some(&at_once)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let (has_keys, is_wakened) = (!waiting[0].revents().is_empty(), !waiting[1].revents().is_empty());
        if is_wakened {
            match command(&mut wakened) {
                Some(b'n') => is_asked = true,
                Some(b'p') => {
                    if typed.blocking_send(Typed::Paused).is_err() {
                        return;
                    }
                    while !matches!(command(&mut wakened), Some(b'r') | None) {}
                    continue;
                }
                Some(_) => {}
                None => return,
            }
            continue;
        }
        let report = if has_keys {
            match rustix::io::read(stdin, &mut buffer) {
                Ok(count @ 1..) => Typed::Bytes(buffer[..count].to_vec()),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Ok(_) | Err(_) => Typed::Closed,
            }
        } else if is_asked {
            is_asked = false;
            Typed::NothingLeft
        } else {
            continue;
        };
        let is_last = matches!(report, Typed::Closed);
        if typed.blocking_send(report).is_err() || is_last {
            return;
        }
    }
}

fn command(wakened: &mut PipeReader) -> Option<u8> {
    let mut byte = [0];
    wakened.read_exact(&mut byte).ok().map(|()| byte[0])
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    use rustix::termios::{Termios, tcgetattr};

    use super::Tty;

    /// Set in the process of the test that panics.
    const PANICS: &str = "MUSHER_TEST_TTY_PANICS";
    const NAME: &str = "chat::tty::tests::panic_leaves_the_terminal_as_it_was";

    fn text(settings: &Termios) -> String {
        format!("{settings:?}")
    }

    #[test]
    fn panic_leaves_the_terminal_as_it_was() {
        if std::env::var_os(PANICS).is_some() {
            let tty = Tty::open().unwrap();
            let raw = tcgetattr(rustix::stdio::stdin()).unwrap();
            assert_ne!(text(&raw), text(&tty.0.before), "raw");
            // as with `panic = "abort"`, where nothing is dropped
            std::mem::forget(tty);
            panic!("on purpose");
        }
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let inside = ioctl_tiocgptpeer(&master, flags).unwrap();
        let before = text(&tcgetattr(&inside).unwrap());
        let end = || Stdio::from(inside.try_clone().unwrap());
        #[expect(clippy::disallowed_methods, reason = "this test itself, which is waited for")]
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([NAME, "--exact", "--nocapture"]).env(PANICS, "1");
        let status = again.stdin(end()).stdout(end()).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&status.stderr).into_owned();
        assert!(!status.status.success() && said.contains("on purpose"), "{said}");
        assert_eq!(text(&tcgetattr(&inside).unwrap()), before);
    }
}
