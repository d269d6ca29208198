//! The events of a session in segments. A line is the sequence, a space and the payload.
//!
//! A sparse index in memory leads to a position near any sequence, so that a reader at the end does not read from the beginning.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::lines::Lines;
use super::super::{Event, EventLog};
use super::SEGMENTS;
use crate::disk::{self, Disk};
use crate::error::{At as _, Result};

/// Bytes between two entries of the index.
const STRIDE: u64 = 32 * 1024;

/// The events of a session in files.
#[derive(Debug)]
pub(super) struct FileEventLog {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    max_segment: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The segments that are no longer written, oldest first.
    old: Vec<Segment>,
    /// The segment that is written.
    current: Segment,
    lines: Lines,
    last: u64,
}

/// A file of consecutive events.
#[derive(Debug, Clone)]
struct Segment {
    first: u64,
    path: PathBuf,
    length: u64,
    /// Sequences and the offsets of their lines.
    index: Vec<(u64, u64)>,
}

impl Segment {
    fn new(folder: &Path, first: u64) -> Self {
        // sorted by name, segments are sorted by sequence
        Self { first, path: folder.join(format!("{first:020}.log")), length: 0, index: Vec::new() }
    }

    fn add(&mut self, sequence: u64, length: u64) {
        if self.index.last().is_none_or(|(_, offset)| self.length - offset >= STRIDE) {
            self.index.push((sequence, self.length));
        }
        self.length += length;
    }

    /// Returns where to begin reading for the events after a sequence.
    fn offset(&self, after: u64) -> u64 {
        let at = self.index.partition_point(|(sequence, _)| *sequence <= after + 1);
        at.checked_sub(1).map_or(0, |at| self.index[at].1)
    }
}

impl FileEventLog {
    pub(super) fn open(disk: Arc<dyn Disk>, folder: PathBuf, max_segment: u64) -> Result<Self> {
        let mut firsts: Vec<u64> = match fs_err::read_dir(&folder) {
            Ok(entries) => entries.flatten().filter_map(|entry| first_of(&entry.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).at("read", &folder),
        };
        firsts.sort_unstable();
        let newest = firsts.pop().unwrap_or(1);
        let mut old = Vec::new();
        for first in firsts {
            let mut segment = Segment::new(&folder, first);
            let text = match disk::open_to_read(&segment.path).and_then(|file| all_of(&file)) {
                Ok(text) => text,
                Err(error) => return Err(error).at("read", &segment.path),
            };
            index(&mut segment, &text);
            old.push(segment);
        }
        let mut current = Segment::new(&folder, newest);
        let (lines, text) = Lines::open(Arc::clone(&disk), current.path.clone())?;
        let last = index(&mut current, text.as_bytes()).unwrap_or(newest - 1);
        let state = State { old, current, lines, last };
        Ok(Self { disk, folder, max_segment, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Begins a new segment, and deletes the oldest ones.
    fn rotate(&mut self, disk: &Arc<dyn Disk>, folder: &Path) -> Result<()> {
        let next = Segment::new(folder, self.last + 1);
        let (lines, _) = Lines::open(Arc::clone(disk), next.path.clone())?;
        self.lines = lines;
        self.old.push(std::mem::replace(&mut self.current, next));
        while self.old.len() >= SEGMENTS {
            let oldest = self.old.remove(0);
            if let Err(error) = fs_err::remove_file(&oldest.path) {
                tracing::warn!(%error, "old events were not deleted");
            }
        }
        Ok(())
    }

    fn first(&self) -> u64 {
        self.old.first().map_or(self.current.first, |segment| segment.first)
    }
}

impl EventLog for FileEventLog {
    fn append(&self, payloads: &[&str]) -> Result<u64> {
        let mut state = self.state();
        if payloads.is_empty() {
            return Ok(state.last);
        }
        if state.current.length >= self.max_segment {
            state.rotate(&self.disk, &self.folder)?;
        }
        let mut text = Vec::with_capacity(payloads.iter().map(|payload| payload.len() + 22).sum());
        let mut lengths = Vec::with_capacity(payloads.len());
        for (sequence, payload) in (state.last + 1..).zip(payloads) {
            let before = text.len();
            text.extend_from_slice(sequence.to_string().as_bytes());
            text.push(b' ');
            text.extend_from_slice(payload.as_bytes());
            text.push(b'\n');
            lengths.push((text.len() - before) as u64);
        }
        state.lines.append(&text)?;
        for length in lengths {
            state.last += 1;
            let sequence = state.last;
            state.current.add(sequence, length);
        }
        Ok(state.last)
    }

    fn last(&self) -> u64 {
        self.state().last
    }

    fn first(&self) -> u64 {
        self.state().first()
    }

    fn read(&self, after: u64, max_bytes: usize) -> Result<Vec<Event>> {
        let (path, offset, length) = {
            let state = self.state();
            let after = after.max(state.first() - 1);
            if after >= state.last {
                return Ok(Vec::new());
            }
            let segments = state.old.iter().chain([&state.current]);
            let Some(segment) = segments.take_while(|segment| segment.first <= after + 1).last() else {
                return Ok(Vec::new());
            };
            (segment.path.clone(), segment.offset(after), segment.length)
        };
        // without the lock: complete lines never change, and a deleted file stays readable while it is open
        let file = disk::open_to_read(&path).at("open", &path)?;
        let mut events = Vec::new();
        let mut taken = 0;
        let mut position = offset;
        let mut rest: Vec<u8> = Vec::new();
        while position < length && (taken < max_bytes || events.is_empty()) {
            let room = usize::try_from(length - position).unwrap_or(usize::MAX).min(64 * 1024);
            let before = rest.len();
            rest.resize(before + room, 0);
            file.read_exact_at(&mut rest[before..], position).at("read", &path)?;
            position += room as u64;
            let Some(whole) = memchr::memrchr(b'\n', &rest) else { continue };
            for line in rest[..whole].split(|byte| *byte == b'\n') {
                let Some((sequence, payload)) = parse(line) else { continue };
                if sequence > after && (taken < max_bytes || events.is_empty()) {
                    taken += payload.len();
                    events.push(Event { sequence, payload: String::from_utf8_lossy(payload).into_owned() });
                }
            }
            rest.drain(..=whole);
        }
        Ok(events)
    }

    fn rest(&self) {
        self.state().lines.rest();
    }
}

/// Adds the lines of a segment to its index. Returns the sequence of the last one.
fn index(segment: &mut Segment, text: &[u8]) -> Option<u64> {
    let (mut start, mut last) = (0, None);
    for end in memchr::memchr_iter(b'\n', text) {
        let line = &text[start..end];
        // a damaged line takes up its place in the file, and its number if that is readable
        if let Some((sequence, _)) = parse(line) {
            last = Some(sequence);
        }
        segment.add(last.unwrap_or(segment.first), (end + 1 - start) as u64);
        start = end + 1;
    }
    last
}

fn parse(line: &[u8]) -> Option<(u64, &[u8])> {
    let space = memchr::memchr(b' ', line)?;
    let sequence = str::from_utf8(&line[..space]).ok()?.parse().ok()?;
    Some((sequence, &line[space + 1..]))
}

fn first_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    name.parse().ok().filter(|first| *first > 0)
}

fn all_of(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut file, &mut text)?;
    Ok(text)
}
