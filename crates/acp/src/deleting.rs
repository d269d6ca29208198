//! Deletes a stored session: one of the agent's own, and only while nothing writes it.

use agent_client_protocol::Error;
use musher_store::{SessionId, Store, StoreError};

use crate::config::Config;
use crate::registry::explained;

/// Deletes a session. A session that does not exist counts as deleted; one that belongs to another agent is refused.
pub(crate) async fn delete(id: String, config: &Config) -> Result<(), Error> {
    let Some(id) = SessionId::parse(&id) else {
        return Err(explained(&Error::invalid_params(), format!("invalid session id `{id}`")));
    };
    let folder = config.sessions_dir.clone();
    let folder = folder.or_else(|| Some(Store::sessions_dir(std::env::home_dir()?.join(".factory"))));
    let Some(folder) = folder else {
        return Err(explained(&Error::internal_error(), "the home directory is not known"));
    };
    let own = Store::in_folder(folder);
    let foreign = config.foreign_sessions_dir.clone().map(Store::in_folder);
    let deleted = tokio::task::spawn_blocking(move || delete_in(&own, foreign.as_ref(), &id));
    deleted.await.map_err(|_gone| Error::internal_error())?
}

fn delete_in(own: &Store, foreign: Option<&Store>, id: &SessionId) -> Result<(), Error> {
    let mut was_deleted = false;
    // a log can be in more than one folder
    loop {
        match own.delete(id) {
            Ok(()) => was_deleted = true,
            Err(StoreError::NotFound(_)) => break,
            Err(error @ StoreError::Locked { .. }) => {
                return Err(explained(&Error::internal_error(), error.to_string()));
            }
            Err(error) => return Err(explained(&Error::internal_error(), error.with_causes().to_string())),
        }
    }
    if !was_deleted && foreign.is_some_and(|foreign| foreign.find(id).is_some()) {
        let why = format!("the session `{id}` is droid's, and only droid deletes it");
        return Err(explained(&Error::internal_error(), why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use musher_store::NewSession;

    use super::*;

    fn config(root: &Path) -> Config {
        let mut config = Config::new(musher::Agent::program("droid"));
        config.sessions_dir = Some(root.join("own"));
        config.foreign_sessions_dir = Some(root.join("foreign"));
        config
    }

    #[tokio::test]
    async fn delete_removes_only_files_of_that_session() {
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
    async fn invalid_session_id_is_rejected() {
        let config = config(Path::new("/nowhere"));
        for id in ["", "../one", "a/b", ".favorites", "a\\b", "a\0b"] {
            let refused = delete(id.to_owned(), &config).await.unwrap_err();
            assert_eq!(i32::from(refused.code), -32602, "{id}");
        }
        assert!(delete("unknown".to_owned(), &config).await.is_ok());
    }

    #[tokio::test]
    async fn session_of_another_agent_is_kept_with_an_error() {
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

    #[tokio::test]
    async fn session_that_is_running_is_not_deleted() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::in_folder(root.path().join("own"));
        let id = SessionId::parse("one").unwrap();
        let new = NewSession {
            id: id.clone(),
            cwd: "/w".into(),
            title: None,
            owner: None,
            host_id: None,
            parent: None,
            settings: serde_json::Map::new(),
            extra: serde_json::Map::new(),
        };
        let held = store.create(new).unwrap();
        let refused = delete("one".to_owned(), &config(root.path())).await.unwrap_err();
        assert!(refused.message.contains("session one is running in process"), "{refused:?}");
        assert!(store.find(&id).is_some());
        drop(held);
        delete("one".to_owned(), &config(root.path())).await.unwrap();
        assert!(store.find(&id).is_none());
    }
}
