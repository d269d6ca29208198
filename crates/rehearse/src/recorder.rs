//! Records requests of clients, in memory and optionally as one JSON file per request.
//!
//! Bounded: the oldest requests are dropped first. Secrets are never recorded.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::{Api, Call, Error};

/// One request of a client, and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The number of the request, from 1.
    pub number: u64,
    /// The HTTP method.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The headers, with lower-case names; the values of secret headers are replaced.
    pub headers: Vec<(String, String)>,
    /// The body: parsed if it is JSON, else as a string. `None` if it is empty or too large to keep.
    pub body: Option<Value>,
    /// The size of the body in bytes.
    pub body_bytes: usize,
    /// The API, if the path belongs to one.
    pub api: Option<Api>,
    /// The parsed request, if it is a model request.
    pub call: Option<Call>,
    /// The source of the answer: the name or number of a reply, `otherwise`, or `nothing matched`.
    pub reply: Option<String>,
    /// The HTTP status of the answer; `None` if none is ever sent.
    pub status: Option<u16>,
}

impl RecordedRequest {
    /// Returns the value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether this is a model request, unlike a request for the list of models or for an unknown path.
    pub fn is_call(&self) -> bool {
        self.call.is_some() && self.reply.is_some()
    }
}

/// The recorder of requests.
pub struct Recorder {
    // Locked for a few instructions only, never across an await.
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
    /// Maximum number of requests that are kept in memory.
    pub const MAX_REQUESTS: usize = 4096;
    /// Bodies larger than this, in bytes, are counted but not kept.
    pub const MAX_BODY_BYTES: usize = 8 << 20;
    /// Maximum number of bytes of bodies that are kept in memory.
    pub const MAX_KEPT_BYTES: usize = 256 << 20;

    /// Records in memory, and in `directory` if given. Existing files are kept: numbering continues after them.
    pub(crate) fn new(directory: Option<PathBuf>) -> Result<Self, Error> {
        let next = match &directory {
            None => 1,
            Some(directory) => first_free(directory)
                .map_err(|source| Error::Record { directory: directory.clone(), source })?,
        };
        let kept = Mutex::new(Kept { next, ..Kept::default() });
        Ok(Self { kept, directory, count: watch::Sender::new(0) })
    }

    /// Records a request and sets its number. Writes a file if a directory is given, so it may block.
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

    /// Returns whether recording writes files.
    pub(crate) fn writes_files(&self) -> bool {
        self.directory.is_some()
    }

    /// Returns the recorded requests, oldest first.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests.iter().cloned().collect()
    }

    /// Waits until `enough` accepts the recorded requests, and returns them.
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
        while self.requests.len() > Recorder::MAX_REQUESTS || self.bytes > Recorder::MAX_KEPT_BYTES {
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

/// Returns a header's value as it may be recorded.
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
    // Never overwrites a file: it may be a recording of another run.
    let mut options = fs_err::OpenOptions::new();
    // Requests have prompts and files of the user in them.
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.write(true).create_new(true).open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}
