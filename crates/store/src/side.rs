//! Records that are too large for a line. The line keeps a shortened form of them, for readers that know nothing of this.

use std::cell::Cell;
use std::path::Path;

use serde_json::{Value, json};

use super::disk::{self, Disk};
use super::error::Result;
use super::hash::ContentHash;
use super::message_form::shortened;
use super::paths::Paths;
use super::record::line;

/// The largest side file that is read.
pub(super) const LARGEST_SIDE: u64 = 256 * 1024 * 1024;

/// All side files that are read for one log, in bytes. Every line can name a file, and all can name the same one, so the size of the
/// log is no limit.
pub(super) const MAX_SIDES_READ: u64 = 1024 * 1024 * 1024;

/// The line of a record. What is too large is put aside first.
pub(super) fn line_of(disk: &dyn Disk, paths: &Paths, mut record: Value, is_synced: bool) -> Result<Vec<u8>> {
    let whole = line(&record);
    if whole.len() <= disk.longest_line() + 1 {
        return Ok(whole);
    }
    let content = &whole[..whole.len() - 1];
    let hash = ContentHash::of(content);
    let path = paths.side(&hash);
    // the name is the content: what is there already is the same
    if read(&path, &hash, LARGEST_SIDE).is_none() {
        disk::make_own_folder(&paths.sides())?;
        disk.replace(&path, content, is_synced)?;
    }
    for longest in [1024, 64, 8] {
        shortened(&mut record, longest);
        record["musher"] = json!({"side": hash.as_str(), "size": content.len()});
        let short = line(&record);
        if short.len() <= disk.longest_line() {
            return Ok(short);
        }
    }
    // many small things: only what it is stays
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

/// Reads the side files of one log, up to a limit for all of them.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    paths: &'a Paths,
    left: Cell<u64>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(paths: &'a Paths, limit: u64) -> Self {
        Self { paths, left: Cell::new(limit) }
    }

    /// The record in a side file, if it is there, what its name says, and not too much.
    pub(super) fn read_record(&self, hash: &str) -> Option<Value> {
        let hash = ContentHash::parse(hash)?;
        let bytes = read(&self.paths.side(&hash), &hash, self.left.get().min(LARGEST_SIDE))?;
        self.left.set(self.left.get().saturating_sub(bytes.len() as u64));
        serde_json::from_slice(&bytes).ok()
    }
}

fn read(path: &Path, hash: &ContentHash, limit: u64) -> Option<Vec<u8>> {
    let bytes = disk::read_small(path, limit).ok()?;
    (ContentHash::of(&bytes) == *hash).then_some(bytes)
}
