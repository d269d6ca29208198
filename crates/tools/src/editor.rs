//! The interface to an editor: the text of its open files, instead of the text on disk, and its terminals, instead of processes of musher.
//!
//! The interface only. The caller sets deadlines (see [`Context`](crate::Context)); dropping an answer cancels its request.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

/// The pending answer of an editor; an error says why there is none.
pub type EditorAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// An editor with the workspace open.
///
/// Paths are absolute, in the workspace, and spelled as the workspace's directories were given.
pub trait Editor: fmt::Debug + Send + Sync {
    /// Returns what the editor supports. No other method is called for what it does not support.
    fn offers(&self) -> EditorOffers;

    /// Returns the text of a file, including unsaved changes.
    fn read_text(&self, path: PathBuf) -> EditorAnswer<'_, String>;

    /// Replaces the text of a file and saves it.
    fn write_text(&self, path: PathBuf, text: String) -> EditorAnswer<'_, ()>;

    /// Runs a program in a new terminal, and returns the terminal's id.
    fn open_terminal(&self, order: TerminalOrder) -> EditorAnswer<'_, String>;

    /// Waits until the program of a terminal has ended.
    fn terminal_exit(&self, id: String) -> EditorAnswer<'_, TerminalExit>;

    /// Returns the output of a terminal.
    fn terminal_output(&self, id: String) -> EditorAnswer<'_, TerminalOutput>;

    /// Ends the program of a terminal.
    fn kill_terminal(&self, id: String) -> EditorAnswer<'_, ()>;

    /// Releases a terminal: its id is not used again.
    fn release_terminal(&self, id: String) -> EditorAnswer<'_, ()>;
}

/// What an editor supports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditorOffers {
    /// Whether it returns the text of files.
    pub reads: bool,
    /// Whether it writes files.
    pub writes: bool,
    /// Whether it has terminals.
    pub terminals: bool,
}

/// A program to run in a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalOrder {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables to set in addition to the editor's own.
    pub variables: Vec<(String, String)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The number of bytes of output to keep: the last ones.
    pub kept: u64,
}

/// How the program of a terminal ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalExit {
    /// The exit code.
    pub code: Option<u32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
}

/// The output of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalOutput {
    /// The text.
    pub text: String,
    /// Whether the beginning of the output was dropped.
    pub is_cut: bool,
}
