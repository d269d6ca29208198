//! The state of a session, kept up to date by the agent's notifications.

use std::path::PathBuf;
use std::sync::Arc;

use musher_wire::{
    DroidWorkingState, EditorCapabilities, Message, ModelInfo, SessionNotification, SessionSettings,
};

use super::SessionId;
use crate::TokenUsage;

/// A snapshot of a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionState {
    /// The id of the session. Changes when a plan is handed over to a new session.
    pub id: SessionId,
    /// The working directory, if it is known.
    pub cwd: Option<PathBuf>,
    /// The title, if there is one.
    pub title: Option<String>,
    /// The messages of the session before it was resumed; empty for a new session.
    pub history: Vec<Arc<Message>>,
    /// The settings.
    pub settings: SessionSettings,
    /// The available models.
    pub models: Vec<ModelInfo>,
    /// The tokens that the session has used so far.
    pub usage: Option<TokenUsage>,
    /// The [editor](crate::EditorHandler) requests that the agent uses, if it supports editors.
    pub editor: Option<EditorCapabilities>,
    /// The working state of the agent.
    pub working: DroidWorkingState,
}

impl SessionState {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.into(),
            cwd: None,
            title: None,
            history: Vec::new(),
            settings: SessionSettings::default(),
            models: Vec::new(),
            usage: None,
            editor: None,
            working: DroidWorkingState::Idle,
        }
    }

    /// Returns whether this notification concerns the session's state.
    pub(crate) fn concerns(notification: &SessionNotification) -> bool {
        matches!(
            notification,
            SessionNotification::SettingsUpdated(_)
                | SessionNotification::SessionTitleUpdated(_)
                | SessionNotification::SessionTokenUsageChanged(_)
                | SessionNotification::DroidWorkingStateChanged(_)
                | SessionNotification::SessionWorkingDirectoryChanged(_)
        )
    }

    /// Applies a notification; returns whether the state changed.
    pub(crate) fn learn(&mut self, notification: &SessionNotification) -> bool {
        match notification {
            SessionNotification::SettingsUpdated(updated) => self.settings.merge(updated.settings.clone()),
            SessionNotification::SessionTitleUpdated(updated) => self.title = Some(updated.title.clone()),
            SessionNotification::SessionTokenUsageChanged(changed) => {
                self.usage = Some((&changed.token_usage).into());
            }
            SessionNotification::DroidWorkingStateChanged(changed) if changed.new_state != self.working => {
                self.working = changed.new_state.clone();
            }
            SessionNotification::SessionWorkingDirectoryChanged(changed) => {
                self.cwd = Some(changed.cwd.clone().into());
            }
            _ => return false,
        }
        true
    }
}
