//! Differences between what a permission request describes and the tool call that it is about.
//!
//! The agent writes both. A description that shows less than the call, or something else, would get a decision about the wrong thing, so
//! clients show the call as well. Looks at the file system only to find out whether two paths are the same file.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use musher_wire::{EditDetails, McpToolDetails, PermissionDetails, PermissionToolUse};
use serde_json::Value;

use super::PermissionRequest;

/// The minimum length of the beginning of a tool's name that stands for all of it: vendors accept 64 characters.
const MIN_CUT_NAME: usize = 48;

/// Something that a permission request describes otherwise than its tool call has it.
///
/// `Display` is a sentence about it, without the text of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The id of the tool call.
    pub tool_call_id: String,
    /// What differs: `command`, `file`, `content`, `change`, `patch`, `plan`, `tool`, or `call` if the description does not fit the call at
    /// all.
    pub subject: &'static str,
    /// The text of the call, which the description does not show.
    pub called: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The agent describes another {} than the one in its call", self.subject)
    }
}

impl Mismatch {
    /// Returns the differences between the details of one tool call and its input.
    pub fn of(asked: &PermissionToolUse) -> Vec<Self> {
        let call = &asked.tool_use;
        let input = call.input.to_value().unwrap_or_default();
        differences(&asked.details, &call.name, &input)
            .into_iter()
            .map(|(subject, called)| Self { tool_call_id: call.id.clone(), subject, called })
            .collect()
    }
}

impl PermissionRequest {
    /// Returns everything that the request describes otherwise than its tool calls have it. Clients show these texts next to the details.
    ///
    /// ```
    /// use musher::PermissionRequest;
    /// use musher::wire::{ExecDetails, Json, PermissionDetails, PermissionToolUse, ToolConfirmationType, ToolUse};
    ///
    /// let input = Json::from(serde_json::json!({"command": "rm -rf ."}));
    /// let call = ToolUse::standalone("1", "Execute", input);
    /// let details = PermissionDetails::from(ExecDetails::new("ls"));
    /// let asked = PermissionToolUse::new(call, ToolConfirmationType::Exec, details);
    /// let mismatches = PermissionRequest::new(vec![asked], Vec::new()).mismatches();
    /// assert_eq!((mismatches[0].subject, mismatches[0].called.as_str()), ("command", "rm -rf ."));
    /// ```
    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.tool_uses.iter().flat_map(Mismatch::of).collect()
    }
}

type Difference = (&'static str, String);

fn differences(details: &PermissionDetails, name: &str, input: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    match details {
        PermissionDetails::Exec(exec) => {
            text(&mut found, "command", &exec.full_command, input["command"].as_str(), name, input);
        }
        PermissionDetails::Create(create) => {
            file(&mut found, &create.file_path, name, input);
            if let Some(content) = &create.content {
                text(&mut found, "content", content, input["content"].as_str(), name, input);
            }
        }
        PermissionDetails::Edit(edit) => {
            file(&mut found, &edit.file_path, name, input);
            change(&mut found, edit, name, input);
        }
        PermissionDetails::ApplyPatch(patch) => {
            if let Some(shown) = &patch.patch_content {
                text(&mut found, "patch", shown, patch_text(input), name, input);
            }
        }
        PermissionDetails::McpTool(tool) => found.extend(other_tool(tool, name)),
        PermissionDetails::ExitSpecMode(plan) => {
            text(&mut found, "plan", &plan.plan, input["plan"].as_str(), name, input);
        }
        PermissionDetails::SandboxViolation(violation) => {
            let other = violation.violating_tool_name.as_ref().filter(|tool| !is_same(tool, name));
            found.extend(other.map(|_| ("tool", name.to_owned())));
        }
        PermissionDetails::DroidShieldViolation(violation) => {
            if let Some(command) = &violation.command {
                text(&mut found, "command", command, input["command"].as_str(), name, input);
            }
        }
        _ => {}
    }
    found.dedup();
    found
}

/// Compares a text. A call that has no such text is another one than the described.
fn text(
    found: &mut Vec<Difference>,
    subject: &'static str,
    described: &str,
    called: Option<&str>,
    name: &str,
    input: &Value,
) {
    match called {
        Some(called) if is_same(described, called) => {}
        Some(called) => found.push((subject, called.to_owned())),
        None => found.push(whole(name, input)),
    }
}

fn whole(name: &str, input: &Value) -> Difference {
    let input = serde_json::to_string_pretty(input).unwrap_or_default();
    ("call", format!("{name} {input}"))
}

fn file(found: &mut Vec<Difference>, described: &str, name: &str, input: &Value) {
    match ["file_path", "path"].iter().find_map(|key| input[*key].as_str()) {
        Some(called) if is_same_file(described, called) => {}
        Some(called) => found.push(("file", called.to_owned())),
        None => found.push(whole(name, input)),
    }
}

fn other_tool(tool: &McpToolDetails, name: &str) -> Option<Difference> {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    };
    let is_of_parts = match (&tool.server_name, &tool.actual_tool_name) {
        (Some(server), Some(actual)) => {
            let (full, name) = (plain(&format!("{server}___{actual}")), plain(name));
            // unusual names end with a hash, and long ones are cut before it
            let start = name.rsplit_once('_').map(|(start, _)| start);
            let is_cut = |start: &str| start.len() >= MIN_CUT_NAME && full.starts_with(start);
            name == full || start.is_some_and(|start| start == full || is_cut(start))
        }
        _ => true,
    };
    (!is_of_parts || !is_same(&tool.tool_name, name)).then(|| ("tool", name.to_owned()))
}

/// Checks that the shown contents differ by what the call replaces.
fn change(found: &mut Vec<Difference>, edit: &EditDetails, name: &str, input: &Value) {
    let (old, new) = match (&edit.old_content, &edit.new_content) {
        (None, None) => return,
        (old, new) => (as_written(old.as_deref()), as_written(new.as_deref())),
    };
    let Some(edits) = replacements(input) else { return found.push(whole(name, input)) };
    let is_notebook = Path::new(&edit.file_path).extension().is_some_and(|ending| ending == "ipynb");
    let is_shown = apply(&edits, &old, false).is_some_and(|after| after == new)
        || apply(&edits, &old, true).is_some_and(|after| after == new)
        || (is_notebook && edits.iter().all(|(_, text)| has_lines(&new, text)));
    if !is_shown {
        let signed = |sign: char, text: &str| -> Vec<String> {
            text.lines().map(|line| format!("{sign} {line}")).collect()
        };
        let lines = edits.iter().flat_map(|(old, new)| [signed('-', old), signed('+', new)].concat());
        found.push(("change", lines.collect::<Vec<_>>().join("\n")));
    }
}

/// Returns the texts that an edit replaces, and by what.
fn replacements(input: &Value) -> Option<Vec<(String, String)>> {
    let one = |edit: &Value| {
        let text = |keys: [&str; 2]| keys.iter().find_map(|key| edit[*key].as_str());
        let (old, new) = (text(["old_str", "old_string"])?, text(["new_str", "new_string"])?);
        Some((as_written(Some(old)), as_written(Some(new))))
    };
    match ["changes", "edits"].iter().find_map(|key| input[*key].as_array()) {
        Some(edits) if !edits.is_empty() => edits.iter().map(one).collect(),
        Some(_) => None,
        None => Some(vec![one(input)?]),
    }
}

fn apply(edits: &[(String, String)], text: &str, all: bool) -> Option<String> {
    edits.iter().try_fold(text.to_owned(), |text, (old, new)| {
        let is_there = !old.is_empty() && text.contains(old.as_str());
        is_there.then(|| if all { text.replace(old, new) } else { text.replacen(old, new, 1) })
    })
}

/// Returns whether a notebook has these lines of a cell, which are strings of JSON in it.
fn has_lines(notebook: &str, cell: &str) -> bool {
    cell.lines().filter(|line| !line.starts_with("<cell ") && *line != "</cell>").all(|line| {
        let quoted = serde_json::to_string(line.trim()).unwrap_or_default();
        notebook.contains(quoted.trim_matches('"'))
    })
}

fn patch_text(input: &Value) -> Option<&str> {
    input.as_str().or_else(|| ["input", "patch", "patch_content"].iter().find_map(|key| input[*key].as_str()))
}

/// Returns whether a description shows the text of a call.
fn is_same(described: &str, called: &str) -> bool {
    let (described, called) = (as_written(Some(described)), as_written(Some(called)));
    let blank = [' ', '\t', '\n'];
    described.trim_matches(blank) == called.trim_matches(blank)
}

/// Returns a text with LF as line ending, and with the characters that descriptions spell out as `\u{…}`.
fn as_written(text: Option<&str>) -> String {
    let mut rest = text.unwrap_or_default();
    let mut written = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once("\\u{") {
        written.push_str(before);
        if let Some((character, behind)) = hidden(after) {
            written.push(character);
            rest = behind;
        } else {
            written.push_str("\\u{");
            rest = after;
        }
    }
    written.push_str(rest);
    if written.contains("\r\n") { written.replace("\r\n", "\n") } else { written }
}

/// Reads the rest of a spelled-out character, which is never one that can be seen as it is.
fn hidden(text: &str) -> Option<(char, &str)> {
    let (digits, behind) = text.split_once('}').filter(|(digits, _)| digits.len() <= 6)?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    (character.is_control() || !character.is_ascii()).then_some((character, behind))
}

/// Returns whether a described path, which is absolute, is that of a call.
fn is_same_file(described: &str, called: &str) -> bool {
    let (described, called) = (as_written(Some(described)), as_written(Some(called)));
    let (described, called) = (Path::new(&described), Path::new(&called));
    if described == called {
        return true;
    }
    let Some(plain) = without_dots(called) else { return false };
    if called.is_absolute() {
        let real = || {
            let folder = fs_err::canonicalize(plain.parent()?).ok()?;
            Some(folder.join(plain.file_name()?))
        };
        return described == plain
            || real().is_some_and(|real| described == real)
            || fs_err::canonicalize(&plain).is_ok_and(|real| described == real);
    }
    let below = plain.strip_prefix("~").unwrap_or(&plain);
    below.components().next().is_some() && described.ends_with(below)
}

/// Resolves `.` and `..` by the text alone; `None` if a relative path leaves its start.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.has_root() => _ = plain.pop(),
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests;
