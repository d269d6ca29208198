//! Slash commands: a prompt in a file or a program, and how `/name words` expands.

use std::path::PathBuf;

use super::Skill;
use super::front_matter::Document;
use crate::Level;

/// A slash command in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandView {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    pub description: String,
    /// A hint for its arguments.
    pub argument_hint: Option<String>,
    /// Whether it is a program.
    pub is_executable: bool,
}

/// A command that the user calls as `/name words`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    pub description: String,
    /// A hint for its arguments.
    pub argument_hint: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// The level of its folder.
    pub level: Level,
    /// The prompt; `None` if it is a program.
    pub prompt: Option<String>,
    /// The interpreter, from the `#!` line of the program.
    interpreter: Vec<String>,
}

/// The expansion of `/name words`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expansion<'a> {
    /// A prompt for the model.
    Prompt {
        /// The command.
        command: &'a SlashCommand,
        /// Its prompt, with the arguments inserted.
        text: String,
    },
    /// The user calls a skill.
    Skill {
        /// The skill.
        skill: &'a Skill,
        /// Its text, with the arguments.
        text: String,
    },
    /// A program to run; its output goes to the model.
    Program {
        /// The command.
        command: &'a SlashCommand,
        /// The arguments, split at whitespace.
        arguments: Vec<String>,
    },
    /// The command may not run.
    Refused {
        /// The command.
        command: &'a SlashCommand,
        /// The reason.
        reason: String,
    },
}

impl SlashCommand {
    /// Parses the file of a command. Returns `None` if it is neither Markdown nor a program.
    pub(super) fn parse(text: &str, path: PathBuf, level: Level) -> Option<Self> {
        let name = slug(&path.file_stem()?.to_string_lossy());
        if name.is_empty() {
            return None;
        }
        if text.starts_with("#!") {
            let description = format!("Runs {}", path.file_name()?.to_string_lossy());
            let interpreter =
                text.lines().next().unwrap_or_default()[2..].split_whitespace().map(str::to_owned).collect();
            return Some(Self {
                name,
                description,
                argument_hint: None,
                path,
                level,
                prompt: None,
                interpreter,
            });
        }
        if path.extension().is_none_or(|it| it != "md") {
            return None;
        }
        let document = Document::read(text);
        let first = document
            .body
            .lines()
            .map(|line| line.trim_start_matches('#').trim())
            .find(|line| !line.is_empty());
        let short = || first.unwrap_or_default().chars().take(100).collect();
        Some(Self {
            name,
            description: document.text("description").unwrap_or_else(short),
            argument_hint: document.text("argument-hint"),
            path,
            level,
            prompt: Some(document.body.trim_end().to_owned()),
            interpreter: Vec::new(),
        })
    }

    /// Returns the entry for lists of clients.
    pub fn view(&self) -> CommandView {
        CommandView {
            name: self.name.clone(),
            description: self.description.clone(),
            argument_hint: self.argument_hint.clone(),
            is_executable: self.prompt.is_none(),
        }
    }

    /// Returns the shell command that runs the program with these arguments. The file need not be executable.
    pub fn shell_line(&self, arguments: &[String]) -> String {
        let path = self.path.display().to_string();
        let words = self.interpreter.iter().cloned().chain([path]).chain(arguments.iter().cloned());
        let quoted = words.map(|word| format!("'{}'", word.replace('\'', r"'\''")));
        format!("exec {}", quoted.collect::<Vec<_>>().join(" "))
    }
}

/// Splits `/name words` into the name and the words. Returns `None` for other texts.
pub(super) fn call(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // `/etc/hosts` is a path
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
    is_name.then(|| (name, words.trim()))
}

/// Inserts the arguments at the placeholder of the prompt, or appends them.
pub(super) fn with_arguments(prompt: &str, words: &str) -> String {
    if prompt.contains("$ARGUMENTS") {
        return prompt.replace("$ARGUMENTS", words);
    }
    if words.is_empty() { prompt.to_owned() } else { format!("{prompt}\n\n{words}") }
}

/// Turns a file name into the name of a command.
fn slug(name: &str) -> String {
    let lower = name.trim().to_lowercase().replace(' ', "-");
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_calls() {
        assert_eq!(call("/greet  bob and \n eve "), Some(("greet", "bob and \n eve")));
        assert_eq!(call("/greet"), Some(("greet", "")));
        for text in ["/etc/hosts is gone", "hello /greet", "/", "/ x", "//x", ""] {
            assert_eq!(call(text), None, "{text}");
        }
    }

    #[test]
    fn files_become_commands() {
        let read = |text: &str, path: &str| SlashCommand::parse(text, path.into(), Level::User);
        let greet = read(
            "---\ndescription: Says hi\nargument-hint: <name>\n---\nGreet $ARGUMENTS!",
            "/c/Greet All.md",
        )
        .unwrap();
        assert_eq!((greet.name.as_str(), greet.description.as_str()), ("greet-all", "Says hi"));
        assert_eq!(with_arguments(greet.prompt.as_deref().unwrap(), "bob"), "Greet bob!");
        let bare = read("# Check it\nAll of it.", "/c/check.md").unwrap();
        assert_eq!((bare.description.as_str(), bare.argument_hint), ("Check it", None));
        assert_eq!(with_arguments("Do.", "now"), "Do.\n\nnow");
        let program = read("#!/usr/bin/env python3\nprint()", "/c/run it.py").unwrap();
        assert!(program.view().is_executable);
        let line = program.shell_line(&["it's".to_owned()]);
        assert_eq!(line, r"exec '/usr/bin/env' 'python3' '/c/run it.py' 'it'\''s'");
        assert_eq!(read("text", "/c/notes.txt"), None);
    }
}
