//! Reads a log, even if it is damaged: keeps every complete record and counts the rest. Does not change the log.
//!
//! A damaged line is searched for complete records, because a lost line end joins two records. Only objects at the beginning of a
//! line, or directly after a complete record, are accepted: an object inside a damaged record may have been written by the model.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use serde_json::{Deserializer, Value};

use super::record::{self, Line, Record, Start};

/// Maximum length of a line in bytes. Longer lines are skipped.
pub(super) const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Maximum size in bytes of a log that is read at once: all its records are in memory.
pub(super) const MAX_LOG: u64 = 1024 * 1024 * 1024;
/// Beginning of every record, of musher and of droid.
const OPENING: &[u8] = br#"{"type":""#;

/// The content of a log.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The `session_start` record, wherever it was found.
    pub(super) start: Option<Start>,
    /// Position of that record.
    pub(super) start_at: Range<u64>,
    /// All other records, in order, with their positions; empty if they were given to a function.
    pub(super) records: Vec<(Range<u64>, Record)>,
    /// Position of the last record.
    last_record: u64,
    /// Number of lines that are damaged completely or in part.
    pub(super) damaged: usize,
    /// Number of records whose side file is missing or damaged.
    pub(super) missing_sides: usize,
    /// Position after the last line end.
    pub(super) last_line_end: u64,
    /// The state of the end of the file.
    pub(super) tail: Tail,
    /// Length of the file.
    pub(super) length: u64,
}

/// The state of the end of a log.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Ends with a line end.
    #[default]
    Complete,
    /// Ends with a complete record without line end.
    Unterminated,
    /// Ends with an incomplete record.
    Torn,
}

/// Returns the content of a side file.
pub(super) type Sides<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Takes the records of a log, in order.
type Take<'a> = dyn FnMut(Range<u64>, Record) + 'a;

/// Reads a log completely.
pub(super) fn scan(log: impl Read, sides: &Sides<'_>) -> io::Result<Scan> {
    let mut records = Vec::new();
    let scan = scan_each(log, sides, &mut |at, record| records.push((at, record)))?;
    Ok(Scan { records, ..scan })
}

/// Reads a log completely, and keeps no record.
pub(super) fn scan_each(log: impl Read, sides: &Sides<'_>, take: &mut Take<'_>) -> io::Result<Scan> {
    let mut reader = BufReader::with_capacity(256 * 1024, log);
    let mut scan = Scan::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(scan);
        }
        let begin = scan.length;
        scan.length += read;
        let has_end = line.last() == Some(&b'\n');
        if !has_end && read == MAX_LINE {
            scan.length += skip_line(&mut reader)?;
            scan.damaged += 1;
            scan.last_line_end = scan.length;
            continue;
        }
        let is_complete = scan.add(begin, &line, sides, take);
        if has_end {
            scan.last_line_end = scan.length;
        } else {
            scan.tail = if is_complete { Tail::Unterminated } else { Tail::Torn };
        }
    }
}

/// Skips the rest of a line and returns its length.
pub(super) fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(skipped);
        }
        let end = memchr::memchr(b'\n', bytes);
        let length = end.map_or(bytes.len(), |end| end + 1);
        reader.consume(length);
        skipped += length as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}

impl Scan {
    /// Adds a line. Returns whether it was parsed completely.
    fn add(&mut self, begin: u64, line: &[u8], sides: &Sides<'_>, take: &mut Take<'_>) -> bool {
        let text = line.trim_ascii();
        if text.is_empty() {
            return true;
        }
        let begin = begin + line.trim_ascii_start().as_ptr().addr().wrapping_sub(line.as_ptr().addr()) as u64;
        let at = begin..begin + text.len() as u64;
        if let Ok(value) = serde_json::from_slice(text)
            && self.record(at, value, sides, take)
        {
            return true;
        }
        self.damaged += 1;
        for (within, value) in complete_records(text) {
            self.record(begin + within.start as u64..begin + within.end as u64, value, sides, take);
        }
        false
    }

    /// Adds a record. Returns whether the value is a record.
    fn record(&mut self, at: Range<u64>, mut value: Value, sides: &Sides<'_>, take: &mut Take<'_>) -> bool {
        if let Some(hash) = value["musher"]["side"].as_str() {
            match sides(hash) {
                Some(whole) => value = whole,
                // the shortened form is better than no record
                None => self.missing_sides += 1,
            }
        }
        let record = match record::parse(value) {
            Some(Line::Start(start)) if self.start.is_none() => {
                self.start = Some(start);
                self.start_at = at;
                return true;
            }
            Some(Line::Start(start)) => Record::Other(start.into_fields()),
            Some(Line::Record(record)) => record,
            None => return false,
        };
        self.last_record = at.start;
        take(at, record);
        true
    }

    /// Returns the repair that the file needs before records are appended.
    pub(super) fn repair(&self) -> Option<Repair> {
        let is_torn = usize::from(self.tail == Tail::Torn);
        let has_tail_records = self.last_record >= self.last_line_end;
        if self.start.is_none()
            || self.start_at.start != 0
            || self.damaged > is_torn
            || (self.tail == Tail::Torn && has_tail_records)
        {
            return Some(Repair::Rewrite);
        }
        match self.tail {
            Tail::Complete => None,
            Tail::Unterminated => Some(Repair::EndLine),
            Tail::Torn => Some(Repair::Truncate { length: self.last_line_end }),
        }
    }
}

/// The repair that a log needs before records are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repair {
    /// Write all complete records to a new file, and keep the damaged one as a backup.
    Rewrite,
    /// Append a line end.
    EndLine,
    /// Remove an incomplete record from the end.
    Truncate {
        /// The new length.
        length: u64,
    },
    /// Write the data that may not have reached the storage medium again.
    WriteAgain,
}

/// Returns the complete records in a damaged line.
fn complete_records(line: &[u8]) -> Vec<(Range<usize>, Value)> {
    let mut found: Vec<(Range<usize>, Value)> = Vec::new();
    let mut from = 0;
    while let Some(brace) = line[from..].iter().position(|byte| *byte == b'{') {
        let mut begin = from + brace;
        if !line[begin..].starts_with(OPENING) {
            // a damaged line end may look like a brace
            begin += 1;
            if found.is_empty() || !line[begin..].starts_with(OPENING) {
                break;
            }
        }
        let mut values = Deserializer::from_slice(&line[begin..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        let end = begin + values.byte_offset();
        // after invalid bytes, accept only an object at the end of the line: any other one may be part of a record
        if begin > 0 && found.is_empty() && end != line.len() {
            break;
        }
        found.push((begin..end, value));
        from = end;
    }
    found
}
