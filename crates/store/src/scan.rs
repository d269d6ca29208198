//! Reads a log, whatever happened to it: every record that is whole is kept, the rest is counted. It changes nothing.
//!
//! A damaged line is searched for whole records, since one lost line end makes two records one line. Only what stands at the
//! beginning of a line, or behind a whole record, is believed: an object inside of a damaged record may be the model's.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use serde_json::{Deserializer, Value};

use super::record::{self, Line, Record, Start};

/// The longest line that is kept.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;
/// The largest log that is read, in bytes. All records of a log are in memory at once, and what is large lies aside.
pub(super) const MAX_LOG: u64 = 1024 * 1024 * 1024;
/// How every record begins, ours and droid's.
const OPENING: &[u8] = br#"{"type":""#;

/// What is in a log.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The first line, wherever it was found.
    pub(super) start: Option<Start>,
    /// Where the first line is.
    pub(super) start_at: Range<u64>,
    /// All else, in order, and where it is.
    pub(super) records: Vec<(Range<u64>, Record)>,
    /// Lines that are damaged, in whole or in part.
    pub(super) damaged: usize,
    /// Records whose side file is missing or damaged.
    pub(super) missing_sides: usize,
    /// The end of the last line that has an end.
    pub(super) last_line_end: u64,
    /// How the file ends.
    pub(super) tail: Tail,
    /// How long the file is.
    pub(super) length: u64,
}

/// How a log ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// With the end of a line.
    #[default]
    Whole,
    /// With a record that only lacks its line end.
    Unterminated,
    /// With part of a record.
    Torn,
}

/// Gives the content of a side file.
pub(super) type Sides<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Reads all of a log.
pub(super) fn scan(log: impl Read, sides: &Sides<'_>) -> io::Result<Scan> {
    let mut reader = BufReader::with_capacity(256 * 1024, log);
    let mut scan = Scan::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(scan);
        }
        let begin = scan.length;
        scan.length += read;
        let has_end = line.last() == Some(&b'\n');
        if !has_end && read == LONGEST_LINE {
            scan.length += skip_line(&mut reader)?;
            scan.damaged += 1;
            scan.last_line_end = scan.length;
            continue;
        }
        let is_whole = scan.add(begin, &line, sides);
        if has_end {
            scan.last_line_end = scan.length;
        } else {
            scan.tail = if is_whole { Tail::Unterminated } else { Tail::Torn };
        }
    }
}

/// The bytes at a place.
pub(super) fn slice<'a>(content: &'a [u8], at: &Range<u64>) -> &'a [u8] {
    let (Ok(begin), Ok(end)) = (usize::try_from(at.start), usize::try_from(at.end)) else { return &[] };
    content.get(begin..end).unwrap_or_default()
}

/// The first line of a log that is whole.
pub(super) fn scan_start(content: &[u8]) -> Option<Start> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    match record::parse(serde_json::from_slice(line).ok()?)? {
        Line::Start(start) => Some(start),
        Line::Record(_) => None,
    }
}

/// Passes over the rest of a line; says how long it was.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(skipped);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        reader.consume(length);
        skipped += length as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}

impl Scan {
    /// Adds a line; says whether all of it was understood.
    fn add(&mut self, begin: u64, line: &[u8], sides: &Sides<'_>) -> bool {
        let text = line.trim_ascii();
        if text.is_empty() {
            return true;
        }
        let begin = begin + line.trim_ascii_start().as_ptr().addr().wrapping_sub(line.as_ptr().addr()) as u64;
        let at = begin..begin + text.len() as u64;
        if let Ok(value) = serde_json::from_slice(text)
            && self.record(at, value, sides)
        {
            return true;
        }
        self.damaged += 1;
        for (within, value) in whole_records(text) {
            self.record(begin + within.start as u64..begin + within.end as u64, value, sides);
        }
        false
    }

    /// Adds a record; says whether it is one.
    fn record(&mut self, at: Range<u64>, mut value: Value, sides: &Sides<'_>) -> bool {
        if let Some(hash) = value["musher"]["side"].as_str() {
            match sides(hash) {
                Some(whole) => value = whole,
                // what is left of it is better than nothing
                None => self.missing_sides += 1,
            }
        }
        match record::parse(value) {
            Some(Line::Start(start)) if self.start.is_none() => {
                self.start = Some(start);
                self.start_at = at;
            }
            Some(Line::Start(start)) => self.records.push((at, Record::Other(start.into_fields()))),
            Some(Line::Record(record)) => self.records.push((at, record)),
            None => return false,
        }
        true
    }

    /// What has to be done to the file before anything is added to it.
    pub(super) fn cure(&self) -> Option<Cure> {
        let is_torn = usize::from(self.tail == Tail::Torn);
        let is_tail_worth_something =
            self.records.last().is_some_and(|(at, _)| at.start >= self.last_line_end);
        if self.start.is_none()
            || self.start_at.start != 0
            || self.damaged > is_torn
            || (self.tail == Tail::Torn && is_tail_worth_something)
        {
            return Some(Cure::WriteAnew);
        }
        match self.tail {
            Tail::Whole => None,
            Tail::Unterminated => Some(Cure::EndLine),
            Tail::Torn => Some(Cure::Cut { length: self.last_line_end }),
        }
    }
}

/// What has to be done to a log before anything is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// All that is whole goes into a new file; the damaged one is kept beside it.
    WriteAnew,
    /// The last line gets an end.
    EndLine,
    /// Part of a record is cut off.
    Cut {
        /// What stays.
        length: u64,
    },
    /// What may not have reached the disk is written again.
    WriteAgain,
}

/// The whole records in a damaged line.
fn whole_records(line: &[u8]) -> Vec<(Range<usize>, Value)> {
    let mut found: Vec<(Range<usize>, Value)> = Vec::new();
    let mut from = 0;
    while let Some(brace) = line[from..].iter().position(|byte| *byte == b'{') {
        let mut begin = from + brace;
        if !line[begin..].starts_with(OPENING) {
            // a line end may have become a brace
            begin += 1;
            if found.is_empty() || !line[begin..].starts_with(OPENING) {
                break;
            }
        }
        let mut values = Deserializer::from_slice(&line[begin..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        let end = begin + values.byte_offset();
        // behind rubbish, only what the line ends with: anything else may be a part of something
        if begin > 0 && found.is_empty() && end != line.len() {
            break;
        }
        found.push((begin..end, value));
        from = end;
    }
    found
}
