//! The settings of a session, in a file next to its log. The archive flag is one of them.
//!
//! The file holds droid's fields and any others. An object `musher` repeats fields of the first line of the log, in case that is lost.

use std::path::Path;

use serde_json::{Map, Value};

use super::disk::{self, Disk};
use super::error::Result;
use super::paths::Paths;

/// Maximum size of the file in bytes.
const MAX_SIZE: u64 = 4 * 1024 * 1024;

/// Reads the newest readable version of the settings. Also returns whether the current version was lost.
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

/// Reads the object in a file. The error is whether the file is missing.
fn object(path: &Path) -> Result<Map<String, Value>, bool> {
    let bytes =
        disk::read_small(path, MAX_SIZE).map_err(|error| error.kind() == std::io::ErrorKind::NotFound)?;
    serde_json::from_slice(&bytes).map_err(|_damaged| false)
}

/// Writes the settings, and keeps the previous version.
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

/// Keeps the current settings under a second name. Failures are ignored, because only the backup would be missing.
fn keep_old(disk: &dyn Disk, paths: &Paths) {
    let old = paths.old_settings();
    let temporary = old.with_extension(format!("bak.{}.tmp", std::process::id()));
    fs_err::remove_file(&temporary).ok();
    if fs_err::hard_link(paths.settings(), &temporary).is_ok() && disk.rename(&temporary, &old).is_err() {
        fs_err::remove_file(&temporary).ok();
    }
}

/// Returns whether the session is archived.
pub(super) fn is_archived(settings: &Map<String, Value>) -> bool {
    match settings.get("archivedAt") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    }
}
