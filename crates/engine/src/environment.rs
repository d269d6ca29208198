//! What all agents of a process share: where files are kept, which models and tools there are, and what is too much.
//!
//! Immutable once an agent runs. Reads no environment variable and no file itself.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use musher_http::Client;
use musher_model::{Catalog, Provider, RetryPolicy};
use musher_tools::{Editor, Registry};

use crate::config::{Config, Places, Problem, TrustRule};
use crate::error::BrokenSettings;
use crate::models::ModelView;
use crate::models::Models;
use musher_store::{Durability, Store};

/// What all agents of a process share.
///
/// ```
/// use musher_engine::Environment;
///
/// let environment = Environment::new("/home/user/.musher").with_model_titles(false);
/// assert_eq!(environment.home().to_str(), Some("/home/user/.musher"));
/// ```
#[derive(Clone)]
pub struct Environment {
    pub(crate) home: PathBuf,
    pub(crate) models: Models,
    pub(crate) tools: Registry,
    pub(crate) limits: Limits,
    pub(crate) retries: RetryPolicy,
    pub(crate) makes_titles: bool,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) factory_home: Option<PathBuf>,
    pub(crate) editor: Option<Arc<dyn Editor>>,
    durability: Durability,
    runtime_settings: Option<PathBuf>,
    trust: TrustRule,
}

impl Environment {
    /// With this home folder, the built-in tools, and no model.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            models: Models::default(),
            tools: Registry::builtin(),
            limits: Limits::default(),
            retries: RetryPolicy::default(),
            makes_titles: true,
            variables: Vec::new(),
            factory_home: None,
            editor: None,
            durability: Durability::Process,
            runtime_settings: None,
            trust: TrustRule::Store,
        }
    }

    /// With models that are asked over HTTP.
    #[must_use]
    pub fn with_catalog(mut self, catalog: Catalog) -> Self {
        self.models.catalog = catalog;
        self
    }

    /// Sets the HTTP client for them. The default takes its proxies from the environment of this process.
    #[must_use]
    pub fn with_http(mut self, http: Client) -> Self {
        self.models.http = http;
        self
    }

    /// With one more model, asked through this provider by the id of its view. Such models are never asked for titles.
    #[must_use]
    pub fn with_provider(mut self, view: ModelView, provider: Arc<dyn Provider>) -> Self {
        self.models.added.push((view, provider));
        self
    }

    /// With the model of sessions that name none. Otherwise it is the first there is.
    #[must_use]
    pub fn with_default_model(mut self, id: impl Into<String>) -> Self {
        self.models.default = Some(id.into());
        self
    }

    /// With other tools than the built-in ones.
    #[must_use]
    pub fn with_tools(mut self, tools: Registry) -> Self {
        self.tools = tools;
        self
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With another patience with models.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    /// Whether titles are made by a model, with an extra small call.
    #[must_use]
    pub fn with_model_titles(mut self, makes_titles: bool) -> Self {
        self.makes_titles = makes_titles;
        self
    }

    /// With the variables of the environment: keys of models, where programs are, and what commands get of them.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// With droid's home, read for what ours does not have.
    #[must_use]
    pub fn with_factory_home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.factory_home = Some(folder.into());
        self
    }

    /// With the editor of whoever works with these agents: tools use what it offers.
    #[must_use]
    pub fn with_editor(mut self, editor: Arc<dyn Editor>) -> Self {
        self.editor = Some(editor);
        self
    }

    /// With what a record of a session outlasts.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// With a settings file that counts more than all others.
    #[must_use]
    pub fn with_runtime_settings(mut self, file: impl Into<PathBuf>) -> Self {
        self.runtime_settings = Some(file.into());
        self
    }

    /// Whether the settings of repositories count.
    #[must_use]
    pub fn with_trust(mut self, trust: TrustRule) -> Self {
        self.trust = trust;
        self
    }

    /// The sessions of the home.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.home).durability(self.durability)
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    }

    /// What the settings files say for a session that works there, with every mistake. For looking at: see
    /// [`session_config`](Self::session_config) for what a session may run with.
    pub fn config(&self, cwd: &Path) -> (Config, Vec<Problem>) {
        Config::load(&Places {
            home: &self.home,
            factory_home: self.factory_home.as_deref(),
            cwd,
            runtime_settings: self.runtime_settings.as_deref(),
            environment: &|name| self.variable(name),
            trust: self.trust,
        })
    }

    /// The settings a session may run with, and the mistakes in them that are not fatal.
    ///
    /// # Errors
    ///
    /// Returns all fatal problems if there is one: a restriction may be among what was not understood.
    pub fn session_config(&self, cwd: &Path) -> Result<(Config, Vec<Problem>), BrokenSettings> {
        let (config, problems) = self.config(cwd);
        match BrokenSettings::among(&problems) {
            None => Ok((config, problems)),
            Some(broken) => Err(broken),
        }
    }

    /// Droid's home, if it is read.
    pub fn factory_home(&self) -> Option<&Path> {
        self.factory_home.as_deref()
    }

    /// The models a session that works there can choose from.
    pub fn models_in(&self, cwd: &Path) -> Vec<ModelView> {
        let (config, _problems) = self.config(cwd);
        Models { configured: config.models, ..self.models.clone() }.views()
    }

    /// The homes with notes for agents.
    pub(crate) fn homes(&self) -> Vec<&Path> {
        std::iter::once(self.home.as_path()).chain(self.factory_home.as_deref()).collect()
    }

    /// Where sessions, plans and settings are kept.
    pub fn home(&self) -> &Path {
        &self.home
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// So many prompts may wait while a turn runs.
    pub queued_prompts: usize,
    /// So many events may wait for whoever reads them before the agent stops reading from models and tools.
    pub waiting_events: usize,
    /// So many read-only calls run at once.
    pub parallel_calls: usize,
    /// So many identical calls in a row end a turn.
    pub identical_calls: usize,
    /// So many subagents of one session work at once.
    pub subagents: usize,
    /// So many calls of the model in one turn.
    pub model_calls: usize,
    /// How long a turn may still take when there is no more input.
    pub drain: Duration,
    /// How long what runs may take to end when it is told to.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queued_prompts: 64,
            waiting_events: 256,
            parallel_calls: 8,
            identical_calls: 8,
            subagents: 8,
            model_calls: 500,
            drain: Duration::from_secs(30),
            stop: Duration::from_millis(2500),
        }
    }
}
