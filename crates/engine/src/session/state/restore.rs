//! A session read from disk.

use super::{Session, Title, UsageTotals};
use crate::SettingsChange;
use crate::session::saved_settings;
use musher_store::{Damage, Stored};
use serde_json::{Map, Value};

impl Session {
    /// Restores stored settings, and applies those a client gives.
    pub(crate) fn restore_settings(&mut self, stored: &Map<String, Value>, change: &SettingsChange) {
        saved_settings::restore(&mut self.settings, stored);
        change.apply_to(&mut self.settings);
        self.system_prompt = saved_settings::system_prompt(stored);
        self.update_policy();
    }

    /// Restores everything but the settings. Returns the damage of the log.
    pub(crate) fn restore(&mut self, stored: Stored) -> Damage {
        let settings = stored.settings;
        self.usage = UsageTotals::stored(
            saved_settings::counts(&settings, "tokenUsage").unwrap_or_default(),
            saved_settings::counts(&settings, "lastCallTokenUsage"),
            saved_settings::subagent_counts(&settings),
        );
        self.saved = settings;
        if !stored.messages.is_empty() {
            self.notes.set_reported_mode(self.settings.mode);
        }
        self.title = Title::new(Some(stored.start.title().to_owned()), stored.start.is_title_manual());
        self.conversation.restore(stored.messages, stored.compaction, stored.modified_ms);
        stored.damage
    }
}
