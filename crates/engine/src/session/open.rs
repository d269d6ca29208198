//! Opens sessions: new and stored ones.

use std::path::{Path, PathBuf};

use musher_model::Secret;
use musher_tools::{Context, Workspace, command_environment};
use serde_json::Map;

use super::journal::Journal;
use super::saved_settings;
use super::state::{Parts, Session};
use crate::command::{Attach, LoadSession, NewSession, ServerTransport, SessionServer};
use crate::config::{Config, McpServer, Transport};
use crate::context::folders_reminder;
use crate::hooks::Hooks;
use crate::mcp::{Mcp, Options};
use crate::models::Models;
use crate::permission::{Grants, Policy, Rule};
use crate::skills::Library;
use crate::{Environment, Error, SessionId, Settings, ToolSelection};
use musher_store::{self as store, Damage, StoreError};

/// Opens a new session.
pub(super) fn new(environment: &Environment, new: NewSession) -> Result<Session, Error> {
    if !new.cwd.is_dir() {
        return Err(Error::NoDirectory(new.cwd));
    }
    let id = match &new.id {
        None => SessionId::random(),
        Some(id) => SessionId::new(id).map_err(|error| Error::Invalid(error.to_string()))?,
    };
    if environment.store().find(&id).is_some() {
        return Err(Error::Invalid(StoreError::Exists(id).to_string()));
    }
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
    session.set_system_prompt(new.system_prompt);
    session.set_initial_title(new.title);
    Ok(session)
}

/// Opens a stored session. Returns the damage of its log, too.
pub(super) fn load(environment: &Environment, load: LoadSession) -> Result<(Session, Damage), Error> {
    let id = SessionId::parse(&load.id).ok_or(Error::SessionNotFound)?;
    let store = environment.store();
    if let (None, Some(theirs)) = (store.find(&id), &environment.factory_home) {
        // made by droid: imported into our home, theirs stays as it is
        store.import(theirs, &id).map_err(|_not_there| Error::SessionNotFound)?;
    }
    let loaded = store.load(&id).map_err(|error| match error {
        StoreError::NotFound(_) | StoreError::InvalidId(_) => Error::SessionNotFound,
        error => Error::Internal(error.to_string()),
    })?;
    let stored = loaded.session;
    let cwd = stored.start.cwd().unwrap_or_default();
    if !cwd.is_dir() {
        return Err(Error::NoDirectory(cwd));
    }
    let journal = Journal::Open(Box::new(loaded.log));
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
    let damage = session.restore(stored);
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
    let (config, mut problems) = environment.session_config(&cwd)?;
    let (library, more) = Library::read(&config, &cwd);
    problems.extend(more);
    let (hooks, more) = Hooks::new(if config.settings.hooks_disabled { &[] } else { &config.hooks });
    problems.extend(more);
    let models = Models { configured: config.models.clone(), ..environment.models.clone() };
    let settings = default_settings(&config, &models);
    let tools = tools(environment, &config, &cwd, &id, &attach)?;
    let policy = policy(environment, &config, &tools.workspace);
    let mcp = shared.unwrap_or_else(|| servers(environment, &config, &cwd, &tools, &attach));
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
        problems,
    }))
}

fn default_settings(config: &Config, models: &Models) -> Settings {
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
    let variables = command_environment(environment.variables.iter().cloned(), &config.secret_variables);
    Ok(Context::new(workspace, scratch).with_environment(variables).with_editor(attach.editor.clone()))
}

fn servers(environment: &Environment, config: &Config, cwd: &Path, tools: &Context, attach: &Attach) -> Mcp {
    let options = Options {
        home: environment.home.clone(),
        factory_home: environment.factory_home.clone(),
        cwd: cwd.to_owned(),
        environment: tools.environment.to_vec(),
        call_timeout: config.settings.mcp_call_timeout,
    };
    let given =
        attach.mcp_servers.iter().map(|server| McpServer::of_session(&server.name, transport(server)));
    Mcp::start(options, config.mcp_servers.iter().cloned().chain(given).collect())
}

/// Returns the transport of a server a client names.
pub(super) fn transport(server: &SessionServer) -> Transport {
    let secret = |(name, value): (&String, &String)| (name.clone(), Secret::new(value.clone()));
    let headers =
        |headers: &[(String, String)]| headers.iter().map(|(name, value)| secret((name, value))).collect();
    match &server.transport {
        ServerTransport::Stdio { command, args, env } => Transport::Stdio {
            command: command.clone(),
            args: args.clone(),
            env: env.iter().map(secret).collect(),
        },
        ServerTransport::Http { url, headers: given } => {
            Transport::Http { url: url.clone(), headers: headers(given) }
        }
        ServerTransport::Sse { url, headers: given } => {
            Transport::Sse { url: url.clone(), headers: headers(given) }
        }
    }
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
        search_path: search_path.iter().flat_map(|path| path.split(':')).map(PathBuf::from).collect(),
        ..Policy::default()
    }
}
