//! The title of a session, and which titles may replace it. Pure.

use super::Session;
use crate::Event;
use crate::event::TitleCause;
use crate::session::titles::TitleCall;

/// The maximum length of a title made from a message, in characters.
const MAX_TITLE_CHARS: usize = 150;

/// The title of a session. A title given by the user is never replaced by another source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Title {
    text: Option<String>,
    is_manual: bool,
    /// A title made from the first message, announced at the end of its turn.
    unannounced: Option<String>,
}

impl Title {
    /// Restores a stored title, or sets the title of a new session.
    pub(super) fn new(text: Option<String>, is_manual: bool) -> Self {
        Self { text, is_manual, unannounced: None }
    }

    /// Returns the title, if there is one.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns whether the user gave the title.
    pub(crate) fn is_manual(&self) -> bool {
        self.is_manual
    }

    /// Sets a title given by the user.
    pub(super) fn set_manual(&mut self, title: String) {
        *self = Self::new(Some(title), true);
    }

    /// Sets the title, if there is one, and keeps it: no other source replaces it.
    pub(super) fn fix(&mut self, title: Option<String>) {
        self.text = title.or(self.text.take());
        self.is_manual = true;
    }

    /// Sets the title made from the first message. It is announced later: see [`take_unannounced`](Self::take_unannounced).
    pub(super) fn set_from_message(&mut self, title: &str) {
        self.text = Some(title.to_owned());
        self.unannounced = Some(title.to_owned());
    }

    /// Sets the title made by the model.
    pub(super) fn set_from_model(&mut self, title: &str) {
        self.text = Some(title.to_owned());
    }

    /// Takes the title that has to be announced.
    pub(super) fn take_unannounced(&mut self) -> Option<String> {
        self.unannounced.take()
    }
}

impl Session {
    /// Keeps the call of the model for a title; an earlier one ends.
    pub(crate) fn set_title_call(&mut self, call: TitleCall) {
        self.title_call = Some(call);
    }

    /// Takes the call of the model for a title.
    pub(crate) fn take_title_call(&mut self) -> Option<TitleCall> {
        self.title_call.take()
    }
}

/// Returns the event that announces a title.
pub(crate) fn title_event(title: String, cause: TitleCause) -> Event {
    Event::Title { title, cause, command_id: None }
}

/// Returns the title made from a message: its text, cut to [`MAX_TITLE_CHARS`].
pub(crate) fn title_of(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_TITLE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_first_message_is_cut_between_characters() {
        assert_eq!(title_of("  Say hello.\n"), "Say hello.");
        let long = "ä".repeat(200);
        assert_eq!(title_of(&long), format!("{}...", "ä".repeat(150)));
    }

    #[test]
    fn title_from_message_is_announced_once_and_not_after_a_rename() {
        let mut title = Title::default();
        title.set_from_message("first");
        assert_eq!(title.take_unannounced().as_deref(), Some("first"));
        assert_eq!(title.take_unannounced(), None);
        title.set_from_message("first");
        title.set_manual("mine".to_owned());
        assert_eq!(title.take_unannounced(), None);
        assert_eq!((title.text(), title.is_manual()), (Some("mine"), true));
    }
}
