//! Files with unsaved changes in the editor, for an agent that reads files from the disk.
//!
//! The text of the files that a prompt names is read from the editor. Where it differs from the disk it is attached to the prompt.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::editor_connection::EditorConnection;
use crate::convert::content::Parts;

/// How long the editor may take for each file; all are read at once.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How many files are read.
const MAX_FILES: usize = 20;
/// The largest text, in bytes, that is attached to a prompt.
const MAX_TEXT_SIZE: usize = 256 * 1024;

/// Attaches the unsaved text of the files that a prompt names.
pub(super) async fn attach(editor: &EditorConnection, parts: &mut Parts) {
    let read = async |path: &PathBuf| {
        let text = timeout(READ_TIMEOUT, editor.read_text_file(path.clone())).await.ok()?.ok()?;
        Some((path.clone(), text))
    };
    let texts = join_all(parts.linked.iter().take(MAX_FILES).map(read)).await;
    for (path, text) in texts.into_iter().flatten() {
        if text.len() <= MAX_TEXT_SIZE && !is_on_disk(path.clone(), text.clone()).await {
            parts.attach(&unsaved(&path), &text);
        }
    }
}

/// Returns the name under which an unsaved text is attached.
fn unsaved(path: &Path) -> String {
    format!("{} (not saved yet)", path.display())
}

/// Returns whether the file has this text. A file that cannot be compared counts as unchanged, unless it is missing.
async fn is_on_disk(path: PathBuf, text: String) -> bool {
    let compare = tokio::task::spawn_blocking(move || match fs_err::metadata(&path) {
        Ok(found) if found.is_file() && found.len() == text.len() as u64 => {
            fs_err::read(&path).is_ok_and(|bytes| bytes == text.as_bytes())
        }
        Ok(found) => !found.is_file(),
        Err(_missing) => false,
    });
    compare.await.unwrap_or(true)
}
