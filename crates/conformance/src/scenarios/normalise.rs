//! Removes from a transcript what differs by chance: ids, times, the order of racing messages. A pure function.
//!
//! Every id is named after the place where it first occurred, so two transcripts agree on an id if it plays the same role in both. Messages
//! that may come at several places, or more than once, are taken out of the order; the last of each kind is kept.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use testkit::capture::{Direction, Record};

/// A message to the client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// The kind of a notification, or the request that it responds to.
    pub(crate) kind: String,
    /// The content.
    pub(crate) body: Value,
}

/// Notifications whose number and position vary.
pub(crate) const UNORDERED: &[&str] =
    &["session_token_usage_changed", "mcp_status_changed", "tool_progress_update"];

/// Titles that may come at any time, or not at all if the session is closed first.
const AUTOMATIC_TITLES: &[&str] =
    &["session_title_updated first_user_message", "session_title_updated llm_generated"];

/// Prefixes of the ids of reminder messages, which contain nothing for the client.
const REMINDERS: &[&str] = &["todo-suggest-", "__internal__system-reminder__"];
/// The prefix of context messages. Those at the beginning of a session are compared; later ones are reminders.
const CONTEXT: &str = "context-";

/// Numbers and texts that are a time, a duration or a size, and may differ.
const MEASURED: &[&str] = &[
    "createdAt",
    "updatedAt",
    "timestamp",
    "durationMs",
    "hookOrder",
    "factoryCredits",
    "mtime",
    "size",
    "contentHash",
    "tokens",
    "used",
    "remaining",
    "usedTokens",
    "freeTokens",
    "lastCallCompactionTokens",
    "terminalId",
];

/// Texts for users, which musher words differently.
const PROSE: &[&str] = &["description", "label"];

/// Returns the messages to the client in a comparable form.
pub(crate) fn normalise(records: &[Record]) -> Vec<Line> {
    let methods = methods(records);
    let mut names = Names::default();
    let mut reminders = Reminders::default();
    let mut state = "droid_working_state_changed idle".to_owned();
    let mut lines: Vec<Line> = Vec::new();
    let mut unordered: Vec<Line> = Vec::new();
    let mut is_changing = false;
    let mut results = HashSet::new();
    for record in records {
        if record.dir == Direction::C2s {
            is_changing |= record.msg["method"] == "droid.update_session_settings";
            continue;
        }
        let Some(mut line) = line(&record.msg, &methods) else { continue };
        if reminders.is_one(&mut line) || AUTOMATIC_TITLES.contains(&line.kind.as_str()) {
            continue;
        }
        // the first result of a call counts; droid repeats some when a turn is interrupted
        if line.kind == "tool_result" && !results.insert(line.body["toolUseId"].to_string()) {
            continue;
        }
        if let Some(result) = line.body.get_mut("result") {
            reminders.take_out(result);
        }
        if line.kind.ends_with("droid.update_session_settings") {
            is_changing = false;
        }
        if line.kind == "settings_updated" && is_changing {
            // on the way to the requested settings, intermediate states are reported
            if line.body.get("requestId").is_none() {
                continue;
            }
            is_changing = false;
        }
        if line.kind.starts_with("llm_retry")
            && let Some(body) = line.body.as_object_mut()
        {
            // only musher says when and why
            body.retain(|key, _| !matches!(key.as_str(), "delayMs" | "message"));
        }
        if line.kind.starts_with("droid_working_state_changed") {
            if line.kind == state {
                continue;
            }
            state.clone_from(&line.kind);
        }
        line.body = names.name(&line.kind, &without_chance(line.body));
        if UNORDERED.contains(&line.kind.as_str()) {
            // which count comes last is chance; those at the end of a turn are compared
            if line.kind == "session_token_usage_changed" {
                line.body = without_numbers(line.body);
            }
            unordered.retain(|other| other.kind != line.kind);
            unordered.push(line);
        } else if !joined(lines.last_mut(), &line) {
            lines.push(line);
        }
    }
    unordered.sort_by(|one, other| one.kind.cmp(&other.kind));
    lines.extend(unordered);
    lines
}

/// Reminders, and the messages they followed: a message that follows a reminder follows that instead.
#[derive(Default)]
struct Reminders {
    followed: HashMap<String, Value>,
    /// Sessions whose beginning has passed.
    begun: HashSet<String>,
}

impl Reminders {
    fn is_one(&mut self, line: &mut Line) -> bool {
        let session = line.body["(session)"].to_string();
        let Some(message) = line.body.get_mut("message") else { return false };
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        let is_later = id.starts_with(CONTEXT) && !self.begun.insert(session);
        if is_later || REMINDERS.iter().any(|start| id.starts_with(start)) {
            let parent = self.parent(message);
            self.followed.insert(id, parent);
            return true;
        }
        if message.get("parentId").is_some() {
            message["parentId"] = self.parent(message);
        }
        false
    }

    /// Takes the reminders out of a loaded session.
    fn take_out(&mut self, result: &mut Value) {
        let Some(Value::Array(messages)) = result.pointer_mut("/session/messages") else { return };
        messages.retain_mut(|message| {
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            let is_reminder = REMINDERS.iter().any(|start| id.starts_with(start));
            if is_reminder {
                let parent = self.parent(message);
                self.followed.insert(id, parent);
            } else if message.get("parentId").is_some() {
                message["parentId"] = self.parent(message);
            }
            !is_reminder
        });
    }

    /// Returns the parent of a message, without reminders.
    fn parent(&self, message: &Value) -> Value {
        let parent = &message["parentId"];
        parent.as_str().and_then(|id| self.followed.get(id)).unwrap_or(parent).clone()
    }
}

/// Maps each request of the client to its method.
fn methods(records: &[Record]) -> HashMap<String, String> {
    let asked = records.iter().filter(|record| record.dir == Direction::C2s).map(|record| &record.msg);
    let asked = asked.filter_map(|message| {
        Some((message.get("id")?.as_str()?.to_owned(), message.get("method")?.as_str()?.to_owned()))
    });
    asked.collect()
}

fn line(message: &Value, methods: &HashMap<String, String>) -> Option<Line> {
    let params = message.get("params").cloned().unwrap_or_default();
    let (kind, body) = match message["type"].as_str() {
        Some("notification") => {
            let mut body = params.get("notification").cloned().unwrap_or_default();
            let kind = kind_of(&body);
            if let Some(session) = params.get("sessionId") {
                body["(session)"] = session.clone();
            }
            (kind, body)
        }
        Some("request") => (format!("request {}", message["method"].as_str()?), params),
        Some("response") => {
            let id = message["id"].as_str().unwrap_or("null");
            let method = methods.get(id).map_or("nothing known", String::as_str);
            let part = |name: &str| message.get(name).cloned();
            let body = match (part("result"), part("error")) {
                (Some(result), None) => json!({"result": result}),
                (None, Some(error)) => json!({"error": error}),
                (result, error) => json!({"result": result, "error": error}),
            };
            (format!("answer {id} to {method}"), body)
        }
        _ => ("of no kind".to_owned(), message.clone()),
    };
    Some(Line { kind, body })
}

/// Returns the kind of a notification, with the field that distinguishes it from others of its kind.
fn kind_of(body: &Value) -> String {
    let kind = body["type"].as_str().unwrap_or("of no type");
    let more = match kind {
        "droid_working_state_changed" => body["newState"].as_str(),
        "create_message" => body["message"]["role"].as_str(),
        "tool_execution_phase_changed" => body["phase"].as_str(),
        "session_title_updated" => body["updateType"].as_str(),
        "hook_execution_started" | "hook_execution_completed" => body["hookEventName"].as_str(),
        _ => None,
    };
    more.map_or_else(|| kind.to_owned(), |more| format!("{kind} {more}"))
}

/// Joins a line to the one before if it only adds text.
fn joined(last: Option<&mut Line>, line: &Line) -> bool {
    let Some(last) = last.filter(|last| last.kind == line.kind) else { return false };
    let is_same = ["messageId", "blockIndex", "(session)"]
        .iter()
        .all(|field| last.body.get(field) == line.body.get(field));
    let (Some(text), Some(more)) = (last.body["textDelta"].as_str(), line.body["textDelta"].as_str()) else {
        return false;
    };
    if is_same {
        last.body["textDelta"] = format!("{text}{more}").into();
    }
    is_same
}

fn without_chance(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(without_chance).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let value = field(&name, value);
                (name, value)
            });
            // the order of fields has no meaning
            let mut fields: Vec<_> = fields.collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(fields.into_iter().collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn without_numbers(value: Value) -> Value {
    match value {
        Value::Number(_) => "(number)".into(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, without_numbers(value))).collect())
        }
        other => other,
    }
}

fn field(name: &str, value: Value) -> Value {
    let is_leaf = value.is_number() || value.is_string();
    match (name, value) {
        // only models of the user: the others come with an account
        ("availableModels" | "models", Value::Array(models)) => {
            models.into_iter().filter(|model| model["isCustom"] == true).map(without_chance).collect()
        }
        // by their ids, so that an additional tool does not shift the others
        ("tools", Value::Array(tools)) if tools.iter().all(|tool| tool["id"].is_string()) => {
            let by_id =
                tools.into_iter().map(|tool| (tool["id"].as_str().unwrap_or_default().to_owned(), tool));
            without_chance(Value::Object(by_id.collect()))
        }
        // nor those that come with the program
        ("skills" | "droids", Value::Array(items)) => {
            let own =
                items.into_iter().filter(|item| !(item["location"] == "builtin" || is_made_by_droid(item)));
            own.map(without_chance).collect()
        }
        (name, value) if MEASURED.contains(&name) && is_leaf => {
            if value.is_number() {
                "(number)".into()
            } else {
                "(text)".into()
            }
        }
        (name, Value::String(_)) if PROSE.contains(&name) => "(prose)".into(),
        // stored messages for the model alone
        ("content", Value::Array(blocks)) if blocks.iter().any(is_reminder_text) => "(reminder)".into(),
        // the progress of a tool
        ("update", update) => json!({"type": update["type"]}),
        (_, value) => without_chance(value),
    }
}

/// Two subagents that droid itself puts into the user's directory.
fn is_made_by_droid(item: &Value) -> bool {
    ["user-testing-flow-validator", "scrutiny-feature-reviewer"].iter().any(|name| item["name"] == *name)
}

fn is_reminder_text(block: &Value) -> bool {
    block["text"].as_str().is_some_and(|text| text.starts_with("<system-reminder>"))
}

/// The names of ids.
#[derive(Default)]
struct Names {
    given: HashMap<String, String>,
    counts: HashMap<String, u32>,
}

impl Names {
    fn name(&mut self, place: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(place, text).into(),
            Value::Array(items) => items.iter().map(|item| self.name(place, item)).collect(),
            Value::Object(fields) => {
                let named = |(name, value): (&String, &Value)| {
                    (name.clone(), self.name(&format!("{place}.{name}"), value))
                };
                Value::Object(fields.iter().map(named).collect())
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, place: &str, text: &str) -> String {
        let mut done = String::new();
        let mut rest = text;
        while let Some((start, length)) = find_id(rest) {
            done.push_str(&rest[..start]);
            let id = &rest[start..start + length];
            if !self.given.contains_key(id) {
                let count = self.counts.entry(place.to_owned()).or_default();
                *count += 1;
                self.given.insert(id.to_owned(), format!("<{place} {count}>"));
            }
            done.push_str(&self.given[id]);
            rest = &rest[start + length..];
        }
        done + rest
    }
}

/// Returns the position of the first id: a UUID, or a call of the scripted model.
fn find_id(text: &str) -> Option<(usize, usize)> {
    const UUID: usize = 36;
    const CALL: &str = "call_rehearsal_";
    let is_uuid = |at: usize| {
        text.as_bytes().get(at..at + UUID).is_some_and(|bytes| {
            bytes.iter().enumerate().all(|(n, byte)| match n {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        })
    };
    (0..text.len()).find_map(|at| {
        if is_uuid(at) {
            return Some((at, UUID));
        }
        let tail = text.get(at..)?.strip_prefix(CALL)?;
        let length = tail
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(tail.len());
        Some((at, CALL.len() + length))
    })
}
