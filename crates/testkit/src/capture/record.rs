//! One line of a capture, and the file format.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the client to the program.
    C2s,
    /// From the program to the client.
    S2c,
}

/// A message, in the order in which the client saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The sender.
    pub dir: Direction,
    /// Seconds since the start of the program, to the millisecond.
    pub t: f64,
    /// The message.
    pub msg: Value,
}

/// Writes a capture, one record per line. Keys of a message are sorted: their order has no meaning, and sorted ones are easy to compare.
pub fn write(path: &Path, records: &[Record]) -> Result<()> {
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(path, text)?;
    Ok(())
}
