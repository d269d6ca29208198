//! Remembers what clients asked, in memory and, if wanted, one JSON file per request.
//!
//! Bounded: the oldest requests are forgotten first, and secrets are never kept.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::{Api, Call, Error};

/// One request a client made, and what answered it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The how-manieth request it was, from 1.
    pub number: u64,
    /// The HTTP method.
    pub method: String,
    /// The path, with the query.
    pub path: String,
    /// The headers, names in lower case; values of those that carry secrets are replaced.
    pub headers: Vec<(String, String)>,
    /// The body: parsed if it is JSON, else as a string. `None` if empty or too large to keep.
    pub body: Option<Value>,
    /// How large the body was.
    pub body_bytes: usize,
    /// The API, if the path is one of a vendor's.
    pub api: Option<Api>,
    /// What was understood of it, if it asks a model.
    pub call: Option<Call>,
    /// What answered: the name or number of a reply, `otherwise`, or `nothing matched`.
    pub reply: Option<String>,
    /// The HTTP status of the answer; `None` if none is ever sent.
    pub status: Option<u16>,
}

impl RecordedRequest {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// Whether this asks a model, unlike a request for the list of models or for a path we do not know.
    pub fn is_call(&self) -> bool {
        self.call.is_some() && self.reply.is_some()
    }
}

/// Where requests are recorded.
pub struct Recorder {
    // Held for a few instructions only, never across an await.
    kept: Mutex<Kept>,
    directory: Option<PathBuf>,
    count: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    requests: VecDeque<Arc<RecordedRequest>>,
    bytes: usize,
    next: u64,
}

impl Recorder {
    /// So many requests are kept in memory.
    pub const MOST_REQUESTS: usize = 4096;
    /// Bodies larger than this are counted, not kept.
    pub const LARGEST_BODY: usize = 8 << 20;
    /// So many bytes of bodies are kept in memory.
    pub const MOST_BYTES: usize = 256 << 20;

    /// Records in memory, and in `directory` if one is given. Files already there are kept: numbers go on after them.
    pub(crate) fn new(directory: Option<PathBuf>) -> Result<Self, Error> {
        let next = match &directory {
            None => 1,
            Some(directory) => first_free(directory)
                .map_err(|source| Error::Record { directory: directory.clone(), source })?,
        };
        let kept = Mutex::new(Kept { next, ..Kept::default() });
        Ok(Self { kept, directory, count: watch::Sender::new(0) })
    }

    /// Records a request, whose number is set here. Writes a file if a directory is given, so it may block.
    pub(crate) fn record(&self, mut request: RecordedRequest) -> Result<Arc<RecordedRequest>, Error> {
        let request = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            request.number = kept.next;
            kept.next += 1;
            let request = Arc::new(request);
            kept.push(Arc::clone(&request));
            request
        };
        let written = match &self.directory {
            None => Ok(()),
            Some(directory) => write(directory, &request)
                .map_err(|source| Error::Record { directory: directory.clone(), source }),
        };
        self.count.send_modify(|count| *count += 1);
        written.map(|()| request)
    }

    /// Whether recording writes files.
    pub(crate) fn writes_files(&self) -> bool {
        self.directory.is_some()
    }

    /// The requests still kept, oldest first.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests.iter().cloned().collect()
    }

    /// Waits until `enough` says so of the requests kept, and returns them.
    pub async fn wait_until(
        &self,
        wanted: &str,
        deadline: Duration,
        mut enough: impl FnMut(&[Arc<RecordedRequest>]) -> bool,
    ) -> Result<Vec<Arc<RecordedRequest>>, Error> {
        let mut count = self.count.subscribe();
        let wait = async {
            loop {
                count.mark_unchanged();
                let requests = self.requests();
                if enough(&requests) {
                    return requests;
                }
                // Cannot fail: the sender is in `self`.
                let _ = count.changed().await;
            }
        };
        let outcome = tokio::time::timeout(deadline, wait).await;
        outcome.map_err(|_elapsed| Error::Deadline {
            waited: deadline,
            wanted: wanted.to_owned(),
            seen: *self.count.borrow(),
        })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = *self.count.borrow();
        formatter
            .debug_struct("Recorder")
            .field("count", &count)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Kept {
    fn push(&mut self, request: Arc<RecordedRequest>) {
        self.bytes += kept_bytes(&request);
        self.requests.push_back(request);
        while self.requests.len() > Recorder::MOST_REQUESTS || self.bytes > Recorder::MOST_BYTES {
            let Some(oldest) = self.requests.pop_front() else {
                return;
            };
            self.bytes -= kept_bytes(&oldest);
        }
    }
}

fn kept_bytes(request: &RecordedRequest) -> usize {
    if request.body.is_some() { request.body_bytes } else { 0 }
}

/// The headers as they may be kept.
pub(crate) fn redacted(name: &str, value: &str) -> String {
    const SECRET: [&str; 7] = [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "set-cookie",
    ];
    if SECRET.contains(&name) { "(redacted)".to_owned() } else { value.to_owned() }
}

fn first_free(directory: &Path) -> io::Result<u64> {
    fs_err::create_dir_all(directory)?;
    let mut last = 0;
    for entry in fs_err::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<u64>().ok());
        last = last.max(number.unwrap_or(0));
    }
    Ok(last + 1)
}

fn write(directory: &Path, request: &RecordedRequest) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(request)?;
    text.push('\n');
    let path = directory.join(format!("{:06}.json", request.number));
    // Never over a file that is there: it is somebody's record.
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}
