//! Renders a tool call and its outcome, in one line each.
//!
//! Total: an unknown tool, or an input of another shape, is shown by its name.

use std::path::Path;

use serde_json::Value;

use crate::sanitize::sanitized;

/// The result of a call that was denied or cancelled. It is written for the model, whose user it names although there may be none.
const CANCELLED: &str = "Error: Tool execution cancelled by user";

/// Longer than any line; lines are cut to the width later.
const MAX_LENGTH: usize = 500;

/// Returns the tool with its most descriptive input. Paths below `folder` are shown relative to it.
pub(crate) fn title(name: &str, input: &Value, folder: Option<&Path>) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|key| input[*key].as_str()).map(str::to_owned);
    let detail = match name {
        "Execute" => text(&["command"]),
        "Grep" => text(&["pattern"]),
        "Glob" => text(&["pattern"]).or_else(|| list(&input["patterns"])),
        "ApplyPatch" => Some(patched(input.as_str().or_else(|| input["input"].as_str()).unwrap_or_default())),
        "Task" => text(&["description", "subagent_type"]),
        _ => text(&["file_path", "path", "directory_path"])
            .map(|path| below(&path, folder))
            .or_else(|| text(&["url", "query", "title", "name"])),
    };
    let name = sanitized(name, 80);
    match detail.filter(|detail| !detail.trim().is_empty()) {
        Some(detail) => format!("{name} {}", sanitized(&first_line(&detail).unwrap_or_default(), MAX_LENGTH)),
        None => name,
    }
}

fn below(path: &str, folder: Option<&Path>) -> String {
    let short = folder.and_then(|folder| Path::new(path).strip_prefix(folder).ok()).and_then(Path::to_str);
    short.filter(|short| !short.is_empty()).unwrap_or(path).to_owned()
}

/// Returns the outcome, in a few words.
pub(crate) fn told(name: &str, input: &Value, text: &str, is_error: bool) -> String {
    let said = match name {
        _ if is_error && text.trim() == CANCELLED => Some("not run".to_owned()),
        "Execute" => Some(command(text, is_error)),
        _ if is_error => first_line(text),
        "Create" => input["content"].as_str().map(|content| format!("+{}", content.lines().count())),
        "Edit" | "ApplyPatch" => changed(text),
        "Read" | "LS" | "Grep" | "Glob" => Some(lines(text)),
        _ => None,
    };
    sanitized(&said.unwrap_or_default(), MAX_LENGTH)
}

/// Returns how a command ended, with its last line of output on failure.
fn command(text: &str, is_error: bool) -> String {
    let (output, code) = match text.rsplit_once("[Process exited with code ") {
        Some((output, code)) => (output, code.trim_end().trim_end_matches(']')),
        None => (text, ""),
    };
    let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match (code, is_error) {
        ("0", false) | ("", _) => last.to_owned(),
        (code, _) => format!("exit code {code}: {last}"),
    }
}

/// Returns the output of a command without the line about its end.
pub(crate) fn command_output(text: &str) -> &str {
    let output = text.rsplit_once("[Process exited with code ").map_or(text, |(output, _)| output.trim_end());
    // the exit code is shown beside the command
    match output.split_once('\n') {
        Some((first, rest)) if first.starts_with("Error: Command failed (exit code: ") => rest,
        _ => output,
    }
}

/// Returns the exit code of a command, if its output names it.
pub(crate) fn exit_code(text: &str) -> Option<String> {
    let (_, code) = text.rsplit_once("[Process exited with code ")?;
    Some(code.trim_end().trim_end_matches(']').to_owned())
}

fn changed(text: &str) -> Option<String> {
    let report: Value = serde_json::from_str(text).ok()?;
    let number = |name: &str| report[name].as_u64();
    Some(format!("+{} -{}", number("linesAdded")?, number("linesRemoved")?))
}

fn lines(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

fn list(value: &Value) -> Option<String> {
    Some(value.as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
}

/// Returns the files of a patch.
pub(crate) fn patched(patch: &str) -> String {
    let files = patch.lines().filter_map(|line| {
        let line = line.strip_prefix("*** ")?;
        ["Update File: ", "Add File: ", "Delete File: "].iter().find_map(|verb| line.strip_prefix(verb))
    });
    files.collect::<Vec<_>>().join(", ")
}

fn first_line(text: &str) -> Option<String> {
    text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn call_is_named_with_what_says_most_about_it() {
        let title = |name: &str, input: &Value| title(name, input, Some(Path::new("/project")));
        assert_eq!(title("Read", &json!({"file_path": "a.rs"})), "Read a.rs");
        assert_eq!(title("Read", &json!({"file_path": "/project/src/a.rs"})), "Read src/a.rs");
        assert_eq!(title("LS", &json!({"directory_path": "/project"})), "LS /project");
        assert_eq!(title("Read", &json!({"file_path": "/projects/a.rs"})), "Read /projects/a.rs");
        assert_eq!(title("Execute", &json!({"command": "ls\u{1b}[2J\nrm x"})), "Execute ls [2J");
        assert_eq!(title("Glob", &json!({"patterns": ["*.rs", "*.md"]})), "Glob *.rs, *.md");
        assert_eq!(
            title("ApplyPatch", &json!({"input": "*** Begin Patch\n*** Update File: a\n"})),
            "ApplyPatch a"
        );
        assert_eq!(title("server___do", &json!(7)), "server___do");
    }

    #[test]
    fn outcome_is_shown_in_a_few_words() {
        let none = Value::Null;
        let ran = |text, is_error| told("Execute", &none, text, is_error);
        assert_eq!(ran("a\nall well\n\n\n[Process exited with code 0]", false), "all well");
        assert_eq!(
            ran("Error: Command failed (exit code: 3)\nx\n\n\n[Process exited with code 3]", true),
            "exit code 3: x"
        );
        assert_eq!(told("Read", &none, "a\nb\n", false), "2 lines");
        assert_eq!(told("Read", &none, "no such file\nmore", true), "no such file");
        assert_eq!(told("Edit", &none, r#"{"linesAdded": 2, "linesRemoved": 1}"#, false), "+2 -1");
        assert_eq!(told("Edit", &none, "other", false), "");
        assert_eq!(told("Create", &json!({"content": "a\nb"}), "", false), "+2");
    }
}
