//! Changing the settings of a session.

use crate::object::object;
use crate::{AutonomyLevel, AutonomyMode, Count, InteractionMode, ReasoningEffort, Tag};

object! {
    /// Arguments of `update_session_settings`. To clear a spec-mode setting, put a `null` for it into `extra`.
    pub struct UpdateSessionSettingsParams {} optional {
        model_id: String = "modelId",
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        autonomy_mode: AutonomyMode = "autonomyMode",
        interaction_mode: InteractionMode = "interactionMode",
        autonomy_level: AutonomyLevel = "autonomyLevel",
        spec_mode_model_id: String = "specModeModelId",
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        additional_tool_ids: Vec<String> = "additionalToolIds",
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        tags: Vec<Tag> = "tags",
        compaction_token_limit: Count = "compactionTokenLimit",
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
    }
}
