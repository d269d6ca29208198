//! The limits of a subagent: it may never do more than the session that starts it.

use std::sync::Arc;

use super::Session;
use crate::command::SystemPrompt;
use crate::context::subagent_prompt;
use crate::session::subagents::Subagent;
use crate::skills::Droid;
use crate::{Error, Mode, ToolSelection};

const SPEC_MODE_LIMIT: &str = "\n\nThe session that started you is in spec mode: change nothing.";

impl Session {
    /// Makes this session a subagent of `parent`, with these tools. A new subagent gets a title; a resumed one keeps its own.
    pub(crate) fn confine(
        &mut self,
        parent: &Self,
        droid: Droid,
        tools: ToolSelection,
        title: Option<String>,
    ) -> Result<(), Error> {
        // clients do not see its calls, so a terminal of the editor would stay invisible
        self.tools.has_terminals = false;
        // with the variables hooks have left for commands
        self.tools.environment = Arc::clone(&parent.tools.environment);
        self.inherit_settings(parent, tools);
        self.limit_autonomy(parent);
        self.choose_model(&droid)?;
        let limit = if self.settings.mode == Mode::Spec { SPEC_MODE_LIMIT } else { "" };
        let prompt = format!("{}{limit}", subagent_prompt(&droid.prompt));
        self.set_system_prompt(Some(SystemPrompt::Replace(prompt)));
        self.notes.set_reported_mode(self.settings.mode);
        // the session that starts it has told it what matters
        self.notes.begin_working_tree();
        self.policy.grants = parent.policy.grants.clone();
        self.title.fix(title);
        self.subagent = Some(Subagent { droid });
        self.update_policy();
        Ok(())
    }

    fn inherit_settings(&mut self, parent: &Self, tools: ToolSelection) {
        let settings = &mut self.settings;
        parent.model_id().clone_into(&mut settings.model);
        settings.effort = parent.effort();
        settings.mode = parent.settings.mode;
        settings.spec_model = None;
        settings.spec_effort = None;
        settings.compaction_token_limit = parent.settings.compaction_token_limit;
        settings.compaction_check = parent.settings.compaction_check;
        settings.tools = tools;
        settings.autonomy = parent.policy.level();
    }

    /// Applies the maximum level that the settings files allow subagents, whatever decisions grant later.
    fn limit_autonomy(&mut self, parent: &Self) {
        if let Some(max) = parent.config.settings.subagent_autonomy {
            let max = self.config.settings.max_autonomy.map_or(max, |known| known.min(max));
            self.config.settings.max_autonomy = Some(max);
            self.policy.max_autonomy = Some(max);
            self.attach.skip_permissions = false;
        }
    }

    fn choose_model(&mut self, droid: &Droid) -> Result<(), Error> {
        if let Some(name) = &droid.model {
            let model = self.models.find(name).ok_or_else(|| {
                let droid = &droid.name;
                Error::Invalid(format!("The model \"{name}\" of the subagent \"{droid}\" is not available"))
            })?;
            self.settings.model.clone_from(name);
            self.settings.effort = model.default_effort;
        }
        self.settings.effort = droid.effort.unwrap_or(self.settings.effort);
        Ok(())
    }
}
