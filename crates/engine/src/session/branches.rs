//! New sessions out of the one that is open: copies, and copies of the beginning with files put back.

use std::path::PathBuf;

use super::actor::Actor;
use crate::command::{Reply, Rewind};
use crate::{Error, SessionId, Tag};
use musher_store::StoreError;

/// What a rewind would touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewindInfo {
    /// Files that can be restored: path, content hash, size.
    pub available: Vec<(PathBuf, String, u64)>,
    /// Files that were created since.
    pub created: Vec<PathBuf>,
    /// Files whose former content is gone, and why.
    pub evicted: Vec<(PathBuf, String)>,
}

impl Actor {
    /// Copies the session. The copy is complete when this returns; the agent stays where it is.
    pub(super) fn fork(&mut self, title: Option<&str>, tags: Option<Vec<Tag>>) -> Result<Reply, Error> {
        let store = self.environment.store();
        let session = self.session.as_mut().ok_or(Error::NoSession)?;
        session.log().map_err(internal)?;
        session.save();
        let new = SessionId::random();
        store.fork(&session.id, &new, title, None).map_err(internal)?;
        if let Some(tags) = tags {
            let mut copy = store.load(&new).map_err(internal)?;
            let mut settings = copy.log.settings().clone();
            settings.insert("tags".to_owned(), serde_json::json!(tags));
            copy.log.save_settings(settings).map_err(internal)?;
        }
        Ok(Reply::Forked { session: new })
    }

    /// Which files a rewind would touch. A message that is not known changed none.
    pub(super) fn rewind_info(&mut self, session: &str, message: &str) -> Result<Reply, Error> {
        let open = self.session.as_mut().ok_or(Error::NoSession)?;
        if open.id.as_str() != session {
            return Err(Error::SessionNotFound);
        }
        let files = open.log().map_err(internal)?.rewind_info(message);
        Ok(Reply::RewindInfo(Box::new(RewindInfo {
            available: files.available.into_iter().map(|file| (file.path, file.hash, file.size)).collect(),
            created: files.created,
            evicted: files.evicted,
        })))
    }

    /// Puts files back, and copies the conversation before a message.
    pub(super) fn rewind(&mut self, rewind: &Rewind) -> Result<Reply, Error> {
        let is_running = self.turns.is_running();
        let store = self.environment.store();
        let open = self.session.as_mut().ok_or(Error::NoSession)?;
        if open.id.as_str() != rewind.session {
            return Err(Error::SessionNotFound);
        }
        if is_running {
            return Err(Error::Invalid("a turn is running; interrupt it first".to_owned()));
        }
        open.save();
        let new = SessionId::random();
        open.log().map_err(internal)?;
        // first the copy: when the message is not there, no file is touched
        store.fork(&open.id, &new, Some(&rewind.title), Some(&rewind.message)).map_err(
            |error| match error {
                StoreError::NoMessage { .. } => Error::Invalid(error.to_string()),
                error => internal(error),
            },
        )?;
        let done = open.log().map_err(internal)?.restore(&rewind.restore, &rewind.delete);
        Ok(Reply::Rewound {
            session: new,
            restored: done.restored.len(),
            deleted: done.deleted.len(),
            failed_restores: done.failed_restores.len(),
            failed_deletes: done.failed_deletes.len(),
        })
    }

    /// Keeps the files a call is about to change, so that they can be put back.
    pub(super) fn keep_files(&mut self, call: &musher_model::ToolUse) {
        let Some(tool) = self.environment.tools.get(&call.name) else { return };
        if tool.info().category != musher_tools::Category::Edit {
            return;
        }
        let Ok(action) = tool.action(&call.input) else { return };
        let turn = self.turns.running().map(|running| running.turn.id.clone()).unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        for path in action.paths() {
            let Ok(resolved) = session.tools.workspace.resolve(&path) else { continue };
            let kept = session.log().and_then(|log| log.snapshot(&turn, &resolved.path));
            if let Err(error) = kept {
                tracing::warn!(%error, "a file is changed that cannot be put back");
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn internal(error: StoreError) -> Error {
    Error::Internal(error.to_string())
}
