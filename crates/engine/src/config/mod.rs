//! What the settings files say: read once for a session, layer by layer, each mistake named.
//!
//! - [`Config::load`] reads everything, given the [`Places`] to look at. It is synchronous and quick, and nothing is cached: who wants
//!   news loads again.
//! - [`Config`] has the merged [`Settings`], the [`Catalog`] of models, hooks ([`HookGroup`]), MCP servers ([`McpServer`]), and the
//!   [`Folder`]s in which skills, commands and subagents may lie.
//! - [`Trust`] says whether the repository's own files count. What could run programs, widen consent or send data elsewhere is ignored
//!   until the folder is trusted ([`remember_trust`]); what narrows counts always. [`TrustRule::Everything`] is droid's behaviour.
//! - [`Problem`] is a mistake in a file, with its place. It never stops the loading, so that all of them can be reported; but nothing
//!   may run with settings that have a fatal one ([`Severity`]), because a restriction may be among what was not understood.
//! - [`edit_json`] changes one of our own files, whole or not at all.
//!
//! Reads no environment by itself, and writes nothing but what it is told to.

mod edit;
mod file;
mod folders;
mod hooks;
mod keys;
mod parse;
mod problem;
mod servers;
mod settings;
mod sources;
mod trust;

use std::path::{Path, PathBuf};

use musher_model::{Catalog, CatalogProblem};
use serde_json::Value;

pub use edit::edit_json;
pub(crate) use edit::try_edit_json;
pub use folders::{Folder, Level};
pub use hooks::{HookCommand, HookGroup};
pub(crate) use parse::parse as parse_json;
pub use problem::{Problem, Severity};
pub(crate) use servers::parse_server;
pub use servers::{McpServer, Transport};
pub use settings::Settings;
pub use sources::{Source, Standing};
pub use trust::{Ignored, Trust, TrustKey, TrustRule, forget_trust, remember_trust};

use file::Json;
use sources::Notes;

/// Looks up a variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where to look, and whom to believe.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct Places<'a> {
    /// Our own home, `~/.musher` for example. The only folder that is ever written to.
    pub home: &'a Path,
    /// Droid's home, read for what ours does not have.
    pub factory_home: Option<&'a Path>,
    /// Where the session works.
    pub cwd: &'a Path,
    /// A settings file given for this run. It counts more than all others.
    pub runtime_settings: Option<&'a Path>,
    /// The environment.
    pub environment: Environment<'a>,
    /// Whether the repository's own files count.
    pub trust: TrustRule,
}

/// What the files say.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// The merged settings.
    pub settings: Settings,
    /// Where they came from, the file that counts least first.
    pub sources: Vec<Source>,
    /// The models of the settings and the environment.
    pub models: Catalog,
    /// The variables that models take their keys from: no command should see them.
    pub secret_variables: Vec<String>,
    /// All hooks, the user's before the repository's.
    pub hooks: Vec<HookGroup>,
    /// The MCP servers. Of two with the same name only the one that counts is here.
    pub mcp_servers: Vec<McpServer>,
    /// The folders of configuration that are there, the one that counts most first.
    pub folders: Vec<Folder>,
    /// The root of the repository, or the working folder itself.
    pub root: PathBuf,
    /// Whether the repository's own files count.
    pub trust: Trust,
    /// What to [`remember_trust`] if the user agrees. `None` if the repository has nothing that needs it.
    pub trust_key: Option<TrustKey>,
}

impl Config {
    /// Reads all files there are. What cannot be read or understood is a [`Problem`]; if one of them is
    /// [fatal](Problem::is_fatal), the rest is only good for being looked at.
    ///
    /// ```
    /// use musher_engine::config::{Config, Places, TrustRule};
    ///
    /// let home = tempfile::tempdir().unwrap();
    /// fs_err::write(home.path().join("settings.json"), r#"{"model": "custom:big", "reasoningEffort": 7}"#).unwrap();
    /// let places = Places {
    ///     home: home.path(), factory_home: None, cwd: home.path(), runtime_settings: None,
    ///     environment: &|_| None, trust: TrustRule::Store,
    /// };
    /// let (config, problems) = Config::load(&places);
    /// assert_eq!(config.settings.model.as_deref(), Some("custom:big"));
    /// assert_eq!(problems[0].field.as_deref(), Some("reasoningEffort"));
    /// ```
    pub fn load(places: &Places<'_>) -> (Self, Vec<Problem>) {
        let mut notes = Notes::default();
        let problems = &mut notes.problems;
        let (root, folders) = folders::find(places, problems);
        let layers: Vec<Layer> = folders.into_iter().map(|folder| Layer::read(folder, problems)).collect();
        let runtime = places.runtime_settings.and_then(|path| Json::read_any(path, problems));
        let (mut trust, trust_key) = trust::judge(places, &root, &layers, problems);
        let is_trusted = matches!(trust, Trust::Trusted);

        let mut config = Self { root, trust_key, ..Self::default() };
        // from the one that counts least to the one that counts most
        for layer in layers.iter().rev() {
            let is_believed = is_trusted || !layer.folder.level.is_repository();
            let is_of_droid = layer.folder.is_of_droid(places);
            for json in layer.settings.iter().flatten() {
                let mut reader = notes.reader(json, is_believed);
                config.settings.apply(&mut reader);
                keys::check_settings(&mut reader, is_of_droid);
            }
            if let Some(json) = &layer.hooks {
                let mut reader = notes.reader(json, is_believed);
                config.hooks.extend(hooks::of_file(&mut reader, layer.folder.level));
            } else {
                for json in layer.settings.iter().flatten() {
                    let mut reader = notes.reader(json, is_believed);
                    config.hooks.extend(hooks::of_settings(&mut reader, layer.folder.level));
                }
            }
            if let Some(json) = &layer.servers {
                let mut reader = notes.reader(json, is_believed);
                servers::add(&mut config.mcp_servers, &mut reader, layer.folder.level, places.environment);
            }
        }
        if let Some(json) = &runtime {
            let mut reader = notes.reader(json, true);
            config.settings.apply(&mut reader);
            keys::check_settings(&mut reader, false);
            config.hooks.extend(hooks::of_settings(&mut reader, Level::Runtime));
        }

        config.add_models(runtime.as_ref(), &layers, is_trusted, places.environment, &mut notes);
        config.sources = notes.settled();
        if let Trust::Untrusted { ignored } = &mut trust {
            *ignored = notes.ignored;
        }
        config.trust = trust;
        if !is_trusted {
            let repository: Vec<&Folder> = layers
                .iter()
                .map(|layer| &layer.folder)
                .filter(|folder| folder.level.is_repository())
                .collect();
            for problem in &mut notes.problems {
                problem.is_untrusted = repository.iter().any(|folder| problem.file.starts_with(&folder.path));
            }
        }
        config.folders = layers.into_iter().map(|layer| layer.folder).collect();
        (config, notes.problems)
    }

    fn add_models(
        &mut self,
        runtime: Option<&Json>,
        layers: &[Layer],
        is_trusted: bool,
        environment: Environment<'_>,
        notes: &mut Notes,
    ) {
        let own = layers.iter().map(|layer| (layer, layer.folder.level.is_repository()));
        let own = own.flat_map(|(layer, is_repository)| {
            let new = layer.settings.iter().rev().flatten().map(|json| (json, "customModels"));
            let old = layer.old.iter().map(|json| (json, "custom_models"));
            new.chain(old).map(move |(json, field)| (json, field, is_trusted || !is_repository))
        });
        let all = runtime.into_iter().map(|json| (json, "customModels", true)).chain(own);
        // the catalogue takes the first of two with the same name, so the layer that counts most comes first
        for (json, field, is_believed) in all {
            let models = json.field(field).or_else(|| json.field("customModels"));
            let Some(models) = models.filter(|models| !models.is_null()) else { continue };
            if !is_believed {
                notes.ignored.push(Ignored { file: json.path.clone(), what: field.to_owned() });
                continue;
            }
            note_variables(models, &mut self.secret_variables);
            let file = json.path.display().to_string();
            let found = self.models.add_settings(&file, models, environment);
            notes.problems.extend(found.into_iter().map(|problem| model_problem(json, &file, problem)));
        }
        for problem in self.models.add_environment(environment) {
            notes.problems.push(Problem::new("environment", problem.problem));
        }
    }
}

/// The files of one folder. What is not there is `None`.
#[derive(Debug)]
struct Layer {
    folder: Folder,
    /// `settings.json`, then `settings.local.json`, which counts more.
    settings: [Option<Json>; 2],
    hooks: Option<Json>,
    servers: Option<Json>,
    /// `config.json`, droid's former list of models.
    old: Option<Json>,
}

impl Layer {
    fn read(folder: Folder, problems: &mut Vec<Problem>) -> Self {
        let mut read = |name: &str| Json::read(&folder.path.join(name), problems);
        Self {
            settings: [read("settings.json"), read("settings.local.json")],
            hooks: read("hooks.json"),
            servers: read("mcp.json"),
            old: match folder.level {
                // models only
                Level::User => Json::read_permissions(&folder.path.join("config.json"), problems),
                _ => None,
            },
            folder,
        }
    }

    fn files(&self) -> impl Iterator<Item = &Json> {
        self.settings.iter().flatten().chain(&self.hooks).chain(&self.servers)
    }
}

/// Notes which variables the keys of models are taken from.
fn note_variables(models: &Value, names: &mut Vec<String>) {
    match models {
        Value::Array(list) => list.iter().for_each(|one| note_variables(one, names)),
        Value::Object(map) => map.values().for_each(|one| note_variables(one, names)),
        Value::String(text) => {
            let found = text.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()));
            names.extend(found);
        }
        _ => {}
    }
}

fn model_problem(json: &Json, file: &str, problem: CatalogProblem) -> Problem {
    let field = problem.place.strip_prefix(file).map(|rest| rest.trim_start_matches(": ").to_owned());
    Problem { field, ..Problem::new(&json.path, problem.problem) }
}

#[cfg(test)]
mod tests;
