//! The editor's files and terminals for the engine: joins what the one offers with what the other asks for.

use std::path::PathBuf;

use musher_acp::Editor;
use musher_engine::{EditorAnswer, EditorOffers, TerminalExit, TerminalOrder, TerminalOutput};

/// An editor that speaks the Agent Client Protocol.
#[derive(Debug)]
pub(crate) struct AtEditor(pub(crate) Editor);

impl musher_engine::Editor for AtEditor {
    fn offers(&self) -> EditorOffers {
        let Self(editor) = self;
        EditorOffers { reads: editor.reads(), writes: editor.writes(), terminals: editor.has_terminals() }
    }

    fn read_text(&self, path: PathBuf) -> EditorAnswer<'_, String> {
        Box::pin(self.0.read_text(path))
    }

    fn write_text(&self, path: PathBuf, text: String) -> EditorAnswer<'_, ()> {
        Box::pin(self.0.write_text(path, text))
    }

    fn open_terminal(&self, order: TerminalOrder) -> EditorAnswer<'_, String> {
        let TerminalOrder { program, arguments, variables, cwd, kept } = order;
        Box::pin(self.0.open_terminal(program, arguments, variables, cwd, kept))
    }

    fn terminal_exit(&self, id: String) -> EditorAnswer<'_, TerminalExit> {
        Box::pin(async {
            let (code, signal) = self.0.terminal_exit(id).await?;
            Ok(TerminalExit { code, signal })
        })
    }

    fn terminal_output(&self, id: String) -> EditorAnswer<'_, TerminalOutput> {
        Box::pin(async {
            let (text, is_cut) = self.0.terminal_output(id).await?;
            Ok(TerminalOutput { text, is_cut })
        })
    }

    fn kill_terminal(&self, id: String) -> EditorAnswer<'_, ()> {
        Box::pin(self.0.kill_terminal(id))
    }

    fn release_terminal(&self, id: String) -> EditorAnswer<'_, ()> {
        Box::pin(self.0.release_terminal(id))
    }
}
