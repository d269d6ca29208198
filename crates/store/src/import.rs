//! Imports sessions from another home directory, such as droid's, without changing it.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::disk;
use super::error::Result;
use super::outline::Outline;
use super::paths::Paths;
use super::{SessionId, Store, settings_file, side, slug};

/// Maximum size of an attachment in bytes. Larger ones are not imported.
const MAX_ATTACHMENT: u64 = 64 * 1024 * 1024;

impl Store {
    /// Imports a session from another home directory. Copies all readable records, and includes attachments in the log.
    ///
    /// Does nothing if both home directories are the same.
    pub fn import(&self, home: &Path, id: &SessionId) -> Result<()> {
        let theirs = Store::open(home);
        let old = theirs.paths(id)?;
        let same = |path: &Path| fs_err::canonicalize(path).ok();
        if same(theirs.sessions_folder()) == same(self.sessions_folder()) {
            return Ok(());
        }
        let outline = Outline::read(&old)?;
        let (settings, _) = settings_file::read(&old);
        let start = outline.scan.start.clone().unwrap_or_else(|| super::open::recovered(id, &settings));
        let cwd = start.cwd().map(|cwd| super::open::resolved(&cwd)).unwrap_or_default();
        let folder = self.sessions_folder().join(slug(&cwd));
        let new = Paths::new(folder, id.clone());

        let attachments = attachments(&theirs.sessions_folder().join(id.as_str()));
        self.put_session(&new, &old, &start, settings, false, &mut |out| {
            for piece in &outline.pieces {
                let line = outline.text(*piece)?;
                if let Some(record) = with_attachments(&line, attachments.as_deref()) {
                    let line = side::line_of(&*self.disk, &new, record, self.is_synced());
                    out.write_all(&line.map_err(io::Error::other)?)?;
                } else {
                    out.write_all(&line)?;
                    out.write_all(b"\n")?;
                }
            }
            Ok(())
        })
    }
}

/// Returns the directory of attachments in the directory of a session, if it exists and is not a symbolic link.
fn attachments(session: &Path) -> Option<PathBuf> {
    let folder = session.join("attachments");
    (disk::is_own_folder(session) && disk::is_own_folder(&folder)).then_some(folder)
}

/// Returns the record with the attachments that it refers to; `None` if there are none.
fn with_attachments(line: &[u8], folder: Option<&Path>) -> Option<Value> {
    let folder = folder?;
    let is_likely = line.windows(DOCUMENT.len()).any(|window| window == DOCUMENT);
    let mut record: Value = is_likely.then(|| serde_json::from_slice(line).ok())??;
    let mut has_changed = false;
    for part in record.get_mut("message")?.get_mut("content")?.as_array_mut()? {
        if part["type"] == "document" && part["source"]["data"] == "" {
            has_changed |= attach(&mut part["source"], folder).is_some();
        }
    }
    has_changed.then_some(record)
}

const DOCUMENT: &[u8] = br#""document""#;

/// Adds an attachment. Only files in the session's own directory are attachments, because the log is untrusted.
fn attach(source: &mut Value, folder: &Path) -> Option<()> {
    let path = Path::new(source["path"].as_str()?);
    // `..` has a parent, but no file name
    if path.parent()? != folder || path.file_name().is_none() {
        return None;
    }
    let bytes = disk::read_small(path, MAX_ATTACHMENT).ok()?;
    source["data"] = STANDARD.encode(bytes).into();
    source.as_object_mut()?.shift_remove("path");
    Some(())
}
