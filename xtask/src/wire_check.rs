//! `cargo xtask wire-check PATH...`: checks that the protocol types read and print all recorded traffic.
//!
//! Every line must parse to a known kind of message, its payload to a known type, and both must print back equal. Messages that the peer
//! itself rejected (answered with an error) are exempt: captures contain invalid input on purpose. Fields and enum values without a type
//! survive, so they are listed but are not an error; the project's own fixtures may contain only those listed in `known-unknown.txt`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use musher_wire::{Frame, Id, Json, Side, inspect};
use serde_json::Value;

mod entry;

use entry::Entry;

/// Checks all captures below `paths`, prints a summary, and fails on any problem.
pub(crate) fn run(paths: &[PathBuf]) -> Result<()> {
    let report = check(paths)?;
    for (place, times) in &report.unknown {
        println!("unknown  {place}  ({times} times)");
    }
    for problem in &report.problems {
        println!("problem  {problem}");
    }
    let Counts { files, lines, requests, responses, notifications, refused } = report.counts;
    println!(
        "{files} files, {lines} lines: {requests} requests, {responses} responses, \
         {notifications} notifications, {refused} refused by the peer"
    );
    if lines == 0 {
        bail!("no capture lines found below the given paths");
    }
    if !report.problems.is_empty() {
        bail!("{} problems", report.problems.len());
    }
    Ok(())
}

/// The result of a check.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) counts: Counts,
    pub(crate) problems: Vec<String>,
    /// Places without a type, and how often they occur.
    pub(crate) unknown: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) files: usize,
    pub(crate) lines: usize,
    pub(crate) requests: usize,
    pub(crate) responses: usize,
    pub(crate) notifications: usize,
    pub(crate) refused: usize,
}

/// Checks all captures below `paths`.
pub(crate) fn check(paths: &[PathBuf]) -> Result<Report> {
    let mut report = Report::default();
    for path in paths {
        for file in capture_files(path)? {
            let text = fs::read_to_string(&file)?;
            let entries = entry::read(&text).with_context(|| format!("in {}", file.display()))?;
            report.counts.files += 1;
            Checker { file: &file, entries: &entries, report: &mut report }.check();
        }
    }
    Ok(report)
}

/// The text of every recorded message below `path`.
pub(crate) fn recorded_lines(path: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for file in capture_files(path)? {
        lines.extend(entry::read(&fs::read_to_string(file)?)?.into_iter().map(|entry| entry.text));
    }
    Ok(lines)
}

/// All `*.jsonl` files at or below `path`, sorted.
fn capture_files(path: &Path) -> Result<Vec<PathBuf>> {
    if fs::metadata(path)?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let child = entry?.path();
        if child.is_dir() || child.extension().is_some_and(|ending| ending == "jsonl") {
            files.extend(capture_files(&child)?);
        }
    }
    files.sort();
    Ok(files)
}

/// Checks one file.
struct Checker<'a> {
    file: &'a Path,
    entries: &'a [Entry],
    report: &'a mut Report,
}

impl Checker<'_> {
    fn check(mut self) {
        for (at, entry) in self.entries.iter().enumerate() {
            self.report.counts.lines += 1;
            let problem = match &entry.frame {
                Frame::Malformed(malformed) => self.malformed(at, &malformed.reason.to_string()),
                frame => printed(entry).or_else(|| self.payload(at, entry, frame)),
            };
            if let Some(problem) = problem {
                let place = format!("{}:{}", self.file.display(), entry.line);
                self.report.problems.push(format!("{place}: {problem}"));
            }
        }
    }

    /// Invalid input of the client is fine if the peer rejected it too.
    fn malformed(&mut self, at: usize, reason: &str) -> Option<String> {
        if self.was_refused(at) {
            self.report.counts.refused += 1;
            return None;
        }
        Some(format!("not a message: {reason}"))
    }

    /// The payload must have a known type and print as it was read.
    fn payload(&mut self, at: usize, entry: &Entry, frame: &Frame) -> Option<String> {
        let (method, side, payload) = match frame {
            Frame::Request(request) => {
                self.report.counts.requests += 1;
                (request.method.to_string(), Side::Params, request.params.clone())
            }
            Frame::Notification(notification) => {
                self.report.counts.notifications += 1;
                (notification.method.to_string(), Side::Params, notification.params.clone())
            }
            Frame::Response(response) => {
                self.report.counts.responses += 1;
                let Ok(result) = &response.outcome else { return None };
                // a response to an unknown request is invalid input too
                let method = self.method_of(entry, &response.id)?;
                (method, Side::Result, Some(result.clone()))
            }
            Frame::Malformed(_) => return None,
        };
        let payload = without_elisions(&payload.unwrap_or_else(Json::empty_object));
        let problem = match inspect(&method, side, &payload) {
            None => format!("unknown method `{method}`"),
            Some(Err(error)) => format!("{error}: {}", error.source),
            Some(Ok(read)) if read.printed != payload => {
                format!("`{method}` printed differently: {}", read.printed)
            }
            Some(Ok(read)) if !read.findings.unknown_kinds.is_empty() => {
                let kinds: Vec<_> = read.findings.unknown_kinds.into_keys().collect();
                format!("`{method}` has unknown kinds: {}", kinds.join(", "))
            }
            Some(Ok(read)) => {
                for (place, times) in read.findings.unknown {
                    *self.report.unknown.entry(format!("{method} {side:?} {place}")).or_default() += times;
                }
                return None;
            }
        };
        if self.was_refused(at) {
            self.report.counts.refused += 1;
            return None;
        }
        Some(problem)
    }

    /// Whether the peer later answered this entry with an error: with its id, or without one, as is usual for invalid input.
    fn was_refused(&self, at: usize) -> bool {
        let entry = &self.entries[at];
        let id = match &entry.frame {
            Frame::Request(request) => Some(&request.id),
            Frame::Malformed(malformed) => malformed.id.as_ref(),
            Frame::Notification(_) => return entry.is_raw, // no answer is due
            Frame::Response(_) => return false,
        };
        let mut later = self.entries.iter().skip(at + 1).filter(|other| other.is_reply_to(entry));
        later.any(|reply| match &reply.frame {
            Frame::Response(response) if response.outcome.is_err() => {
                response.id == Id::Null || Some(&response.id) == id
            }
            _ => false,
        })
    }

    /// Returns the method of the call that this response answers.
    fn method_of(&self, response: &Entry, id: &Id) -> Option<String> {
        self.entries.iter().filter(|call| response.is_reply_to(call)).find_map(|call| match &call.frame {
            Frame::Request(request) if request.id == *id => Some(request.method.to_string()),
            _ => None,
        })
    }
}

/// The frame must print as it was read.
fn printed(entry: &Entry) -> Option<String> {
    let printed = entry.frame.to_line();
    (as_value(&printed) != as_value(&entry.text)).then(|| format!("printed differently: {printed}"))
}

fn as_value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the payload without the marks that the recorder left where it shortened a list: `{"_elided": 54}`.
fn without_elisions(payload: &Json) -> Json {
    if !payload.text().contains("_elided") {
        return payload.clone();
    }
    match payload.to_value() {
        Ok(mut value) => {
            remove_elisions(&mut value);
            value.into()
        }
        Err(_) => payload.clone(),
    }
}

fn remove_elisions(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| item.get("_elided").is_none());
            items.iter_mut().for_each(remove_elisions);
        }
        Value::Object(fields) => fields.values_mut().for_each(remove_elisions),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
