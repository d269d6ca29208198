//! The editor as an agent in this process sees it: text of files, and terminals, of one session.
//!
//! What the editor did not offer must not be asked of it. Nothing here has a deadline; letting go of an answer withdraws the request.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use agent_client_protocol::v1::schema::ClientCapabilities;

use crate::session::Session;

/// The editor, for the agent of one of its sessions. It does not keep the session alive.
#[derive(Debug, Clone)]
pub struct Editor {
    session: Weak<Session>,
    reads: bool,
    writes: bool,
    terminals: bool,
}

impl Editor {
    pub(crate) fn new(session: Weak<Session>, can: &ClientCapabilities) -> Self {
        let (reads, writes) = (can.fs.read_text_file, can.fs.write_text_file);
        Self { session, reads, writes, terminals: can.terminal }
    }

    /// Whether it tells the text of files.
    pub fn reads(&self) -> bool {
        self.reads
    }

    /// Whether it writes files.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Whether it has terminals.
    pub fn has_terminals(&self) -> bool {
        self.terminals
    }

    /// The text of a file, with what is not saved.
    pub async fn read_text(&self, path: PathBuf) -> Result<String, String> {
        self.session()?.read_text(path).await
    }

    /// Puts a text into a file and saves it.
    pub async fn write_text(&self, path: PathBuf, text: String) -> Result<(), String> {
        self.session()?.write_text(path, text).await
    }

    /// Runs a program in a new terminal, which keeps the last so many bytes of its output, and tells the terminal's id.
    pub async fn open_terminal(
        &self,
        program: String,
        arguments: Vec<String>,
        variables: Vec<(String, String)>,
        cwd: PathBuf,
        kept: u64,
    ) -> Result<String, String> {
        self.session()?.open_terminal(program, arguments, variables, cwd, kept).await
    }

    /// Waits until the program of a terminal has ended: its exit code, or the name of the signal that ended it.
    pub async fn terminal_exit(&self, id: String) -> Result<(Option<u32>, Option<String>), String> {
        self.session()?.terminal_exit(id).await
    }

    /// What a terminal shows, and whether the beginning of it is gone.
    pub async fn terminal_output(&self, id: String) -> Result<(String, bool), String> {
        self.session()?.terminal_output(id).await
    }

    /// Ends the program of a terminal.
    pub async fn kill_terminal(&self, id: String) -> Result<(), String> {
        self.session()?.kill_terminal(id).await
    }

    /// Says that nobody asks about a terminal any more.
    pub async fn release_terminal(&self, id: String) -> Result<(), String> {
        self.session()?.release_terminal(id).await
    }

    fn session(&self) -> Result<Arc<Session>, String> {
        self.session.upgrade().ok_or_else(|| "the session is closed".to_owned())
    }
}
