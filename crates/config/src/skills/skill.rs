//! A skill: instructions for one kind of task, with files beside them.

use std::path::{Path, PathBuf};

use super::front_matter::{Document, Mistake};
use crate::Level;

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillView {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// `project`, `personal` or `builtin`.
    pub location: String,
    /// Its file.
    pub path: PathBuf,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether users may call it.
    pub user_invocable: bool,
    /// Its text.
    pub content: String,
    /// Files beside it: name, path, and whether it is text for the model.
    pub resources: Vec<(String, PathBuf, bool)>,
    /// The level that disabled it.
    pub disabled_by: Option<String>,
}

/// Instructions for one kind of task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: Option<String>,
    /// The level of its folder.
    pub level: Level,
    /// Its file.
    pub path: PathBuf,
    /// Its text.
    pub body: String,
    /// Its version, if the file has one.
    pub version: Option<String>,
    /// Whether it is enabled.
    pub is_enabled: bool,
    /// Whether users may call it as `/name`.
    pub is_user_invocable: bool,
    /// Whether the model may load it.
    pub is_model_invocable: bool,
    /// Files beside it.
    pub resources: Vec<Resource>,
}

/// A file beside a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its path relative to the folder of the skill.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is text for the model, and not a file for programs.
    pub is_reference: bool,
}

/// The maximum number of listed files.
const MAX_RESOURCES: usize = 200;
const MAX_DEPTH: usize = 4;

impl Skill {
    /// Parses the file of a skill; also returns the invalid fields. An invalid permission field denies what it would allow.
    pub(super) fn parse(text: &str, path: PathBuf, level: Level) -> (Self, Vec<Mistake>) {
        let mut mistakes = Vec::new();
        let document = Document::read(text);
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let mut flag = |field, usual: bool, forbids: bool| match document.flag(field) {
            Ok(flag) => flag.unwrap_or(usual),
            Err(message) => {
                mistakes.push(Mistake { field, message });
                forbids
            }
        };
        let is_user_invocable = flag("user-invocable", true, false);
        let is_model_invocable = !flag("disable-model-invocation", false, true);
        let skill = Self {
            name: document.text("name").or(folder).unwrap_or_default(),
            description: document.text("description"),
            level,
            body: document.body.trim_end().to_owned(),
            version: document.text("version"),
            is_enabled: true,
            is_user_invocable,
            is_model_invocable,
            resources: Vec::new(),
            path,
        };
        (skill, mistakes)
    }

    /// Returns the result of the Skill tool.
    pub fn activation(&self) -> String {
        let mut files = String::new();
        if !self.resources.is_empty() {
            let names: Vec<_> = self.resources.iter().map(|one| one.path.display().to_string()).collect();
            files = format!("\nFiles of the skill:\n{}\n", names.join("\n"));
        }
        let Self { name, body, .. } = self;
        let path = self.path.display();
        format!(
            "Skill \"{name}\" is now active.\n\n<skill name=\"{name}\" filePath=\"{path}\">\n{body}\n{files}</skill>"
        )
    }

    /// Returns the entry for lists of clients.
    pub fn view(&self) -> SkillView {
        let resources =
            self.resources.iter().map(|one| (one.name.clone(), one.path.clone(), one.is_reference));
        SkillView {
            name: self.name.clone(),
            description: self.description.clone(),
            location: location(self.level).to_owned(),
            path: self.path.clone(),
            enabled: self.is_enabled,
            user_invocable: self.is_user_invocable,
            content: self.body.clone(),
            resources: resources.collect(),
            disabled_by: (!self.is_enabled).then(|| Level::User.name().to_owned()),
        }
    }
}

/// Returns the origin of a level, as the protocol names it.
pub(super) fn location(level: Level) -> &'static str {
    if level.is_repository() { "project" } else { "personal" }
}

/// Returns the files beside a skill, by name.
pub(super) fn resources(folder: &Path) -> Vec<Resource> {
    let mut found = Vec::new();
    look(folder, folder, 0, &mut found);
    found.sort_by(|a: &Resource, b| a.name.cmp(&b.name));
    found
}

fn look(base: &Path, folder: &Path, depth: usize, found: &mut Vec<Resource>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // links are not followed: they could lead anywhere or form a cycle
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let name = entry.file_name();
        if found.len() >= MAX_RESOURCES {
            return;
        }
        if name.as_encoded_bytes().starts_with(b".") || (depth == 0 && name == "SKILL.md") {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            look(base, &path, depth + 1, found);
        } else if kind.is_file() {
            let name = path.strip_prefix(base).unwrap_or(&path).to_string_lossy().into_owned();
            let is_reference =
                path.extension().is_some_and(|it| it == "md" || it == "txt" || it == "markdown");
            found.push(Resource { name, path, is_reference });
        }
    }
}
