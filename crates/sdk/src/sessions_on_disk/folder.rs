//! The folders in which sessions lie, and the files in them. Nothing is opened here.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that may be a session.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) id: String,
    pub(super) modified: SystemTime,
    pub(super) created: SystemTime,
    /// It lies where old versions put sessions of all directories.
    pub(super) is_legacy: bool,
}

/// The folder of the sessions of one directory: `/home/me/project` is `-home-me-project`.
pub(super) fn folder_name(cwd: &Path) -> String {
    let path = cwd.to_string_lossy();
    let path = path.trim_end_matches(['/', '\\']);
    // a Windows drive loses its colon
    let path = match path.as_bytes() {
        [drive, b':', ..] if cfg!(windows) && drive.is_ascii_alphabetic() => path.replacen(':', "", 1),
        _ => path.to_owned(),
    };
    format!("-{}", path.trim_start_matches(['/', '\\']).replace(['/', '\\'], "-"))
}

/// All folders with sessions, except for the old place.
pub(super) fn all_folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(root) else { return Vec::new() };
    let folders = entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"-"));
    folders.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// The session files of a folder, in no order.
pub(super) fn candidates(folder: &Path, is_legacy: bool, out: &mut Vec<Candidate>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension() == Some(OsStr::new("jsonl")) {
            out.extend(candidate(path, is_legacy));
        }
    }
}

/// What is known about a file without opening it. Only a plain file is one: a pipe would never end.
pub(super) fn candidate(path: PathBuf, is_legacy: bool) -> Option<Candidate> {
    let metadata = fs_err::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let id = path.file_stem()?.to_string_lossy().into_owned();
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let created = metadata.created().ok().or_else(|| changed(&metadata)).unwrap_or(modified);
    Some(Candidate { path, id, modified, created, is_legacy })
}

#[cfg(unix)]
fn changed(metadata: &std::fs::Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(std::os::unix::fs::MetadataExt::ctime(metadata)).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(seconds))
}

#[cfg(not(unix))]
fn changed(_: &std::fs::Metadata) -> Option<SystemTime> {
    None
}
