//! Removes a session from the disk: the conversation, and what lies beside it under the same name.
//!
//! Only files of that name, directly in the folder of sessions or in one of its folders. Links are removed, never followed.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;

/// What a session's files are called behind its id.
const ENDINGS: [&str; 3] = [".jsonl", ".settings.json", ".settings.json.bak"];

/// Deletes a session. It is no mistake if there is none.
pub(crate) async fn delete(id: String, sessions_dir: Option<PathBuf>) -> Result<(), Error> {
    if !is_name(&id) {
        return Err(Error::invalid_params().data(format!("`{id}` is no id of a session")));
    }
    let folder = sessions_dir.or_else(|| Some(std::env::home_dir()?.join(".factory").join("sessions")));
    let Some(folder) = folder else {
        return Err(Error::internal_error().data("the home directory is not known"));
    };
    let deleted = tokio::task::spawn_blocking(move || delete_in(&folder, &id)).await;
    match deleted {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Error::internal_error().data(error.to_string())),
        Err(_gone) => Err(Error::internal_error()),
    }
}

/// A name that stays in its folder.
fn is_name(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && !id.starts_with('.')
        && id.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
}

fn delete_in(root: &Path, id: &str) -> std::io::Result<()> {
    let mut folders = vec![root.to_owned()];
    match fs_err::read_dir(root) {
        Ok(entries) => {
            let inside = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inside.map(|entry| entry.path()));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    for folder in folders {
        for ending in ENDINGS {
            let name: OsString = format!("{id}{ending}").into();
            match fs_err::remove_file(folder.join(name)) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_files_of_that_session_go() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("-w");
        fs_err::create_dir(&folder).unwrap();
        for name in ["one.jsonl", "one.settings.json", "one.settings.json.bak", "one.txt", "two.jsonl"] {
            fs_err::write(folder.join(name), "").unwrap();
        }
        for _ in 0..2 {
            delete("one".to_owned(), Some(root.path().to_owned())).await.unwrap();
        }
        let entries = fs_err::read_dir(&folder).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["one.txt", "two.jsonl"]);
    }

    #[tokio::test]
    async fn what_is_no_id_is_refused() {
        for id in ["", "../one", "a/b", ".favorites", "a\\b", "a\0b"] {
            let refused = delete(id.to_owned(), Some(PathBuf::from("/nowhere"))).await.unwrap_err();
            assert_eq!(i32::from(refused.code), -32602, "{id}");
        }
        assert!(delete("unknown".to_owned(), Some(PathBuf::from("/nowhere"))).await.is_ok());
    }
}
