//! Carries out the slash commands that are ours. Their answers are messages like the agent's own.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{CompactionStatus, ContentBlock, ContentChunk, SessionUpdate};
use musher::wire::CompactSessionParams;

use super::{Session, internal, opening_error};
use crate::commands::{self, Command};
use crate::{listing, modes};

/// How many sessions are listed in a message.
const MOST_LISTED: usize = 20;

impl Session {
    /// Does what a command says, and tells what came of it.
    pub(super) async fn carry_out(&self, command: Command) -> Result<(), Error> {
        let answer = match command {
            Command::Compact(instructions) => self.compact(instructions).await?,
            Command::Context => self.context().await?,
            Command::Mode(Some(mode)) => self.set(modes::MODE, &mode).await?,
            Command::Model(Some(model)) => self.set(modes::MODEL, &model).await?,
            Command::Mode(None) => self.list(modes::MODE),
            Command::Model(None) => self.list(modes::MODEL),
            Command::Status => self.status().await?,
            Command::Sessions => self.sessions().await?,
            Command::Help => help(),
        };
        self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::from(answer))));
        Ok(())
    }

    /// Sums the conversation up, and tells how that goes. If it is cancelled, the end of the prompt tells so.
    async fn compact(&self, instructions: Option<String>) -> Result<String, Error> {
        self.tell(|scribe| scribe.compaction(CompactionStatus::InProgress, None));
        let summed_up = self.sum_up(instructions).await;
        match &summed_up {
            Ok(_) => self.tell(|scribe| scribe.compaction(CompactionStatus::Completed, None)),
            Err(error) => {
                self.tell(|scribe| scribe.compaction(CompactionStatus::Failed, Some(&error.message)));
            }
        }
        self.count().await;
        summed_up
    }

    /// The agent sums up into a new session; the editor's session goes on with that one.
    async fn sum_up(&self, instructions: Option<String>) -> Result<String, Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        let params =
            CompactSessionParams { custom_instructions: instructions, ..CompactSessionParams::default() };
        let compacted = process.compact_session(params).await.map_err(|error| internal(&error))?;
        let summed_up = self.reopen(compacted.new_session_id).await.map_err(|error| opening_error(&error))?;
        self.follow(summed_up);
        process.close().await.ok();
        let removed = compacted.removed_count.map_or(0, |count| count.get());
        Ok(format!("The conversation was summed up: the summary stands for {removed} messages."))
    }

    async fn context(&self) -> Result<String, Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        let stats = process.get_context_stats().await.map_err(|error| internal(&error))?;
        let (used, limit) = (stats.used.get(), stats.limit.get());
        let percent = used.saturating_mul(100).checked_div(limit).unwrap_or_default();
        Ok(format!("{used} of {limit} tokens are used ({percent} %)."))
    }

    async fn set(&self, option: &str, value: &str) -> Result<String, Error> {
        match self.choose(option, value).await {
            Ok(()) => Ok(format!("The {option} is now `{value}`.")),
            // a typing error is answered, it is no failure of the prompt
            Err(error) if i32::from(error.code) == -32602 => {
                Ok(format!("There is no {option} `{value}`.\n\n{}", self.list(option)))
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self, option: &str) -> String {
        let options = self.choices().1;
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

    async fn status(&self) -> Result<String, Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        let state = process.state();
        let unknown = || "unknown".to_owned();
        let directory = state.cwd.map_or_else(unknown, |cwd| cwd.display().to_string());
        Ok(format!(
            "- Session: `{}`\n- Directory: `{directory}`\n- Model: `{}`\n- Mode: `{}`\n",
            state.id,
            state.settings.model_id.clone().unwrap_or_else(unknown),
            modes::current(&state.settings),
        ))
    }

    async fn sessions(&self) -> Result<String, Error> {
        let Some(cwd) = self.running_process().and_then(|process| process.state().cwd) else {
            return Ok("The directory of this session is not known.".to_owned());
        };
        let found = listing::stored(&self.desk.config, Some(&cwd), MOST_LISTED).await?;
        let lines = found.into_iter().map(|session| {
            format!("- `{}`: {}\n", session.id, session.session_title.unwrap_or(session.title))
        });
        Ok(lines.collect())
    }
}

fn help() -> String {
    let ours = commands::available(Vec::new(), Vec::new());
    let lines = ours.iter().map(|command| format!("- `/{}`: {}", command.name, command.description));
    lines.collect::<Vec<_>>().join("\n")
}
