//! What is known about a session at the moment, kept up to date by what the agent tells.

use std::path::PathBuf;
use std::sync::Arc;

use musher_wire::{
    DroidWorkingState, Message, ModelInfo, SessionNotification as News, SessionSettings, TokenUsage,
};

/// A snapshot of a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionState {
    /// The session the process is in. Changes when a plan is handed over.
    pub id: String,
    /// The directory the session works in, if it is known.
    pub cwd: Option<PathBuf>,
    /// The title, if there is one.
    pub title: Option<String>,
    /// The messages the session began with, if it was resumed.
    pub history: Vec<Arc<Message>>,
    /// The settings.
    pub settings: SessionSettings,
    /// The models to choose from.
    pub models: Vec<ModelInfo>,
    /// All tokens used by the session so far.
    pub usage: Option<TokenUsage>,
    /// What the agent is doing.
    pub working: DroidWorkingState,
}

impl SessionState {
    pub(crate) fn new(id: String) -> Self {
        Self {
            id,
            cwd: None,
            title: None,
            history: Vec::new(),
            settings: SessionSettings::default(),
            models: Vec::new(),
            usage: None,
            working: DroidWorkingState::Idle,
        }
    }

    /// Whether this notification says something about the session as such.
    pub(crate) fn concerns(news: &News) -> bool {
        matches!(
            news,
            News::SettingsUpdated(_)
                | News::SessionTitleUpdated(_)
                | News::SessionTokenUsageChanged(_)
                | News::DroidWorkingStateChanged(_)
                | News::SessionWorkingDirectoryChanged(_)
        )
    }

    /// Takes over what a notification says; false if that is nothing new.
    pub(crate) fn learn(&mut self, news: &News) -> bool {
        match news {
            News::SettingsUpdated(updated) => self.settings.merge(updated.settings.clone()),
            News::SessionTitleUpdated(updated) => self.title = Some(updated.title.clone()),
            News::SessionTokenUsageChanged(changed) => self.usage = Some(changed.token_usage.clone()),
            News::DroidWorkingStateChanged(changed) if changed.new_state != self.working => {
                self.working = changed.new_state.clone();
            }
            News::SessionWorkingDirectoryChanged(changed) => self.cwd = Some(changed.cwd.clone().into()),
            _ => return false,
        }
        true
    }
}
