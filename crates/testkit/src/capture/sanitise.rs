//! Removes from a recorded message what must not or need not be kept. Pure.
//!
//! Must not be kept: paths of the machine, keys, host ids. Need not be kept: long lists of models, and the program's own texts. Everything
//! else is kept unchanged.

use std::path::Path;

use serde_json::{Map, Value};

const HOST_ID: &str = "11111111-1111-4111-8111-111111111111";
const HIDDEN_REMINDER: &str = "<system-reminder>...</system-reminder>";
const REMOVED: &str = "<removed>";
/// A longer description is the program's own text.
const MAX_DESCRIPTION_CHARS: usize = 80;
/// A longer string is shortened: a long title or output shows nothing more.
const MAX_STRING_CHARS: usize = 4000;
const SHORTENED_CHARS: usize = 200;

/// Sanitises a message; `replacements` are applied to every string, in order.
///
/// ```
/// use serde_json::json;
/// use testkit::capture::sanitise;
///
/// let message = json!({"cwd": "/tmp/x1/workspace/src", "hostId": "5f0c"});
/// let kept = sanitise(message, &[("/tmp/x1/workspace".to_owned(), "/workspace".to_owned())]);
/// assert_eq!(kept, json!({"cwd": "/workspace/src", "hostId": "11111111-1111-4111-8111-111111111111"}));
/// ```
pub fn sanitise(message: Value, replacements: &[(String, String)]) -> Value {
    match message {
        Value::String(text) => Value::String(string(text, replacements)),
        Value::Array(items) => items.into_iter().map(|item| sanitise(item, replacements)).collect(),
        Value::Object(fields) => {
            let clean = |(key, value): (String, Value)| {
                let value = sanitise(field(&key, value), replacements);
                (string(key, replacements), value)
            };
            Value::Object(fields.into_iter().map(clean).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Returns the replacements for a sandbox: its directories by fixed ones, also in the dashed form that programs use for file names, and
/// keys and URLs as given.
pub fn replacements(folders: &[(&Path, &str)], others: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (folder, stand_in) in folders {
        let folder = folder.to_string_lossy();
        all.push((folder.replace('/', "-"), stand_in.replace('/', "-")));
        all.push((folder.into_owned(), (*stand_in).to_owned()));
    }
    all.extend(others.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())));
    all
}

fn field(key: &str, value: Value) -> Value {
    match (key, value) {
        ("hostId", Value::String(_)) => HOST_ID.into(),
        ("apiKey" | "authorization" | "Authorization" | "x-api-key", Value::String(_)) => REMOVED.into(),
        ("pid", Value::Number(_)) => 1.into(),
        ("description" | "shortDescription", Value::String(text))
            if text.chars().count() > MAX_DESCRIPTION_CHARS =>
        {
            "...".into()
        }
        ("availableModels" | "models", Value::Array(models)) => Value::Array(two_models(models)),
        // Servers of the registry; those of a session have a status and are few.
        ("servers", Value::Array(servers)) if servers.iter().all(|server| server.get("status").is_none()) => {
            first(servers, 2)
        }
        ("skills" | "commands" | "slash_commands", Value::Array(items)) => first(items, 3),
        (_, value) => value,
    }
}

fn first(mut items: Vec<Value>, count: usize) -> Value {
    items.truncate(count);
    Value::Array(items)
}

/// Returns one built-in model and one of the user's, if there are both: entries have these two forms.
fn two_models(models: Vec<Value>) -> Vec<Value> {
    let is_custom = |model: &Value| model.get("isCustom") == Some(&Value::Bool(true));
    let (custom, mut kept): (Vec<_>, Vec<_>) = models.into_iter().partition(is_custom);
    kept.truncate(if custom.is_empty() { 2 } else { 1 });
    let room = 2 - kept.len();
    kept.extend(custom.into_iter().take(room));
    kept
}

fn string(text: String, replacements: &[(String, String)]) -> String {
    if text.contains("<system-reminder>") {
        return HIDDEN_REMINDER.to_owned();
    }
    let mut text = replacements.iter().fold(text, |text, (from, to)| text.replace(from, to));
    if text.chars().count() > MAX_STRING_CHARS {
        text = text.chars().take(SHORTENED_CHARS).chain("...".chars()).collect();
    }
    text
}

#[cfg(test)]
mod tests;
