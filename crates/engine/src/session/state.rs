//! The session that is open: its settings, its messages, and what it has used.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use musher_model::Usage;
use musher_tools::Context;

use crate::command::{Attach, SystemPrompt};
use crate::config::Config;
use crate::message::Message;
use crate::models::Models;
use crate::permission::Policy;
use crate::{SessionId, Settings};

/// The session that is open.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) attach: Attach,
    pub(crate) system_prompt: Option<SystemPrompt>,
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) title: Option<String>,
    pub(crate) updated_at_ms: Option<i64>,
    /// What it has used.
    pub(crate) usage: Usage,
    /// What its subagents have used.
    pub(crate) child_usage: Usage,
    pub(crate) last_call: Option<Usage>,
    /// What may run without asking.
    pub(crate) policy: Policy,
    /// What the settings files say.
    pub(crate) config: Config,
    pub(crate) models: Models,
    /// What tools get besides their arguments.
    pub(crate) tools: Context,
    /// Tools that are offered since the model looked for them.
    pub(crate) loaded_tools: BTreeSet<String>,
}

impl Session {
    /// Puts a message at the end. Behind one of the same id, it becomes part of it.
    pub(crate) fn push(&mut self, mut message: Message) -> Arc<Message> {
        self.updated_at_ms = Some(message.updated_at_ms);
        if let Some(last) = self.messages.last_mut()
            && last.id == message.id
        {
            let last = Arc::make_mut(last);
            last.content.append(&mut message.content);
            last.updated_at_ms = message.updated_at_ms;
            return Arc::new(last.clone());
        }
        message.parent_id = self.messages.last().map(|last| last.id.clone());
        let message = Arc::new(message);
        self.messages.push(Arc::clone(&message));
        message
    }

    /// What it and its subagents have used.
    pub(crate) fn inclusive_usage(&self) -> Usage {
        sum(self.usage, self.child_usage)
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
