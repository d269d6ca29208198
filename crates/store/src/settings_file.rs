//! The settings of a session, in a file beside its log.
//!
//! It holds droid's fields and any other; an object `musher` says again what the first line of the log says, should that be lost.

use std::path::Path;

use serde_json::{Map, Value};

use super::disk::{self, Disk};
use super::error::Result;
use super::paths::Paths;

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads the settings: the newest that can be read. Also says whether those were damaged.
pub(super) fn read(paths: &Paths) -> (Map<String, Value>, bool) {
    match object(&paths.settings()) {
        Ok(settings) => (settings, false),
        Err(is_missing) => {
            let old = object(&paths.old_settings());
            let was_there = !is_missing || old.is_ok();
            (old.unwrap_or_default(), was_there)
        }
    }
}

/// The object in a file; else whether there is no file.
fn object(path: &Path) -> Result<Map<String, Value>, bool> {
    let bytes =
        disk::read_small(path, LARGEST).map_err(|error| error.kind() == std::io::ErrorKind::NotFound)?;
    serde_json::from_slice(&bytes).map_err(|_damaged| false)
}

/// Writes the settings, and keeps those that were there.
pub(super) fn write(
    disk: &dyn Disk,
    paths: &Paths,
    settings: &Map<String, Value>,
    is_synced: bool,
) -> Result<()> {
    let mut content = serde_json::to_vec_pretty(settings).unwrap_or_default();
    content.push(b'\n');
    keep_old(disk, paths);
    disk.replace(&paths.settings(), &content, is_synced)
}

/// A second name for what is there. Without it nothing is lost but a way back.
fn keep_old(disk: &dyn Disk, paths: &Paths) {
    let old = paths.old_settings();
    let beside = old.with_extension(format!("bak.{}.tmp", std::process::id()));
    fs_err::remove_file(&beside).ok();
    if fs_err::hard_link(paths.settings(), &beside).is_ok() && disk.rename(&beside, &old).is_err() {
        fs_err::remove_file(&beside).ok();
    }
}

/// Whether the session is put away.
pub(super) fn is_archived(settings: &Map<String, Value>) -> bool {
    match settings.get("archivedAt") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    }
}
