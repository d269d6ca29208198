//! Checks the home: it exists, is writable, and is private.

use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::check::Check;

const AREA: &str = "home";
/// Files that can contain keys or conversations.
const PRIVATE: [&str; 5] = ["settings.json", "settings.local.json", "mcp.json", "sessions", "trust.json"];

pub(super) fn checks(home: &Path) -> Vec<Check> {
    let shown = home.display().to_string();
    let metadata = match fs_err::metadata(home) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => {
            let check = Check::error(AREA, "folder", format!("{shown} is not a directory"));
            return vec![check.advice("move it, or set MUSHER_HOME to a directory")];
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return vec![missing(home)];
        }
        Err(error) => {
            return vec![
                Check::error(AREA, "folder", error.to_string())
                    .advice("set MUSHER_HOME to a directory you own"),
            ];
        }
    };
    let mut checks = Vec::new();
    let user = rustix::process::geteuid();
    if metadata.uid() != user.as_raw() && !user.is_root() {
        let check = Check::error(AREA, "folder", format!("{shown} belongs to another user"));
        checks.push(check.advice("set MUSHER_HOME to a directory you own"));
    } else if rustix::fs::access(home, rustix::fs::Access::WRITE_OK).is_err() {
        let check =
            Check::error(AREA, "folder", format!("{shown} is not writable: sessions cannot be saved"));
        checks.push(check.advice(format!("chmod u+rwx {shown}")));
    }
    checks.extend(open_to_others(home, metadata.permissions().mode()));
    for name in PRIVATE {
        let path = home.join(name);
        if let Ok(metadata) = fs_err::symlink_metadata(&path)
            && !metadata.is_symlink()
        {
            checks.extend(open_to_others(&path, metadata.permissions().mode()));
        }
    }
    if checks.is_empty() {
        checks.push(Check::ok(AREA, "folder", format!("{shown} is private")));
    }
    checks
}

/// Checks whether a home that does not exist can be created: in its nearest parent that exists.
fn missing(home: &Path) -> Check {
    let shown = home.display();
    let parent = home.ancestors().skip(1).find(|parent| fs_err::symlink_metadata(parent).is_ok());
    let can_write = |parent: &Path| {
        // a file system such as /proc claims to be writable, but has no room for files of users
        let has_room = rustix::fs::statvfs(parent).is_ok_and(|file_system| file_system.f_blocks > 0);
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        has_room && parent.is_dir() && rustix::fs::access(parent, access).is_ok()
    };
    if parent.is_some_and(can_write) {
        return Check::ok(AREA, "folder", format!("{shown} does not exist yet; created when needed"));
    }
    Check::error(AREA, "folder", format!("{shown} cannot be created: sessions cannot be saved"))
        .advice("set MUSHER_HOME to a directory you can write to")
}

/// Warns about a file that other users can access.
fn open_to_others(path: &Path, mode: u32) -> Option<Check> {
    let open = mode & 0o077;
    if open == 0 {
        return None;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shown = path.display();
    let check =
        Check::warning(AREA, name, format!("{shown} is accessible to other users (mode {:o})", mode & 0o777));
    Some(check.advice(format!("chmod go= {shown}")))
}
