//! What a log says without its content: ids, parents and positions of records, and which messages are in the conversation.
//!
//! The memory it takes depends on the number of records, not on their size. [`branch`](super::branch) has the same rules for
//! conversations that are in memory; a test compares both.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use musher_message::{Content, Message, Role, Visibility};
use serde_json::{Map, Value};

use super::branch::{active, result_id};
use super::disk;
use super::error::{At, Result};
use super::paths::Paths;
use super::record::{Compaction, Record, Start};
use super::scan::{self, Scan};
use super::{SessionId, open};

/// Size of the buffer for copying, in bytes.
const COPY_BUFFER: usize = 64 * 1024;

/// The records of a log, without their content.
#[derive(Debug)]
pub(super) struct Outline {
    /// The log. It stays the same file if another process replaces it.
    pub(super) file: File,
    /// The damage and the end of the log; it has no records.
    pub(super) scan: Scan,
    /// All records except the first line, in order.
    pub(super) pieces: Vec<Piece>,
    /// The messages, in the order of their first record.
    pub(super) nodes: Vec<Node>,
    /// The nodes by the id of the message.
    pub(super) places: HashMap<Box<str>, u32>,
    /// The pieces of a message after its first one; only of messages with several.
    more: HashMap<u32, Vec<u32>>,
    /// The tool calls, with their pieces.
    calls: Vec<(u32, Box<str>)>,
    /// The tool results, with their pieces.
    results: Vec<(u32, Box<str>)>,
    /// The last compaction, and the number of messages before it.
    compaction: Option<(Compaction, usize)>,
    pub(super) todos: Option<Value>,
    title: Option<(String, bool)>,
}

/// The position of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    begin: u64,
    length: u32,
    pub(super) kind: PieceKind,
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// A message or a part of it: its node.
    Message(u32),
    /// A record about the queue or the title.
    State,
    /// Any other record.
    Other,
}

/// A message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    parent: Option<u32>,
    /// Its first piece.
    first: u32,
    /// The piece that its content begins with, because that replaced what was before.
    content: u32,
    pub(super) role: Role,
    pub(super) is_visible: bool,
    is_hook_run: bool,
    pub(super) is_active: bool,
}

/// Tool calls without a result, by the active message that gets the results.
#[derive(Debug, Default)]
pub(super) struct Interrupted {
    /// Results to add to a message.
    pub(super) added: HashMap<u32, Vec<String>>,
    /// Results in a new message after a message.
    pub(super) inserted: HashMap<u32, Vec<String>>,
    /// Number of calls.
    pub(super) count: usize,
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Outline {
    /// Reads a log of any size.
    pub(super) fn read(paths: &Paths) -> Result<Self> {
        let path = paths.log();
        let file = disk::open_to_read(&path).at("open", &path)?;
        // data appended later is not read
        let length = file.metadata().at("open", &path)?.len();
        let reader = file.try_clone().at("open", &path)?;
        let mut outline = Self {
            file,
            scan: Scan::default(),
            pieces: Vec::new(),
            nodes: Vec::new(),
            places: HashMap::new(),
            more: HashMap::new(),
            calls: Vec::new(),
            results: Vec::new(),
            compaction: None,
            todos: None,
            title: None,
        };
        let limited = io::Read::take(reader, length);
        // ids and parents are in the shortened form of a large record as well, calls and results are not
        let sides = super::side::Sides::new(paths, super::side::MAX_SIDES_READ);
        let scan = scan::scan_each(limited, &|hash| sides.read_record(hash), &mut |at, record| {
            outline.add(at, record);
        });
        outline.scan = scan.at("read", &path)?;
        outline.find_active();
        Ok(outline)
    }

    fn add(&mut self, at: Range<u64>, record: Record) {
        let kind = match record {
            Record::Message(message) => PieceKind::Message(self.message(*message)),
            Record::Queued(_) | Record::Discarded { .. } => PieceKind::State,
            Record::Title { title, is_manual } => {
                self.title = Some((title, is_manual));
                PieceKind::State
            }
            Record::Todos { todos, .. } => {
                self.todos = Some(todos);
                PieceKind::Other
            }
            Record::Compaction(compaction) => {
                self.compaction = Some((*compaction, self.nodes.len()));
                PieceKind::Other
            }
            Record::TurnOutcome { .. } | Record::Other(_) => PieceKind::Other,
        };
        let length = u32::try_from(at.end - at.start).unwrap_or_default();
        self.pieces.push(Piece { begin: at.start, length, kind });
    }

    /// Adds a message. Returns its node.
    fn message(&mut self, message: Message) -> u32 {
        let piece = index(self.pieces.len());
        for part in &message.content {
            match part {
                Content::ToolUse(call) if message.role == Role::Assistant => {
                    self.calls.push((piece, call.id.as_str().into()));
                }
                _ => self.results.extend(result_id(part).map(|id| (piece, id.into()))),
            }
        }
        let mut node = Node {
            parent: None,
            first: piece,
            content: piece,
            role: message.role,
            is_visible: message.visibility != Visibility::LlmOnly,
            is_hook_run: message.is_hook_run(),
            is_active: false,
        };
        if let Some(&place) = self.places.get(message.id.as_str()) {
            let old = &mut self.nodes[place as usize];
            self.more.entry(place).or_default().push(piece);
            if old.role != Role::Tool || node.role != Role::Tool {
                (node.parent, node.first) = (old.parent, old.first);
                *old = node;
            }
            return place;
        }
        let place = index(self.nodes.len());
        let parent = message.parent_id.as_deref().and_then(|id| self.places.get(id)).copied();
        // a missing parent most likely was the preceding message
        node.parent = parent.or_else(|| place.checked_sub(1));
        self.places.insert(message.id.into(), place);
        self.nodes.push(node);
        place
    }

    fn find_active(&mut self) {
        let nodes = &self.nodes;
        let parent = |place: usize| nodes[place].parent.map(|parent| parent as usize);
        let is_active = active(nodes.len(), parent, |place| nodes[place].is_hook_run);
        for (node, is_active) in self.nodes.iter_mut().zip(is_active) {
            node.is_active = is_active;
        }
    }

    /// Returns the nodes of the conversation, in order.
    pub(super) fn active(&self) -> impl DoubleEndedIterator<Item = (u32, &Node)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.is_active).map(|(place, node)| (index(place), node))
    }

    /// Returns the pieces of a message, in order.
    pub(super) fn pieces_of(&self, place: u32) -> impl Iterator<Item = u32> {
        let more = self.more.get(&place).into_iter().flatten().copied();
        [self.nodes[place as usize].first].into_iter().chain(more)
    }

    /// Returns the node that a piece is in the content of.
    fn node_of(&self, piece: u32) -> Option<u32> {
        match self.pieces.get(piece as usize)?.kind {
            // a message that was written again has no content of before
            PieceKind::Message(place) => (piece >= self.nodes[place as usize].content).then_some(place),
            PieceKind::State | PieceKind::Other => None,
        }
    }

    /// Returns the id of a message.
    pub(super) fn id_of(&self, place: u32) -> Option<&str> {
        self.places.iter().find(|(_, at)| **at == place).map(|(id, _)| &**id)
    }

    /// Returns the last compaction, and the number of messages in the conversation that it replaces.
    pub(super) fn compaction(&mut self) -> Option<(Compaction, usize)> {
        let (compaction, before) = self.compaction.take()?;
        let kept_from = compaction.last_removed.as_ref().and_then(|id| self.places.get(id.as_str()));
        let before = kept_from.map_or(before, |last| *last as usize + 1);
        let removed = self.nodes[..before].iter().filter(|node| node.is_active).count();
        Some((compaction, removed))
    }

    /// Returns the first line, with the title that was given later.
    pub(super) fn start(&self, id: &SessionId, settings: &Map<String, Value>) -> Start {
        let mut start = self.scan.start.clone().unwrap_or_else(|| open::recovered(id, settings));
        if let Some((title, is_manual)) = self.title.clone() {
            open::retitle(&mut start, title, is_manual);
        }
        start
    }

    /// Finds the calls without a result, and the messages that get one. See [`close_calls`](super::branch::close_calls).
    pub(super) fn interrupted(&self) -> Interrupted {
        let mut calls: HashMap<u32, Vec<&str>> = HashMap::new();
        for (piece, id) in &self.calls {
            if let Some(place) = self.node_of(*piece) {
                calls.entry(place).or_default().push(id);
            }
        }
        let mut results: HashMap<u32, Vec<&str>> = HashMap::new();
        for (piece, id) in &self.results {
            if let Some(place) = self.node_of(*piece) {
                results.entry(place).or_default().push(id);
            }
        }
        let mut found = Interrupted::default();
        let mut active = self.active().peekable();
        while let Some((caller, _)) = active.next() {
            let Some(calls) = calls.remove(&caller) else { continue };
            let mut known = HashSet::new();
            let mut first_tool = None;
            // the turn ends at the next answer
            while let Some((place, node)) = active.next_if(|(_, node)| node.role != Role::Assistant) {
                known.extend(results.remove(&place).into_iter().flatten());
                if node.role == Role::Tool {
                    first_tool.get_or_insert(place);
                }
            }
            let open: Vec<String> =
                calls.into_iter().filter(|id| known.insert(id)).map(str::to_owned).collect();
            found.count += open.len();
            if open.is_empty() {
                continue;
            }
            match first_tool {
                Some(place) => found.added.insert(place, open),
                None => found.inserted.insert(caller, open),
            };
        }
        found
    }

    /// Returns the results of active messages, in order, with their pieces.
    pub(super) fn results(&self) -> impl Iterator<Item = (u32, u32, &str)> {
        self.results.iter().filter_map(|(piece, id)| {
            let place = self.node_of(*piece)?;
            self.nodes[place as usize].is_active.then_some((place, *piece, &**id))
        })
    }

    /// Reads the text of a record.
    pub(super) fn text(&self, piece: Piece) -> io::Result<Vec<u8>> {
        let mut text = vec![0; piece.length as usize];
        self.file.read_exact_at(&mut text, piece.begin)?;
        Ok(text)
    }

    /// Copies a record, as a line.
    pub(super) fn copy(&self, piece: Piece, to: &mut dyn Write) -> io::Result<()> {
        copy_range(&self.file, piece.begin..piece.begin + u64::from(piece.length), to)?;
        to.write_all(b"\n")
    }
}

/// Copies a part of a file.
pub(super) fn copy_range(from: &File, mut range: Range<u64>, to: &mut dyn Write) -> io::Result<()> {
    let mut buffer =
        vec![0; COPY_BUFFER.min(usize::try_from(range.end - range.start).unwrap_or(COPY_BUFFER))];
    while range.start < range.end {
        let left = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        from.read_exact_at(&mut buffer[..length], range.start)?;
        to.write_all(&buffer[..length])?;
        range.start += length as u64;
    }
    Ok(())
}
