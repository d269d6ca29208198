//! A test workspace in a temporary directory, tool calls in it, and an editor with open files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{
    Context, Editor, EditorAnswer, EditorOffers, TerminalExit, TerminalOrder, TerminalOutput, Tool,
    ToolOutput, Workspace, command_environment,
};

pub(crate) struct TestWorkspace {
    folder: TempDir,
    pub(crate) context: Context,
}

impl TestWorkspace {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("work")).unwrap();
        let workspace = Workspace::open(folder.path().join("work")).unwrap();
        let context = Context::new(workspace, folder.path().join("scratch"))
            .with_environment(command_environment(std::env::vars_os(), &[], &[]));
        Self { folder, context }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let scene = Self::new();
        for (name, content) in files {
            scene.write(name, content);
        }
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.context.workspace.root().join(name)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) async fn run(&self, tool: &dyn Tool, input: Value) -> ToolOutput {
        self.run_until(tool, input, CancellationToken::new()).await
    }

    pub(crate) async fn run_until(
        &self,
        tool: &dyn Tool,
        input: Value,
        cancel: CancellationToken,
    ) -> ToolOutput {
        let Value::Object(input) = input else { panic!("arguments are an object") };
        tool.run(input, &self.context, cancel).await
    }
}

/// An editor that never saves: it returns the texts it was given, and rejects writes to locked files.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    texts: Mutex<BTreeMap<PathBuf, String>>,
}

impl Drafts {
    /// Adds an editor to a scene.
    pub(crate) fn open(scene: &mut TestWorkspace, texts: &[(&str, &str)]) -> Arc<Self> {
        let texts = texts.iter().map(|(name, text)| (scene.path(name), (*text).to_owned())).collect();
        let drafts = Arc::new(Self { texts: Mutex::new(texts) });
        scene.context = scene.context.clone().with_editor(Some(Arc::clone(&drafts) as Arc<dyn Editor>));
        drafts
    }

    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        self.texts.lock().unwrap().get(path).cloned()
    }
}

impl Editor for Drafts {
    fn offers(&self) -> EditorOffers {
        EditorOffers { reads: true, writes: true, terminals: false }
    }

    fn read_text(&self, path: PathBuf) -> EditorAnswer<'_, String> {
        Box::pin(async move { self.text(&path).ok_or_else(|| "the file is not open".to_owned()) })
    }

    fn write_text(&self, path: PathBuf, text: String) -> EditorAnswer<'_, ()> {
        Box::pin(async move {
            if path.ends_with("locked.txt") {
                return Err("it is locked".to_owned());
            }
            self.texts.lock().unwrap().insert(path, text);
            Ok(())
        })
    }

    fn open_terminal(&self, _order: TerminalOrder) -> EditorAnswer<'_, String> {
        Box::pin(async { Err("there are none".to_owned()) })
    }

    fn terminal_exit(&self, _id: String) -> EditorAnswer<'_, TerminalExit> {
        Box::pin(async { Err("there are none".to_owned()) })
    }

    fn terminal_output(&self, _id: String) -> EditorAnswer<'_, TerminalOutput> {
        Box::pin(async { Err("there are none".to_owned()) })
    }

    fn kill_terminal(&self, _id: String) -> EditorAnswer<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn release_terminal(&self, _id: String) -> EditorAnswer<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
