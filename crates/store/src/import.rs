//! Takes over a session from another home, such as droid's. There, nothing is changed.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::disk;
use super::error::Result;
use super::fork::whole;
use super::paths::Paths;
use super::scan;
use super::{SessionId, Store, settings_file, side, slug};

/// The largest attachment that is taken over.
const LARGEST_ATTACHMENT: u64 = 64 * 1024 * 1024;

impl Store {
    /// Takes over a session from another home. All that can be read of it is copied; attachments come into the log.
    ///
    /// From the same home there is nothing to take over, and nothing happens.
    pub fn import(&self, home: &Path, id: &SessionId) -> Result<()> {
        let theirs = Store::open(home);
        let old = theirs.paths(id)?;
        let same = |path: &Path| fs_err::canonicalize(path).ok();
        if same(theirs.sessions_folder()) == same(self.sessions_folder()) {
            return Ok(());
        }
        let (old_content, scan) = whole(&old)?;
        let (settings, _) = settings_file::read(&old);
        let start = scan.start.clone().unwrap_or_else(|| super::open::recovered(id, &settings));
        let cwd = start.cwd().map(|cwd| super::open::resolved(&cwd)).unwrap_or_default();
        let folder = self.sessions_folder().join(slug(&cwd));
        let new = Paths::new(folder, id.clone());

        let attachments = attachments(&theirs.sessions_folder().join(id.as_str()));
        let mut content = start.line();
        for (at, _) in scan.records {
            let line = scan::slice(&old_content, &at);
            if let Some(record) = with_attachments(line, attachments.as_deref()) {
                content.extend(side::line_of(&*self.disk, &new, record, self.is_synced())?);
            } else {
                content.extend_from_slice(line);
                content.push(b'\n');
            }
        }
        self.put_session(&new, &old, &content, settings, false)
    }
}

/// The folder of attachments in the folder of a session, if there is one and not a link to one.
fn attachments(session: &Path) -> Option<PathBuf> {
    let folder = session.join("attachments");
    (disk::is_own_folder(session) && disk::is_own_folder(&folder)).then_some(folder)
}

/// The record with the attachments it points to; nothing if it points to none.
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

/// Only what lies in the session's own folder is an attachment, whatever the log says.
fn attach(source: &mut Value, folder: &Path) -> Option<()> {
    let path = Path::new(source["path"].as_str()?);
    // `..` has a parent, and no name
    if path.parent()? != folder || path.file_name().is_none() {
        return None;
    }
    let bytes = disk::read_small(path, LARGEST_ATTACHMENT).ok()?;
    source["data"] = STANDARD.encode(bytes).into();
    source.as_object_mut()?.shift_remove("path");
    Some(())
}
