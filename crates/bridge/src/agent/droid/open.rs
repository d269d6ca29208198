//! Opens a session of the SDK by a plan, and collects its models, tools and commands.

use std::time::Duration;

use musher::wire::{ListToolsParams, ModelInfo};
use musher::{Agent, ErrorKind, Session};
use serde_json::{Value, json};

use super::models;
use super::modes::{self, Standing};
use super::plan::{SessionPlan, Start};
use super::translate::SessionInfo;
use super::{catalog, describe};
use crate::agent::{Failure, Greeting, ended_details};

/// A session that is ready.
pub(super) struct Opened {
    pub(super) session: Session,
    pub(super) info: SessionInfo,
    pub(super) greeting: Greeting,
    pub(super) notes: Vec<String>,
}

pub(super) async fn open(agent: Agent, plan: &SessionPlan) -> Result<Opened, Failure> {
    let session = start(agent, plan).await.map_err(|error| failure(&error))?;
    if let Err(reason) = check_model(&session, plan).await {
        session.close().await.ok();
        return Err(Failure { message: reason, details: json!({"phase": "initialize"}) });
    }
    let state = session.state();
    let mut notes = Vec::new();
    let model = state.settings.model_id.clone().unwrap_or_default();
    let cwd = state.cwd.clone().unwrap_or_else(|| plan.cwd.clone());
    if cwd != plan.cwd {
        notes.push(format!(
            "the session continues in the directory where it was created, `{}`",
            cwd.display()
        ));
    }
    // old agents do not have all of these lists
    let client = session.client();
    let tools = client.list_tools(ListToolsParams::default()).await.map(|it| it.tools).unwrap_or_default();
    let commands = client.list_commands().await.map(|it| it.commands).unwrap_or_default();
    let skills = client.list_skills().await.map(|it| it.skills).unwrap_or_default();
    let servers = catalog::servers(&session, &plan.servers).await.unwrap_or_else(|_| json!([]));
    let info = SessionInfo {
        session_id: state.id.to_string(),
        cwd: cwd.to_string_lossy().into_owned(),
        model,
        mode: modes::current(&state.settings, plan.mode.map_or(Standing::Ask, Standing::of)),
        tools: tools.into_iter().map(|tool| tool.llm_id).collect(),
        commands: commands.iter().map(|command| command.name.clone()).collect(),
        skills: skills.into_iter().map(|skill| skill.name).collect(),
        servers: catalog::names_and_states(&servers),
    };
    let greeting = Greeting {
        session_id: state.id.to_string(),
        models: state.models.iter().map(model_info).collect::<Value>().into(),
        commands: catalog::commands(&commands).into(),
        account: None,
    };
    Ok(Opened { session, info, greeting, notes })
}

async fn start(agent: Agent, plan: &SessionPlan) -> musher::Result<Session> {
    match &plan.start {
        Start::New { system_prompt } => plan.builder(system_prompt.as_ref()).agent(agent).open().await,
        Start::Resume { id, as_copy } => {
            let mut session = plan.resume_builder(id).agent(agent).open().await?;
            if *as_copy {
                let copy = session.fork().await?;
                session.close().await?;
                session = copy;
            }
            if let Some(changes) = plan.changes() {
                session.update_settings(changes).await?;
            }
            Ok(session)
        }
    }
}

/// Sets the model of a resumed session, and checks that a new one has the requested model: an agent takes another one in the place of
/// one that it does not know, which could cost more, or read what the requested one may not.
async fn check_model(session: &Session, plan: &SessionPlan) -> Result<(), String> {
    let Some(wanted) = &plan.model else { return Ok(()) };
    if matches!(plan.start, Start::Resume { .. }) {
        return models::set(session, &plan.model_names, wanted).await;
    }
    let state = session.state();
    match state.settings.model_id {
        Some(model) if model != *wanted => Err(models::unknown(wanted, &state.models)),
        // an old agent does not say which model it uses
        _ => Ok(()),
    }
}

/// Returns a model as the Claude Code CLI lists its own.
fn model_info(model: &ModelInfo) -> Value {
    let name = model.display_name.as_deref().unwrap_or(&model.id);
    let efforts = model.supported_reasoning_efforts.clone().unwrap_or_default();
    let efforts: Vec<_> = efforts.iter().map(musher::wire::ReasoningEffort::as_str).collect();
    let provider = model.model_provider.as_ref().map_or("", |provider| provider.as_str());
    json!({
        "value": model.id, "displayName": name, "description": provider,
        "supportsEffort": !efforts.is_empty(), "supportedEffortLevels": efforts,
    })
}

/// Returns the error for an agent that does not start in time.
pub(super) fn too_slow(timeout: Duration) -> Failure {
    Failure {
        message: format!("timed out after {timeout:?} waiting for the agent to start"),
        details: json!({"phase": "initialize"}),
    }
}

/// Returns why a session did not open.
pub(super) fn failure(error: &musher::Error) -> Failure {
    let mut details = serde_json::Map::new();
    let phase = match error.kind() {
        ErrorKind::Connection { .. } => "spawn",
        ErrorKind::InvalidInput => "validate",
        ErrorKind::ProcessExit { code, signal, stderr } => {
            details = ended_details(*code, *signal, stderr);
            "initialize"
        }
        _ => "initialize",
    };
    details.insert("phase".to_owned(), phase.into());
    Failure { message: describe(error), details: details.into() }
}
