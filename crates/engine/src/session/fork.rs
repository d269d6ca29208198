//! New sessions made from the open one: forks, and rewinds that also restore files.

use std::path::PathBuf;

use musher_model::ToolUse;
use musher_tools::Registry;

use super::state::Session;
use super::turn::Turn;
use crate::command::{Reply, Rewind};
use crate::{Error, SessionId, Tag};
use musher_store::{Store, StoreError};

/// The files a rewind would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewindInfo {
    /// Files that can be restored: path, content hash, size.
    pub available: Vec<(PathBuf, String, u64)>,
    /// Files that were created since.
    pub created: Vec<PathBuf>,
    /// Files whose former content is gone, and why.
    pub evicted: Vec<(PathBuf, String)>,
}

impl Session {
    /// Copies the session. The copy is complete when this returns; this session stays open.
    pub(super) fn fork(
        &mut self,
        store: &Store,
        title: Option<&str>,
        tags: Option<Vec<Tag>>,
    ) -> Result<Reply, Error> {
        self.save();
        let new = SessionId::random();
        store.fork(self.id(), &new, title, None)?;
        if let Some(tags) = tags {
            let mut copy = store.load(&new)?;
            let mut settings = copy.log.settings().clone();
            settings.insert("tags".to_owned(), serde_json::json!(tags));
            copy.log.save_settings(settings)?;
        }
        Ok(Reply::Forked { session: new })
    }

    /// Returns the files a rewind would change: none for an unknown message.
    pub(super) fn rewind_info(&mut self, session: &str, message: &str) -> Result<Reply, Error> {
        self.expect_id(session)?;
        let files = self.owning(|session| Ok::<_, Error>(session.log()?.rewind_info(message)))?;
        Ok(Reply::RewindInfo(Box::new(RewindInfo {
            available: files.available.into_iter().map(|file| (file.path, file.hash, file.size)).collect(),
            created: files.created,
            evicted: files.evicted,
        })))
    }

    /// Restores files, and copies the conversation before a message.
    pub(super) fn rewind(&mut self, store: &Store, rewind: &Rewind, has_turn: bool) -> Result<Reply, Error> {
        self.expect_id(&rewind.session)?;
        if has_turn {
            return Err(Error::Invalid("a turn is running; interrupt it first".to_owned()));
        }
        let new = SessionId::random();
        let done = self.owning(|session| {
            session.save();
            // the copy first: for an unknown message no file changes
            store.fork(session.id(), &new, Some(&rewind.title), Some(&rewind.message)).map_err(|error| {
                match error {
                    StoreError::NoMessage { .. } => Error::Invalid(error.to_string()),
                    error => error.into(),
                }
            })?;
            Ok::<_, Error>(session.log()?.restore(&rewind.restore, &rewind.delete))
        })?;
        Ok(Reply::Rewound {
            session: new,
            restored: done.restored.len(),
            deleted: done.deleted.len(),
            failed_restores: done.failed_restores.len(),
            failed_deletes: done.failed_deletes.len(),
        })
    }

    fn expect_id(&self, id: &str) -> Result<(), Error> {
        if self.id().as_str() == id { Ok(()) } else { Err(Error::SessionNotFound) }
    }

    /// Keeps the files an editing call is about to change, so that a rewind can restore them.
    pub(super) fn snapshot_files(&mut self, call: &ToolUse, turn: &Turn, tools: &Registry) {
        let Some(tool) = tools.get(&call.name) else { return };
        if tool.info().category != musher_tools::Category::Edit {
            return;
        }
        let Ok(action) = tool.action(&call.input) else { return };
        for path in action.paths() {
            let Ok(resolved) = self.tools().workspace.resolve(&path) else { continue };
            let kept = self.log().and_then(|log| log.snapshot(turn.id(), &resolved.path));
            if let Err(error) = kept {
                tracing::warn!(error = %error.with_causes(), "a rewind will not be able to restore a file");
            }
        }
    }
}
