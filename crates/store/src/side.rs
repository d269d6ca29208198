//! Side files: records that are too large for a line. The line keeps a shortened form, for readers without support for side files.

use std::cell::Cell;
use std::path::Path;

use serde_json::{Value, json};

use super::disk::{self, Disk};
use super::error::Result;
use super::hash::ContentHash;
use super::message_form::shortened;
use super::paths::Paths;
use super::record::line;

/// Maximum size of a side file in bytes.
pub(super) const MAX_SIDE: u64 = 256 * 1024 * 1024;

/// Maximum total size of the side files read for one log, in bytes. The size of the log is not a limit, because many lines can refer to
/// the same file.
pub(super) const MAX_SIDES_READ: u64 = 1024 * 1024 * 1024;

/// Returns the line of a record. Writes a record that is too large to a side file first.
pub(super) fn line_of(disk: &dyn Disk, paths: &Paths, mut record: Value, is_synced: bool) -> Result<Vec<u8>> {
    let whole = line(&record);
    if whole.len() <= disk.max_line() + 1 {
        return Ok(whole);
    }
    let content = &whole[..whole.len() - 1];
    let hash = ContentHash::of(content);
    let path = paths.side(&hash);
    // the name is the hash of the content, so an existing file has the same content
    if read(&path, &hash, MAX_SIDE).is_none() {
        disk::make_own_folder(&paths.sides())?;
        disk.replace(&path, content, is_synced)?;
    }
    for max_text in [1024, 64, 8] {
        shortened(&mut record, max_text);
        record["musher"] = json!({"side": hash.as_str(), "size": content.len()});
        let short = line(&record);
        if short.len() <= disk.max_line() {
            return Ok(short);
        }
    }
    // many small values: keep only the fields that identify the record
    let kept = ["type", "id", "parentId", "timestamp"];
    let mut stub: Value =
        kept.iter().filter_map(|key| Some(((*key).to_owned(), record.get(*key)?.clone()))).collect();
    stub["musher"] = record["musher"].take();
    if let Some(message) = record.get("message") {
        let text = json!([{"type": "text", "text": "[kept aside]"}]);
        stub["message"] = json!({"role": message["role"], "content": text});
    }
    Ok(line(&stub))
}

/// Reads the side files of one log, up to a limit for their total size.
#[derive(Debug)]
pub(super) struct Sides {
    paths: Paths,
    left: Cell<u64>,
}

impl Sides {
    pub(super) fn new(paths: &Paths, limit: u64) -> Self {
        Self { paths: paths.clone(), left: Cell::new(limit) }
    }

    /// Returns the record in a side file, if the file exists, matches its hash, and is within the limit.
    pub(super) fn read_record(&self, hash: &str) -> Option<Value> {
        let hash = ContentHash::parse(hash)?;
        let bytes = read(&self.paths.side(&hash), &hash, self.left.get().min(MAX_SIDE))?;
        self.left.set(self.left.get().saturating_sub(bytes.len() as u64));
        serde_json::from_slice(&bytes).ok()
    }
}

fn read(path: &Path, hash: &ContentHash, limit: u64) -> Option<Vec<u8>> {
    let bytes = disk::read_small(path, limit).ok()?;
    (ContentHash::of(&bytes) == *hash).then_some(bytes)
}
