//! A file of lines that is only appended to. A write is complete or undone; a torn last line is removed when the file is opened.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::{self, Disk};
use crate::error::{At as _, Result};

/// Maximum size of a file that is read as a whole.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// A file of lines.
#[derive(Debug)]
pub(super) struct Lines {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The open file; `None` while idle.
    file: Option<File>,
    /// The length of all complete lines.
    length: u64,
}

impl Lines {
    /// Opens the file and returns the complete lines in it. Creates nothing before the first line.
    pub(super) fn open(disk: Arc<dyn Disk>, path: PathBuf) -> Result<(Self, String)> {
        let mut text = Vec::new();
        match disk::open_limited(&path, MAX_FILE) {
            Ok(mut file) => {
                file.read_to_end(&mut text).at("read", &path)?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).at("open", &path),
        }
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1);
        let is_torn = whole < text.len();
        text.truncate(whole);
        let mut lines = Self { disk, path, file: None, length: whole as u64 };
        if is_torn {
            tracing::warn!(path = %lines.path.display(), "removed an incomplete line");
            lines.undo()?;
        }
        // invalid text is replaced: it spoils its line only
        let text =
            String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
        Ok((lines, text))
    }

    /// Appends text that ends with a line break. Removes what was written of it if that fails.
    pub(super) fn append(&mut self, text: &[u8]) -> Result<()> {
        let disk = Arc::clone(&self.disk);
        let file = self.opened()?;
        if let Err(error) = disk.write_all(file, text) {
            if let Err(undoing) = self.undo() {
                // the next append would continue the torn line
                self.file = None;
                tracing::warn!(%undoing, "a torn line stays until the file is opened again");
            }
            return Err(error).at("write", &self.path);
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Replaces the whole file atomically.
    pub(super) fn replace(&mut self, text: &[u8]) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            disk::make_folder(folder)?;
        }
        self.file = None;
        self.disk.replace(&self.path, text, false)?;
        self.length = text.len() as u64;
        Ok(())
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Closes the file until the next append.
    pub(super) fn rest(&mut self) {
        self.file = None;
    }

    fn undo(&mut self) -> Result<()> {
        let length = self.length;
        let disk = Arc::clone(&self.disk);
        let path = self.path.clone();
        let file = self.opened()?;
        disk.truncate(file, length).at("truncate", &path)
    }

    fn opened(&mut self) -> Result<&File> {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent() {
                disk::make_folder(folder)?;
            }
            let file = self.disk.append_to(&self.path).at("open", &self.path)?;
            // a write that failed earlier and could not be undone
            if file.metadata().at("read", &self.path)?.len() > self.length {
                self.disk.truncate(&file, self.length).at("truncate", &self.path)?;
            }
            self.file = Some(file);
        }
        match &self.file {
            Some(file) => Ok(file),
            None => Err(std::io::ErrorKind::NotFound.into()).at("open", &self.path),
        }
    }
}
