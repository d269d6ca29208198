//! Files of a workspace. No path leads out of it, also not through a symbolic link.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use musher_wire::{Extra, RpcError};
use serde_json::{Value, json};

use crate::daemon::error;
use crate::daemon::params;

/// Files in a list.
const MAX_FILES: usize = 10_000;
/// Files that are looked at for a search.
const MAX_SEARCHED: usize = 200_000;
/// Size of a file that is returned.
const MAX_CONTENT: u64 = 8 * 1024 * 1024;

/// Returns the files, without those that git ignores.
pub(super) fn list(cwd: &Path, fields: &Extra) -> Result<Value, RpcError> {
    let shows_hidden = params::optional::<bool>(fields, "showHidden", "boolean")?.unwrap_or_default();
    let mut files: Vec<String> = walk(cwd, shows_hidden).take(MAX_FILES + 1).collect();
    let is_truncated = files.len() > MAX_FILES;
    files.truncate(MAX_FILES);
    files.sort_unstable();
    Ok(json!({"totalFiles": files.len(), "files": files, "truncated": is_truncated}))
}

/// Returns the files whose path contains a text, whatever its capitals.
pub(super) fn search(cwd: &Path, fields: &Extra) -> Result<Value, RpcError> {
    let query = params::text(fields, "query")?.to_lowercase();
    let limit = params::optional::<usize>(fields, "maxResults", "number")?.unwrap_or(60);
    let found: Vec<String> =
        walk(cwd, false).take(MAX_SEARCHED).filter(|path| path.to_lowercase().contains(&query)).collect();
    let total = found.len();
    let files: Vec<String> = found.into_iter().take(limit).collect();
    Ok(json!({"files": files, "totalFiles": total}))
}

fn walk(cwd: &Path, shows_hidden: bool) -> impl Iterator<Item = String> {
    let root = cwd.to_owned();
    let walk = WalkBuilder::new(cwd).hidden(!shows_hidden).require_git(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.filter_map(move |entry| {
        let path = entry.path().strip_prefix(&root).ok()?;
        // the repository's own folder is not part of the workspace
        (!path.starts_with(".git")).then(|| path.to_string_lossy().into_owned())
    })
}

/// Returns the content of one file.
pub(super) fn content(cwd: &Path, fields: &Extra) -> Result<Value, RpcError> {
    let path = params::text(fields, "filePath")?;
    let encoding = params::optional::<String>(fields, "encoding", "string")?;
    let file = inside(cwd, Path::new(&path))?;
    let read = |error: std::io::Error| error::internal(format!("cannot read the file: {error}"));
    let opened = fs_err::File::open(&file).map_err(read)?;
    let metadata = opened.metadata().map_err(read)?;
    if !metadata.is_file() || metadata.len() > MAX_CONTENT {
        return Err(error::invalid_value("filePath", "not a regular file of at most 8 MiB"));
    }
    let mut bytes = Vec::new();
    opened.take(MAX_CONTENT).read_to_end(&mut bytes).map_err(read)?;
    let length = bytes.len();
    match (encoding.as_deref(), String::from_utf8(bytes)) {
        (None | Some("utf8"), Ok(text)) => {
            Ok(json!({"content": text, "byteLength": length, "encoding": "utf8", "isBinary": false}))
        }
        (None | Some("utf8"), Err(_)) => {
            Ok(json!({"content": "", "byteLength": length, "encoding": "utf8", "isBinary": true}))
        }
        (Some(_), _) => Err(error::invalid_value("encoding", "only utf8 is supported")),
    }
}

/// Returns the real path of a file, if it is in the workspace.
fn inside(cwd: &Path, path: &Path) -> Result<PathBuf, RpcError> {
    let outside = || error::invalid_value("filePath", "not in the workspace");
    let root = fs_err::canonicalize(cwd).map_err(|_invalid| outside())?;
    let real = fs_err::canonicalize(root.join(path))
        .map_err(|_invalid| error::invalid_value("filePath", "no such file"))?;
    if real.starts_with(&root) { Ok(real) } else { Err(outside()) }
}

/// Whether a path is a directory that sessions can use.
pub(super) fn validate(fields: &Extra) -> Result<Value, RpcError> {
    let path = params::text(fields, "workingDirectory")?;
    let real = fs_err::canonicalize(&path).ok().filter(|real| real.is_dir());
    Ok(match real {
        Some(real) => json!({"isValid": true, "resolvedPath": real.to_string_lossy()}),
        None => json!({"isValid": false, "error": format!("{path} is not a directory")}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_outside_of_the_workspace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("w");
        fs_err::create_dir(&workspace).unwrap();
        fs_err::write(folder.path().join("secret"), "s").unwrap();
        fs_err::write(workspace.join("a.txt"), "content").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), workspace.join("link")).unwrap();
        let read = |path: &str| {
            let text = serde_json::to_string(&json!({"filePath": path})).unwrap();
            content(&workspace, &serde_json::from_str(&text).unwrap())
        };
        assert_eq!(read("a.txt").unwrap()["content"], "content");
        for path in ["../secret", "link", "/etc/hostname", "missing", "."] {
            assert!(read(path).is_err(), "{path}");
        }
    }

    #[test]
    fn lists_leave_out_what_git_ignores() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(".gitignore"), "target\n").unwrap();
        fs_err::create_dir(folder.path().join("target")).unwrap();
        fs_err::create_dir(folder.path().join("src")).unwrap();
        for file in ["target/x", "src/main.rs", "readme", ".hidden"] {
            fs_err::write(folder.path().join(file), "").unwrap();
        }
        let none = Extra::default();
        assert_eq!(list(folder.path(), &none).unwrap()["files"], json!(["readme", "src/main.rs"]));
        let query: Extra = serde_json::from_str(r#"{"query":"MAIN"}"#).unwrap();
        assert_eq!(
            search(folder.path(), &query).unwrap(),
            json!({"files": ["src/main.rs"], "totalFiles": 1})
        );
        let hidden: Extra = serde_json::from_str(r#"{"showHidden":true}"#).unwrap();
        assert_eq!(list(folder.path(), &hidden).unwrap()["totalFiles"], 4);
    }
}
