//! A session that is read message by message: one message is in memory at a time, however large the log is.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use musher_message::{Content, Message, Part, Role};
use serde_json::Value;

use super::branch;
use super::error::{At, Result, StoreError};
use super::open::{Compacted, Damage, Store};
use super::outline::{Interrupted, Outline};
use super::paths::Paths;
use super::record::{self, Line, Record};
use super::side::{self, Sides};
use super::{SessionId, scan, settings_file};

/// A session to read message by message. It has the same messages as [`Store::read`], which reads all of them at once.
#[derive(Debug)]
pub struct Reading {
    paths: Paths,
    outline: Outline,
    interrupted: Interrupted,
    /// Where the result of a call is; the last one counts.
    results: HashMap<Box<str>, ResultPlace>,
    /// The record that a result was read from last: many results may be in one.
    last: RefCell<Option<(u32, Rc<Message>)>>,
    sides: Sides,
    missing_sides: Cell<usize>,
    damage: Damage,
    compaction: Option<Compacted>,
}

#[derive(Debug, Clone, Copy)]
enum ResultPlace {
    /// In a record.
    Piece(u32),
    /// The call was interrupted.
    Interrupted,
}

impl Store {
    /// Reads a session without its content, even while another process writes it. The messages are read one by one.
    pub fn read_messages(&self, id: &SessionId) -> Result<Reading> {
        let paths = self.paths(id)?;
        let mut outline = Outline::read(&paths)?;
        let (_, are_settings_lost) = settings_file::read(&paths);
        let interrupted = outline.interrupted();
        let damage = Damage {
            damaged_lines: outline.scan.damaged,
            is_torn: outline.scan.tail == scan::Tail::Torn,
            is_start_lost: outline.scan.start.is_none(),
            missing_large_records: outline.scan.missing_sides,
            are_settings_lost,
            interrupted_calls: interrupted.count,
        };
        let results = results(&outline, &interrupted);
        let compaction = outline.compaction().map(|(summary, removed)| Compacted { summary, removed });
        let sides = Sides::new(&paths, side::MAX_SIDES_READ);
        let (last, missing_sides) = (RefCell::default(), Cell::default());
        Ok(Reading { paths, outline, interrupted, results, last, sides, missing_sides, damage, compaction })
    }
}

/// Returns where the results are. Of two in one message the first record counts, of two in several messages the last message.
fn results(outline: &Outline, interrupted: &Interrupted) -> HashMap<Box<str>, ResultPlace> {
    let found = outline.results().map(|(place, piece, id)| (place, id, ResultPlace::Piece(piece)));
    let closed = interrupted.added.iter().chain(&interrupted.inserted);
    let closed =
        closed.flat_map(|(place, ids)| ids.iter().map(|id| (*place, id.as_str(), ResultPlace::Interrupted)));
    let mut all: Vec<(u32, &str, ResultPlace)> = found.chain(closed).collect();
    // stable: the results of a message stay in order
    all.sort_by_key(|(place, ..)| *place);
    let mut results: HashMap<Box<str>, ResultPlace> = HashMap::new();
    let mut places: HashMap<&str, u32> = HashMap::new();
    for (place, id, result) in all {
        if places.insert(id, place) != Some(place) {
            results.insert(id.into(), result);
        }
    }
    results
}

impl Reading {
    /// Returns the messages of the conversation, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = Result<Message>> {
        self.outline.active().flat_map(|(place, _)| {
            let message = self.message(place);
            let inserted = self.interrupted.inserted.get(&place).zip(message.as_ref().ok());
            let inserted =
                inserted.map(|(calls, caller)| Ok(branch::interruption(caller, calls.iter().cloned())));
            [message].into_iter().chain(inserted)
        })
    }

    /// Returns the number of messages that are shown to the user.
    pub fn count_visible(&self) -> usize {
        let visible = self.outline.active().filter(|(_, node)| node.is_visible).count();
        visible + self.interrupted.inserted.len()
    }

    /// Returns the output of a tool call for clients, and whether it is an error.
    pub fn result(&self, call_id: &str) -> Result<Option<(Vec<Part>, bool)>> {
        let is_it = |part: &&Content| branch::result_id(part) == Some(call_id);
        let found = match self.results.get(call_id) {
            None => return Ok(None),
            Some(ResultPlace::Interrupted) => Some(branch::interrupted(call_id.to_owned())),
            Some(ResultPlace::Piece(piece)) => {
                let known =
                    self.last.borrow().as_ref().filter(|(at, _)| at == piece).map(|(_, it)| Rc::clone(it));
                let message = match known {
                    Some(message) => message,
                    None => Rc::new(self.piece(*piece)?),
                };
                *self.last.borrow_mut() = Some((*piece, Rc::clone(&message)));
                message.content.iter().find(is_it).cloned()
            }
        };
        Ok(match found {
            Some(Content::ToolResult { for_client, is_error, .. }) => Some((for_client, is_error)),
            _ => None,
        })
    }

    /// Returns the latest compaction.
    pub fn compaction(&self) -> Option<&Compacted> {
        self.compaction.as_ref()
    }

    /// Returns the to-do list.
    pub fn todos(&self) -> Option<&Value> {
        self.outline.todos.as_ref()
    }

    /// Returns the damage. Complete once all messages were read.
    pub fn damage(&self) -> Damage {
        let missing = self.damage.missing_large_records.max(self.missing_sides.get());
        Damage { missing_large_records: missing, ..self.damage.clone() }
    }

    /// Reads a message, with all its parts.
    fn message(&self, place: u32) -> Result<Message> {
        let mut pieces = self.outline.pieces_of(place);
        let first = pieces.next().ok_or_else(|| StoreError::NotFound(self.paths.id().clone()))?;
        let mut parts = branch::Parts::new(self.piece(first)?);
        for piece in pieces {
            parts.join(self.piece(piece)?);
        }
        let mut message = parts.message;
        let added = self.interrupted.added.get(&place).into_iter().flatten();
        message.content.extend(added.cloned().map(branch::interrupted));
        debug_assert!(message.role == Role::Tool || !self.interrupted.added.contains_key(&place));
        Ok(message)
    }

    /// Reads the message in a record.
    fn piece(&self, piece: u32) -> Result<Message> {
        let path = self.paths.log();
        let changed = || std::io::Error::new(std::io::ErrorKind::InvalidData, "it was changed meanwhile");
        let piece = self.outline.pieces.get(piece as usize).copied().ok_or_else(changed).at("read", &path)?;
        let text = self.outline.text(piece).at("read", &path)?;
        let mut value: Value =
            serde_json::from_slice(&text).map_err(|_damaged| changed()).at("read", &path)?;
        drop(text);
        if let Some(hash) = value["musher"]["side"].as_str() {
            match self.sides.read_record(hash) {
                Some(whole) => value = whole,
                None => self.missing_sides.set(self.missing_sides.get() + 1),
            }
        }
        match record::parse(value) {
            Some(Line::Record(Record::Message(message))) => Ok(*message),
            _ => Err(changed()).at("read", &path),
        }
    }
}
