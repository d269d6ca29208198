//! Opens sessions: new ones, and those that are there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use musher_model::Secret;
use musher_tools::{Context, Workspace, command_environment};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::commands::apply;
use super::journal::Journal;
use super::saved;
use super::state::{Session, sum};
use super::subagents::Subagents;
use crate::command::{Attach, LoadSession, NewSession, ServerTransport, SessionServer};
use crate::config::Problem;
use crate::config::{Config, McpServer, Transport};
use crate::context::{FolderNotes, folders_reminder};
use crate::hooks::Hooks;
use crate::mcp::{Mcp, Options};
use crate::models::Models;
use crate::permission::{Grants, Policy, Rule};
use crate::skills::Library;
use crate::{Environment, Error, SessionId, Settings, ToolSelection, Usage};
use musher_store::{self as store, Damage, StoreError};

/// A new session.
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
    let default_model = session.settings.model.clone();
    apply(&mut session.settings, &new.settings);
    if session.model().is_none() {
        // as droid does; but who wished for a model that is not there is told
        let wished = std::mem::replace(&mut session.settings.model, default_model);
        if new.settings.model.is_some() {
            let ids: Vec<String> = session.models.views().into_iter().map(|model| model.id).collect();
            let text = format!("there is no model `{wished}`; there are: {}", ids.join(", "));
            session.problems.push(Problem::new("initialize_session", text));
        }
    }
    if new.settings.effort.is_none() && session.config.settings.reasoning_effort.is_none() {
        session.settings.effort =
            session.model().map_or(session.settings.effort, |model| model.default_effort);
    }
    session.settings.system_prompt = new.system_prompt.as_ref().map(saved::as_given);
    session.system_prompt = new.system_prompt;
    session.is_title_manual = new.title.is_some();
    session.title = new.title;
    session.update_policy();
    Ok(session)
}

/// A session that is there, and what was wrong with it.
pub(super) fn load(environment: &Environment, load: LoadSession) -> Result<(Session, Damage), Error> {
    let id = SessionId::parse(&load.id).ok_or(Error::SessionNotFound)?;
    let store = environment.store();
    if let (None, Some(theirs)) = (store.find(&id), &environment.factory_home) {
        // made by droid: taken over into our home, theirs stays as it is
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
    let had = saved::directories(&stored.settings);
    let has = attach.directories.get_or_insert_with(|| {
        // one that is gone since does not keep the session from opening
        had.iter().filter(|folder| folder.is_dir()).cloned().collect()
    });
    let changed = (*has != had && !stored.messages.is_empty()).then(|| folders_reminder(has));
    let mut session = begin(environment, id, cwd, journal, attach, None)?;
    session.new_notes.extend(changed);
    saved::restore(&mut session.settings, &stored.settings);
    apply(&mut session.settings, &load.settings);
    session.system_prompt = saved::system_prompt(&stored.settings);
    let damage = fill(&mut session, stored);
    session.update_policy();
    Ok((session, damage))
}

/// Puts what was stored into a session.
pub(super) fn fill(session: &mut Session, stored: store::Stored) -> Damage {
    session.subagents.usage = saved::children(&stored.settings);
    session.child_usage = session.subagents.usage.values().copied().fold(Usage::default(), sum);
    session.usage = saved::counts(&stored.settings, "tokenUsage").unwrap_or_default();
    session.last_call = saved::counts(&stored.settings, "lastCallTokenUsage");
    session.saved = stored.settings;
    session.told_mode = (!stored.messages.is_empty()).then_some(session.settings.mode);
    session.messages = stored.messages.into_iter().map(Arc::new).collect();
    session.compaction = stored.compaction;
    session.is_title_manual = stored.start.is_title_manual();
    session.title = Some(stored.start.title().to_owned());
    session.updated_at_ms = Some(stored.modified_ms);
    stored.damage
}

/// What all sessions have. A subagent has the servers of the session that starts it.
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
    let cancel = CancellationToken::new();
    Ok(Session {
        hooks: Arc::new(hooks),
        opened: Instant::now(),
        number: 0,
        id,
        settings,
        saved: Map::new(),
        attach,
        system_prompt: None,
        journal,
        messages: Vec::new(),
        compaction: None,
        title: None,
        is_title_manual: false,
        new_title: None,
        updated_at_ms: None,
        usage: Usage::default(),
        child_usage: Usage::default(),
        last_call: None,
        policy,
        problems,
        config,
        library,
        models,
        mcp,
        told_servers: None,
        is_settled: false,
        tools,
        loaded_tools: std::collections::BTreeSet::new(),
        notes: FolderNotes::new(cwd.clone()),
        first_hooks: Vec::new(),
        new_notes: Vec::new(),
        subagent: None,
        subagents: Subagents::default(),
        told_mode: None,
        _guard: cancel.clone().drop_guard(),
        cancel,
        cwd,
    })
}

fn default_settings(config: &Config, models: &Models) -> Settings {
    let said = &config.settings;
    Settings {
        model: models.default_id(said.model.as_deref()).unwrap_or_default(),
        effort: said.reasoning_effort.unwrap_or(crate::Effort::Off),
        mode: said.mode.unwrap_or_default(),
        autonomy: said.autonomy.unwrap_or_default(),
        spec_model: said.spec_model.clone(),
        spec_effort: said.spec_reasoning_effort,
        tools: ToolSelection::default(),
        tags: None,
        compaction_token_limit: said.compaction_token_limit,
        compaction_check: true,
        system_prompt: None,
    }
}

/// What tools get besides their arguments.
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
    let editor = environment.editor.clone();
    Ok(Context::new(workspace, scratch).with_environment(variables).with_editor(editor))
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

/// How a server is reached that a client names.
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
