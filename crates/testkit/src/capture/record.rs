//! One line of a capture, and the file they make.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The client, to the program.
    C2s,
    /// The program, to the client.
    S2c,
}

/// One message, in the order the client saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Who said it.
    pub dir: Direction,
    /// Seconds since the program was started, to the millisecond.
    pub t: f64,
    /// The line.
    pub msg: Value,
}

/// Writes a capture, one record per line. Keys of a message are sorted: their order means nothing, and sorted ones compare well.
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
