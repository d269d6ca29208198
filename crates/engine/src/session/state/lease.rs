//! The lease of a session: taken before a turn or a change, together with what others have written since.

use super::{Session, Title, UsageTotals, title_event};
use crate::event::TitleCause;
use crate::session::journal::Journal;
use crate::session::saved_settings;
use crate::session::thinking::Accepted;
use crate::{Event, Mode, SettingsChange};
use musher_message::{Message, Role};
use musher_store::{Purpose, Store, StoreError, Stored};

impl Session {
    /// Returns whether this process owns the session.
    pub(crate) fn is_owned(&self) -> bool {
        self.conversation.is_owned()
    }

    /// Takes the lease, and restores what others have written since it was released.
    pub(crate) fn acquire(&mut self, purpose: Purpose) -> Result<(), StoreError> {
        if let Some(stored) = self.conversation.acquire(purpose)? {
            self.refresh(stored);
        }
        Ok(())
    }

    /// Releases the lease. A subagent keeps it until it ends.
    pub(crate) fn release(&mut self) {
        if self.subagent.is_none() {
            self.conversation.release();
        }
    }

    /// Changes something while this process owns the session, which it need not do before and after.
    pub(crate) fn owning<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.is_owned() {
            return change(self);
        }
        self.acquire(Purpose::Change)?;
        let changed = change(self);
        self.release();
        changed
    }

    /// Reads the session again, unless this process owns it.
    pub(crate) fn reread(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.is_owned() || self.conversation.is_new() {
            return Ok(());
        }
        let attached = store.attach(&self.id)?;
        self.conversation.replace_log(Journal::Released(Box::new(attached.released)));
        self.refresh(attached.session);
        Ok(())
    }

    /// Takes the events that tell the client what others have changed.
    pub(crate) fn take_unsent(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.unsent)
    }

    /// Keeps a change of settings that could not be saved, because another process owns the session.
    pub(super) fn keep_unsaved(&mut self, change: &SettingsChange) {
        self.unsaved.push(change.clone());
    }

    /// Restores what others have written. Settings that were not saved yet stay.
    fn refresh(&mut self, stored: Stored) {
        let before = self.settings.clone();
        saved_settings::restore(&mut self.settings, &stored.settings);
        // another process may lower the level for this one, and not raise it
        let stored_level = saved_settings::autonomy(&stored.settings).unwrap_or(self.settings.autonomy);
        self.settings.autonomy = self.settings.autonomy.min(stored_level);
        for change in &self.unsaved {
            change.apply_to(&mut self.settings);
        }
        self.system_prompt = saved_settings::system_prompt(&stored.settings);
        self.update_policy();
        self.subagents.follow(self.policy.level(), self.settings.mode);
        if let Some(mode) = known_mode(&stored.messages) {
            self.notes.set_reported_mode(mode);
        }
        let usage = UsageTotals::of_saved(&stored.settings);
        self.usage = self.usage.rebased(&self.saved_usage, &usage);
        self.saved_usage = usage;
        self.saved = stored.settings;
        let title = Title::new(Some(stored.start.title().to_owned()), stored.start.is_title_manual());
        let had_title = self.title.text().map(str::to_owned);
        self.title = title;
        self.accepted = Accepted::restore(&stored.messages);
        self.conversation.restore(stored.messages, stored.compaction, stored.modified_ms);
        if before != self.settings {
            self.unsent.push(self.settings_event());
        }
        if let Some(title) = self.title.text().filter(|title| had_title.as_deref() != Some(title)) {
            let cause = if self.title.is_manual() { TitleCause::Manual } else { TitleCause::Model };
            self.unsent.push(title_event(title.to_owned(), cause));
        }
    }
}

/// Returns the mode that the model knows: that of the last message of the user.
fn known_mode(messages: &[Message]) -> Option<Mode> {
    let mut from_user = messages.iter().rev().filter(|message| message.role == Role::User);
    let mode = from_user.find_map(|message| message.extra.get("interactionMode")?.as_str())?;
    Some(if mode == "spec" { Mode::Spec } else { Mode::Auto })
}
