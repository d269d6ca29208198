//! The settings of a session, and what follows from them: the permission policy and the stored system prompt.

use std::path::Path;

use super::Session;
use crate::command::{Attach, SystemPrompt};
use crate::config::{Config, Problem, Source, Standing};
use crate::context::{ModelFamily, system_prompt};
use crate::permission::{self, Choice, Grant, PermissionRequest, Policy};
use crate::session::saved_settings;
use crate::skills::Library;
use crate::{Error, Event, Mode, Settings, SettingsChange};
use musher_store::Purpose;
use serde_json::{Map, Value};

impl Session {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what the settings files say.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns what the client has set for this process.
    pub(crate) fn attach(&self) -> &Attach {
        &self.attach
    }

    pub(crate) fn system_prompt(&self) -> Option<&SystemPrompt> {
        self.system_prompt.as_ref()
    }

    /// Returns the whole system prompt for the model in use.
    pub(crate) fn system_text(&self) -> String {
        let model = self.model();
        let name = model.as_ref().map_or(self.model_id(), |model| &model.name);
        system_prompt(self.system_prompt(), ModelFamily::of(name))
    }

    /// Returns the settings as they were stored, with fields of other programs.
    pub(crate) fn saved_settings(&self) -> &Map<String, Value> {
        &self.saved
    }

    /// Returns the event that announces the settings.
    pub(crate) fn settings_event(&self) -> Event {
        Event::Settings { settings: Box::new(self.settings.clone()), command_id: None }
    }

    /// Changes settings, here and in subagents that run. Returns whether anything has changed.
    pub(crate) fn change_settings(&mut self, change: &SettingsChange) -> bool {
        let was_owned = self.is_owned();
        let acquired = self.acquire(Purpose::Change);
        let before = self.settings.clone();
        change.apply_to(&mut self.settings);
        self.update_policy();
        self.subagents.follow(self.policy.level(), self.settings.mode);
        match acquired {
            Ok(()) => self.save(),
            Err(error) => {
                tracing::debug!(error = %error.with_causes(), "settings are saved before the next turn");
                self.keep_unsaved(change);
            }
        }
        if !was_owned {
            self.release();
        }
        before != self.settings
    }

    /// Sets the settings of a new session: those of the client, and defaults that depend on the model.
    pub(crate) fn set_initial_settings(&mut self, change: &SettingsChange) {
        let default_model = self.settings.model.clone();
        change.apply_to(&mut self.settings);
        if self.model().is_none() {
            // as droid does; a client that named a missing model gets a problem
            let wanted = std::mem::replace(&mut self.settings.model, default_model);
            if change.model.is_some() {
                let ids: Vec<String> = self.models.views().into_iter().map(|model| model.id).collect();
                let text = format!("unknown model `{wanted}`; available models: {}", ids.join(", "));
                self.problems.push(Problem::new("initialize_session", text));
            }
        }
        if change.effort.is_none() && self.config.settings.reasoning_effort.is_none() {
            self.settings.effort = self.model().map_or(self.settings.effort, |model| model.default_effort);
        }
        self.update_policy();
    }

    /// Refuses the model of the settings files if it does not exist and the client names no other. Another one in its place could cost
    /// more, or read what this one may. Droid's own file may name models that only droid has: it counts as absent then.
    pub(crate) fn check_configured_model(
        &self,
        change: &SettingsChange,
        factory_home: Option<&Path>,
    ) -> Result<(), Error> {
        let Some(wanted) = &self.config.settings.model else { return Ok(()) };
        if change.model.is_some() || self.models.find(wanted).is_some() {
            return Ok(());
        }
        let is_it = |source: &&Source| {
            source.setting() == "sessionDefaultSettings.model" && source.standing == Standing::Counts
        };
        let file = self.config.sources.iter().rfind(is_it).map(|source| source.file.as_path());
        if file.zip(factory_home).is_some_and(|(file, home)| file.starts_with(home)) {
            return Ok(());
        }
        let file = file.map_or_else(|| "the settings".to_owned(), |file| format!("`{}`", file.display()));
        let ids: Vec<String> = self.models.views().into_iter().map(|model| model.id).collect();
        let available =
            if ids.is_empty() { String::new() } else { format!("; available models: {}", ids.join(", ")) };
        Err(Error::Invalid(format!("unknown model `{wanted}` in {file}{available}")))
    }

    /// Sets the title of a new session.
    pub(crate) fn set_initial_title(&mut self, title: Option<String>) {
        let is_manual = title.is_some();
        self.title = super::Title::new(title, is_manual);
    }

    /// Sets the system prompt a client gives.
    pub(crate) fn set_system_prompt(&mut self, prompt: Option<SystemPrompt>) {
        self.settings.system_prompt = prompt.as_ref().map(saved_settings::system_prompt_value);
        self.system_prompt = prompt;
    }

    /// Applies a decision about a call. Returns the settings event if the decision has changed settings.
    pub(crate) fn apply_decision(&mut self, request: &PermissionRequest, choice: Choice) -> Option<Event> {
        match permission::apply(&mut self.policy, request, choice)? {
            Grant::Call { raised: None } => return None,
            Grant::Call { raised: Some(autonomy) } => self.settings.autonomy = autonomy,
            Grant::Plan { .. } => {
                self.policy.mode = Mode::Auto;
                self.settings.mode = Mode::Auto;
                self.settings.autonomy = self.policy.autonomy;
            }
        }
        self.save();
        Some(self.settings_event())
    }

    /// Uses these settings files from now on.
    pub(crate) fn set_config(&mut self, config: Config) {
        self.library = Library::read(&config, &self.cwd).0;
        self.config = config;
    }

    /// Brings the policy in line with the settings.
    pub(super) fn update_policy(&mut self) {
        if let Some(max) = self.config.settings.max_autonomy {
            self.settings.autonomy = self.settings.autonomy.min(max);
        }
        self.policy.autonomy = self.settings.autonomy;
        self.policy.mode = self.settings.mode;
        self.policy.skip_all = self.attach.skip_permissions;
        self.policy.auto_reject = self.attach.auto_reject;
    }
}

impl SettingsChange {
    /// Applies the change.
    pub(crate) fn apply_to(&self, settings: &mut Settings) {
        fn set<T: Clone>(field: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut settings.model, self.model.as_ref());
        set(&mut settings.effort, self.effort.as_ref());
        set(&mut settings.mode, self.mode.as_ref());
        set(&mut settings.autonomy, self.autonomy.as_ref());
        set(&mut settings.spec_model, self.spec_model.as_ref());
        set(&mut settings.spec_effort, self.spec_effort.as_ref());
        set(&mut settings.tools.enabled, self.enabled_tools.as_ref());
        set(&mut settings.tools.disabled, self.disabled_tools.as_ref());
        set(&mut settings.tools.additional, self.additional_tools.as_ref());
        set(&mut settings.tools.restricted, self.restricted_tools.as_ref());
        set(&mut settings.compaction_check, self.compaction_check.as_ref());
        if self.tags.is_some() {
            settings.tags.clone_from(&self.tags);
        }
        if self.compaction_token_limit.is_some() {
            settings.compaction_token_limit = self.compaction_token_limit;
        }
    }
}
