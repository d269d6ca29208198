//! Edits a JSON file atomically: reads it, writes the result to a temporary file, renames it. Keeps everything else in the file.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::file::is_absent;
use super::parse::parse;

/// Edits a file with one JSON object, atomically. Creates a missing file, readable for its owner only.
///
/// Returns an error, and does not write, if the file is invalid or has comments: the edit would lose
/// invalid content and comments.
pub fn edit_json(path: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> io::Result<()> {
    try_edit_json(path, |map| {
        change(map);
        Ok(())
    })
}

/// Like [`edit_json`], for a change that may fail: then the file is not written.
pub fn try_edit_json(
    path: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> io::Result<()>,
) -> io::Result<()> {
    let old = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => Vec::new(),
        Err(error) => return Err(error),
    };
    let refused = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut map = parse(&old).map_err(|problem| refused(format!("`{}`: {problem}", path.display())))?;
    let has_comments = !old.is_empty() && serde_json::from_slice::<Value>(&old).is_err();
    if has_comments && !map.is_empty() {
        return Err(refused(format!("`{}` has comments, which a change would lose", path.display())));
    }
    change(&mut map)?;
    let mut text = serde_json::to_vec_pretty(&map)?;
    text.push(b'\n');
    replace(path, &text)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // follow links: the user keeps the file elsewhere on purpose
    let path = &fs_err::canonicalize(path).unwrap_or_else(|_new| path.to_owned());
    let folder = path.parent().ok_or_else(|| io::Error::other("there is no folder for the file"))?;
    if !folder.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let temporary = folder.join(format!(".musher-{}.tmp", Uuid::new_v4()));
    let written = (|| {
        let mut options = fs_err::OpenOptions::new();
        options.write(true).create_new(true);
        options.options_mut().mode(0o600);
        let mut file = options.open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        if let Ok(old) = fs_err::metadata(path) {
            fs_err::set_permissions(&temporary, old.permissions())?;
        }
        fs_err::rename(&temporary, path)?;
        fs_err::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // the file may not exist
        fs_err::remove_file(&temporary).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn edit_keeps_other_content_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/mcp.json");
        edit_json(&path, |map| {
            map.insert("a".to_owned(), 1.into());
        })
        .unwrap();
        edit_json(&path, |map| {
            map.insert("b".to_owned(), 2.into());
        })
        .unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs_err::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn unknown_keys_survive_a_change_and_a_refused_change_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let text = "{\n  \"comandBlocklist\": [\n    \"curl\"\n  ],\n  \"zz\": {\n    \"y\": null\n  },\n  \"a\": 1\n}\n";
        fs_err::write(&path, text).unwrap();
        edit_json(&path, |map| map["a"] = 2.into()).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text.replace("\"a\": 1", "\"a\": 2"));
        try_edit_json(&path, |map| {
            map.clear();
            Err(io::Error::other("no"))
        })
        .unwrap_err();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text.replace("\"a\": 1", "\"a\": 2"));
    }

    #[test]
    fn invalid_or_commented_file_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        for text in ["{\"a\": ", "[1]", "{\"a\": 1 // mine\n}"] {
            fs_err::write(&path, text).unwrap();
            edit_json(&path, Map::clear).unwrap_err();
            assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
        }
    }
}
