//! What all agents of a process share: folders, models, tools and limits.
//!
//! Immutable once an agent runs. Reads no environment variable and no file itself.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use musher_http::Client;
use musher_model::{Catalog, ModelEntry, Provider, RetryPolicy};
use musher_tools::{Layers, Registry, SearchProvider, command_environment};

use crate::budget::Budget;
use crate::config::{Config, McpServer, Places, Problem, Transport, TrustRule};
use crate::error::BrokenSettings;
use crate::mcp::{self, LoginState, Mcp};
use crate::models::ModelView;
use crate::models::Models;
use crate::sandbox;
use crate::session::Unmatched;
use crate::{SandboxSettings, SettingsChange};
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
    /// Whether the log says which calls have started.
    pub(crate) records_calls: bool,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) factory_home: Option<PathBuf>,
    pub(crate) sandbox: SandboxSettings,
    layers: Option<Layers>,
    pub(crate) launcher: Option<PathBuf>,
    durability: Durability,
    runtime_settings: Option<PathBuf>,
    trust: TrustRule,
}

impl Environment {
    /// Creates an environment with this home folder, the built-in tools, and no model.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            models: Models::default(),
            tools: Registry::builtin(),
            limits: Limits::default(),
            retries: RetryPolicy::default(),
            makes_titles: true,
            records_calls: false,
            variables: Vec::new(),
            factory_home: None,
            sandbox: SandboxSettings::default(),
            layers: None,
            launcher: None,
            durability: Durability::Process,
            runtime_settings: None,
            trust: TrustRule::Store,
        }
    }

    /// Sets the models that are called over HTTP.
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

    /// Adds a model, called through this provider by the id of its view. Such models make no titles.
    #[must_use]
    pub fn with_provider(mut self, view: ModelView, provider: Arc<dyn Provider>) -> Self {
        self.models.added.push((view, provider));
        self
    }

    /// Sets the default model. Without it the first model is the default.
    #[must_use]
    pub fn with_default_model(mut self, id: impl Into<String>) -> Self {
        self.models.default = Some(id.into());
        self
    }

    /// Replaces the built-in tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Registry) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether the log says which calls have started, so that an interrupted turn can be continued. Default: false.
    #[must_use]
    pub fn with_call_records(mut self, records_calls: bool) -> Self {
        self.records_calls = records_calls;
        self
    }

    /// Limits what all agents of this process may spend.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.models.budget = Some(budget);
        self
    }

    /// Sets the retry policy for model calls.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    /// Sets whether a model makes titles, with an extra small call. Default: true.
    #[must_use]
    pub fn with_model_titles(mut self, makes_titles: bool) -> Self {
        self.makes_titles = makes_titles;
        self
    }

    /// Sets the environment variables: keys of models and of a search service, `PATH`, and what commands inherit.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.variables = variables.into_iter().collect();
        if let Some(provider) = SearchProvider::from_variables(|name| self.variable(name)) {
            self.tools = self.tools.with_web_search(provider);
        }
        self
    }

    /// Sets droid's home, which is read for sessions and settings our home does not have.
    #[must_use]
    pub fn with_factory_home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.factory_home = Some(folder.into());
        self
    }

    /// Sets the sandbox of commands. It takes precedence over that of the settings files.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: SandboxSettings) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets the program that starts a sandboxed command in an editor's terminal: called with [`LAUNCH_COMMAND`](crate::LAUNCH_COMMAND)
    /// and the arguments of [`Sandbox::launch`](crate::Sandbox::launch). Without it, such commands run without a terminal.
    #[must_use]
    pub fn with_launcher(mut self, launcher: impl Into<PathBuf>) -> Self {
        self.launcher = Some(launcher.into());
        self
    }

    /// Sets the layers of sandboxes, to test what the others do. The default is all that this machine has.
    #[must_use]
    pub fn with_sandbox_layers(mut self, layers: Layers) -> Self {
        self.layers = Some(layers);
        self
    }

    /// Returns the layers of sandboxes; `None` is all that this machine has.
    pub(crate) fn sandbox_layers(&self) -> Option<Layers> {
        self.layers
    }

    /// Sets the durability of session logs.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets a settings file that overrides all others.
    #[must_use]
    pub fn with_runtime_settings(mut self, file: impl Into<PathBuf>) -> Self {
        self.runtime_settings = Some(file.into());
        self
    }

    /// Sets which repositories are trusted.
    #[must_use]
    pub fn with_trust(mut self, trust: TrustRule) -> Self {
        self.trust = trust;
        self
    }

    /// Returns the session store of the home.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.home).durability(self.durability)
    }

    /// Returns an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    }

    /// Returns what the settings files say for a session that works there, with every mistake. For looking at: see
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

    /// Returns the settings a session may run with, and the mistakes in them that are not fatal.
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

    /// Returns what the sandbox of a session with these settings cannot enforce on this machine, at the autonomy level of the settings.
    ///
    /// # Errors
    ///
    /// Returns the same if the settings require it: no session starts then.
    pub fn check_sandbox(&self, config: &Config) -> Result<Option<Problem>, String> {
        let mut settings = config.settings.sandbox.clone();
        settings.override_with(self.sandbox.clone());
        let level = config.settings.autonomy.unwrap_or_default();
        sandbox::check(&settings, level, self.layers)
    }

    /// Droid's home, if it is read.
    pub fn factory_home(&self) -> Option<&Path> {
        self.factory_home.as_deref()
    }

    /// Returns the models of a session with this working directory.
    pub fn models_in(&self, cwd: &Path) -> Vec<ModelView> {
        let (config, _problems) = self.config(cwd);
        Models { configured: config.models, ..self.models.clone() }.views()
    }

    /// Returns whether a session with this working directory can use a model of this name: its id, its listed id, its name, or
    /// `<vendor>/<model>`.
    pub fn has_model(&self, cwd: &Path, name: &str) -> bool {
        let (config, _problems) = self.config(cwd);
        Models { configured: config.models, ..self.models.clone() }.find(name).is_some()
    }

    /// Returns the entry of a model that is called over HTTP: where it is, and where its key is from.
    pub fn model_entry(&self, cwd: &Path, name: &str) -> Option<ModelEntry> {
        let (config, _problems) = self.config(cwd);
        self.models.catalog.find(name).or_else(|| config.models.find(name))
    }

    /// Returns which of these names, ids or selectors match no tool that a session with this working directory can have.
    pub fn unknown_tools(&self, cwd: &Path, names: &[String]) -> Vec<String> {
        let servers: Vec<_> = self.config(cwd).0.mcp_servers.into_iter().map(|server| server.name).collect();
        let none = SettingsChange::default();
        Unmatched::of(&none, Some(names), &self.tools, &servers).unknown
    }

    /// Connects to MCP servers outside a session, as a session with this configuration would.
    ///
    /// Must be called in a tokio runtime.
    pub fn connect(&self, cwd: &Path, config: &Config, servers: Vec<McpServer>) -> Mcp {
        let environment = command_environment(
            self.variables.iter().cloned(),
            &config.secret_variables,
            &config.settings.allowed_variables,
        );
        Mcp::start(mcp::Options { environment, ..self.mcp_options(cwd, config) }, servers)
    }

    /// Returns what is known about the login of the user at an MCP server, without asking the server.
    pub fn login_of(&self, server: &McpServer) -> LoginState {
        match &server.transport {
            Transport::Http { url, .. } | Transport::Sse { url, .. } => mcp::login_of(&self.home, url),
            Transport::Stdio { .. } => LoginState::None,
        }
    }

    pub(crate) fn mcp_options(&self, cwd: &Path, config: &Config) -> mcp::Options {
        mcp::Options {
            home: self.home.clone(),
            factory_home: self.factory_home.clone(),
            cwd: cwd.to_owned(),
            call_timeout: config.settings.mcp_call_timeout,
            ..mcp::Options::default()
        }
    }

    /// Returns the homes with notes for agents.
    pub(crate) fn homes(&self) -> Vec<&Path> {
        std::iter::once(self.home.as_path()).chain(self.factory_home.as_deref()).collect()
    }

    /// Returns the folder of sessions, plans and settings.
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

/// The limits of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of prompts that wait while a turn runs.
    pub queued_prompts: usize,
    /// The maximum number of events that wait for the client; the agent stops reading from models and tools then.
    pub waiting_events: usize,
    /// The maximum number of calls that run in parallel.
    pub parallel_calls: usize,
    /// The number of identical calls in a row that ends a turn.
    pub identical_calls: usize,
    /// The maximum number of running subagents of a session.
    pub subagents: usize,
    /// The maximum number of model calls in one turn.
    pub model_calls: usize,
    /// How long a turn may continue after the input has ended.
    pub drain: Duration,
    /// How long tasks and programs may take to end after they were cancelled.
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
