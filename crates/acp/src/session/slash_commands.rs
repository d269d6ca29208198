//! Runs the slash commands of the adapter. Their output looks like a message of the agent.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::CompactionStatus;
use musher::wire::{CompactSessionParams, McpServerInfo};

use super::command::{Command, Snapshot};
use super::failure::{internal, opening_error};
use super::operations;
use super::prompt::PromptTask;
use crate::commands::{self, Command as SlashCommand};
use crate::convert::mcp;
use crate::{listing, modes};

/// How many sessions are listed in a message.
const MAX_LISTED_SESSIONS: usize = 20;

impl PromptTask {
    /// Runs a command and sends its output.
    pub(super) async fn run_command(&self, command: SlashCommand) -> Result<(), Error> {
        let output = match command {
            SlashCommand::Compact(instructions) => self.compact(instructions).await?,
            SlashCommand::Context => self.context().await?,
            SlashCommand::Mode(Some(mode)) => self.set(modes::MODE, &mode).await?,
            SlashCommand::Model(Some(model)) => self.set(modes::MODEL, &model).await?,
            SlashCommand::Mode(None) => list(&self.port.snapshot().await?, modes::MODE),
            SlashCommand::Model(None) => list(&self.port.snapshot().await?, modes::MODEL),
            SlashCommand::Status => self.status().await?,
            SlashCommand::Sessions => self.sessions().await?,
            SlashCommand::Help => help(),
        };
        self.port.agent_message(output).await;
        Ok(())
    }

    /// Compacts the conversation and reports the progress. If it is cancelled, the end of the prompt reports that.
    async fn compact(&self, instructions: Option<String>) -> Result<String, Error> {
        self.port.compaction(CompactionStatus::InProgress, None).await;
        let compacted = self.compact_session(instructions).await;
        match &compacted {
            Ok(_) => self.port.compaction(CompactionStatus::Completed, None).await,
            Err(error) => self.port.compaction(CompactionStatus::Failed, Some(&error.message)).await,
        }
        operations::count_context(&self.port).await;
        compacted
    }

    /// Compacts into a new session of the agent, in which the editor's session continues.
    async fn compact_session(&self, instructions: Option<String>) -> Result<String, Error> {
        let agent = self.port.agent().await?;
        let params =
            CompactSessionParams { custom_instructions: instructions, ..CompactSessionParams::default() };
        let compacted = agent.client().compact_session(params).await.map_err(|error| internal(&error))?;
        let next = self.starter.resume(compacted.new_session_id).await;
        let next = next.map_err(|error| opening_error(&error))?;
        self.port.send(Command::AgentReplaced(Box::new(next))).await;
        agent.close().await.ok();
        let removed = compacted.removed_count.map_or(0, |count| count.get());
        Ok(format!("Conversation compacted: {removed} messages replaced by a summary."))
    }

    async fn context(&self) -> Result<String, Error> {
        let agent = self.port.agent().await?;
        let stats = agent.client().get_context_stats().await.map_err(|error| internal(&error))?;
        let (used, limit) = (stats.used.get(), stats.limit.get());
        let percent = used.saturating_mul(100).checked_div(limit).unwrap_or_default();
        Ok(format!("{used} of {limit} tokens are used ({percent} %)."))
    }

    async fn set(&self, option: &str, value: &str) -> Result<String, Error> {
        match operations::set_option(&self.port, &self.registry, option, value).await {
            Ok(_) => Ok(format!("The {option} is now `{value}`.")),
            // a typing error is answered; the prompt has not failed
            Err(error) if i32::from(error.code) == -32602 => {
                let choices = list(&self.port.snapshot().await?, option);
                Ok(format!("There is no {option} `{value}`.\n\n{choices}"))
            }
            Err(error) => Err(error),
        }
    }

    async fn status(&self) -> Result<String, Error> {
        let agent = self.port.agent().await?;
        let state = agent.state();
        let unknown = || "unknown".to_owned();
        let directory = state.cwd.map_or_else(unknown, |cwd| cwd.display().to_string());
        Ok(format!(
            "- Session: `{}`\n- Directory: `{directory}`\n- Model: `{}`\n- Mode: `{}`\n{}",
            state.id,
            state.settings.model_id.clone().unwrap_or_else(unknown),
            modes::current(&state.settings),
            self.missing_logins(&agent).await,
        ))
    }

    /// Returns a line for each MCP server that needs a login.
    async fn missing_logins(&self, agent: &musher::Session) -> String {
        // an old agent has no such list
        let servers = agent.client().list_mcp_servers().await.map(|list| list.servers).unwrap_or_default();
        let line = |server: &McpServerInfo| {
            let hint = mcp::login_hint(self.registry.config.mcp_login.as_deref(), &server.name);
            format!("- MCP server `{}`: needs a login. {hint}\n", server.name)
        };
        servers.iter().filter(|server| server.requires_auth == Some(true)).map(line).collect()
    }

    async fn sessions(&self) -> Result<String, Error> {
        let Some(cwd) = self.port.snapshot().await?.agent.and_then(|agent| agent.state().cwd) else {
            return Ok("The directory of this session is not known.".to_owned());
        };
        let found = listing::stored(&self.registry.config, Some(&cwd), MAX_LISTED_SESSIONS).await?;
        let lines = found.into_iter().map(|session| {
            format!("- `{}`: {}\n", session.id, session.session_title.unwrap_or(session.title))
        });
        Ok(lines.collect())
    }
}

fn list(snapshot: &Snapshot, option: &str) -> String {
    let options = snapshot.options();
    let wanted = options.iter().find(|known| &*known.id.0 == option);
    let Some((current, choices)) = wanted.and_then(modes::values) else {
        return format!("The agent offers no choice of the {option}.");
    };
    let lines = choices.iter().map(|(value, name)| {
        let mark = if *value == current { " (current)" } else { "" };
        format!("- `{value}`: {name}{mark}\n")
    });
    lines.collect()
}

fn help() -> String {
    let ours = commands::available(Vec::new(), Vec::new());
    let lines = ours.iter().map(|command| format!("- `/{}`: {}", command.name, command.description));
    lines.collect::<Vec<_>>().join("\n")
}
