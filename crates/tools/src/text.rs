//! Reads and writes the text of files: through the editor if it supports that, else on disk.
//!
//! The editor is used only for files of the workspace; it has no others open. A text that was read from disk because the editor did not
//! answer is also written to disk: an editor that accepted the write later could discard unsaved changes.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Resolved;
use crate::limits::MAX_FILE_BYTES;
use crate::{Context, EditorOffers, FileKind};

/// How long the editor may take to return a text. After that the text on disk is used.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// The same, if the editor left the last request unanswered.
const READ_RETRY_TIMEOUT: Duration = Duration::from_millis(500);
/// How long the editor may take to write a text.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// None: the file is new, or all of it is replaced.
    New,
    /// The disk.
    Disk,
    /// The editor.
    Editor,
}

/// Why the editor gave no answer.
enum NoAnswer {
    Cancelled,
    Late,
    Refused(String),
}

impl Context {
    /// Reads a file, including unsaved changes. Blocks: not for a task.
    pub(crate) fn read(&self, file: &Resolved, cancel: &CancellationToken) -> io::Result<(Vec<u8>, Source)> {
        let on_disk = file.read(MAX_FILE_BYTES)?;
        let Some(editor) = self.editor.as_ref().filter(|editor| editor.offers().reads) else {
            return Ok((on_disk, Source::Disk));
        };
        // files that are not text are read from disk
        let (Some(path), Ok(saved)) = (self.workspace.as_given(&file.path), str::from_utf8(&on_disk)) else {
            return Ok((on_disk, Source::Disk));
        };
        let limit = if self.is_silent.load(Ordering::Relaxed) { READ_RETRY_TIMEOUT } else { READ_TIMEOUT };
        let answered = wait(limit, cancel, editor.read_text(path));
        self.is_silent.store(matches!(answered, Err(NoAnswer::Late)), Ordering::Relaxed);
        match answered {
            Ok(text) if text.len() as u64 <= MAX_FILE_BYTES => {
                Ok((as_saved(&text, saved).into_bytes(), Source::Editor))
            }
            Err(NoAnswer::Cancelled) => Err(io::ErrorKind::Interrupted.into()),
            Ok(_) | Err(NoAnswer::Late | NoAnswer::Refused(_)) => Ok((on_disk, Source::Disk)),
        }
    }

    /// Writes a file: through the editor or to disk, never both. Blocks: not for a task.
    pub(crate) fn write(
        &self,
        file: &Resolved,
        text: &str,
        source: Source,
        cancel: &CancellationToken,
    ) -> io::Result<()> {
        let editor = self.editor.as_ref().filter(|editor| is_editors(editor.offers(), source));
        let (Some(editor), Some(path)) = (editor, self.workspace.as_given(&file.path)) else {
            return file.write(text.as_bytes());
        };
        // the editor follows links: the path must still lead to the file that the permission covers
        let now = self.workspace.resolve(&file.path)?;
        if now.path != file.path || !matches!(now.kind, FileKind::File | FileKind::Missing) {
            let reason = format!(
                "`{}` is no longer the same file. Read it again before you change it.",
                file.path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        file.make_folders()?;
        wait(WRITE_TIMEOUT, cancel, editor.write_text(path, text.to_owned())).map_err(|reason| match reason {
            NoAnswer::Cancelled => io::ErrorKind::Interrupted.into(),
            NoAnswer::Late => io::Error::new(
                io::ErrorKind::TimedOut,
                "the editor did not answer, so it is unknown whether the file was written. Call Read to check it.",
            ),
            NoAnswer::Refused(reason) => io::Error::other(format!("the editor did not write the file: {reason}")),
        })
    }

    /// Returns the text of a file as a tool would see it. `None` if it is not text, or larger than `max_bytes`. Blocks: not for a task.
    pub fn text_of(&self, path: &Path, max_bytes: u64, cancel: &CancellationToken) -> Option<String> {
        let file = self.workspace.resolve(path).ok()?;
        if !fs_err::metadata(&file.path).is_ok_and(|found| found.is_file() && found.len() <= max_bytes) {
            return None;
        }
        let (bytes, _) = self.read(&file, cancel).ok()?;
        String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= max_bytes)
    }
}

/// Returns whether a text is written through the editor.
fn is_editors(offers: EditorOffers, source: Source) -> bool {
    let was_unanswered = offers.reads && source == Source::Disk;
    offers.writes && !was_unanswered
}

/// Converts an editor's text to the form in which it would be saved: editors use one kind of line ending and no byte order mark, whatever
/// the file has.
fn as_saved(text: &str, saved: &str) -> String {
    let is_crlf = |text: &str| text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    let mut text =
        if is_crlf(saved) && !text.contains('\r') { text.replace('\n', "\r\n") } else { text.to_owned() };
    if saved.starts_with(BYTE_ORDER_MARK) && !text.starts_with(BYTE_ORDER_MARK) {
        text.insert(0, BYTE_ORDER_MARK);
    }
    text
}

/// The byte order mark.
const BYTE_ORDER_MARK: char = '\u{feff}';

fn wait<T>(
    limit: Duration,
    cancel: &CancellationToken,
    answer: impl Future<Output = Result<T, String>>,
) -> Result<T, NoAnswer> {
    Handle::current().block_on(async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(NoAnswer::Cancelled),
            answered = timeout(limit, answer) => match answered {
                Ok(answered) => answered.map_err(NoAnswer::Refused),
                Err(_elapsed) => Err(NoAnswer::Late),
            },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_to_the_editor_unless_its_read_was_unanswered() {
        let offers = |reads, writes| EditorOffers { reads, writes, terminals: false };
        for (offers, source, expected) in [
            (offers(true, true), Source::Editor, true),
            (offers(true, true), Source::Disk, false),
            (offers(true, true), Source::New, true),
            (offers(false, true), Source::Disk, true),
            (offers(true, false), Source::Editor, false),
            (offers(false, false), Source::New, false),
        ] {
            assert_eq!(is_editors(offers, source), expected, "{offers:?} {source:?}");
        }
    }

    #[test]
    fn line_endings_and_byte_order_mark_of_the_file_are_kept() {
        assert_eq!(as_saved("a\nb\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(as_saved("a\r\nb\r\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(as_saved("a\nb\n", "x\ny\r\n"), "a\nb\n");
        assert_eq!(as_saved("a", "\u{feff}x"), "\u{feff}a");
        assert_eq!(as_saved("\u{feff}a", "\u{feff}x"), "\u{feff}a");
    }
}
