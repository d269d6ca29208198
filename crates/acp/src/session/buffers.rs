//! What the editor has and the disk has not: files with changes that are not saved.
//!
//! An agent that is a program of its own reads files from the disk. So the files that a prompt names are asked of the editor, if it lets us, and
//! where its text is another one, that is put beside the prompt.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::Session;
use crate::convert::content::Parts;

/// How long the editor may take for all files together. A prompt does not wait longer for what is only nice to have.
const READING: Duration = Duration::from_secs(5);
/// How many files are asked for.
const MOST_FILES: usize = 20;
/// The largest text that is put beside a prompt.
const LARGEST: usize = 256 * 1024;

impl Session {
    /// Puts the unsaved text of the files that are named beside the prompt.
    pub(super) async fn attach_unsaved(&self, parts: &mut Parts) {
        if !self.desk.client().fs.read_text_file {
            return;
        }
        let read = async |path: &PathBuf| {
            let text = timeout(READING, self.read_text(path.clone())).await.ok()?.ok()?;
            Some((path.clone(), text))
        };
        let texts = join_all(parts.linked.iter().take(MOST_FILES).map(read)).await;
        for (path, text) in texts.into_iter().flatten() {
            if text.len() <= LARGEST && !is_on_disk(path.clone(), text.clone()).await {
                parts.attach(&unsaved(&path), &text);
            }
        }
    }
}

/// The name under which an unsaved text is attached.
fn unsaved(path: &Path) -> String {
    format!("{} (not saved yet)", path.display())
}

/// Whether this is what the file says. If nobody knows, there is nothing to tell.
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
