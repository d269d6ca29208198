//! Records that are too large for a line. The line keeps a shortened form of them, for readers that know nothing of this.

use std::path::Path;

use serde_json::{Value, json};

use super::disk::{self, Disk};
use super::error::Result;
use super::hash;
use super::message_form::shortened;
use super::paths::Paths;
use super::record::line;

/// The largest side file that is read.
const LARGEST_SIDE: u64 = 256 * 1024 * 1024;

/// The line of a record. What is too large is put aside first.
pub(super) fn line_of(disk: &dyn Disk, paths: &Paths, mut record: Value, is_synced: bool) -> Result<Vec<u8>> {
    let whole = line(&record);
    if whole.len() <= disk.longest_line() + 1 {
        return Ok(whole);
    }
    let content = &whole[..whole.len() - 1];
    let hash = hash::hex(content);
    let path = paths.side(&hash);
    // the name is the content: what is there already is the same
    if read(&path, &hash).is_none() {
        disk::make_folder(&paths.sides())?;
        disk.replace(&path, content, is_synced)?;
    }
    for longest in [1024, 64, 8] {
        shortened(&mut record, longest);
        record["musher"] = json!({"side": hash, "size": content.len()});
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

/// The record in a side file, if it is there and what its name says.
pub(super) fn read_record(paths: &Paths, hash: &str) -> Option<Value> {
    if !hash::is_hex(hash) {
        return None;
    }
    serde_json::from_slice(&read(&paths.side(hash), hash)?).ok()
}

fn read(path: &Path, hash: &str) -> Option<Vec<u8>> {
    let bytes = disk::read_small(path, LARGEST_SIDE).ok()?;
    (hash::hex(&bytes) == hash).then_some(bytes)
}
