//! The calls that only the console makes: the overview of all sessions, and what they have spent.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use musher_engine::store::Summary;
use musher_engine::{Content, Ledger, SessionId, Spending, Visibility};
use musher_wire::{Extra, Json, RpcError};
use serde_json::{Map, Value, json};

use crate::daemon::hub::Hub;
use crate::daemon::{error, params};

/// The calls, which need no agent.
const KNOWN: [&str; 5] =
    ["console.list_sessions", "console.search", "console.get_usage", "console.get_turns", CREATE_LOGIN];
const CREATE_LOGIN: &str = "console.create_login";
/// The port of the console, if it is free.
const PORT: u16 = 37644;
/// Limits of a search.
const MAX_HITS: usize = 50;
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of the text around a hit, in characters.
const MAX_SNIPPET: usize = 160;
/// The ends of turns that a page gets, and how much of the journal is read at once for them.
const MAX_TURNS: usize = 1000;
const CHUNK: usize = 1024 * 1024;

pub(crate) fn is_known(method: &str) -> bool {
    KNOWN.contains(&method)
}

/// Answers a call. Reads the disk.
pub(crate) fn handle(hub: &Arc<Hub>, method: &str, fields: &Extra) -> Result<Json, RpcError> {
    match method {
        "console.list_sessions" => Ok(Json::from(sessions(hub))),
        "console.search" => search(hub, &params::text(fields, "query")?),
        "console.get_usage" => Ok(Json::from(usage(hub))),
        "console.get_turns" => turns(hub, &params::text(fields, "sessionId")?),
        CREATE_LOGIN => create_login(hub, params::optional(fields, "port", "number")?),
        _ => Err(error::unknown_method(method)),
    }
}

/// Creates a link that logs a browser in. Listens on a loopback port if the daemon has none.
fn create_login(hub: &Arc<Hub>, port: Option<u16>) -> Result<Json, RpcError> {
    let address = hub.console.address(hub, port.unwrap_or(PORT), port.is_none());
    let mut address =
        address.map_err(|failure| error::internal(format!("cannot listen for browsers: {failure}")))?;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    Ok(Json::from(json!({"url": format!("http://{address}/console/"), "ticket": hub.console.ticket()})))
}

/// Returns all sessions, newest first, with everything that the overview shows.
fn sessions(hub: &Hub) -> Value {
    let opened: HashMap<_, _> = hub.registry.opened().into_iter().collect();
    let mut branches = HashMap::new();
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for session in hub.options.store.list_with_archived(None, usize::MAX) {
        let info = opened.get(&session.id);
        seen.push(session.id.clone());
        if session.is_unused && info.is_none() {
            continue;
        }
        let mut row = row(&session);
        if let Some(info) = info {
            row["workingState"] = info.state.as_str().into();
            row["isOpen"] = true.into();
        }
        if let Some(branch) = session.cwd.as_deref().and_then(|cwd| branch_of(cwd, &mut branches)) {
            row["branch"] = branch.into();
        }
        rows.push(row);
    }
    for (id, info) in opened.iter().filter(|(id, _)| !seen.contains(id)) {
        let mut row = json!({
            "sessionId": id.as_str(), "isOpen": true, "workingState": info.state, "updatedAt": info.updated_ms,
            "createdAt": info.updated_ms, "title": info.title, "cwd": info.cwd, "costUsd": 0, "calls": 0,
        });
        if let Some(branch) = info.cwd.as_deref().and_then(|cwd| branch_of(Path::new(cwd), &mut branches)) {
            row["branch"] = branch.into();
        }
        rows.insert(0, row);
    }
    json!({"sessions": rows, "homedir": hub.options.user_home})
}

fn row(session: &Summary) -> Value {
    let settings = session.settings();
    let spending = Spending::of_session(&settings);
    let title = session.session_title.as_deref().unwrap_or(&session.title);
    let mut row = json!({
        "sessionId": session.id.as_str(),
        "title": title,
        "createdAt": milliseconds(session.created),
        "updatedAt": milliseconds(session.modified),
        "isArchived": session.is_archived,
        "costUsd": spending.cost.usd(),
        "unpricedTokens": spending.cost.unpriced_tokens(),
        "tokens": tokens(&spending),
    });
    if let Some(cwd) = &session.cwd {
        row["cwd"] = cwd.to_string_lossy().into();
    }
    if let Some(parent) = &session.parent {
        row["parentId"] = parent.as_str().into();
    }
    for (field, name) in [
        ("model", "model"),
        ("tags", "tags"),
        ("autonomyLevel", "autonomyLevel"),
        ("interactionMode", "interactionMode"),
        ("contextLimit", "contextLimit"),
        ("lastTurnReason", "lastTurnReason"),
    ] {
        if let Some(value) = settings.get(field) {
            row[name] = value.clone();
        }
    }
    if let Some(counts) = settings.get("lastCallTokenUsage").and_then(Value::as_object) {
        let parts = ["inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens"];
        let count = |part: &str| counts.get(part).and_then(Value::as_u64).unwrap_or(0);
        row["contextTokens"] = parts.map(count).iter().sum::<u64>().into();
    }
    row
}

fn tokens(spending: &Spending) -> Value {
    let usage = spending.usage;
    json!({
        "input": usage.input, "cacheRead": usage.cache_read, "cacheWrite": usage.cache_write,
        "output": usage.output, "thinking": usage.thinking,
    })
}

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the branch of a working directory, from the file that git keeps it in.
fn branch_of(cwd: &Path, known: &mut HashMap<PathBuf, Option<String>>) -> Option<String> {
    if let Some(branch) = known.get(cwd) {
        return branch.clone();
    }
    let branch = cwd.ancestors().find_map(head_of).and_then(|head| {
        let text = head.trim();
        let branch = text.strip_prefix("ref: refs/heads/").map(str::to_owned);
        // without a branch, the beginning of the commit
        branch.or_else(|| text.get(..8).map(str::to_owned))
    });
    known.insert(cwd.to_owned(), branch.clone());
    branch
}

fn head_of(folder: &Path) -> Option<String> {
    let git = folder.join(".git");
    if git.is_dir() {
        return fs_err::read_to_string(git.join("HEAD")).ok();
    }
    // a worktree: the file names its directory
    let pointer = fs_err::read_to_string(&git).ok()?;
    let target = pointer.trim().strip_prefix("gitdir: ")?;
    fs_err::read_to_string(folder.join(target).join("HEAD")).ok()
}

/// Returns the sessions with a text in a prompt or an answer, newest first, each with its first place.
fn search(hub: &Hub, query: &str) -> Result<Json, RpcError> {
    let wanted = query.trim().to_lowercase();
    if wanted.is_empty() {
        return Err(error::invalid_value("query", "empty"));
    }
    let started = Instant::now();
    let (mut hits, mut is_complete) = (Vec::new(), true);
    for session in hub.options.store.list_with_archived(None, usize::MAX) {
        if hits.len() >= MAX_HITS || started.elapsed() > SEARCH_TIMEOUT {
            is_complete = false;
            break;
        }
        // a session that cannot be read has no hits
        let Ok(stored) = hub.options.store.read(&session.id) else { continue };
        let shown = stored.messages.iter().filter(|message| message.visibility != Visibility::LlmOnly);
        let mut places =
            shown.flat_map(|message| message.content.iter().map(move |content| (message, content)));
        let hit = places.find_map(|(message, content)| match content {
            Content::Text(text) => Some((message, snippet(text, &wanted)?)),
            _ => None,
        });
        if let Some((message, text)) = hit {
            hits.push(json!({"sessionId": session.id.as_str(), "messageId": message.id, "text": text}));
        }
    }
    Ok(Json::from(json!({"hits": hits, "isComplete": is_complete})))
}

/// Returns the line of a text with what is searched for, shortened.
fn snippet(text: &str, wanted: &str) -> Option<String> {
    let line = text.lines().find(|line| line.to_lowercase().contains(wanted))?;
    let at = line
        .to_lowercase()
        .find(wanted)
        .map_or(0, |at| line.char_indices().take_while(|(byte, _)| *byte < at).count());
    Some(line.chars().skip(at.saturating_sub(MAX_SNIPPET / 4)).take(MAX_SNIPPET).collect())
}

/// Returns what all sessions have spent, by day, model and project.
fn usage(hub: &Hub) -> Value {
    let mut rows: Vec<Value> = Vec::new();
    for session in hub.options.store.list_with_archived(None, usize::MAX) {
        let day: String = jiff::Timestamp::try_from(session.modified)
            .map(|at| at.to_string().chars().take(10).collect())
            .unwrap_or_default();
        let ledger = Ledger::of_session(&session.settings(), &day);
        let project = session.cwd.as_deref().map(Path::to_string_lossy).unwrap_or_default().into_owned();
        for (day, model, spending) in ledger.entries() {
            let mut row = Map::new();
            row.insert("day".to_owned(), day.into());
            row.insert("model".to_owned(), model.into());
            row.insert("project".to_owned(), project.as_str().into());
            row.insert("sessionId".to_owned(), session.id.as_str().into());
            row.insert("calls".to_owned(), spending.calls.into());
            row.insert("costUsd".to_owned(), spending.cost.usd().into());
            row.insert("unpricedTokens".to_owned(), spending.cost.unpriced_tokens().into());
            row.insert("tokens".to_owned(), tokens(&spending));
            rows.push(Value::from(row));
        }
    }
    json!({"rows": rows})
}

/// Returns how the turns of an open session have ended, oldest first: their reasons, times, tokens and costs, from the journal.
fn turns(hub: &Hub, session: &str) -> Result<Json, RpcError> {
    let id =
        SessionId::parse(session).ok_or_else(|| error::invalid_value("sessionId", "not a session id"))?;
    let topic = hub.registry.topic(&id).ok_or_else(|| error::internal("the session is not open"))?;
    let (mut after, mut found) = (topic.first().saturating_sub(1), VecDeque::new());
    loop {
        let events =
            topic.read(after, CHUNK).map_err(|failure| error::internal(failure.with_causes().to_string()))?;
        let Some(last) = events.last() else { break };
        after = last.sequence;
        let ends = events.iter().filter(|event| event.payload.contains("\"agent_turn_completed\""));
        let ends = ends.filter_map(|event| serde_json::from_str::<Value>(&event.payload).ok());
        found.extend(ends.filter(|end| end["type"] == "agent_turn_completed"));
        while found.len() > MAX_TURNS {
            found.pop_front();
        }
    }
    Ok(Json::from(json!({"turns": found})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_is_the_part_of_a_line_around_the_hit() {
        assert_eq!(snippet("one\nthe Needle here\n", "needle").as_deref(), Some("the Needle here"));
        let long = format!("{}needle{}", "a".repeat(500), "b".repeat(500));
        let found = snippet(&long, "needle").unwrap();
        assert!(found.contains("needle") && found.chars().count() == MAX_SNIPPET, "{found}");
        assert_eq!(snippet("nothing", "needle"), None);
    }

    #[test]
    fn branch_is_read_from_a_repository_and_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let (repository, worktree) = (folder.path().join("r"), folder.path().join("w"));
        fs_err::create_dir_all(repository.join(".git/worktrees/w")).unwrap();
        fs_err::create_dir_all(repository.join("src")).unwrap();
        fs_err::create_dir(&worktree).unwrap();
        fs_err::write(repository.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        let pointer = format!("gitdir: {}\n", repository.join(".git/worktrees/w").display());
        fs_err::write(worktree.join(".git"), pointer).unwrap();
        fs_err::write(repository.join(".git/worktrees/w/HEAD"), "0123456789abcdef\n").unwrap();
        let mut known = HashMap::new();
        assert_eq!(branch_of(&repository.join("src"), &mut known).as_deref(), Some("feature/x"));
        assert_eq!(branch_of(&worktree, &mut known).as_deref(), Some("01234567"));
        assert_eq!(branch_of(folder.path(), &mut known), None);
    }
}
