//! Opens sessions: starts new ones and resumes stored ones.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use musher_tools::{Context, Layers, Sandbox, Workspace, command_environment};
use serde_json::Map;

use super::continue_turn;
use super::journal::Journal;
use super::saved_settings;
use super::state::{Parts, Session};
use crate::command::{Attach, ContinueTurn, LoadSession, NewSession};
use crate::config::{Config, McpServer, OAuth};
use crate::context::folders_reminder;
use crate::hooks::Hooks;
use crate::mcp::{Mcp, Options};
use crate::models::Models;
use crate::permission::{Grants, Policy, Rule};
use crate::sandbox::Sandboxes;
use crate::skills::Library;
use crate::{Environment, Error, SessionId, Settings, ToolSelection};
use musher_store::{self as store, Damage, Store, StoreError};

/// Opens a new session.
pub(super) fn new(environment: &Environment, new: NewSession) -> Result<Session, Error> {
    if !new.cwd.is_dir() {
        return Err(Error::NoDirectory(new.cwd));
    }
    let id = match &new.id {
        None => SessionId::random(),
        Some(id) => SessionId::new(id).map_err(|error| Error::Invalid(error.to_string()))?,
    };
    discard_empty(&environment.store(), &id)?;
    let journal = store::NewSession {
        id: id.clone(),
        cwd: new.cwd.clone(),
        title: new.title.clone(),
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: new.extra,
    };
    let journal = Journal::New(environment.store(), Box::new(journal));
    let mut session = begin(environment, id, new.cwd, journal, new.attach, None)?;
    session.set_initial_settings(&new.settings);
    session.check_configured_model(&new.settings, environment.factory_home.as_deref())?;
    session.check_tool_names("initialize_session", &new.settings, &environment.tools);
    session.set_system_prompt(new.system_prompt);
    session.set_initial_title(new.title);
    // on disk at once: another process can load it, also if this one ends before the first prompt
    session.log()?;
    session.release();
    Ok(session)
}

/// Makes room for a new session with an id: a session without messages is replaced, another one is not.
fn discard_empty(store: &Store, id: &SessionId) -> Result<(), Error> {
    match store.read(id) {
        Err(StoreError::NotFound(_)) => Ok(()),
        Ok(stored) if stored.messages.is_empty() && stored.queued.is_empty() => Ok(store.delete(id)?),
        _ => Err(Error::Invalid(StoreError::Exists(id.clone()).to_string())),
    }
}

/// Opens a stored session. Returns the damage of its log, too.
pub(super) fn load(environment: &Environment, load: LoadSession) -> Result<(Session, Damage), Error> {
    let id = SessionId::parse(&load.id).ok_or(Error::SessionNotFound)?;
    let store = environment.store();
    if let (None, Some(theirs)) = (store.find(&id), &environment.factory_home) {
        // made by droid: imported into our home, theirs stays as it is
        store.import(theirs, &id).map_err(|_not_there| Error::SessionNotFound)?;
    }
    // another process may run a turn of the session: then that is not interrupted
    let may_continue = environment.records_calls && load.continues != ContinueTurn::No;
    let interrupted = may_continue.then(|| store.attach_interrupted(&id).ok()).flatten();
    let interrupted = interrupted.filter(|(attached, open_calls)| {
        open_calls.is_some() && continue_turn::is_for(&load.continues, &attached.session.messages)
    });
    let attached = interrupted.map_or_else(|| store.attach(&id).map(|attached| (attached, None)), Ok);
    let (attached, open_calls) = attached.map_err(|error| match error {
        StoreError::NotFound(_) | StoreError::InvalidId(_) => Error::SessionNotFound,
        error => error.into(),
    })?;
    let stored = attached.session;
    let cwd = stored.start.cwd().unwrap_or_default();
    if !cwd.is_dir() {
        return Err(Error::NoDirectory(cwd));
    }
    let journal = Journal::Released(Box::new(attached.released));
    let mut attach = load.attach;
    let had = saved_settings::directories(&stored.settings);
    let has = attach.directories.get_or_insert_with(|| {
        // a folder that was deleted since does not keep the session from opening
        had.iter().filter(|folder| folder.is_dir()).cloned().collect()
    });
    let changed = (*has != had && !stored.messages.is_empty()).then(|| folders_reminder(has));
    let mut session = begin(environment, id, cwd, journal, attach, None)?;
    if let Some(text) = changed {
        session.remind(text);
    }
    session.restore_settings(&stored.settings, &load.settings);
    session.check_tool_names("load_session", &load.settings, &environment.tools);
    let damage = session.restore(stored);
    session.set_interrupted(open_calls);
    session.restore_seen_files(&environment.tools);
    Ok((session, damage))
}

/// Begins a session with what all sessions have. A subagent shares the MCP servers of the session that starts it.
pub(super) fn begin(
    environment: &Environment,
    id: SessionId,
    cwd: PathBuf,
    journal: Journal,
    attach: Attach,
    shared: Option<Mcp>,
) -> Result<Session, Error> {
    warm_up(environment);
    let (config, mut problems) = environment.session_config(&cwd)?;
    let (library, more) = Library::read(&config, &cwd);
    problems.extend(more);
    let (hooks, more) = Hooks::new(if config.settings.hooks_disabled { &[] } else { &config.hooks });
    problems.extend(more);
    let mut models = Models { configured: config.models.clone(), ..environment.models.clone() };
    if let Some(timeout) = config.settings.llm_request_timeout {
        models.http = models.http.with_answer_timeout(timeout);
    }
    let settings = default_settings(&config, &models);
    let tools = tools(environment, &config, &cwd, &id, &attach)?;
    let policy = policy(environment, &config, &tools.workspace);
    let tools = tools.with_secrets(policy.secret_files());
    let sandboxes = sandboxes(environment, &config, &attach, &tools.workspace, &policy);
    sandboxes.check().map_err(Error::Invalid)?;
    let program_sandbox = program_sandbox(&sandboxes, &tools)?;
    let program = program_sandbox.clone();
    let mcp = shared.unwrap_or_else(|| servers(environment, &config, &cwd, &tools, program, &attach));
    Ok(Session::new(Parts {
        id,
        cwd,
        journal,
        attach,
        settings,
        policy,
        config,
        library,
        models,
        hooks,
        mcp,
        tools,
        sandboxes: Arc::new(sandboxes),
        program_sandbox,
        problems,
    }))
}

/// Finds out early what this machine can enforce, so that the first command does not wait for it, and logs it.
fn warm_up(environment: &Environment) {
    static LOGGED: Once = Once::new();
    if environment.sandbox_layers().is_none()
        && let Ok(runtime) = tokio::runtime::Handle::try_current()
    {
        let find = || {
            let layers = Layers::available();
            LOGGED.call_once(|| tracing::info!(%layers, "commands can be confined by these features"));
        };
        runtime.spawn_blocking(find);
    }
}

fn sandboxes(
    environment: &Environment,
    config: &Config,
    attach: &Attach,
    workspace: &Workspace,
    policy: &Policy,
) -> Sandboxes {
    let mut settings = config.settings.sandbox.clone();
    settings.override_with(attach.sandbox.clone());
    settings.override_with(environment.sandbox.clone());
    Sandboxes::new(settings, environment.sandbox_layers(), workspace, policy, &config.root)
}

/// Returns the sandbox of hooks and MCP servers.
fn program_sandbox(sandboxes: &Sandboxes, tools: &Context) -> Result<Option<Sandbox>, Error> {
    let Some(sandbox) = sandboxes.of_program(&tools.scratch) else { return Ok(None) };
    fs_err::create_dir_all(&tools.scratch)
        .and_then(|()| tools.with_temp(sandbox))
        .map(Some)
        .map_err(|error| Error::Internal(format!("cannot prepare the sandbox: {error}")))
}

/// Returns the settings of a session before its client changes them.
pub(super) fn default_settings(config: &Config, models: &Models) -> Settings {
    let config = &config.settings;
    Settings {
        model: models.default_id(config.model.as_deref()).unwrap_or_default(),
        effort: config.reasoning_effort.unwrap_or(crate::Effort::Off),
        mode: config.mode.unwrap_or_default(),
        autonomy: config.autonomy.unwrap_or_default(),
        spec_model: config.spec_model.clone(),
        spec_effort: config.spec_reasoning_effort,
        tools: ToolSelection::default(),
        tags: None,
        compaction_token_limit: config.compaction_token_limit,
        compaction_check: true,
        system_prompt: None,
    }
}

/// Returns what tools get besides their arguments.
fn tools(
    environment: &Environment,
    config: &Config,
    cwd: &Path,
    id: &SessionId,
    attach: &Attach,
) -> Result<Context, Error> {
    let mut workspace = Workspace::open(cwd).map_err(|_missing| Error::NoDirectory(cwd.to_owned()))?;
    for folder in attach.directories.iter().flatten() {
        workspace = workspace.with_folder(folder).map_err(|_missing| Error::NoDirectory(folder.clone()))?;
    }
    let scratch = environment.home.join("scratch").join(id.as_str());
    let variables = command_environment(
        environment.variables.iter().cloned(),
        &config.secret_variables,
        &config.settings.allowed_variables,
    );
    Ok(Context::new(workspace, scratch)
        .with_environment(variables)
        .with_editor(attach.editor.clone())
        .with_launcher(environment.launcher.clone()))
}

fn servers(
    environment: &Environment,
    config: &Config,
    cwd: &Path,
    tools: &Context,
    sandbox: Option<Sandbox>,
    attach: &Attach,
) -> Mcp {
    let given = attach.mcp_servers.iter().map(|server| McpServer {
        // the front end has checked it
        oauth: OAuth::parse(server.oauth.as_ref()).unwrap_or(OAuth { is_disabled: true, ..OAuth::default() }),
        ..McpServer::of_session(&server.name, server.transport.clone().into())
    });
    let options = Options {
        environment: tools.environment.to_vec(),
        sandbox,
        login_callback: attach.login_callback.clone(),
        ..environment.mcp_options(cwd, config)
    };
    Mcp::start(options, config.mcp_servers.iter().cloned().chain(given).collect())
}

fn policy(environment: &Environment, config: &Config, workspace: &Workspace) -> Policy {
    let rules = |list: &[String]| list.iter().map(|text| Rule::parse(text)).collect();
    let real = |path: PathBuf| fs_err::canonicalize(&path).unwrap_or(path);
    let home = environment.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let repository = config.folders.iter().map(|folder| folder.path.clone());
    let search_path = environment.variable("PATH");
    Policy {
        allow: rules(&config.settings.command_allow),
        deny: rules(&config.settings.command_deny),
        block: rules(&config.settings.command_block),
        max_autonomy: config.settings.max_autonomy,
        grants: Grants::default(),
        home: real(home),
        settings_folders: environment
            .homes()
            .into_iter()
            .map(Path::to_owned)
            .chain(repository)
            .chain(workspace.roots().flat_map(|root| [root.join(".musher"), root.join(".factory")]))
            .map(real)
            .collect(),
        protected_files: config.scripts.clone(),
        search_path: search_path.iter().flat_map(|path| path.split(':')).map(PathBuf::from).collect(),
        ..Policy::default()
    }
}
