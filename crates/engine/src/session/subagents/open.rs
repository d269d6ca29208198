//! The session of a subagent: new or resumed.

use musher_tools::{Offer, Registry, SubagentTask};
use serde_json::{Map, Value};

use crate::session::journal::Journal;
use crate::session::open;
use crate::session::state::Session;
use crate::skills::{Droid, DroidTools};
use crate::{Environment, Error, SessionId, ToolSelection};
use musher_store::{self as store, StoreError};

/// Fields in the first line of the log: the session and the call that have started the subagent, and its name.
const PARENT: &str = "callingSessionId";
const CALL: &str = "callingToolUseId";
const NAME: &str = "subagentType";

/// Opens the session of a subagent.
pub(super) fn open(
    environment: &Environment,
    parent: &Session,
    task: &SubagentTask,
    call: &str,
) -> Result<Session, Error> {
    let shared = Some(parent.mcp().clone());
    let known = |name: &str| {
        let unknown = || Error::Invalid(super::task_result::unknown_subagent(name, &parent.library().droids));
        parent.library().droid(name).cloned().ok_or_else(unknown)
    };
    let Some(resume) = &task.resume else {
        let droid = known(&task.subagent)?;
        let id = SessionId::random();
        let journal = store::NewSession {
            id: id.clone(),
            cwd: parent.cwd().to_owned(),
            title: Some(task.description.clone()),
            owner: None,
            host_id: None,
            parent: None,
            settings: Map::new(),
            extra: links(parent, call, &droid),
        };
        let journal = Journal::New(environment.store(), Box::new(journal));
        let mut session =
            open::begin(environment, id, parent.cwd().to_owned(), journal, parent.attach().clone(), shared)?;
        let tools = tools(&parent.settings().tools, &droid, &environment.tools);
        session.confine(parent, droid, tools, Some(task.description.clone()))?;
        return Ok(session);
    };
    let not_there = || Error::Invalid(format!("This session has no subagent \"{resume}\" to resume"));
    let id = SessionId::parse(resume).ok_or_else(not_there)?;
    let loaded = environment.store().load(&id).map_err(|error| match error {
        StoreError::NotFound(_) | StoreError::InvalidId(_) => not_there(),
        error => error.into(),
    })?;
    let stored = loaded.session;
    let link = |key: &str| stored.start.get(key).and_then(Value::as_str);
    if link(PARENT) != Some(parent.id().as_str()) {
        return Err(not_there());
    }
    let droid = known(link(NAME).unwrap_or(&task.subagent))?;
    let journal = Journal::Owned(Box::new(loaded.log));
    let mut session =
        open::begin(environment, id, parent.cwd().to_owned(), journal, parent.attach().clone(), shared)?;
    session.restore(stored);
    session.restore_seen_files(&environment.tools);
    let tools = tools(&parent.settings().tools, &droid, &environment.tools);
    session.confine(parent, droid, tools, None)?;
    Ok(session)
}

fn links(parent: &Session, call: &str, droid: &Droid) -> Map<String, Value> {
    let links = [(PARENT, parent.id().as_str()), (CALL, call), (NAME, droid.name.as_str())];
    links.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect()
}

/// Returns the tools of a subagent: those of the session that its own file allows.
fn tools(parent: &ToolSelection, droid: &Droid, registry: &Registry) -> ToolSelection {
    let mut tools = parent.clone();
    for info in registry.infos() {
        let is_kept = droid.may_use(info.name, None) && !info.is_main_session_only;
        if !is_kept && !tools.disabled.iter().any(|id| id == info.id) {
            tools.disabled.push(info.id.to_owned());
        }
        // a named tool is offered at once: not every subagent can search for tools
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
    fn subagent_cannot_start_others_and_has_only_tools_of_its_session() {
        let parent = ToolSelection { disabled: vec![id("Create")], ..ToolSelection::default() };
        let [worker, explorer] = Droid::builtin();
        let of_worker = tools(&parent, &worker, &Registry::builtin());
        for name in ["Task", "AskUser", "ExitSpecMode", "Create"] {
            assert!(of_worker.disabled.contains(&id(name)), "{name}");
        }
        // its own background commands
        for name in ["Edit", "TaskOutput", "TaskInput", "TaskStop"] {
            assert!(!of_worker.disabled.contains(&id(name)), "{name}");
        }
        let of_explorer = tools(&parent, &explorer, &Registry::builtin());
        assert!(of_explorer.disabled.contains(&id("Edit")) && of_explorer.disabled.contains(&id("Execute")));
        assert_eq!(of_explorer.enabled, [id("FetchUrl")]);
    }
}
