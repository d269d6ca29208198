//! Accepted prompts, one file per session: a line for each step of a prompt.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::super::lines::Lines;
use super::super::{QueuedPrompt, Receipt};
use crate::SessionId;
use crate::disk::Disk;
use crate::error::{At as _, Result};

const FILE: &str = "prompts.jsonl";
/// Size from which the file is written again without the texts of delivered prompts.
const COMPACT_FROM: u64 = 1024 * 1024;
/// Number of sessions whose prompts are kept in memory.
const MAX_OPEN: usize = 256;

/// The accepted prompts of all sessions.
#[derive(Debug)]
pub(super) struct PromptFiles {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    open: Mutex<HashMap<SessionId, Prompts>>,
}

/// The accepted prompts of a session.
#[derive(Debug)]
struct Prompts {
    lines: Lines,
    waiting: Vec<QueuedPrompt>,
    delivered: Vec<String>,
    /// Size of the file after it was last written again.
    compacted: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line<'a> {
    Accepted {
        #[serde(borrow)]
        message: Cow<'a, str>,
        #[serde(borrow)]
        request: Cow<'a, str>,
    },
    Delivered {
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
    Rejected {
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
}

impl PromptFiles {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf) -> Self {
        Self { disk, folder, open: Mutex::default() }
    }

    pub(super) fn accept(&self, session: &SessionId, prompt: &QueuedPrompt) -> Result<Receipt> {
        self.with(session, |prompts| {
            let is_waiting = prompts.waiting.iter().any(|known| known.message_id == prompt.message_id);
            if is_waiting || prompts.delivered.contains(&prompt.message_id) {
                return Ok(Receipt::Duplicate);
            }
            prompts.compact_if_large()?;
            prompts.lines.append(&accepted(prompt))?;
            prompts.waiting.push(prompt.clone());
            Ok(Receipt::New)
        })
    }

    pub(super) fn delivered(&self, session: &SessionId, message_id: &str) -> Result<()> {
        self.with(session, |prompts| {
            if prompts.take(message_id) {
                prompts.lines.append(&line(&Line::Delivered { message: message_id.into() }))?;
                prompts.delivered.push(message_id.to_owned());
            }
            Ok(())
        })
    }

    pub(super) fn rejected(&self, session: &SessionId, message_id: &str) -> Result<()> {
        self.with(session, |prompts| {
            if prompts.take(message_id) {
                prompts.lines.append(&line(&Line::Rejected { message: message_id.into() }))?;
            }
            Ok(())
        })
    }

    pub(super) fn waiting(&self, session: &SessionId) -> Result<Vec<QueuedPrompt>> {
        self.with(session, |prompts| Ok(prompts.waiting.clone()))
    }

    pub(super) fn sessions_with_waiting(&self) -> Result<Vec<SessionId>> {
        let entries = match fs_err::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).at("read", &self.folder),
        };
        let mut sessions = Vec::new();
        for entry in entries.flatten() {
            let Some(session) = entry.file_name().to_str().and_then(SessionId::parse) else { continue };
            if !self.waiting(&session)?.is_empty() {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    fn with<T>(&self, session: &SessionId, act: impl FnOnce(&mut Prompts) -> Result<T>) -> Result<T> {
        let mut open = self.lock();
        if !open.contains_key(session) {
            let path = self.folder.join(session.as_str()).join(FILE);
            let prompts = Prompts::open(Arc::clone(&self.disk), path)?;
            if open.len() >= MAX_OPEN {
                // everything is in the files
                open.clear();
            }
            open.insert(session.clone(), prompts);
        }
        let prompts = open.get_mut(session).ok_or(std::io::Error::from(std::io::ErrorKind::NotFound));
        let prompts = prompts.at("open", &self.folder)?;
        let result = act(prompts);
        prompts.lines.rest();
        result
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Prompts>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompts {
    fn open(disk: Arc<dyn Disk>, path: PathBuf) -> Result<Self> {
        let (lines, text) = Lines::open(disk, path)?;
        let mut prompts = Self { lines, waiting: Vec::new(), delivered: Vec::new(), compacted: 0 };
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Accepted { message, request }) => {
                    prompts.waiting.push(QueuedPrompt {
                        message_id: message.into_owned(),
                        request: request.into_owned(),
                    });
                }
                Ok(Line::Delivered { message }) => {
                    prompts.take(&message);
                    prompts.delivered.push(message.into_owned());
                }
                Ok(Line::Rejected { message }) => {
                    prompts.take(&message);
                }
                Err(error) => tracing::warn!(%error, "skipped a damaged line of a prompt queue"),
            }
        }
        Ok(prompts)
    }

    /// Removes a waiting prompt. Returns whether it was there.
    fn take(&mut self, message_id: &str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|prompt| prompt.message_id != message_id);
        self.waiting.len() < before
    }

    fn compact_if_large(&mut self) -> Result<()> {
        if self.lines.length() < COMPACT_FROM.max(2 * self.compacted) {
            return Ok(());
        }
        let delivered =
            self.delivered.iter().map(|message| line(&Line::Delivered { message: message.into() }));
        let text: Vec<u8> = delivered.chain(self.waiting.iter().map(accepted)).flatten().collect();
        self.lines.replace(&text)?;
        self.compacted = text.len() as u64;
        Ok(())
    }
}

fn accepted(prompt: &QueuedPrompt) -> Vec<u8> {
    line(&Line::Accepted {
        message: prompt.message_id.as_str().into(),
        request: prompt.request.as_str().into(),
    })
}

fn line(line: &Line<'_>) -> Vec<u8> {
    // printing cannot fail: there are only texts in it
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text
}
