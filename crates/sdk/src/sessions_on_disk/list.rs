//! Which sessions there are.

use std::collections::HashSet;
use std::future::{Future, IntoFuture};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::SystemTime;

use fs_err::File;
use serde_json::Value;

use super::folder::{Candidate, all_folders, candidates, folder_name};
use super::{off_the_runtime, sessions_root};
use crate::Result;

/// The longest first line, and the largest side file, that is looked at.
const SMALL_FILE: u64 = 1024 * 1024;

/// Lists the sessions on disk: those of the directory we are in, newest first. No agent is started.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sessions_folder = folder.path();
/// let sessions = musher::list_sessions().cwd("/workspace").limit(10).sessions_dir(sessions_folder).await?;
/// for session in sessions {
///     println!("{}: {}", session.id, session.session_title.unwrap_or(session.title));
/// }
/// # Ok(()) }
/// ```
pub fn list_sessions() -> ListSessions {
    ListSessions { cwd: PathBuf::from("."), is_everywhere: false, limit: usize::MAX, folder: None }
}

/// A list of sessions on disk, not made yet. Await it, or have it [`blocking`](Self::blocking).
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is awaited"]
pub struct ListSessions {
    cwd: PathBuf,
    is_everywhere: bool,
    limit: usize,
    folder: Option<PathBuf>,
}

/// A session on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Its id, to [resume](crate::Session::resume) it.
    pub id: String,
    /// The beginning of the first prompt, or a title made from it.
    pub title: String,
    /// The title it was given.
    pub session_title: Option<String>,
    /// Whose it is; empty if that is not known.
    pub owner: String,
    /// How many records the conversation has: its messages, and notes between them.
    pub message_count: usize,
    /// When something was last said.
    pub modified: SystemTime,
    /// When it began.
    pub created: SystemTime,
    /// The directory it works in.
    pub cwd: Option<PathBuf>,
    /// Further folders of its workspace.
    pub additional_directories: Vec<PathBuf>,
    /// Whether the person marked it.
    pub is_favorite: bool,
}

impl ListSessions {
    /// Those of this directory; the one we are in if not set.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        cwd.as_ref().clone_into(&mut self.cwd);
        self
    }

    /// Those of all directories.
    pub fn outside_cwd(mut self) -> Self {
        self.is_everywhere = true;
        self
    }

    /// At most so many, the newest.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Where sessions are kept; `~/.factory/sessions` if not set.
    pub fn sessions_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Reads the list on this thread.
    pub fn blocking(self) -> Result<Vec<StoredSession>> {
        let root = sessions_root(self.folder.as_deref())?;
        let cwd = resolved(&self.cwd);
        let mut found = Vec::new();
        candidates(&root, true, &mut found);
        let folders =
            if self.is_everywhere { all_folders(&root) } else { vec![root.join(folder_name(&cwd))] };
        for folder in folders {
            candidates(&folder, false, &mut found);
        }
        found.sort_by(|a, b| {
            b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)).then_with(|| a.path.cmp(&b.path))
        });

        let favorites = favorites(&root);
        let wanted_cwd = (!self.is_everywhere).then_some(cwd.as_path());
        let mut taken = HashSet::new();
        let mut sessions = Vec::new();
        for candidate in found {
            if sessions.len() >= self.limit {
                break;
            }
            // the newest of two with one id came first
            if taken.contains(&candidate.id) {
                continue;
            }
            if let Some(session) = read(candidate, wanted_cwd, &favorites) {
                taken.insert(session.id.clone());
                sessions.push(session);
            }
        }
        Ok(sessions)
    }
}

impl IntoFuture for ListSessions {
    type Output = Result<Vec<StoredSession>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(off_the_runtime(|| self.blocking()))
    }
}

/// The session in a file, if it is one that should be listed.
fn read(
    candidate: Candidate,
    wanted_cwd: Option<&Path>,
    favorites: &HashSet<String>,
) -> Option<StoredSession> {
    let mut reader = BufReader::with_capacity(64 * 1024, File::open(&candidate.path).ok()?);
    let start = first_line(&mut reader)?;
    if start["type"] != "session_start" {
        return None;
    }
    let text = |field: &str| start[field].as_str().map(str::to_owned);
    let title = text("title")?;
    let cwd = text("cwd").map(PathBuf::from);
    if candidate.is_legacy
        && let Some(wanted) = wanted_cwd
        && cwd.as_deref().map(resolved).as_deref() != Some(wanted)
    {
        return None;
    }
    let settings = settings(&candidate);
    if is_archived(&settings) {
        return None;
    }
    let folders = settings["additionalDirectories"].as_array().into_iter().flatten();
    Some(StoredSession {
        additional_directories: folders.filter_map(Value::as_str).map(PathBuf::from).collect(),
        is_favorite: favorites.contains(&candidate.id),
        message_count: count_lines(&mut reader).ok()?,
        session_title: text("sessionTitle"),
        owner: text("owner").unwrap_or_default(),
        modified: candidate.modified,
        created: candidate.created,
        id: candidate.id,
        title,
        cwd,
    })
}

/// The first line as JSON. Of a longer one than anybody writes nothing is kept.
fn first_line(reader: &mut impl BufRead) -> Option<Value> {
    let mut line = Vec::new();
    reader.by_ref().take(SMALL_FILE).read_until(b'\n', &mut line).ok()?;
    serde_json::from_str(&String::from_utf8_lossy(&line)).ok()
}

/// How many lines there are that are not blank, without keeping any.
fn count_lines(reader: &mut impl BufRead) -> io::Result<usize> {
    let mut lines = 0;
    let mut is_blank = true;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(lines + usize::from(!is_blank));
        }
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            is_blank = is_blank && bytes[start..end].iter().all(u8::is_ascii_whitespace);
            lines += usize::from(!is_blank);
            is_blank = true;
            start = end + 1;
        }
        is_blank = is_blank && bytes[start..].iter().all(u8::is_ascii_whitespace);
        let length = bytes.len();
        reader.consume(length);
    }
}

fn settings(candidate: &Candidate) -> Value {
    let path = candidate.path.with_file_name(format!("{}.settings.json", candidate.id));
    small_json(&path).unwrap_or(Value::Null)
}

fn is_archived(settings: &Value) -> bool {
    match &settings["archivedAt"] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

fn favorites(root: &Path) -> HashSet<String> {
    let Some(Value::Array(ids)) = small_json(&root.join(".favorites")) else { return HashSet::new() };
    ids.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A small file as JSON, if it is one.
fn small_json(path: &Path) -> Option<Value> {
    fs_err::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SMALL_FILE).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A directory without links in its path, as the agent names it.
fn resolved(path: &Path) -> PathBuf {
    fs_err::canonicalize(path)
        .or_else(|_missing| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
