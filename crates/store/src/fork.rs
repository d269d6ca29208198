//! Forks and compactions: new sessions from the whole of an old one, from its beginning, or from a summary.
//!
//! Records are copied verbatim, so that unknown data is preserved. The old session is only read, and may be in use.

use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use super::branch;
use super::disk;
use super::error::{At, Result, StoreError};
use super::paths::{self, Paths, SessionFile};
use super::record::{Compaction, Record, Start};
use super::scan;
use super::side::MAX_SIDE;
use super::snapshots::MAX_JOURNAL;
use super::{Durability, NewSession, SessionId, Store, settings_file, slug};
use musher_message::Message;

/// Settings that new sessions do not inherit.
const NOT_INHERITED: [&str; 6] = [
    "tokenUsage",
    "inclusiveTokenUsage",
    "childInclusiveTokenUsageBySessionId",
    "lastCallTokenUsage",
    "usageByDay",
    "archivedAt",
];

/// A part of a log to copy.
#[derive(Debug)]
enum Piece {
    Message { at: Range<u64>, id: String },
    Other { at: Range<u64> },
}

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
        let (old_content, scan) = read_log(&old)?;
        let (settings, _) = settings_file::read(&old);
        let mut start = scan.start.clone().unwrap_or_else(|| super::open::recovered(id, &settings));

        let pieces: Vec<Piece> =
            scan.records.iter().filter_map(|(at, record)| piece(at.clone(), record)).collect();
        let conversation = branch::conversation(scan.records.into_iter().map(|(_, record)| record));
        let active: HashSet<&str> = conversation.messages.iter().map(|message| message.id.as_str()).collect();
        let end = match cut_before {
            None => pieces.len(),
            Some(message) => cut(&pieces, &active, message)
                .ok_or_else(|| StoreError::NoMessage { id: id.clone(), message: message.to_owned() })?,
        };
        let is_kept = |piece: &&Piece| match piece {
            Piece::Message { id, .. } => active.contains(id.as_str()),
            Piece::Other { .. } => true,
        };
        let kept: Vec<&Piece> = pieces[..end].iter().filter(is_kept).collect();
        let last = kept.iter().rev().find_map(|piece| match piece {
            Piece::Message { id, .. } => Some(id.as_str()),
            Piece::Other { .. } => None,
        });

        if let Some((title, is_manual)) = conversation.title {
            start.set("title", title);
            start.set("isSessionTitleManuallySet", is_manual);
        }
        describe(&mut start, id, new_id, title, last);
        let mut content = start.line();
        for piece in kept {
            let (Piece::Message { at, .. } | Piece::Other { at }) = piece;
            content.extend_from_slice(scan::slice(&old_content, at));
            content.push(b'\n');
        }
        let folder = match start.cwd() {
            Some(cwd) => self.sessions_folder().join(slug(&super::open::resolved(&cwd))),
            None => old.folder().to_owned(),
        };
        self.put_session(&Paths::new(folder, new_id.clone()), &old, &content, inherited(settings), true)
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
        content: &[u8],
        mut settings: Map<String, Value>,
        may_share: bool,
    ) -> Result<()> {
        disk::make_folder(new.folder())?;
        let _lease = self.lease_new(new)?;
        self.copy_all(&old.sides(), &new.sides(), may_share)?;
        self.copy_all(&old.snapshots(), &new.snapshots(), may_share)?;
        let is_synced = self.is_synced();
        if !settings.is_empty() {
            let start: Start = scan::scan_start(content).unwrap_or_default();
            settings.insert("musher".to_owned(), start.summary());
            settings_file::write(&*self.disk, new, &settings, is_synced)?;
        }
        self.disk.replace(&new.log(), content, is_synced)
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

fn piece(at: Range<u64>, record: &Record) -> Option<Piece> {
    match record {
        Record::Message(message) => Some(Piece::Message { at, id: message.id.clone() }),
        // queued messages stay with the old session
        Record::Queued(_) | Record::Discarded { .. } | Record::Title { .. } => None,
        _ => Some(Piece::Other { at }),
    }
}

/// Returns the number of pieces before a message. The context message of a message belongs to it.
fn cut(pieces: &[Piece], active: &HashSet<&str>, message: &str) -> Option<usize> {
    let context = format!("context-{message}");
    let is_it = |piece: &Piece, wanted: &str| matches!(piece, Piece::Message { id, .. } if id == wanted);
    let at = pieces.iter().position(|piece| active.contains(message) && is_it(piece, message))?;
    Some(pieces[..at].iter().position(|piece| is_it(piece, &context)).unwrap_or(at))
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

/// Reads the content of a log and its records, without side files.
pub(super) fn read_log(paths: &Paths) -> Result<(Vec<u8>, scan::Scan)> {
    let path = paths.log();
    let content = disk::read_small(&path, scan::MAX_LOG).at("read", &path)?;
    let scan = scan::scan(content.as_slice(), &|_| None).at("read", &path)?;
    Ok((content, scan))
}
