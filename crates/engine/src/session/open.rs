//! Opens sessions: new ones, and those that are there.

use std::path::{Path, PathBuf};

use musher_tools::{Context, Workspace, command_environment};

use super::commands::apply;
use super::state::Session;
use crate::command::NewSession;
use crate::config::Config;
use crate::models::Models;
use crate::permission::{Grants, Policy, Rule};
use crate::{Environment, Error, SessionId, Settings, ToolSelection, Usage};

/// A new session.
pub(super) fn new(environment: &Environment, new: NewSession) -> Result<Session, Error> {
    let id = match &new.id {
        None => SessionId::random(),
        Some(id) => {
            SessionId::parse(id).ok_or_else(|| Error::Invalid(format!("not a session id: `{id}`")))?
        }
    };
    let (config, problems) = environment.config(&new.cwd);
    for problem in problems {
        tracing::warn!(%problem, "settings");
    }
    let models = Models { configured: config.models.clone(), ..environment.models.clone() };
    let mut settings = default_settings(&config, &models);
    apply(&mut settings, &new.settings);
    if new.settings.effort.is_none() && config.settings.reasoning_effort.is_none() {
        settings.effort = models.find(&settings.model).map_or(settings.effort, |model| model.default_effort);
    }
    if let Some(most) = config.settings.max_autonomy {
        settings.autonomy = settings.autonomy.min(most);
    }
    let tools = tools(environment, &config, &new.cwd, &id)?;
    let mut policy = policy(environment, &config, &new.cwd);
    policy.autonomy = settings.autonomy;
    policy.mode = settings.mode;
    policy.skip_all = new.attach.skip_permissions;
    policy.auto_reject = new.attach.auto_reject;
    Ok(Session {
        id,
        cwd: new.cwd,
        settings,
        attach: new.attach,
        system_prompt: new.system_prompt,
        messages: Vec::new(),
        title: new.title,
        updated_at_ms: None,
        usage: Usage::default(),
        child_usage: Usage::default(),
        last_call: None,
        policy,
        config,
        models,
        tools,
        loaded_tools: std::collections::BTreeSet::new(),
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
fn tools(environment: &Environment, config: &Config, cwd: &Path, id: &SessionId) -> Result<Context, Error> {
    let workspace = Workspace::open(cwd).map_err(|_missing| Error::NoDirectory(cwd.to_owned()))?;
    let scratch = environment.home.join("scratch").join(id.as_str());
    let variables = command_environment(environment.variables.iter().cloned(), &config.secret_variables);
    Ok(Context::new(workspace, scratch).with_environment(variables))
}

fn policy(environment: &Environment, config: &Config, cwd: &Path) -> Policy {
    let rules = |list: &[String]| list.iter().map(|text| Rule::parse(text)).collect();
    let real = |path: PathBuf| fs_err::canonicalize(&path).unwrap_or(path);
    let home = environment.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let repository = config.folders.iter().map(|folder| folder.path.clone());
    let search_path = environment.variable("PATH");
    Policy {
        allow: rules(&config.settings.command_allow),
        deny: rules(&config.settings.command_deny),
        block: rules(&config.settings.command_block),
        grants: Grants::default(),
        home: real(home),
        settings_folders: environment
            .homes()
            .into_iter()
            .map(Path::to_owned)
            .chain(repository)
            .chain([cwd.join(".musher"), cwd.join(".factory")])
            .map(real)
            .collect(),
        search_path: search_path.iter().flat_map(|path| path.split(':')).map(PathBuf::from).collect(),
        ..Policy::default()
    }
}
