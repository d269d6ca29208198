//! A real pseudo-terminal with the program in it, and a user who types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(30);

/// The key that interrupts.
pub(crate) const CTRL_C: &str = "\u{3}";

/// A terminal in which the program runs.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    output: mpsc::Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    /// The settings before the program started.
    before: String,
    /// How much of the text was matched by earlier waits.
    looked_at: usize,
}

impl Terminal {
    /// Starts the program in a terminal of 100 columns.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_with(command, None)
    }

    /// The same, but stdin is something else.
    pub(crate) fn start_with(command: Command, stdin: Option<Stdio>) -> Self {
        Self::start_sized(command, stdin, (100, 40))
    }

    /// The same, in a terminal of these columns and rows.
    #[expect(unsafe_code, reason = "only a child before its start can take a terminal for its own")]
    pub(crate) fn start_sized(mut command: Command, stdin: Option<Stdio>, size: (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let inside: OwnedFd = ioctl_tiocgptpeer(&master, flags).unwrap();
        let end = || Stdio::from(inside.try_clone().unwrap());
        command.stdin(stdin.unwrap_or_else(end)).stdout(end()).stderr(end());
        let own = inside.try_clone().unwrap();
        // SAFETY: two system calls, which are allowed between fork and exec
        unsafe {
            command.pre_exec(move || {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(&own)?;
                Ok(())
            });
        }
        let keyboard = File::from(master);
        // before the program starts and asks for it
        set_size(&keyboard, size);
        let mut screen = keyboard.try_clone().unwrap();
        let before = settings(&keyboard);
        let child = command.spawn().unwrap();
        // both hold the inner end, which must be the program's alone: its end is the end of the output
        drop((command, inside));
        let (sender, output) = mpsc::sync_channel(4096);
        let terminal = Self { child, keyboard, output, bytes: Vec::new(), before, looked_at: 0 };
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // a terminal whose last program is gone gives an error
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        terminal
    }

    pub(crate) fn resize(&self, columns: u16) {
        self.resize_to((columns, 40));
    }

    /// Sets the columns and rows.
    pub(crate) fn resize_to(&self, size: (u16, u16)) {
        set_size(&self.keyboard, size);
    }

    /// Waits for more output, until the deadline; `None` if the program has ended.
    pub(crate) fn more(&mut self, deadline: Instant) -> Option<Vec<u8>> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.output.recv_timeout(left) {
            Ok(bytes) => {
                self.bytes.extend(&bytes);
                Some(bytes)
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => Some(Vec::new()),
        }
    }

    /// The settings of the terminal, as text.
    pub(crate) fn settings(&self) -> String {
        settings(&self.keyboard)
    }

    /// The settings before the program started.
    pub(crate) fn settings_before(&self) -> &str {
        &self.before
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let signal = match name {
            "TERM" => rustix::process::Signal::TERM,
            "HUP" => rustix::process::Signal::HUP,
            "KILL" => rustix::process::Signal::KILL,
            other => panic!("unknown signal {other}"),
        };
        let id = i32::try_from(self.child.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Types from another thread, so that more can be typed than the terminal holds.
    pub(crate) fn typist(&self) -> impl FnMut(&str) + Send + 'static {
        let mut keyboard = self.keyboard.try_clone().unwrap();
        move |text| keyboard.write_all(text.as_bytes()).unwrap()
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until this is shown, after all that was waited for before.
    pub(crate) fn until(&mut self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let written = plain(&self.raw(), true);
            if let Some(at) = written[self.looked_at..].find(text) {
                self.looked_at += at + text.len();
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.bytes.extend(bytes),
                Err(error) => panic!("`{text}` was not shown ({error}):\n{written}"),
            }
        }
    }

    /// All that was written, with the commands to the terminal.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// All that was written, without the commands to the terminal and without erased lines.
    pub(crate) fn shown(&self) -> String {
        plain(&self.raw(), false)
    }

    /// Waits for the end of the program: its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.bytes.extend(bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.shown()),
            }
        }
        self.child.wait().unwrap().code()
    }
}

fn settings(keyboard: &File) -> String {
    format!("{:?}", rustix::termios::tcgetattr(keyboard).unwrap())
}

fn set_size(keyboard: &File, (columns, rows): (u16, u16)) {
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(keyboard, size).unwrap();
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // fails only if it has ended already
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The text without colours; lines that were cleared are left out, or stand in lines of their own.
fn plain(raw: &str, keeps_cleared: bool) -> String {
    let mut out = String::new();
    let mut rest = raw;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("\r\u{1b}[2K") {
            let line = out.rfind('\n').map_or(0, |end| end + 1);
            if keeps_cleared {
                out.push('\n');
            } else {
                out.truncate(line);
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\u{1b}[") {
            let end = after.find(|it: char| it.is_ascii_alphabetic()).map_or(after.len(), |end| end + 1);
            rest = &after[end..];
        } else {
            rest = &rest[1..];
        }
    }
    out + rest
}
