//! The settings of a session.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{AutonomyLevel, AutonomyMode, Count, InteractionMode, Json, ReasoningEffort, SandboxMode};

object! {
    /// The settings of a session: complete in results, possibly partial in `settings_updated`. Merge, never replace.
    pub struct SessionSettings {} optional {
        /// Id of the main model.
        model_id: String = "modelId",
        /// Reasoning effort of the main model.
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        /// Legacy form that combines interaction mode and autonomy level.
        autonomy_mode: AutonomyMode = "autonomyMode",
        /// Whether the session executes, plans or runs missions.
        interaction_mode: InteractionMode = "interactionMode",
        /// Which tool calls run without a permission request.
        autonomy_level: AutonomyLevel = "autonomyLevel",
        /// Autonomy levels that the user may choose.
        available_autonomy_levels: Vec<AutonomyLevel> = "availableAutonomyLevels",
        /// Model to use while planning; absent means the main model.
        spec_mode_model_id: String = "specModeModelId",
        /// Reasoning effort while planning; absent means the main model's effort.
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        /// Whether the conversation is compacted when it exceeds the limit.
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
        /// Number of tokens above which the conversation is compacted.
        compaction_token_limit: Count = "compactionTokenLimit",
        /// Ids of tools that are offered on top of the selection.
        additional_tool_ids: Vec<String> = "additionalToolIds",
        /// Ids of tools that are switched on in addition to the default selection.
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        /// Ids of tools that are switched off.
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        /// If not empty, only these tools are available.
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        /// Meaning not documented; `direct_only` in captures.
        tool_execution_mode: String = "toolExecutionMode",
        /// Meaning not documented; `false` in captures.
        allow_subagents_in_scripts: bool = "allowSubagentsInScripts",
        /// Labels attached to the session.
        tags: Vec<Tag> = "tags",
        /// System prompt as the client set it: a string, or `{type:"preset",preset:"droid",append}`.
        system_prompt: Json = "systemPrompt",
        /// Sandbox for commands; absent if none is configured.
        sandbox: SandboxSettings = "sandbox",
    }
}

object! {
    /// The sandbox for commands.
    pub struct SandboxSettings {
        /// Whether commands run in a sandbox.
        enabled: bool = "enabled",
    } optional {
        /// Scope of the sandbox.
        mode: SandboxMode = "mode",
    }
}

object! {
    /// A label on a session.
    pub struct Tag {
        /// Name of the label.
        name: String = "name",
    } optional {
        /// Additional data of the label, as strings.
        metadata: BTreeMap<String, String> = "metadata",
    }
}

object! {
    /// The git repository that a session works in.
    pub struct GitRepo {} optional {
        /// Owner of the repository, from its remote.
        owner: String = "owner",
        /// Name of the repository.
        repo_name: String = "repoName",
    }
}
