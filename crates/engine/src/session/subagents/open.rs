//! The session of a subagent: new, or one that goes on. It may never do more than the session that starts it.

use std::sync::Arc;

use musher_tools::{Offer, Registry, SubagentTask};
use serde_json::{Map, Value};

use super::Subagent;
use crate::command::SystemPrompt;
use crate::context::subagent_prompt;
use crate::session::journal::Journal;
use crate::session::state::Session;
use crate::session::{open, saved};
use crate::skills::{Droid, DroidTools};
use crate::{Environment, Error, Mode, SessionId, ToolSelection};
use musher_store::{self as store, StoreError};

/// The session that started this one, in the first line of its log.
const PARENT: &str = "callingSessionId";
const CALL: &str = "callingToolUseId";
const NAME: &str = "subagentType";

const PLANNING: &str = "\n\nThe session that started you only plans: change nothing.";

/// The session of a subagent.
pub(super) fn open(
    environment: &Environment,
    parent: &Session,
    task: &SubagentTask,
    call: &str,
) -> Result<Session, Error> {
    let shared = Some(parent.mcp.clone());
    let known = |name: &str| {
        let unknown = || Error::Invalid(super::task_result::unknown_subagent(name, &parent.library.droids));
        parent.library.droid(name).cloned().ok_or_else(unknown)
    };
    let Some(resume) = &task.resume else {
        let droid = known(&task.subagent)?;
        let id = SessionId::random();
        let journal = store::NewSession {
            id: id.clone(),
            cwd: parent.cwd.clone(),
            title: Some(task.description.clone()),
            owner: None,
            host_id: None,
            parent: None,
            settings: Map::new(),
            extra: links(parent, call, &droid),
        };
        let journal = Journal::New(environment.store(), Box::new(journal));
        let mut session =
            open::begin(environment, id, parent.cwd.clone(), journal, parent.attach.clone(), shared)?;
        session.title = Some(task.description.clone());
        confine(&mut session, parent, droid, &environment.tools)?;
        return Ok(session);
    };
    let not_there =
        || Error::Invalid(format!("There is no subagent \"{resume}\" of this session to go on with"));
    let id = SessionId::parse(resume).ok_or_else(not_there)?;
    let loaded = environment.store().load(&id).map_err(|error| match error {
        StoreError::NotFound(_) | StoreError::InvalidId(_) => not_there(),
        error => Error::Internal(error.to_string()),
    })?;
    let stored = loaded.session;
    let told = |key: &str| stored.start.get(key).and_then(Value::as_str);
    if told(PARENT) != Some(parent.id.as_str()) {
        return Err(not_there());
    }
    let droid = known(told(NAME).unwrap_or(&task.subagent))?;
    let journal = Journal::Open(Box::new(loaded.log));
    let mut session =
        open::begin(environment, id, parent.cwd.clone(), journal, parent.attach.clone(), shared)?;
    open::fill(&mut session, stored);
    confine(&mut session, parent, droid, &environment.tools)?;
    Ok(session)
}

fn links(parent: &Session, call: &str, droid: &Droid) -> Map<String, Value> {
    let links = [(PARENT, parent.id.as_str()), (CALL, call), (NAME, droid.name.as_str())];
    links.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect()
}

/// Gives a session what its subagent may have of what the session that starts it has.
fn confine(session: &mut Session, parent: &Session, droid: Droid, registry: &Registry) -> Result<(), Error> {
    // its calls are not shown, so a terminal of the editor's would be seen by nobody
    session.tools.has_terminals = false;
    // with what hooks have left for commands
    session.tools.environment = Arc::clone(&parent.tools.environment);
    let settings = &mut session.settings;
    parent.model_id().clone_into(&mut settings.model);
    settings.effort = parent.effort();
    settings.mode = parent.settings.mode;
    settings.spec_model = None;
    settings.spec_effort = None;
    settings.compaction_token_limit = parent.settings.compaction_token_limit;
    settings.compaction_check = parent.settings.compaction_check;
    settings.tools = tools(&parent.settings.tools, &droid, registry);
    settings.autonomy = parent.policy.level();
    // what the settings say for subagents is the most they get, whatever anybody agrees to
    if let Some(most) = parent.config.settings.subagent_autonomy {
        let most = session.config.settings.max_autonomy.map_or(most, |known| known.min(most));
        session.config.settings.max_autonomy = Some(most);
        session.policy.max_autonomy = Some(most);
        session.attach.skip_permissions = false;
    }
    if let Some(name) = &droid.model {
        let model = session.models.find(name).ok_or_else(|| {
            let droid = &droid.name;
            Error::Invalid(format!("The model \"{name}\" of the subagent \"{droid}\" is not available"))
        })?;
        session.settings.model.clone_from(name);
        session.settings.effort = model.default_effort;
    }
    session.settings.effort = droid.effort.unwrap_or(session.settings.effort);
    let planning = if session.settings.mode == Mode::Spec { PLANNING } else { "" };
    let prompt = SystemPrompt::Replace(format!("{}{planning}", subagent_prompt(&droid.prompt)));
    session.settings.system_prompt = Some(saved::as_given(&prompt));
    session.system_prompt = Some(prompt);
    session.told_mode = Some(session.settings.mode);
    session.policy.grants = parent.policy.grants.clone();
    session.is_title_manual = true;
    session.subagent = Some(Subagent { droid });
    session.update_policy();
    Ok(())
}

/// The tools of a subagent: those of the session, as far as its own file names them.
fn tools(parent: &ToolSelection, droid: &Droid, registry: &Registry) -> ToolSelection {
    let mut tools = parent.clone();
    for info in registry.infos() {
        let is_kept = droid.may_use(info.name, None) && !info.is_main_session_only;
        if !is_kept && !tools.disabled.iter().any(|id| id == info.id) {
            tools.disabled.push(info.id.to_owned());
        }
        // what is named is offered at once: not every subagent can look for tools
        let is_named = matches!(droid.tools, DroidTools::Only { .. }) && info.offer == Offer::OnSearch;
        if is_kept && is_named {
            tools.enabled.push(info.id.to_owned());
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> String {
        Registry::builtin().info(name).unwrap().id.to_owned()
    }

    #[test]
    fn a_subagent_starts_no_others_and_has_no_tool_the_session_has_not() {
        let parent = ToolSelection { disabled: vec![id("Create")], ..ToolSelection::default() };
        let [worker, explorer] = Droid::builtin();
        let of_worker = tools(&parent, &worker, &Registry::builtin());
        for name in ["Task", "TaskOutput", "TaskStop", "AskUser", "ExitSpecMode", "Create"] {
            assert!(of_worker.disabled.contains(&id(name)), "{name}");
        }
        assert!(!of_worker.disabled.contains(&id("Edit")));
        let of_explorer = tools(&parent, &explorer, &Registry::builtin());
        assert!(of_explorer.disabled.contains(&id("Edit")) && of_explorer.disabled.contains(&id("Execute")));
        assert_eq!(of_explorer.enabled, [id("FetchUrl")]);
    }
}
