//! The editor as an agent in this process sees it: text of files, and terminals, of one session.
//!
//! What the editor did not offer must not be asked of it. Nothing here has a deadline; letting go of an answer withdraws the request.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};

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
        let session = self.session()?;
        session.request(WriteTextFileRequest::new(session.id().clone(), path, text)).await.map(drop)
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
        let session = self.session()?;
        let variables = variables.into_iter().map(|(name, value)| EnvVariable::new(name, value));
        let request = CreateTerminalRequest::new(session.id().clone(), program)
            .args(arguments)
            .env(variables.collect::<Vec<_>>())
            .cwd(cwd)
            .output_byte_limit(kept);
        let id = session.request(request).await?.terminal_id.0.to_string();
        session.opened_terminal(id.clone());
        Ok(id)
    }

    /// Waits until the program of a terminal has ended: its exit code, or the name of the signal that ended it.
    pub async fn terminal_exit(&self, id: String) -> Result<(Option<u32>, Option<String>), String> {
        let session = self.session()?;
        let request = WaitForTerminalExitRequest::new(session.id().clone(), id);
        let exit = session.request(request).await?.exit_status;
        Ok((exit.exit_code, exit.signal))
    }

    /// What a terminal shows, and whether the beginning of it is gone.
    pub async fn terminal_output(&self, id: String) -> Result<(String, bool), String> {
        let session = self.session()?;
        let shown = session.request(TerminalOutputRequest::new(session.id().clone(), id)).await?;
        Ok((shown.output, shown.truncated))
    }

    /// Ends the program of a terminal.
    pub async fn kill_terminal(&self, id: String) -> Result<(), String> {
        let session = self.session()?;
        session.request(KillTerminalRequest::new(session.id().clone(), id)).await.map(drop)
    }

    /// Says that nobody asks about a terminal any more.
    pub async fn release_terminal(&self, id: String) -> Result<(), String> {
        let session = self.session()?;
        session.request(ReleaseTerminalRequest::new(session.id().clone(), id)).await.map(drop)
    }

    fn session(&self) -> Result<Arc<Session>, String> {
        self.session.upgrade().ok_or_else(|| "the session is closed".to_owned())
    }
}
