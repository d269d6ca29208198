//! The settings of all layers as one value, and which of them a repository may set without being trusted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::file::Reader;
use crate::{Autonomy, Mode};
use musher_model::Effort;

/// The merged settings. What no file says is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The model of new sessions.
    pub model: Option<String>,
    /// How much it thinks.
    pub reasoning_effort: Option<Effort>,
    /// The mode new sessions begin in.
    pub mode: Option<Mode>,
    /// The autonomy new sessions begin with; never above [`max_autonomy`](Self::max_autonomy).
    pub autonomy: Option<Autonomy>,
    /// The model of planning.
    pub spec_model: Option<String>,
    /// How much it thinks.
    pub spec_reasoning_effort: Option<Effort>,
    /// No session may have more autonomy than this.
    pub max_autonomy: Option<Autonomy>,
    /// Commands that run without asking.
    pub command_allow: Vec<String>,
    /// Commands that are always asked for.
    pub command_deny: Vec<String>,
    /// Commands that never run.
    pub command_block: Vec<String>,
    /// Whether no hook runs.
    pub hooks_disabled: bool,
    /// How long a call of an MCP tool may take.
    pub mcp_call_timeout: Option<Duration>,
    /// Whether the first answer waits for all MCP servers.
    pub block_on_mcp_load: Option<bool>,
    /// The autonomy of subagents.
    pub subagent_autonomy: Option<Autonomy>,
    /// From how many tokens on a conversation is summed up.
    pub compaction_token_limit: Option<u64>,
    /// The same for single models.
    pub compaction_token_limit_per_model: BTreeMap<String, u64>,
    /// Where plans are saved.
    pub spec_save_dir: Option<PathBuf>,
    /// How long to wait for a model.
    pub llm_request_timeout: Option<Duration>,
    /// Skills that are switched off, by name.
    pub disabled_skills: Vec<String>,
}

impl Settings {
    /// Lays one file over what is there.
    pub(super) fn apply(&mut self, reader: &mut Reader<'_>) {
        let over = reader;
        // where requests go is the user's choice, and so is where files are written and whether hooks watch
        let model = over.get_believed("sessionDefaultSettings.model").or_else(|| over.get_believed("model"));
        set(&mut self.model, model);
        set(&mut self.spec_model, over.get_believed("sessionDefaultSettings.specModeModel"));
        set(&mut self.spec_save_dir, over.get_believed("specSaveDir"));
        set(&mut self.subagent_autonomy, over.get_believed("subagentAutonomyLevel"));
        self.hooks_disabled = over.get_believed("hooksDisabled").unwrap_or(self.hooks_disabled);
        add(&mut self.command_allow, over.get_believed("commandAllowlist"));

        // these only narrow
        add(&mut self.command_deny, over.get("commandDenylist"));
        add(&mut self.command_block, over.get("commandBlocklist"));
        if let Some(max) = over.get::<Autonomy>("maxAutonomyLevel") {
            self.max_autonomy = Some(self.max_autonomy.map_or(max, |now| now.min(max)));
        }
        self.apply_consent(over);
        if let (Some(max), Some(autonomy)) = (self.max_autonomy, &mut self.autonomy) {
            *autonomy = max.min(*autonomy);
        }

        // these neither widen nor narrow
        let effort =
            over.get("sessionDefaultSettings.reasoningEffort").or_else(|| over.get("reasoningEffort"));
        set(&mut self.reasoning_effort, effort);
        let effort = over.get("sessionDefaultSettings.specModeReasoningEffort");
        set(&mut self.spec_reasoning_effort, effort);
        set(&mut self.mcp_call_timeout, over.get("mcp.callTimeoutMs").map(Duration::from_millis));
        set(&mut self.block_on_mcp_load, over.get("blockOnMcpLoad"));
        set(&mut self.compaction_token_limit, over.get("compactionTokenLimit"));
        let limits: Option<BTreeMap<String, u64>> = over.get("compactionTokenLimitPerModel");
        self.compaction_token_limit_per_model.extend(limits.unwrap_or_default());
        set(&mut self.llm_request_timeout, over.get("llmRequestTimeout").map(Duration::from_millis));
        add(&mut self.disabled_skills, over.get("disabledSkills"));
        if over.get("sandbox.enabled") == Some(true) {
            over.complain("sandbox.enabled", "there is no sandbox yet: commands run without one");
        }
    }

    /// Mode and autonomy: whoever is not believed may only make them stricter.
    fn apply_consent(&mut self, over: &mut Reader<'_>) {
        let field = "sessionDefaultSettings.autonomyLevel";
        if let Some(autonomy) = over.get::<Autonomy>(field) {
            if over.is_believed || autonomy <= self.autonomy.unwrap_or(Autonomy::Off) {
                self.autonomy = Some(autonomy);
            } else {
                over.ignore(field);
            }
        }
        let field = "sessionDefaultSettings.interactionMode";
        if let Some(mode) = over.get::<Mode>(field) {
            if over.is_believed || mode == Mode::Spec || Some(mode) == self.mode {
                self.mode = Some(mode);
            } else {
                over.ignore(field);
            }
        }
    }
}

fn set<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

fn add(list: &mut Vec<String>, more: Option<Vec<String>>) {
    for one in more.unwrap_or_default() {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
