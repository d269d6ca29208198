//! A workspace in a temporary folder, and a call of a tool in it.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{Context, Tool, ToolOutput, Workspace, command_environment};

pub(crate) struct Scene {
    folder: TempDir,
    pub(crate) context: Context,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("work")).unwrap();
        let workspace = Workspace::open(folder.path().join("work")).unwrap();
        let context = Context::new(workspace, folder.path().join("scratch"))
            .with_environment(command_environment(std::env::vars_os(), &[]));
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
