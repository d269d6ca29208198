//! Which sessions there are, as droid and its SDKs list them.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::disk;
use super::open::resolved;
use super::paths::{Paths, id_of};
use super::record::{self, Line};
use super::{SessionId, Store, settings_file, slug};

/// The longest first line that is looked at.
const LONGEST_FIRST_LINE: u64 = 1024 * 1024;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its title: the beginning of the first prompt, or what the user or a model made of it.
    pub title: String,
    /// The name that droid gave it, to be shown instead of the title.
    pub session_title: Option<String>,
    /// Whose it is; empty if nobody said.
    pub owner: String,
    /// Where it works.
    pub cwd: Option<PathBuf>,
    /// The session it came from.
    pub parent: Option<String>,
    /// When it was last written.
    pub modified: SystemTime,
    /// When it was made.
    pub created: SystemTime,
    /// Whether it is put away.
    pub is_archived: bool,
}

impl Store {
    /// The sessions of a directory, or all, newest first. Those that are put away, or whose first line is lost, are left out.
    pub fn list(&self, cwd: Option<&Path>, limit: usize) -> Vec<Summary> {
        self.summaries(cwd).filter(|session| !session.is_archived).take(limit).collect()
    }

    /// The same with those that are put away.
    pub fn list_with_archived(&self, cwd: Option<&Path>, limit: usize) -> Vec<Summary> {
        self.summaries(cwd).take(limit).collect()
    }

    fn summaries(&self, cwd: Option<&Path>) -> impl Iterator<Item = Summary> {
        let cwd = cwd.map(resolved);
        let folders = match &cwd {
            Some(cwd) => vec![self.sessions_folder().join(slug(cwd)), self.sessions_folder().to_owned()],
            None => self.folders(),
        };
        let mut found: Vec<_> = folders.iter().flat_map(|folder| logs(folder)).collect();
        found.sort_by(|(a_at, _, a), (b_at, _, b)| b_at.cmp(a_at).then_with(|| a.id().cmp(b.id())));
        let mut taken = HashSet::new();
        found.into_iter().filter_map(move |(modified, created, paths)| {
            let summary = summary(&paths, modified, created)?;
            let is_wanted = cwd.is_none() || summary.cwd.as_deref().map(resolved) == cwd;
            (is_wanted && taken.insert(summary.id.clone())).then_some(summary)
        })
    }
}

fn logs(folder: &Path) -> Vec<(SystemTime, SystemTime, Paths)> {
    let entries = fs_err::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let logs = entries.unwrap_or_default().into_iter().filter_map(|entry| {
        let id = id_of(&entry.path())?;
        let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let created = metadata.created().unwrap_or(modified);
        Some((modified, created, Paths::new(folder.to_owned(), id)))
    });
    logs.collect()
}

fn summary(paths: &Paths, modified: SystemTime, created: SystemTime) -> Option<Summary> {
    let mut line = Vec::new();
    let file = disk::open_to_read(&paths.log()).ok()?;
    BufReader::new(file.take(LONGEST_FIRST_LINE)).read_until(b'\n', &mut line).ok()?;
    let Some(Line::Start(start)) = record::parse(serde_json::from_slice::<Value>(&line).ok()?) else {
        return None;
    };
    start.get("title")?.as_str()?;
    let settings: Map<String, Value> = settings_file::read(paths).0;
    Some(Summary {
        id: paths.id().clone(),
        title: start.title().to_owned(),
        session_title: start.get("sessionTitle").and_then(Value::as_str).map(str::to_owned),
        owner: start.owner().to_owned(),
        cwd: start.cwd(),
        parent: start.parent().map(str::to_owned),
        modified,
        created,
        is_archived: settings_file::is_archived(&settings),
    })
}
