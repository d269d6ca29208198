//! The text of files: as the editor has it, if there is one that tells, and as the disk has it otherwise.
//!
//! Only files of the workspace are asked of the editor; it has no others open. What was read on the disk because the editor did not
//! answer is written there, too: an editor that would take it later might throw away what is not saved.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Resolved;
use crate::limits::FILE_BYTES;
use crate::{Context, EditorOffers, FileKind};

/// How long the editor may take to tell a text. After that the disk counts.
const READING: Duration = Duration::from_secs(5);
/// How long it may take if it has left the last question unanswered.
const READING_AGAIN: Duration = Duration::from_millis(500);
/// How long it may take to write one.
const WRITING: Duration = Duration::from_secs(10);

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// There was none: it is a new one, or replaces all there was.
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
    /// The content of a file, with what is not saved. Blocks: not for a task.
    pub(crate) fn read(&self, file: &Resolved, cancel: &CancellationToken) -> io::Result<(Vec<u8>, Source)> {
        let on_disk = file.read(FILE_BYTES)?;
        let Some(editor) = self.editor.as_ref().filter(|editor| editor.offers().reads) else {
            return Ok((on_disk, Source::Disk));
        };
        // what is no text stays with the disk
        let (Some(path), Ok(saved)) = (self.workspace.as_given(&file.path), str::from_utf8(&on_disk)) else {
            return Ok((on_disk, Source::Disk));
        };
        let limit = if self.is_silent.load(Ordering::Relaxed) { READING_AGAIN } else { READING };
        let answered = wait(limit, cancel, editor.read_text(path));
        self.is_silent.store(matches!(answered, Err(NoAnswer::Late)), Ordering::Relaxed);
        match answered {
            Ok(text) if text.len() as u64 <= FILE_BYTES => {
                Ok((as_saved(&text, saved).into_bytes(), Source::Editor))
            }
            Err(NoAnswer::Cancelled) => Err(io::ErrorKind::Interrupted.into()),
            Ok(_) | Err(NoAnswer::Late | NoAnswer::Refused(_)) => Ok((on_disk, Source::Disk)),
        }
    }

    /// Puts a text into a file: through the editor if it is its to write, never both. Blocks: not for a task.
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
        // the editor follows links: it must not be led elsewhere than where consent was given for
        let now = self.workspace.resolve(&file.path)?;
        if now.path != file.path || !matches!(now.kind, FileKind::File | FileKind::Missing) {
            let reason = format!("`{}` is not the same file any more", file.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        file.make_folders()?;
        wait(WRITING, cancel, editor.write_text(path, text.to_owned())).map_err(|reason| match reason {
            NoAnswer::Cancelled => io::ErrorKind::Interrupted.into(),
            NoAnswer::Late => io::Error::new(
                io::ErrorKind::TimedOut,
                "the editor has not answered, so that it is not known whether it was written; read the file",
            ),
            NoAnswer::Refused(reason) => io::Error::other(format!("the editor has not written it: {reason}")),
        })
    }

    /// The text of a file as a tool would see it; nothing if it is no text, or larger than `most`. Blocks: not for a task.
    pub fn text_of(&self, path: &Path, most: u64, cancel: &CancellationToken) -> Option<String> {
        let file = self.workspace.resolve(path).ok()?;
        if !fs_err::metadata(&file.path).is_ok_and(|found| found.is_file() && found.len() <= most) {
            return None;
        }
        let (bytes, _) = self.read(&file, cancel).ok()?;
        String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= most)
    }
}

/// Whether a text goes to the editor.
fn is_editors(offers: EditorOffers, source: Source) -> bool {
    let was_asked_in_vain = offers.reads && source == Source::Disk;
    offers.writes && !was_asked_in_vain
}

/// A text as the editor would save it: it has one kind of line end, and no mark at the beginning, whatever the file has.
fn as_saved(text: &str, saved: &str) -> String {
    let is_crlf = |text: &str| text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    let mut text =
        if is_crlf(saved) && !text.contains('\r') { text.replace('\n', "\r\n") } else { text.to_owned() };
    if saved.starts_with(MARK) && !text.starts_with(MARK) {
        text.insert(0, MARK);
    }
    text
}

/// What some programs put at the beginning of a text.
const MARK: char = '\u{feff}';

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
    fn a_text_goes_to_the_editor_unless_it_was_asked_for_it_in_vain() {
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
    fn line_ends_and_the_mark_stay_what_they_are_in_the_file() {
        assert_eq!(as_saved("a\nb\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(as_saved("a\r\nb\r\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(as_saved("a\nb\n", "x\ny\r\n"), "a\nb\n");
        assert_eq!(as_saved("a", "\u{feff}x"), "\u{feff}a");
        assert_eq!(as_saved("\u{feff}a", "\u{feff}x"), "\u{feff}a");
    }
}
