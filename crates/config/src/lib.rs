//! The configuration: read once per session from settings files, layer by layer, with every mistake reported.
//!
//! - [`Config::load`] reads everything, given the [`Places`] to search. It is synchronous and fast, and caches nothing: load again to
//!   see changes.
//! - [`Config`] has the merged [`Settings`], the [`Catalog`] of models, the hooks ([`HookGroup`]), the MCP servers ([`McpServer`]), and
//!   the [`Folder`]s that may contain skills, commands and subagents.
//! - [`Trust`] says whether the repository's own files apply. Settings that run programs, widen permissions or send data are ignored
//!   until the folder is trusted ([`remember_trust`]); restrictions always apply. [`TrustRule::Everything`] is droid's behaviour.
//! - [`Problem`] is a mistake in a file, with its position. It never stops the loading, so that all problems are reported; but no
//!   session may start with a fatal one ([`Severity`]), because the invalid part may contain a restriction.
//! - [`edit_json`] edits one of our own files atomically.
//!
//! Never reads the process environment. Writes only through [`edit_json`] and [`remember_trust`].

mod edit;
mod file;
mod folders;
mod hooks;
mod keys;
mod parse;
mod problem;
mod sandbox;
mod scripts;
mod servers;
mod settings;
pub mod skills;
mod sources;
mod tool_selection;
mod trust;

use std::path::{Path, PathBuf};

use musher_model::{Catalog, CatalogProblem, Refreshed};
use serde_json::Value;

pub use edit::{edit_json, try_edit_json};

pub use folders::{Folder, Level};
pub use hooks::{HookCommand, HookGroup};
pub use parse::parse as parse_json;
pub use problem::{Problem, Severity};
pub use sandbox::{SandboxMode, SandboxNetwork, SandboxSettings};
pub use servers::{McpServer, OAuth, Transport, parse_server};
pub use settings::Settings;
pub use sources::{Source, Standing};
pub use tool_selection::ToolSelection;
pub use trust::{Ignored, Trust, TrustKey, TrustRule, forget_trust, remember_trust};

use file::Json;
use sources::Notes;

/// Looks up an environment variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The places to search, and the trust rule.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct Places<'a> {
    /// Our own home, such as `~/.musher`. The only folder that is ever written to.
    pub home: &'a Path,
    /// Droid's home, read as a fallback.
    pub factory_home: Option<&'a Path>,
    /// The working directory of the session.
    pub cwd: &'a Path,
    /// A settings file given for this run. It takes precedence over all others.
    pub runtime_settings: Option<&'a Path>,
    /// The environment.
    pub environment: Environment<'a>,
    /// Whether the repository's own files apply.
    pub trust: TrustRule,
}

/// The merged configuration.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// The merged settings.
    pub settings: Settings,
    /// The sources of the settings, the lowest precedence first.
    pub sources: Vec<Source>,
    /// The models of the settings and the environment.
    pub models: Catalog,
    /// The variables with API keys of models: commands must not see them.
    pub secret_variables: Vec<String>,
    /// All hooks, the user's before the repository's.
    pub hooks: Vec<HookGroup>,
    /// The MCP servers. Of two with the same name, only the one with the higher precedence is included.
    pub mcp_servers: Vec<McpServer>,
    /// The files of the workspace that hooks and MCP servers run, by their real paths.
    pub scripts: Vec<PathBuf>,
    /// The existing configuration folders, the highest precedence first.
    pub folders: Vec<Folder>,
    /// The root of the repository, or the working directory.
    pub root: PathBuf,
    /// Whether the repository's own files apply.
    pub trust: Trust,
    /// The key for [`remember_trust`] if the user agrees. `None` if the repository has nothing that needs trust.
    pub trust_key: Option<TrustKey>,
}

impl Config {
    /// Reads all files. Unreadable files and invalid values become [`Problem`]s; if one of them is
    /// [fatal](Problem::is_fatal), use the result for display only.
    ///
    /// ```
    /// use musher_config::{Config, Places, TrustRule};
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
        // from the lowest to the highest precedence
        for layer in layers.iter().rev() {
            let is_file_trusted = is_trusted || !layer.folder.level.is_repository();
            let is_of_droid = layer.folder.is_of_droid(places);
            for json in layer.settings.iter().flatten() {
                let mut reader = notes.reader(json, is_file_trusted);
                config.settings.apply(&mut reader);
                keys::check_settings(&mut reader, is_of_droid);
            }
            if let Some(json) = &layer.hooks {
                let mut reader = notes.reader(json, is_file_trusted);
                config.hooks.extend(hooks::of_file(&mut reader, layer.folder.level));
            } else {
                for json in layer.settings.iter().flatten() {
                    let mut reader = notes.reader(json, is_file_trusted);
                    config.hooks.extend(hooks::of_settings(&mut reader, layer.folder.level));
                }
            }
            if let Some(json) = &layer.servers {
                let mut reader = notes.reader(json, is_file_trusted);
                servers::add(&mut config.mcp_servers, &mut reader, layer.folder.level, places.environment);
            }
        }
        if let Some(json) = &runtime {
            let mut reader = notes.reader(json, true);
            config.settings.apply(&mut reader);
            keys::check_settings(&mut reader, false);
            config.hooks.extend(hooks::of_settings(&mut reader, Level::Runtime));
        }

        config.models.set_refreshed(refreshed(places.home, &mut notes));
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
        let files = layers.iter().flat_map(Layer::files).chain(&runtime);
        let values: Vec<Value> = files.map(|json| Value::Object(json.map().clone())).collect();
        config.scripts = scripts::named_in(&Value::Array(values), &[&config.root, places.cwd]);
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
        // the catalog takes the first of two with the same name, so the layer with the highest precedence comes first
        for (json, field, is_file_trusted) in all {
            let models = json.field(field).or_else(|| json.field("customModels"));
            let Some(models) = models.filter(|models| !models.is_null()) else { continue };
            if !is_file_trusted {
                notes.ignored.push(Ignored::new(json, field));
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
        // the object of the highest precedence comes last
        let files = layers.iter().rev().flat_map(|layer| {
            let is_repository = layer.folder.level.is_repository();
            layer.settings.iter().flatten().map(move |json| (json, is_trusted || !is_repository))
        });
        for (json, is_file_trusted) in files.chain(runtime.map(|json| (json, true))) {
            let Some(overrides) = json.field("modelOverrides").filter(|value| !value.is_null()) else {
                continue;
            };
            // a price decides what a budget allows
            if !is_file_trusted {
                notes.ignored.push(Ignored::new(json, "modelOverrides"));
                continue;
            }
            let file = json.path.display().to_string();
            let found = self.models.add_overrides(&file, overrides);
            notes.problems.extend(found.into_iter().map(|problem| model_problem(json, &file, problem)));
        }
    }
}

/// The file with what the vendors said when they were asked for their models, in our home.
pub const REFRESHED_FILE: &str = "models.json";

/// Reads what the vendors said. Without the file, or with an invalid one, the built-in catalog is all there is.
fn refreshed(home: &Path, notes: &mut Notes) -> Refreshed {
    let path = home.join(REFRESHED_FILE);
    let read = || -> Result<Refreshed, String> {
        let text = match fs_err::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if file::is_absent(&error) => return Ok(Refreshed::default()),
            Err(error) => return Err(error.to_string()),
        };
        let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Refreshed::read(&value).map_err(|error| error.to_string())
    };
    read().unwrap_or_else(|why| {
        let message = format!(
            "cannot read the models of vendors: {why}; `musher models --refresh` writes the file again"
        );
        let problem = Problem { severity: Severity::Warning, ..Problem::new(&path, message) };
        notes.problems.push(problem);
        Refreshed::default()
    })
}

/// The files of one folder; missing files are `None`.
#[derive(Debug)]
struct Layer {
    folder: Folder,
    /// `settings.json`, then `settings.local.json`, which takes precedence.
    settings: [Option<Json>; 2],
    hooks: Option<Json>,
    servers: Option<Json>,
    /// `config.json`, droid's legacy list of models.
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

/// Collects the variables with API keys of models.
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
