//! Open requests of all sessions in one file: a line for each that opens, and one for each that closes.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::InboxItem;
use super::super::lines::Lines;
use crate::SessionId;
use crate::disk::Disk;
use crate::error::Result;

/// Size from which the file is written again, if most of it is closed requests.
const COMPACT_FROM: u64 = 1024 * 1024;

/// The file with the open requests.
#[derive(Debug)]
pub(super) struct InboxFile {
    lines: Lines,
    items: Vec<InboxItem>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line<'a> {
    Opened {
        #[serde(borrow)]
        request: Cow<'a, str>,
        #[serde(borrow)]
        session: Cow<'a, str>,
        #[serde(borrow)]
        body: Cow<'a, str>,
    },
    Closed {
        #[serde(borrow)]
        request: Cow<'a, str>,
    },
}

impl InboxFile {
    pub(super) fn open(disk: Arc<dyn Disk>, path: PathBuf) -> Result<Self> {
        let (lines, text) = Lines::open(disk, path)?;
        let mut items: Vec<InboxItem> = Vec::new();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Opened { request, session, body }) => {
                    let Some(session) = SessionId::parse(&session) else { continue };
                    let item =
                        InboxItem { request_id: request.into_owned(), session, body: body.into_owned() };
                    items.retain(|known| known.request_id != item.request_id);
                    items.push(item);
                }
                Ok(Line::Closed { request }) => items.retain(|item| item.request_id != request),
                Err(error) => tracing::warn!(%error, "skipped a damaged line of the inbox"),
            }
        }
        Ok(Self { lines, items })
    }

    pub(super) fn put(&mut self, item: &InboxItem) -> Result<()> {
        self.compact_if_large()?;
        self.lines.append(&opened(item))?;
        match self.items.iter_mut().find(|known| known.request_id == item.request_id) {
            Some(known) => known.clone_from(item),
            None => self.items.push(item.clone()),
        }
        Ok(())
    }

    pub(super) fn close(&mut self, request_id: &str) -> Result<bool> {
        let Some(at) = self.items.iter().position(|item| item.request_id == request_id) else {
            return Ok(false);
        };
        self.lines.append(&line(&Line::Closed { request: request_id.into() }))?;
        self.items.remove(at);
        Ok(true)
    }

    pub(super) fn items(&self) -> Vec<InboxItem> {
        self.items.clone()
    }

    fn compact_if_large(&mut self) -> Result<()> {
        let open: usize = self.items.iter().map(|item| item.body.len() + 256).sum();
        if self.lines.length() < COMPACT_FROM.max(2 * open as u64) {
            return Ok(());
        }
        let text: Vec<u8> = self.items.iter().flat_map(opened).collect();
        self.lines.replace(&text)
    }
}

fn opened(item: &InboxItem) -> Vec<u8> {
    line(&Line::Opened {
        request: item.request_id.as_str().into(),
        session: item.session.as_str().into(),
        body: item.body.as_str().into(),
    })
}

fn line(line: &Line<'_>) -> Vec<u8> {
    // printing cannot fail: there are only texts in it
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text
}
