//! Worktrees: a session that asks for one works in its own git worktree, on its own branch.
//!
//! Each worktree has a note beside it, so that it can be listed without its session. A worktree is removed only if that loses nothing:
//! no file in it is uncommitted, untracked or ignored, and its commits are in another branch. Hooks of the repository do not run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use musher_engine::SessionId;
use musher_engine::store::Summary;
use musher_wire::{Extra, Json, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::hub::{Hub, now_ms};
use super::{error, params};
use crate::console::git;

/// Files that are counted for the size of a worktree.
const MAX_FILES: u64 = 200_000;
const MAX_NAME: usize = 64;
/// How long a worktree may be without a session on disk.
const NEW_MS: i64 = 3_600_000;
/// Maximum size of a note.
const MAX_NOTE: u64 = 64 * 1024;

/// The calls about worktrees.
const KNOWN: [&str; 2] = ["daemon.list_worktrees", "daemon.remove_worktree"];

pub(crate) fn is_known(method: &str) -> bool {
    KNOWN.contains(&method)
}

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    name: Option<String>,
    base: Option<String>,
    folder: Option<PathBuf>,
}

/// A worktree, as its note has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Worktree {
    name: String,
    path: PathBuf,
    branch: String,
    /// The commit it began with.
    base: String,
    /// The working tree that it belongs to.
    repository: PathBuf,
    /// The session's directory in the repository.
    prefix: PathBuf,
    session_id: String,
    created_at: i64,
}

impl Worktree {
    /// Returns the working directory of the session.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.path.join(&self.prefix)
    }

    fn session(&self) -> Option<SessionId> {
        SessionId::parse(&self.session_id)
    }

    fn is_open(&self, hub: &Hub) -> bool {
        let info = self.session().and_then(|session| hub.registry.info(&session));
        info.is_some_and(|info| info.has_agent)
    }

    /// Returns the worktree for clients.
    pub(crate) fn value(&self) -> Value {
        json!({
            "name": self.name, "path": self.path, "branch": self.branch, "base": self.base, "repository": self.repository,
            "sessionId": self.session_id, "createdAt": self.created_at,
        })
    }
}

/// Reads what a client asks for in `worktree`, `worktreeName`, `worktreeBase` and `worktreeDir`.
pub(crate) fn wanted(fields: &Extra) -> Result<Option<Wanted>, RpcError> {
    let given = fields.get("worktree").map_or(Value::Null, |given| given.to_value().unwrap_or_default());
    let (mut name, mut base) = match &given {
        Value::Null | Value::Bool(false) => return Ok(None),
        Value::Bool(true) => (None, None),
        Value::Object(of) => (of.get("name").cloned(), of.get("base").cloned()),
        _ => return Err(error::invalid("worktree", "boolean", "other")),
    };
    for (field, value) in [("worktreeName", &mut name), ("worktreeBase", &mut base)] {
        if let Some(text) = params::optional::<String>(fields, field, "string")? {
            *value = Some(text.into());
        }
    }
    let text = |field: &str, value: Option<Value>| match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(error::invalid(field, "string", "other")),
    };
    let (name, base) = (text("worktree.name", name)?, text("worktree.base", base)?);
    if let Some(name) = &name {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_valid = (1..=MAX_NAME).contains(&name.len())
            && name.bytes().all(is_plain)
            && name.as_bytes()[0].is_ascii_alphanumeric()
            && !name.contains("..")
            && !name.ends_with('.')
            && name.strip_suffix(".lock").is_none();
        if !is_valid {
            let message = "expected letters, digits, `-`, `_` and `.`, at most 64";
            return Err(error::invalid_value("worktree.name", message));
        }
    }
    let folder = params::optional::<String>(fields, "worktreeDir", "string")?.map(PathBuf::from);
    if folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
        return Err(error::invalid_value("worktreeDir", "expected an absolute path"));
    }
    Ok(Some(Wanted { name, base, folder }))
}

/// Creates a worktree for a session in this directory. A session that has one keeps it.
pub(crate) async fn create(
    hub: &Hub,
    session: &SessionId,
    cwd: &Path,
    wanted: Wanted,
) -> Result<Worktree, RpcError> {
    let root = root(hub)?;
    if let Some(known) = all(&root).into_iter().find(|known| known.session_id == session.as_str()) {
        return Ok(known);
    }
    let no_repository = |_| error::invalid_value("worktree", "the directory is not in a git repository");
    let line = |text: String| text.trim_end_matches('\n').to_owned();
    let top = git::run(cwd, &["rev-parse", "--show-toplevel"], None).await?;
    let repository = PathBuf::from(line(top.succeeded().map_err(no_repository)?));
    let prefix =
        PathBuf::from(line(git::run(cwd, &["rev-parse", "--show-prefix"], None).await?.succeeded()?));
    let commit = format!("{}^{{commit}}", wanted.base.as_deref().unwrap_or("HEAD"));
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    let base = git::run(cwd, &arguments, None).await?.succeeded();
    let base = line(base.map_err(|_unknown| {
        error::invalid_value("worktree.base", "there is no such commit in the repository")
    })?);
    let name = wanted.name.unwrap_or_else(|| {
        let id = session.as_str().bytes().filter(u8::is_ascii_alphanumeric).map(char::from);
        id.take(MAX_NAME).collect()
    });
    let path = wanted.folder.unwrap_or_else(|| root.clone()).join(&name);
    let worktree = Worktree {
        branch: format!("musher/{name}"),
        name,
        path,
        base,
        repository,
        prefix,
        session_id: session.as_str().to_owned(),
        created_at: now_ms(),
    };
    let note = note(&root, &worktree.name);
    write_note(&root, &note, &worktree)?;
    let added = add(&worktree).await;
    if added.is_err() {
        // nothing but the note was made
        fs_err::remove_file(&note).ok();
    }
    added.map(|()| worktree)
}

async fn add(worktree: &Worktree) -> Result<(), RpcError> {
    if fs_err::symlink_metadata(&worktree.path).is_ok() {
        let message = format!("`{}` already exists", worktree.path.display());
        return Err(error::invalid_value("worktree.name", &message));
    }
    let path = text(&worktree.path)?;
    // a hook of the repository must not run because a client opens a session
    let quiet = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "-b", &worktree.branch];
    let arguments = [&quiet[..], &[path, &worktree.base]].concat();
    git::run(&worktree.repository, &arguments, None).await?.succeeded()?;
    if worktree.cwd().is_dir() {
        return Ok(());
    }
    // the directory of the session is not in that commit
    fs_err::create_dir_all(worktree.cwd()).map_err(|failure| error::internal(failure.to_string()))
}

/// What would be lost with a worktree.
#[derive(Debug, Default)]
struct State {
    is_present: bool,
    /// Files that are changed, untracked or ignored.
    uncommitted: usize,
    /// Commits since the one it began with.
    commits: u64,
    /// Whether another branch has all its commits.
    is_merged: bool,
}

impl State {
    /// Why the worktree must stay.
    fn obstacle(&self) -> Option<String> {
        if self.is_present && self.uncommitted > 0 {
            return Some(format!("{} files in it are not committed", self.uncommitted));
        }
        (!self.is_merged).then(|| format!("{} commits are in no other branch", self.commits))
    }
}

async fn state(worktree: &Worktree) -> Result<State, RpcError> {
    let own = format!("refs/heads/{}", worktree.branch);
    let is_present = worktree.path.is_dir();
    let mut state = State { is_present, is_merged: true, ..State::default() };
    let mut tips = vec![own.clone()];
    if is_present {
        let arguments = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=traditional"];
        let ran = git::run(&worktree.path, &arguments, None).await?;
        state.uncommitted = ran.succeeded()?.split('\0').filter(|line| !line.is_empty()).count();
        tips.push(
            git::run(&worktree.path, &["rev-parse", "HEAD"], None).await?.succeeded()?.trim().to_owned(),
        );
    }
    for tip in &tips {
        let range = format!("{}..{tip}", worktree.base);
        let count = git::run(&worktree.repository, &["rev-list", "--count", &range], None).await?;
        // the branch may have been deleted by a person
        let Ok(count) = count.succeeded() else { continue };
        state.commits = state.commits.max(count.trim().parse().unwrap_or(u64::MAX));
        let arguments =
            ["for-each-ref", "--format=%(refname)", "--contains", tip, "refs/heads", "refs/remotes"];
        let others = git::run(&worktree.repository, &arguments, None).await?.succeeded()?;
        state.is_merged &= others.lines().any(|name| name != own);
    }
    Ok(state)
}

/// Removes a worktree if that loses nothing. The error says why not.
async fn remove(hub: &Hub, root: &Path, worktree: &Worktree) -> Result<(), RpcError> {
    if worktree.is_open(hub) {
        return Err(error::internal("cannot remove the worktree: its session is open"));
    }
    let state = state(worktree).await?;
    if let Some(obstacle) = state.obstacle() {
        return Err(error::internal(format!("cannot remove the worktree: {obstacle}")));
    }
    if state.is_present {
        // git checks again, and keeps a worktree with changes
        let arguments = ["worktree", "remove", text(&worktree.path)?];
        git::run(&worktree.repository, &arguments, None).await?.succeeded()?;
    } else {
        git::run(&worktree.repository, &["worktree", "prune"], None).await?.succeeded()?;
    }
    let own = format!("refs/heads/{}", worktree.branch);
    let exists = git::run(&worktree.repository, &["rev-parse", "--verify", "--quiet", &own], None).await?;
    if exists.succeeded().is_ok() {
        let arguments = ["branch", "--quiet", "-D", "--", &worktree.branch];
        git::run(&worktree.repository, &arguments, None).await?.succeeded()?;
    }
    fs_err::remove_file(note(root, &worktree.name)).map_err(|failure| error::internal(failure.to_string()))
}

/// Answers a call about worktrees.
pub(crate) async fn handle(hub: &Arc<Hub>, method: &str, fields: &Extra) -> Result<Json, RpcError> {
    let root = root(hub)?;
    let value = if method == "daemon.list_worktrees" {
        json!({"worktrees": list(hub, &root).await?})
    } else {
        let name = params::text(fields, "name")?;
        let known = all(&root).into_iter().find(|known| known.name == name);
        let known = known.ok_or_else(|| error::invalid_value("name", "there is no such worktree"))?;
        remove(hub, &root, &known).await?;
        json!({"success": true})
    };
    Ok(Json::from(value))
}

async fn list(hub: &Hub, root: &Path) -> Result<Vec<Value>, RpcError> {
    let mut listed = Vec::new();
    for worktree in all(root) {
        let mut value = worktree.value();
        match state(&worktree).await {
            Ok(state) => {
                let obstacle = state.obstacle();
                value["uncommitted"] = state.uncommitted.into();
                value["commits"] = state.commits.into();
                value["isMerged"] = state.is_merged.into();
                value["isPresent"] = state.is_present.into();
                value["isRemovable"] = obstacle.is_none().into();
            }
            Err(failure) => value["error"] = failure.message.into(),
        }
        let path = worktree.path.clone();
        let size = spawn_blocking(move || size(&path)).await;
        value["bytes"] = size.map_err(|failed| error::internal(failed.to_string()))?.into();
        value["isOpen"] = worktree.is_open(hub).into();
        listed.push(value);
    }
    Ok(listed)
}

/// Removes the worktrees of sessions that are archived or deleted, as far as that loses nothing.
pub(crate) async fn clean_up(hub: &Hub) {
    let Ok(root) = root(hub) else { return };
    let worktrees = all(&root);
    if worktrees.is_empty() {
        return;
    }
    let store = hub.options.store.clone();
    let listed = spawn_blocking(move || store.list_with_archived(None, usize::MAX)).await;
    let Ok(listed) = listed else { return };
    for worktree in worktrees {
        let is_of = |session: &&Summary| session.id.as_str() == worktree.session_id;
        let is_over = match listed.iter().find(is_of) {
            Some(session) => session.is_archived,
            // a session that is being created is not on disk yet
            None => now_ms() - worktree.created_at > NEW_MS,
        };
        if !is_over {
            continue;
        }
        match remove(hub, &root, &worktree).await {
            Ok(()) => tracing::info!(name = worktree.name, "removed a worktree without changes"),
            Err(refusal) => tracing::debug!(name = worktree.name, %refusal, "a worktree stays"),
        }
    }
}

/// Returns the directory of the notes, and of worktrees without another one.
fn root(hub: &Hub) -> Result<PathBuf, RpcError> {
    let root = hub.options.worktrees.clone();
    root.ok_or_else(|| error::invalid_value("worktree", "this daemon has no directory for worktrees"))
}

fn note(root: &Path, name: &str) -> PathBuf {
    root.join(format!("{name}.json"))
}

/// Writes the note of a new worktree, which also reserves its name.
fn write_note(root: &Path, note: &Path, worktree: &Worktree) -> Result<(), RpcError> {
    let failed = |failure: std::io::Error| match failure.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let message = format!("a worktree `{}` already exists", worktree.name);
            error::invalid_value("worktree.name", &message)
        }
        _ => error::internal(format!("cannot write `{}`: {failure}", note.display())),
    };
    fs_err::create_dir_all(root).map_err(failed)?;
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(note).map_err(failed)?;
    let text = serde_json::to_string(worktree).map_err(|failure| error::internal(failure.to_string()))?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)
}

/// Returns all worktrees that have a note, by name.
fn all(root: &Path) -> Vec<Worktree> {
    let Ok(entries) = fs_err::read_dir(root) else { return Vec::new() };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let is_note = path.extension().is_some_and(|it| it == "json")
            && entry.metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_NOTE);
        if !is_note {
            continue;
        }
        let read =
            fs_err::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Worktree>(&text).ok());
        match read {
            Some(worktree) if note(root, &worktree.name) == path => all.push(worktree),
            _ => tracing::warn!(path = %path.display(), "skipped a damaged note of a worktree"),
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// Returns the size of all files in bytes. Follows no links.
fn size(path: &Path) -> u64 {
    let (mut folders, mut bytes, mut files) = (vec![path.to_owned()], 0_u64, 0);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            files += 1;
            if files > MAX_FILES {
                return bytes;
            }
            match entry.metadata() {
                Ok(it) if it.is_dir() => folders.push(entry.path()),
                Ok(it) => bytes += it.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

fn text(path: &Path) -> Result<&str, RpcError> {
    path.to_str().ok_or_else(|| error::invalid_value("worktreeDir", "the path is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(params: &Value) -> Result<Option<Wanted>, RpcError> {
        wanted(&serde_json::from_str(&params.to_string()).unwrap())
    }

    #[test]
    fn worktree_is_asked_for_by_a_flag_or_an_object() {
        for none in [json!({}), json!({"worktree": false}), json!({"worktree": null, "worktreeName": "a"})] {
            assert_eq!(read(&none).unwrap(), None);
        }
        let plain = read(&json!({"worktree": true})).unwrap().unwrap();
        assert_eq!(plain, Wanted { name: None, base: None, folder: None });
        let full = json!({"worktree": {"name": "a.b-1", "base": "main"}, "worktreeDir": "/x"});
        let expected =
            Wanted { name: Some("a.b-1".into()), base: Some("main".into()), folder: Some("/x".into()) };
        assert_eq!(read(&full).unwrap(), Some(expected));
        assert_eq!(
            read(&json!({"worktree": true, "worktreeName": "n"})).unwrap().unwrap().name.unwrap(),
            "n"
        );
        let long = "a".repeat(65);
        for name in ["", "..", ".a", "-a", "a/b", "a..b", "a.lock", "a.", &long] {
            assert!(read(&json!({"worktree": {"name": name}})).is_err(), "{name}");
        }
        for wrong in [
            json!({"worktree": 1}),
            json!({"worktree": {"base": 1}}),
            json!({"worktree": true, "worktreeDir": "x"}),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
