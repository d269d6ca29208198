//! The settings of a session.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{AutonomyLevel, AutonomyMode, Count, InteractionMode, Json, ReasoningEffort, SandboxMode};

object! {
    /// The settings of a session, whole in answers, maybe partial in `settings_updated`: merge, never replace.
    pub struct SessionSettings {} optional {
        model_id: String = "modelId",
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        autonomy_mode: AutonomyMode = "autonomyMode",
        interaction_mode: InteractionMode = "interactionMode",
        autonomy_level: AutonomyLevel = "autonomyLevel",
        available_autonomy_levels: Vec<AutonomyLevel> = "availableAutonomyLevels",
        spec_mode_model_id: String = "specModeModelId",
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
        compaction_token_limit: Count = "compactionTokenLimit",
        additional_tool_ids: Vec<String> = "additionalToolIds",
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        tool_execution_mode: String = "toolExecutionMode",
        allow_subagents_in_scripts: bool = "allowSubagentsInScripts",
        tags: Vec<Tag> = "tags",
        /// A string, or `{type:"preset",preset:"droid",append}`.
        system_prompt: Json = "systemPrompt",
        sandbox: SandboxSettings = "sandbox",
    }
}

object! {
    /// How commands are confined.
    pub struct SandboxSettings {
        enabled: bool = "enabled",
    } optional {
        mode: SandboxMode = "mode",
    }
}

object! {
    /// A label on a session.
    pub struct Tag {
        name: String = "name",
    } optional {
        metadata: BTreeMap<String, String> = "metadata",
    }
}

object! {
    /// The repository a session works in.
    pub struct GitRepo {} optional {
        owner: String = "owner",
        repo_name: String = "repoName",
    }
}
