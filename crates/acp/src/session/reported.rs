//! The settings and the title of a session that were last sent to the editor. Pure.

use agent_client_protocol::v1::schema::{
    ConfigOptionUpdate, CurrentModeUpdate, SessionConfigOption, SessionInfoUpdate, SessionUpdate,
};
use musher::SessionState;

use crate::modes;

/// The values that were last sent to the editor.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ReportedState {
    mode: Option<&'static str>,
    options: Vec<SessionConfigOption>,
    title: Option<String>,
}

impl ReportedState {
    /// Takes the first state, which the editor learns from the response to its request.
    pub(super) fn begin(&mut self, state: &SessionState, options: Vec<SessionConfigOption>) {
        if self.mode.is_none() {
            self.mode = Some(modes::current(&state.settings));
            self.options = options;
        }
    }

    /// Returns the updates for what has changed.
    pub(super) fn updates(
        &mut self,
        state: &SessionState,
        options: Vec<SessionConfigOption>,
    ) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        let mode = modes::current(&state.settings);
        if self.mode.replace(mode) != Some(mode) {
            updates.push(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode)));
        }
        if self.options != options {
            self.options.clone_from(&options);
            updates.push(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options)));
        }
        if let Some(title) = &state.title
            && self.title.as_ref() != Some(title)
        {
            self.title = Some(title.clone());
            updates.push(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.clone())));
        }
        updates
    }
}
