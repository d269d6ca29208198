//! A session read from disk.

use super::{Session, Title, UsageTotals};
use crate::SettingsChange;
use crate::session::saved_settings;
use crate::session::thinking::Accepted;
use musher_message::{Content, ToolUse};
use musher_store::{Damage, Stored};
use musher_tools::{Action, Registry};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::PathBuf;

impl Session {
    /// Restores which files the model has seen, and when, from the calls in the conversation.
    pub(crate) fn restore_seen_files(&self, registry: &Registry) {
        let mut calls: HashMap<&str, &ToolUse> = HashMap::new();
        let mut seen: HashMap<PathBuf, i64> = HashMap::new();
        for message in self.conversation.messages() {
            for content in &message.content {
                match content {
                    Content::ToolUse(call) => drop(calls.insert(&call.id, call)),
                    Content::ToolResult { tool_use_id, is_error: false, .. } => {
                        let call = calls.get(tool_use_id.as_str());
                        let paths = call.map(|call| paths_of(call, registry)).unwrap_or_default();
                        seen.extend(paths.into_iter().map(|path| (path, message.updated_at_ms)));
                    }
                    _ => {}
                }
            }
        }
        for (path, at_ms) in seen {
            if let Ok(file) = self.tools.workspace.resolve(&path) {
                self.tools.seen.add_at(file.path, at_ms);
            }
        }
    }

    /// Restores stored settings, and applies those a client gives.
    pub(crate) fn restore_settings(&mut self, stored: &Map<String, Value>, change: &SettingsChange) {
        saved_settings::restore(&mut self.settings, stored);
        change.apply_to(&mut self.settings);
        self.keep_unsaved(change);
        let (loaded, direct) = saved_settings::tool_names(stored);
        self.loaded_tools = loaded;
        if let Some(direct) = direct {
            self.servers.set_direct(direct);
        }
        self.system_prompt = saved_settings::system_prompt(stored);
        self.update_policy();
    }

    /// Restores everything but the settings. Returns the damage of the log.
    pub(crate) fn restore(&mut self, stored: Stored) -> Damage {
        let settings = stored.settings;
        self.usage = UsageTotals::of_saved(&settings);
        self.saved_usage = self.usage.clone();
        self.saved = settings;
        if !stored.messages.is_empty() {
            self.notes.set_reported_mode(self.settings.mode);
            self.notes.begin_working_tree();
        }
        self.title = Title::new(Some(stored.start.title().to_owned()), stored.start.is_title_manual());
        self.accepted = Accepted::restore(&stored.messages);
        self.conversation.restore(stored.messages, stored.compaction, stored.modified_ms);
        stored.damage
    }
}

/// Returns the files whose content a call has shown to the model, or that it has written.
fn paths_of(call: &ToolUse, registry: &Registry) -> Vec<PathBuf> {
    let Some(tool) = registry.get(&call.name) else { return Vec::new() };
    match tool.action(&call.input) {
        Ok(Action::Read { is_recursive: true, .. } | Action::List { .. }) | Err(_) => Vec::new(),
        Ok(action) => action.paths(),
    }
}
