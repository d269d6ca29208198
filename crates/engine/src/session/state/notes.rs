//! Reminders for the model that wait for the next call of it.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::Mode;
use crate::context::{FolderNotes, OpenTodos, mode_reminder, note_reminder};
use crate::session::turn::message;
use musher_message::{Content, Message, Role, Visibility};

/// The reminders of a session, and which of them the model already has.
#[derive(Debug)]
pub(crate) struct Notes {
    /// Texts for the next call of the model.
    pending: Vec<String>,
    /// Notes of folders that were read.
    folders: FolderNotes,
    /// The mode that was last sent to the model.
    reported_mode: Option<Mode>,
    /// Whether the model has to get the uncommitted changes.
    wants_working_tree: bool,
    /// The to-do list whose open steps the model was reminded of: the id of its call.
    reminded_todos: Option<String>,
}

impl Notes {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self {
            pending: Vec::new(),
            folders: FolderNotes::new(cwd),
            reported_mode: None,
            wants_working_tree: true,
            reminded_todos: None,
        }
    }

    /// Adds a reminder.
    pub(super) fn add(&mut self, text: String) {
        self.pending.push(text);
    }

    /// Adds the notes of the folders of a path that were not read before. Reads files.
    pub(super) fn read_folders_of(&mut self, path: &Path) {
        self.pending.extend(self.folders.read(path).iter().map(note_reminder));
    }

    /// Notes that the model knows the uncommitted changes, or does not need them. Returns whether that is new.
    pub(super) fn begin_working_tree(&mut self) -> bool {
        std::mem::take(&mut self.wants_working_tree)
    }

    /// Returns the reminder of open steps, unless the model was reminded of this list before.
    pub(super) fn remind_of_todos(&mut self, todos: OpenTodos) -> Option<String> {
        if self.reminded_todos.as_ref() == Some(&todos.call) {
            return None;
        }
        let text = todos.reminder();
        self.reminded_todos = Some(todos.call);
        Some(text)
    }

    /// Takes all reminders as one hidden message.
    pub(super) fn take(&mut self) -> Option<Message> {
        let texts = std::mem::take(&mut self.pending);
        (!texts.is_empty()).then(|| reminder(texts))
    }

    /// Records that the model knows the mode.
    pub(super) fn set_reported_mode(&mut self, mode: Mode) {
        self.reported_mode = Some(mode);
    }

    /// Returns a hidden message if the model does not know the mode yet.
    pub(super) fn report_mode(&mut self, mode: Mode) -> Option<Message> {
        let text = mode_reminder(self.reported_mode.replace(mode), mode)?;
        Some(reminder(vec![text]))
    }
}

fn reminder(texts: Vec<String>) -> Message {
    let id = format!("__internal__system-reminder__{}", Uuid::new_v4());
    message(id, Role::User, texts.into_iter().map(Content::Text).collect(), Visibility::LlmOnly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_are_taken_once_and_the_mode_is_reported_when_it_changes() {
        let mut notes = Notes::new(PathBuf::from("/nowhere"));
        notes.add("one".to_owned());
        notes.add("two".to_owned());
        assert_eq!(notes.take().map(|message| message.content.len()), Some(2));
        assert!(notes.take().is_none());
        assert!(notes.begin_working_tree() && !notes.begin_working_tree());
        notes.set_reported_mode(Mode::Auto);
        assert!(notes.report_mode(Mode::Auto).is_none());
        assert!(notes.report_mode(Mode::Spec).is_some());
        assert!(notes.report_mode(Mode::Spec).is_none());
    }
}
