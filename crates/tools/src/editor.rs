//! What an editor offers to tools: the text it has open, in place of the disk's, and terminals, in place of processes of ours.
//!
//! Only the words of it. Who asks sets the deadline (see [`Context`](crate::Context)); letting go of an answer takes the question back.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

/// An answer of an editor that is waited for, or why there is none.
pub type EditorAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// An editor with the workspace open.
///
/// Paths are absolute, below the workspace, and by the names its folders were given with.
pub trait Editor: fmt::Debug + Send + Sync {
    /// What it can do. Nothing else is asked of it.
    fn offers(&self) -> EditorOffers;

    /// The text of a file, with what is not saved.
    fn read_text(&self, path: PathBuf) -> EditorAnswer<'_, String>;

    /// Puts a text into a file and saves it.
    fn write_text(&self, path: PathBuf, text: String) -> EditorAnswer<'_, ()>;

    /// Runs a program in a new terminal, and tells the terminal's id.
    fn open_terminal(&self, order: TerminalOrder) -> EditorAnswer<'_, String>;

    /// Waits until the program of a terminal has ended.
    fn terminal_exit(&self, id: String) -> EditorAnswer<'_, TerminalExit>;

    /// What a terminal shows.
    fn terminal_output(&self, id: String) -> EditorAnswer<'_, TerminalOutput>;

    /// Ends the program of a terminal.
    fn kill_terminal(&self, id: String) -> EditorAnswer<'_, ()>;

    /// Says that nobody asks about a terminal any more.
    fn release_terminal(&self, id: String) -> EditorAnswer<'_, ()>;
}

/// What an editor can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditorOffers {
    /// It tells the text of files.
    pub reads: bool,
    /// It writes files.
    pub writes: bool,
    /// It has terminals.
    pub terminals: bool,
}

/// A program to be run in a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalOrder {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables, besides those the editor gives it.
    pub variables: Vec<(String, String)>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// So many bytes of output are kept: the last.
    pub kept: u64,
}

/// How the program of a terminal has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalExit {
    /// Its exit code.
    pub code: Option<u32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
}

/// What a terminal shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalOutput {
    /// The text.
    pub text: String,
    /// Whether the beginning of it is gone.
    pub is_cut: bool,
}
