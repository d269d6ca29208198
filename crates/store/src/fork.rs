//! Forks and compactions: new sessions from the whole of an old one, from its beginning, or from a summary.
//!
//! Records are copied verbatim, so that unknown data is preserved. The old session is only read, and may be in use.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::disk;
use super::error::{At, Result, StoreError};
use super::outline::{Outline, Piece, PieceKind};
use super::paths::{self, Paths, SessionFile};
use super::record::{Compaction, Record, Start};
use super::side::MAX_SIDE;
use super::snapshots::MAX_JOURNAL;
use super::{Durability, NewSession, SessionId, Store, settings_file, slug};
use musher_message::Message;

/// Settings that new sessions do not inherit.
const NOT_INHERITED: [&str; 7] = [
    "tokenUsage",
    "inclusiveTokenUsage",
    "childInclusiveTokenUsageBySessionId",
    "lastCallTokenUsage",
    "lastTurnReason",
    "usageByDay",
    "archivedAt",
];

impl Store {
    /// Copies a session, or the part before a message. The copy is complete when this returns, and is not open.
    pub fn fork(
        &self,
        id: &SessionId,
        new_id: &SessionId,
        title: Option<&str>,
        cut_before: Option<&str>,
    ) -> Result<()> {
        let old = self.paths(id)?;
        let outline = Outline::read(&old)?;
        let (settings, _) = settings_file::read(&old);
        let mut start = outline.start(id, &settings);

        let end = match cut_before {
            None => outline.pieces.len(),
            Some(message) => cut(&outline, message)
                .ok_or_else(|| StoreError::NoMessage { id: id.clone(), message: message.to_owned() })?,
        };
        let is_kept = |piece: &&Piece| match piece.kind {
            PieceKind::Message(place) => outline.nodes[place as usize].is_active,
            // queued messages stay with the old session
            PieceKind::State => false,
            PieceKind::Other => true,
        };
        let kept = || outline.pieces[..end].iter().filter(is_kept);
        let last = kept().rev().find_map(|piece| match piece.kind {
            PieceKind::Message(place) => outline.id_of(place),
            PieceKind::State | PieceKind::Other => None,
        });
        describe(&mut start, id, new_id, title, last);
        let folder = match start.cwd() {
            Some(cwd) => self.sessions_folder().join(slug(&super::open::resolved(&cwd))),
            None => old.folder().to_owned(),
        };
        let new = Paths::new(folder, new_id.clone());
        self.put_session(&new, &old, &start, inherited(settings), true, &mut |out| {
            kept().try_for_each(|piece| outline.copy(*piece, out))
        })
    }

    /// Creates a session that begins with a summary of another one, followed by the messages that are kept.
    pub fn compact(
        &self,
        id: &SessionId,
        new_id: &SessionId,
        summary: Compaction,
        kept: &[Message],
    ) -> Result<()> {
        let old = self.read(id)?;
        let title = old.start.title().to_owned();
        let new = NewSession {
            id: new_id.clone(),
            cwd: old.start.cwd().unwrap_or_default(),
            title: old.start.is_title_manual().then_some(title.clone()),
            owner: Some(old.start.owner().to_owned()),
            host_id: old.start.get("hostId").and_then(Value::as_str).map(str::to_owned),
            parent: Some(id.clone()),
            settings: inherited(old.settings),
            extra: Map::new(),
        };
        let messages = kept.iter().map(|message| Record::Message(Box::new(message.clone())));
        let records: Vec<Record> =
            [Record::Compaction(Box::new(summary))].into_iter().chain(messages).collect();
        let mut log = self.create_with(new, &records)?;
        if !old.start.is_title_manual() {
            log.set_title(&title, false)?;
        }
        Ok(())
    }

    /// Writes the files of a session. The log is last, because a session exists only with its log.
    pub(super) fn put_session(
        &self,
        new: &Paths,
        old: &Paths,
        start: &Start,
        mut settings: Map<String, Value>,
        may_share: bool,
        records: &mut disk::Content<'_>,
    ) -> Result<()> {
        disk::make_folder(new.folder())?;
        let _lease = self.lease_new(new)?;
        self.copy_all(&old.sides(), &new.sides(), may_share)?;
        self.copy_all(&old.snapshots(), &new.snapshots(), may_share)?;
        let is_synced = self.is_synced();
        if !settings.is_empty() {
            settings.insert("musher".to_owned(), start.summary());
            settings_file::write(&*self.disk, new, &settings, is_synced)?;
        }
        let log = new.log();
        self.disk.put_with(&log, is_synced, &mut |out| {
            out.write_all(&start.line())?;
            records(out)
        })?;
        if is_synced { self.disk.sync_folder_of(&log) } else { Ok(()) }
    }

    pub(super) fn is_synced(&self) -> bool {
        self.durability == Durability::Power
    }

    /// Copies the files of a directory of a session, as far as their names are valid. A file named by its content never changes, so it
    /// can be hard-linked.
    fn copy_all(&self, from: &Path, to: &Path, may_share: bool) -> Result<()> {
        if !disk::is_own_folder(from) {
            return Ok(());
        }
        let Ok(entries) = fs_err::read_dir(from) else { return Ok(()) };
        disk::make_own_folder(to)?;
        for entry in entries.flatten() {
            let (old, new) = (entry.path(), to.join(entry.file_name()));
            let Some(kind) = paths::session_file(&entry.file_name()) else { continue };
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            fs_err::remove_file(&new).ok();
            if kind == SessionFile::Journal || !may_share || fs_err::hard_link(&old, &new).is_err() {
                let limit = if kind == SessionFile::Journal { MAX_JOURNAL } else { MAX_SIDE };
                let mut file = match disk::open_limited(&old, limit) {
                    // the copy could not be read either
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => continue,
                    file => file.at("read", &old)?,
                };
                // without its mode: the file may be readable by other users
                let mut copy = self.disk.create(&new).at("write", &new)?;
                io::copy(&mut file, &mut copy).at("copy", &old)?;
            }
        }
        Ok(())
    }
}

/// Returns the number of records before a message. The context message of a message belongs to it.
fn cut(outline: &Outline, message: &str) -> Option<usize> {
    let begin = |id: &str| {
        let kind = PieceKind::Message(*outline.places.get(id)?);
        outline.pieces.iter().position(|piece| piece.kind == kind)
    };
    let place = *outline.places.get(message)?;
    let at = begin(message).filter(|_| outline.nodes[place as usize].is_active)?;
    Some(begin(&format!("context-{message}")).filter(|context| *context < at).unwrap_or(at))
}

fn describe(start: &mut Start, id: &SessionId, new_id: &SessionId, title: Option<&str>, last: Option<&str>) {
    start.set("id", new_id.as_str());
    start.forget_created();
    if let Some(title) = title {
        start.set("title", title);
        start.set("isSessionTitleManuallySet", true);
        start.remove("sessionTitle");
        start.remove("sessionTitleAutoStage");
    }
    start.set("parent", id.as_str());
    match last {
        Some(last) => start.set("forkedAtMessageId", last),
        None => start.remove("forkedAtMessageId"),
    }
}

fn inherited(mut settings: Map<String, Value>) -> Map<String, Value> {
    for key in NOT_INHERITED {
        settings.shift_remove(key);
    }
    settings
}
