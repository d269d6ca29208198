//! Requests about a session that need its agent, each in a task of its own, so that a slow agent does not delay the session's task.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    AvailableCommandsUpdate, SessionConfigOption, SessionId, SessionUpdate,
};
use musher::wire::SessionNotification;
use std::time::Duration;
use tokio::time::timeout;

use super::SessionPort;
use super::agent::AgentStarter;
use super::command::Command;
use super::failure::internal;
use crate::registry::Registry;
use crate::{commands, modes};

/// How long the agent may take to list its commands and skills.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the agent may take to count the tokens of the context.
const COUNT_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends the slash commands, the state and the size of the context.
pub(super) async fn introduce(port: SessionPort) {
    let Ok(Some(agent)) = port.snapshot().await.map(|snapshot| snapshot.agent) else { return };
    let lists = async { (agent.client().list_commands().await, agent.client().list_skills().await) };
    // an agent that has none, or does not know the method, still has ours
    let (commands, skills) = match timeout(LIST_TIMEOUT, lists).await {
        Ok((commands, skills)) => (
            commands.map(|list| list.commands).unwrap_or_default(),
            skills.map(|list| list.skills).unwrap_or_default(),
        ),
        Err(_elapsed) => Default::default(),
    };
    let commands = AvailableCommandsUpdate::new(commands::available(commands, skills));
    port.send(Command::Update(Box::new(SessionUpdate::AvailableCommandsUpdate(commands)))).await;
    if port.report_state().await.is_ok() {
        count_context(&port).await;
    }
}

/// Reports the MCP servers of an agent when they change, until it ends, and before, if `lists`, as they are.
pub(super) async fn watch_servers(port: SessionPort, agent: musher::Session, lists: bool) {
    let mut changes = agent.notifications().only("mcp_status_changed");
    if lists && let Ok(Ok(list)) = timeout(LIST_TIMEOUT, agent.client().list_mcp_servers()).await {
        port.send(Command::Servers(list.servers)).await;
    }
    // the last handle ends the agent
    drop(agent);
    while let Some(change) = changes.next().await {
        if let Ok(params) = change.session()
            && let SessionNotification::McpStatusChanged(status) = params.notification
        {
            port.send(Command::Servers(status.servers)).await;
        }
    }
}

/// Sends the size of the context, if the agent counts in time.
pub(super) async fn count_context(port: &SessionPort) {
    let Ok(Some(agent)) = port.snapshot().await.map(|snapshot| snapshot.agent) else { return };
    if let Ok(Ok(stats)) = timeout(COUNT_TIMEOUT, agent.client().get_context_stats()).await {
        port.send(Command::ContextCounted { used: stats.used.get(), limit: stats.limit.get() }).await;
    }
}

/// Sets an option, and returns all options.
pub(super) async fn set_option(
    port: &SessionPort,
    registry: &Registry,
    option: &str,
    value: &str,
) -> Result<Vec<SessionConfigOption>, Error> {
    let agent = port.agent().await?;
    let snapshot = port.snapshot().await?;
    let (settings, models) = (&snapshot.state.settings, snapshot.models());
    let change = match modes::choose(option, value, settings, &models) {
        Err(_) if option == modes::MODEL => {
            let cwd = snapshot.state.cwd.clone().unwrap_or_else(|| "/".into());
            let found = registry.config.model_names.find(cwd, value.to_owned()).await;
            found.map(modes::with_model).ok_or_else(|| modes::unknown_model(value, &models))?
        }
        choice => choice?,
    };
    agent.update_settings(change).await.map_err(|error| internal(&error))?;
    port.report_state().await
}

/// Sets the title.
pub(super) async fn set_title(port: &SessionPort, title: &str) -> Result<(), Error> {
    let agent = port.agent().await?;
    agent.rename(title).await.map_err(|error| internal(&error))?;
    port.report_state().await.map(drop)
}

/// Forks the stored session.
pub(super) async fn fork(port: &SessionPort) -> Result<SessionId, Error> {
    let agent = port.agent().await?;
    Ok(SessionId::new(AgentStarter::fork(&agent).await?))
}
