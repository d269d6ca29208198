//! The skills, commands and subagents of a session, and the folders to search.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{call, with_arguments};
use super::front_matter::Mistake;
use super::{Droid, Expansion, Skill, SlashCommand, droid, skill};
use crate::{Config, Folder, Level, Problem, try_edit_json};

/// The maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The maximum number of files of one kind in one folder; more are not read.
const MAX_FILES: usize = 500;

/// The skills, commands and subagents of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Library {
    /// The skills, by name, including disabled ones.
    pub skills: Vec<Skill>,
    /// The slash commands, those of a trusted repository before those of the user, those of an untrusted one after them.
    pub commands: Vec<SlashCommand>,
    /// The subagents, by name.
    pub droids: Vec<Droid>,
    /// Whether programs of the repository may run.
    runs_repository: bool,
}

impl Library {
    /// Reads all folders.
    pub fn read(config: &Config, cwd: &Path) -> (Self, Vec<Problem>) {
        let mut finder = Finder { root: &config.root, real_root: None, problems: Vec::new() };
        let mut library = Self { runs_repository: config.trust.is_trusted(), ..Self::default() };
        let (repository, own): (Vec<_>, Vec<_>) =
            config.folders.iter().partition(|folder| folder.level.is_repository());
        if library.runs_repository {
            library.look_into_repository(&repository, config, cwd, &mut finder);
        }
        for folder in own {
            library.look_into(&folder.path, folder.level, &mut finder);
        }
        for droid in Droid::builtin() {
            add(&mut library.droids, droid, |one| &one.name);
        }
        // an untrusted repository adds, and replaces nothing
        if !library.runs_repository {
            library.look_into_repository(&repository, config, cwd, &mut finder);
        }
        for skill in &mut library.skills {
            skill.is_enabled = !config.settings.disabled_skills.contains(&skill.name);
        }
        // clients list those of the repository first, whatever takes precedence
        library.commands.sort_by_key(|command| !command.level.is_repository());
        library.skills.sort_by(|a, b| a.name.cmp(&b.name));
        library.droids.sort_by(|a, b| a.name.cmp(&b.name));
        (library, finder.problems)
    }

    /// Returns a skill that the model may load.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name && skill.is_enabled && skill.is_model_invocable)
    }

    /// Returns a subagent.
    pub fn droid(&self, name: &str) -> Option<&Droid> {
        self.droids.iter().find(|droid| droid.name == name)
    }

    /// Returns a slash command.
    pub fn command(&self, name: &str) -> Option<&SlashCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// Expands a message of the form `/name words`. Returns `None` if it has another form or the name is unknown.
    pub fn expand(&self, text: &str) -> Option<Expansion<'_>> {
        let (name, words) = call(text)?;
        if let Some(command) = self.command(name) {
            let Some(prompt) = &command.prompt else { return Some(self.program(command, words)) };
            return Some(Expansion::Prompt { command, text: with_arguments(prompt, words) });
        }
        let is_meant = |skill: &&Skill| skill.name == name && skill.is_enabled && skill.is_user_invocable;
        let skill = self.skills.iter().find(is_meant)?;
        Some(Expansion::Skill { skill, text: with_arguments(&skill.activation(), words) })
    }

    fn program<'a>(&self, command: &'a SlashCommand, words: &str) -> Expansion<'a> {
        if command.level.is_repository() && !self.runs_repository {
            let reason = "the program is of a repository that is not trusted".to_owned();
            return Expansion::Refused { command, reason };
        }
        Expansion::Program { command, arguments: words.split_whitespace().map(str::to_owned).collect() }
    }

    fn look_into_repository(
        &mut self,
        folders: &[&Folder],
        config: &Config,
        cwd: &Path,
        finder: &mut Finder<'_>,
    ) {
        for folder in folders {
            self.look_into(&folder.path, folder.level, finder);
        }
        for base in [&*config.root, cwd] {
            self.add_skills(&base.join(".agent/skills"), Level::Project, finder);
        }
    }

    fn look_into(&mut self, folder: &Path, level: Level, finder: &mut Finder<'_>) {
        self.add_skills(&folder.join("skills"), level, finder);
        for path in entries(&folder.join("commands")) {
            if let Some(text) = finder.text(&path, level)
                && let Some(command) = SlashCommand::parse(&text, path, level)
            {
                add(&mut self.commands, command, |one| &one.name);
            }
        }
        for path in entries(&folder.join("droids")).into_iter().filter(|path| droid::is_droid(path)) {
            if let Some(text) = finder.text(&path, level) {
                let (droid, mistakes) = Droid::parse(&text, path.clone(), level);
                finder.report(&path, mistakes);
                if finder.is_name(&droid.name, &path) {
                    add(&mut self.droids, droid, |one| &one.name);
                }
            }
        }
    }

    fn add_skills(&mut self, folder: &Path, level: Level, finder: &mut Finder<'_>) {
        for one in entries(folder) {
            let path = one.join("SKILL.md");
            if let Some(text) = finder.text(&path, level) {
                let (mut found, mistakes) = Skill::parse(&text, path.clone(), level);
                finder.report(&path, mistakes);
                if finder.is_name(&found.name, &path)
                    && !self.skills.iter().any(|skill| skill.name == found.name)
                {
                    found.resources = skill::resources(&one);
                    self.skills.push(found);
                }
            }
        }
    }
}

/// Disables or enables a skill in the user's settings. The skill need not exist.
pub fn set_skill_disabled(home: &Path, name: &str, disabled: bool) -> io::Result<()> {
    try_edit_json(&home.join("settings.json"), |settings| {
        let list = settings.entry("disabledSkills").or_insert(Value::Null);
        if list.is_null() {
            *list = Value::Array(Vec::new());
        }
        // which skills it disables already is unknown
        let Value::Array(list) = list else { return Err(io::Error::other("`disabledSkills` is not a list")) };
        list.retain(|one| one.as_str() != Some(name));
        if disabled {
            list.push(name.into());
        }
        Ok(())
    })
}

/// Reads files and collects the problems of those that cannot be used.
struct Finder<'a> {
    root: &'a Path,
    real_root: Option<PathBuf>,
    problems: Vec<Problem>,
}

impl Finder<'_> {
    /// Returns `None` if the file is missing, not text, or, in a repository, a link out of it: that would show the model any file.
    fn text(&mut self, path: &Path, level: Level) -> Option<String> {
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        if level.is_repository() && !self.is_inside(path) {
            self.problems.push(Problem::new(path, "it leads out of the repository"));
            return None;
        }
        let mut text = String::new();
        let read =
            fs_err::File::open(path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => Some(text),
            // a program need not be text
            Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
            Err(error) => {
                self.problems.push(Problem::new(path, error.to_string()));
                None
            }
        }
    }

    /// Reports invalid fields.
    fn report(&mut self, path: &Path, mistakes: Vec<Mistake>) {
        self.problems.extend(mistakes.into_iter().map(|Mistake { field, message }| Problem {
            field: Some(field.to_owned()),
            ..Problem::new(path, message)
        }));
    }

    fn is_inside(&mut self, path: &Path) -> bool {
        let root = self.real_root.get_or_insert_with(|| {
            fs_err::canonicalize(self.root).unwrap_or_else(|_gone| self.root.to_owned())
        });
        fs_err::canonicalize(path).is_ok_and(|path| path.starts_with(root))
    }

    fn is_name(&mut self, name: &str, path: &Path) -> bool {
        let is_fine = !name.is_empty()
            && name.len() <= 100
            && !name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"'));
        if !is_fine {
            let problem =
                Problem::new(path, "the name is empty, too long, or has characters that no name should have");
            self.problems.push(Problem { field: Some("name".to_owned()), ..problem });
        }
        is_fine
    }
}

fn add<T>(list: &mut Vec<T>, one: T, name: impl Fn(&T) -> &str) {
    // the folder with the highest precedence comes first
    if !list.iter().any(|other| name(other) == name(&one)) {
        list.push(one);
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    // most folders do not exist
    let Ok(found) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.take(MAX_FILES).flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests;
