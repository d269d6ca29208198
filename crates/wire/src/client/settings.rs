//! Changes to the settings of a session.

use crate::object::object;
use crate::{AutonomyLevel, AutonomyMode, Count, InteractionMode, ReasoningEffort, Tag};

object! {
    /// Parameters of `update_session_settings`. To clear a spec-mode setting, insert `null` for it into `extra`.
    pub struct UpdateSessionSettingsParams {} optional {
        /// The new model. Unknown ids are stored and fail at the next turn.
        model_id: String = "modelId",
        /// Reasoning effort of the main model.
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        /// Legacy form that combines interaction mode and autonomy level.
        autonomy_mode: AutonomyMode = "autonomyMode",
        /// Whether the session executes, plans or runs missions.
        interaction_mode: InteractionMode = "interactionMode",
        /// Which tool calls run without a permission request.
        autonomy_level: AutonomyLevel = "autonomyLevel",
        /// Model to use while planning; absent means the main model.
        spec_mode_model_id: String = "specModeModelId",
        /// Reasoning effort while planning; absent means the main model's effort.
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        /// Ids of tools to switch on in addition to the default selection.
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        /// Ids of tools to switch off.
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        /// Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them.
        additional_tool_ids: Vec<String> = "additionalToolIds",
        /// If not empty, only these tools are available.
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        /// Labels that replace the current ones.
        tags: Vec<Tag> = "tags",
        /// Number of tokens above which the conversation is compacted. No effect in droid 0.225.2.
        compaction_token_limit: Count = "compactionTokenLimit",
        /// Whether to compact the conversation when it exceeds the limit.
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
    }
}
