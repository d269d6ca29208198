//! Removes a session from the disk: the conversation, and what lies beside it under the same name.
//!
//! Only files of that name, directly in the folder of sessions or in one of its folders. Links are removed, never followed.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;

use crate::config::Config;

/// Deletes a session. It is no mistake if there is none; but what belongs to another agent is not ours to delete.
pub(crate) async fn delete(id: String, config: &Config) -> Result<(), Error> {
    if !is_name(&id) {
        return Err(Error::invalid_params().data(format!("`{id}` is no id of a session")));
    }
    let folder = config.sessions_dir.clone();
    let folder = folder.or_else(|| Some(std::env::home_dir()?.join(".factory").join("sessions")));
    let Some(folder) = folder else {
        return Err(Error::internal_error().data("the home directory is not known"));
    };
    let foreign = config.foreign_sessions_dir.clone();
    let whose = id.clone();
    let deleted = tokio::task::spawn_blocking(move || {
        let own = files_of(&folder, &id)?;
        own.iter().try_for_each(|path| remove(path))?;
        let theirs = foreign.map_or(Ok(Vec::new()), |foreign| files_of(&foreign, &id))?;
        Ok::<_, io::Error>(!own.is_empty() || theirs.is_empty())
    });
    match deleted.await {
        Ok(Ok(true)) => Ok(()),
        Ok(Ok(false)) => {
            let why = format!("the session `{whose}` is droid's, and only droid deletes it");
            Err(Error::new(-32603, why))
        }
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

/// All that lies in a folder of sessions, or in one of its folders, under this name: `ID.jsonl`, `ID.settings.json`, `ID.large`.
fn files_of(root: &Path, id: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs_err::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(id)?.strip_prefix('.'));
            if rest.is_some_and(is_part) {
                found.push(entry.path());
            } else if folder == root && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// Whether this is what a file or folder of a session is called behind its id.
fn is_part(ending: &str) -> bool {
    let known = ["jsonl", "settings.json", "settings.json.bak", "lock", "large", "snapshots"];
    known.contains(&ending) || ending.ends_with(".damaged")
}

/// Removes a file, or a folder with all that is in it. Whoever was faster is no mistake.
fn remove(path: &Path) -> io::Result<()> {
    let is_folder = fs_err::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let removed = if is_folder { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(root: &Path) -> Config {
        let mut config = Config::new(musher::Agent::program("droid"));
        config.sessions_dir = Some(root.join("own"));
        config.foreign_sessions_dir = Some(root.join("foreign"));
        config
    }

    #[tokio::test]
    async fn only_what_belongs_to_that_session_goes() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("own/-w");
        fs_err::create_dir_all(folder.join("one.large/x")).unwrap();
        for name in ["one.jsonl", "one.settings.json", "one.settings.json.bak", "one.lock", "one.7.damaged"] {
            fs_err::write(folder.join(name), "").unwrap();
        }
        for name in ["one.txt", "two.jsonl", "one.two.jsonl", "oneself.jsonl"] {
            fs_err::write(folder.join(name), "").unwrap();
        }
        for _ in 0..2 {
            delete("one".to_owned(), &config(root.path())).await.unwrap();
        }
        let entries = fs_err::read_dir(&folder).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["one.two.jsonl", "one.txt", "oneself.jsonl", "two.jsonl"]);
    }

    #[tokio::test]
    async fn what_is_no_id_is_refused() {
        let config = config(Path::new("/nowhere"));
        for id in ["", "../one", "a/b", ".favorites", "a\\b", "a\0b"] {
            let refused = delete(id.to_owned(), &config).await.unwrap_err();
            assert_eq!(i32::from(refused.code), -32602, "{id}");
        }
        assert!(delete("unknown".to_owned(), &config).await.is_ok());
    }

    #[tokio::test]
    async fn a_session_of_another_agent_stays_and_that_is_said() {
        let root = tempfile::tempdir().unwrap();
        let theirs = root.path().join("foreign/-w/one.jsonl");
        let ours = root.path().join("own/-w/one.jsonl");
        for file in [&theirs, &ours] {
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        // what was taken over is ours
        delete("one".to_owned(), &config(root.path())).await.unwrap();
        assert!(!ours.exists());
        let refused = delete("one".to_owned(), &config(root.path())).await.unwrap_err();
        assert!(refused.message.contains("only droid"), "{refused:?}");
        assert!(theirs.exists());
    }
}
