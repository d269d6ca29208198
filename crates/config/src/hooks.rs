//! Hooks as configured: `hooks.json` keyed by event, or `hooks` in the settings. The engine decides which ones run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file::Reader;
use super::{Level, Severity, keys};

/// The events that hooks can run at.
const EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "Notification",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionStart",
    "SessionEnd",
];
/// The events at which a hook can block an action. An invalid hook there is fatal: a guard would be missing.
const GUARDS: [&str; 2] = ["PreToolUse", "UserPromptSubmit"];
/// A setting that is easily misplaced among the events.
const SWITCH: &str = "hooksDisabled";
/// Other keys among the events, which the engine ignores.
const IGNORED: [&str; 3] = ["showHookOutput", "description", "version"];

/// Commands that run at an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookGroup {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// A pattern for the subject of the event, such as the name of a tool. `None` matches everything.
    pub matcher: Option<String>,
    /// The commands.
    pub commands: Vec<HookCommand>,
    /// The level of its file.
    pub level: Level,
}

/// One command of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The shell command.
    pub command: String,
    /// Its timeout, if configured.
    pub timeout: Option<Duration>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    matcher: Option<String>,
    hooks: Vec<Command>,
}

#[derive(Deserialize)]
struct Command {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    /// `None` for hooks of other types.
    #[serde(rename = "command", default)]
    text: Option<String>,
    #[serde(default)]
    timeout: Option<f64>,
}

impl Command {
    /// Returns why it cannot run, or `None` if it can.
    fn mistake(&self) -> Option<String> {
        match (self.kind.as_deref(), &self.text) {
            (None | Some("command"), Some(_)) => None,
            (None | Some("command"), None) => Some("missing field `command`".to_owned()),
            (Some(kind), _) => Some(format!("hooks of type `{kind}` are not supported, only `command` is")),
        }
    }
}

/// Reads the hooks of a `hooks.json`.
pub(super) fn of_file(reader: &mut Reader<'_>, level: Level) -> Vec<HookGroup> {
    let json = reader.json;
    // some files nest everything below `hooks`, as in the settings
    if json.map().contains_key("hooks") {
        return of_settings(reader, level);
    }
    of_events(reader, json.map(), "", level)
}

/// Reads the hooks of a settings file.
pub(super) fn of_settings(reader: &mut Reader<'_>, level: Level) -> Vec<HookGroup> {
    match reader.json.field("hooks") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(events)) => of_events(reader, events, "hooks.", level),
        Some(_) => {
            reader.report("hooks", "expected an object with a hook event as each key", reader.severity());
            Vec::new()
        }
    }
}

/// Reads the groups of each event. A hook may be a guard, so an invalid entry of a known event is fatal.
fn of_events(
    reader: &mut Reader<'_>,
    events: &Map<String, Value>,
    prefix: &str,
    level: Level,
) -> Vec<HookGroup> {
    let severity = reader.severity();
    let mut all = Vec::new();
    for (event, groups) in events {
        let field = format!("{prefix}{event}");
        if event == SWITCH && *groups != Value::Bool(false) && !groups.is_null() {
            reader.report(&field, format!("expected `{SWITCH}` beside `hooks`, not in it"), severity);
        }
        if !EVENTS.contains(&event.as_str()) {
            if event != SWITCH && !IGNORED.contains(&event.as_str()) && !keys::is_comment(event) {
                let message = keys::unknown("hook event", event, &EVENTS);
                reader.report(&field, message, Severity::Warning);
            }
            continue;
        }
        let Some(groups) = groups.as_array() else {
            reader.report(&field, "expected a list", severity);
            continue;
        };
        for (index, group) in groups.iter().enumerate() {
            let field = format!("{field}[{index}]");
            match Group::deserialize(group) {
                Ok(group) => {
                    let severity = if GUARDS.contains(&event.as_str()) { severity } else { Severity::Error };
                    for mistake in group.hooks.iter().filter_map(Command::mistake) {
                        reader.report(&field, mistake, severity);
                    }
                    all.push(typed(event, group, level));
                }
                Err(error) => reader.report(&field, error.to_string(), severity),
            }
        }
    }
    all.retain(|group| !group.commands.is_empty());
    if !all.is_empty() && !reader.is_file_trusted {
        reader.ignore("hooks");
        all.clear();
    }
    all
}

fn typed(event: &str, group: Group, level: Level) -> HookGroup {
    let usable = group.hooks.into_iter().filter(|one| one.mistake().is_none());
    let commands = usable.map(|one| HookCommand {
        command: one.text.unwrap_or_default(),
        timeout: one.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    });
    HookGroup {
        event: event.to_owned(),
        matcher: group.matcher.filter(|matcher| !matcher.is_empty() && matcher != "*"),
        commands: commands.collect(),
        level,
    }
}
