//! Hooks as the files tell them: `hooks.json` keyed by event, or the `hooks` of the settings. Which one runs is decided elsewhere.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Level;
use super::file::Reader;

/// Commands that run at an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookGroup {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// A pattern for what the event is about, such as the name of a tool. `None` is everything.
    pub matcher: Option<String>,
    /// The commands.
    pub commands: Vec<HookCommand>,
    /// Whose it is.
    pub level: Level,
}

/// One command of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// For the shell.
    pub command: String,
    /// How long it may take, if the file says so.
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
    #[serde(rename = "command")]
    text: String,
    #[serde(default)]
    timeout: Option<f64>,
}

/// The hooks of a `hooks.json`.
pub(super) fn of_file(reader: &mut Reader<'_>, level: Level) -> Vec<HookGroup> {
    let json = reader.json;
    // some write the whole of it below a key, as it stands in the settings
    match json.map().get("hooks").and_then(Value::as_object) {
        Some(inner) => of_events(reader, inner, "hooks.", level),
        None => of_events(reader, json.map(), "", level),
    }
}

/// The hooks of a settings file.
pub(super) fn of_settings(reader: &mut Reader<'_>, level: Level) -> Vec<HookGroup> {
    match reader.json.field("hooks") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(events)) => of_events(reader, events, "hooks.", level),
        Some(_) => {
            reader.complain("hooks", "it must be an object with an event as each key");
            Vec::new()
        }
    }
}

fn of_events(
    reader: &mut Reader<'_>,
    events: &Map<String, Value>,
    prefix: &str,
    level: Level,
) -> Vec<HookGroup> {
    let mut all = Vec::new();
    for (event, groups) in events {
        let Some(groups) = groups.as_array() else {
            reader.complain(&format!("{prefix}{event}"), "it must be a list");
            continue;
        };
        for (index, group) in groups.iter().enumerate() {
            match Group::deserialize(group) {
                Ok(group) => all.push(typed(event, group, level)),
                Err(error) => reader.complain(&format!("{prefix}{event}[{index}]"), error.to_string()),
            }
        }
    }
    all.retain(|group| !group.commands.is_empty());
    if !all.is_empty() && !reader.is_believed {
        reader.ignore("hooks");
        all.clear();
    }
    all
}

fn typed(event: &str, group: Group, level: Level) -> HookGroup {
    let is_command = |one: &Command| one.kind.as_deref().is_none_or(|kind| kind == "command");
    let commands = group.hooks.into_iter().filter(is_command).map(|one| HookCommand {
        command: one.text,
        timeout: one.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    });
    HookGroup {
        event: event.to_owned(),
        matcher: group.matcher.filter(|matcher| !matcher.is_empty() && matcher != "*"),
        commands: commands.collect(),
        level,
    }
}
