//! The session that is open: its settings, its messages, and what it has used.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use musher_model::Usage;
use musher_tools::Context;
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::journal::{Journal, record};
use super::saved;
use super::subagents::{Subagent, Subagents};
use crate::command::{Attach, SystemPrompt};
use crate::config::{Config, Problem};
use crate::context::FolderNotes;
use crate::hooks::Hooks;
use crate::mcp::Mcp;
use crate::mcp::ServerView;
use crate::models::{Model, Models};
use crate::permission::Policy;
use crate::skills::Library;
use crate::{Effort, Mode, SessionId, Settings};
use musher_message::Message;
use musher_store::{Compacted, StoreError};

/// The session that is open.
pub(crate) struct Session {
    /// Which of the sessions this agent has opened.
    pub(crate) number: u64,
    pub(crate) id: SessionId,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    /// The settings file as it was found, with what is not ours.
    pub(crate) saved: Map<String, Value>,
    pub(crate) attach: Attach,
    pub(crate) system_prompt: Option<SystemPrompt>,
    pub(crate) journal: Journal,
    pub(crate) messages: Vec<Arc<Message>>,
    /// What the beginning of the messages was summed up to.
    pub(crate) compaction: Option<Compacted>,
    pub(crate) title: Option<String>,
    pub(crate) is_title_manual: bool,
    /// The title of a first message, to be told when its turn is over.
    pub(crate) new_title: Option<String>,
    pub(crate) updated_at_ms: Option<i64>,
    /// What it has used.
    pub(crate) usage: Usage,
    /// What its subagents have used.
    pub(crate) child_usage: Usage,
    pub(crate) last_call: Option<Usage>,
    /// What may run without asking.
    pub(crate) policy: Policy,
    /// What is wrong with the settings files, until it is told.
    pub(crate) problems: Vec<Problem>,
    /// What the settings files say.
    pub(crate) config: Config,
    pub(crate) library: Library,
    pub(crate) models: Models,
    /// The commands of the user that run at certain moments.
    pub(crate) hooks: Arc<Hooks>,
    /// Since when it is open.
    pub(crate) opened: Instant,
    pub(crate) mcp: Mcp,
    /// The servers as clients were last told of them.
    pub(crate) told_servers: Option<Vec<ServerView>>,
    /// Whether servers were waited for.
    pub(crate) is_settled: bool,
    /// What tools get besides their arguments.
    pub(crate) tools: Context,
    /// Tools that are offered since the model looked for them.
    pub(crate) loaded_tools: BTreeSet<String>,
    /// Notes of sub-folders that were told.
    pub(crate) notes: FolderNotes,
    /// Hooks that have run before anything was said.
    pub(crate) first_hooks: Vec<Message>,
    /// What the model has to be told before it is asked again.
    pub(crate) new_notes: Vec<String>,
    /// What this session is, if another has started it.
    pub(crate) subagent: Option<Subagent>,
    /// Those it has started.
    pub(crate) subagents: Subagents,
    /// The mode the model was last told of.
    pub(crate) told_mode: Option<Mode>,
    /// Ends the tasks of the session.
    pub(crate) cancel: CancellationToken,
    pub(crate) _guard: DropGuard,
}

impl Session {
    /// Puts a message at the end, in the log and in memory. Behind one of the same id, it becomes part of it.
    pub(crate) fn append(&mut self, mut message: Message) -> Result<Arc<Message>, StoreError> {
        // hooks may have run between two parts
        let last = self.messages.iter().rposition(|last| !last.is_hook_run());
        let part_of = last.filter(|last| self.messages.get(*last).is_some_and(|last| last.id == message.id));
        if part_of.is_none() {
            message.parent_id = self.messages.last().map(|last| last.id.clone());
        }
        self.log()?.append(&record(&message))?;
        self.updated_at_ms = Some(message.updated_at_ms);
        if let Some(last) = part_of.and_then(|last| self.messages.get_mut(last)) {
            let whole = Arc::make_mut(last);
            whole.content.append(&mut message.content);
            whole.updated_at_ms = message.updated_at_ms;
            // not a copy of all parts: with one for each result, an answer with many tool calls would take quadratic time
            return Ok(Arc::clone(last));
        }
        let message = Arc::new(message);
        self.messages.push(Arc::clone(&message));
        Ok(message)
    }

    /// Whether anything was said in it.
    pub(crate) fn has_begun(&self) -> bool {
        self.messages.iter().any(|message| !message.is_hook_run())
    }

    /// The log, begun if it was not.
    pub(crate) fn log(&mut self) -> Result<&mut musher_store::Log, StoreError> {
        let settings = (!self.journal.is_open()).then(|| saved::save(self));
        self.journal.open(|| settings.unwrap_or_default())
    }

    /// Saves settings and counts. A failure is told to nobody but the trace: the next save has all of it.
    pub(crate) fn save(&mut self) {
        let settings = saved::save(self);
        if let Err(error) = self.journal.save_settings(settings) {
            tracing::warn!(%error, "the settings of a session were not saved");
        }
    }

    /// What it and its subagents have used.
    pub(crate) fn inclusive_usage(&self) -> Usage {
        sum(self.usage, self.child_usage)
    }

    /// The model that is asked now: planning may have its own.
    pub(crate) fn model_id(&self) -> &str {
        match (&self.settings.spec_model, self.settings.mode) {
            (Some(model), Mode::Spec) => model,
            _ => &self.settings.model,
        }
    }

    /// How much it thinks.
    pub(crate) fn effort(&self) -> Effort {
        match (self.settings.spec_effort, self.settings.mode) {
            (Some(effort), Mode::Spec) => effort,
            _ => self.settings.effort,
        }
    }

    /// The model that is asked now, if there is such a one.
    pub(crate) fn model(&self) -> Option<Model> {
        self.models.find(self.model_id())
    }

    /// The messages the model reads, and the summary of those it does not.
    pub(crate) fn conversation(&self) -> (Option<&str>, &[Arc<Message>]) {
        match &self.compaction {
            None => (None, &self.messages),
            Some(compacted) => {
                let kept = self.messages.get(compacted.removed..).unwrap_or_default();
                (Some(&compacted.summary.summary), kept)
            }
        }
    }

    /// What the model was told first, if that is among the messages it does not read any more.
    pub(crate) fn lost_context(&self) -> Option<&Arc<Message>> {
        let removed = self.compaction.as_ref()?.removed;
        let (lost, kept) = self.messages.split_at_checked(removed)?;
        let is_context = |message: &&Arc<Message>| message.id.starts_with("context-");
        if kept.iter().any(|message| is_context(&message)) {
            return None;
        }
        lost.iter().rev().find(is_context)
    }

    /// Mode and level as the rules of consent know them.
    pub(crate) fn update_policy(&mut self) {
        if let Some(most) = self.config.settings.max_autonomy {
            self.settings.autonomy = self.settings.autonomy.min(most);
        }
        self.policy.autonomy = self.settings.autonomy;
        self.policy.mode = self.settings.mode;
        self.policy.skip_all = self.attach.skip_permissions;
        self.policy.auto_reject = self.attach.auto_reject;
    }
}

/// Both together.
pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
        thinking: one.thinking.saturating_add(other.thinking),
    }
}
