//! The capture format: one object per line, with the sender and the message.
//!
//! Exec captures have `dir` and `msg`, or `raw` where the exact text matters; daemon captures have `d`, `m` and the client `c`. Other
//! directions are comments of the recorder.

use anyhow::{Context, Result};
use musher_wire::{Frame, Json};
use serde::Deserialize;

/// The sender of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Agent,
}

/// One recorded message.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The line number in the capture file.
    pub(crate) line: usize,
    pub(crate) sender: Sender,
    /// The connection, if there are several.
    client: Option<String>,
    pub(crate) text: String,
    pub(crate) frame: Frame,
    /// Whether it was sent as exact text, mostly to see how the peer handles it.
    pub(crate) is_raw: bool,
}

impl Entry {
    /// Whether this was sent on the same connection by the other side.
    pub(crate) fn is_reply_to(&self, other: &Self) -> bool {
        self.sender != other.sender && self.client == other.client
    }
}

#[derive(Deserialize)]
struct Record {
    #[serde(alias = "d")]
    dir: String,
    #[serde(alias = "m")]
    msg: Option<Json>,
    raw: Option<String>,
    c: Option<String>,
}

/// Reads a capture file.
pub(crate) fn read(text: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Record = serde_json::from_str(line).with_context(|| format!("line {}", number + 1))?;
        let sender = match record.dir.as_str() {
            "c2s" | ">" | "daemon->worker" => Sender::Client,
            "s2c" | "<" => Sender::Agent,
            _ => continue,
        };
        // a string instead of a message is exact text as well
        let as_text = record.msg.as_ref().and_then(|message| message.to::<String>().ok());
        let is_raw = record.raw.is_some() || as_text.is_some();
        let sent = record.raw.or(as_text).or_else(|| record.msg.map(|message| message.text().to_owned()));
        let sent = sent.with_context(|| format!("line {}: not a message and not a text", number + 1))?;
        for text in sent.split('\n').filter(|text| !Frame::is_blank(text.as_bytes())) {
            // of a huge message, the recorder kept only the size
            if text.ends_with(" bytes)") || text.starts_with(r#"{"_elided_bytes""#) {
                continue;
            }
            let frame = Frame::parse(text.as_bytes());
            let (text, client) = (text.to_owned(), record.c.clone());
            entries.push(Entry { line: number + 1, sender, client, text, frame, is_raw });
        }
    }
    Ok(entries)
}
