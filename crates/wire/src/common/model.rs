//! The models an agent offers.

use crate::object::object;
use crate::{Count, ModelProvider, ReasoningEffort};

object! {
    /// A model that can be chosen.
    pub struct ModelInfo {
        id: String = "id",
    } optional {
        /// Absent for custom models.
        model_id: String = "modelId",
        model_provider: ModelProvider = "modelProvider",
        display_name: String = "displayName",
        short_display_name: String = "shortDisplayName",
        supported_reasoning_efforts: Vec<ReasoningEffort> = "supportedReasoningEfforts",
        default_reasoning_effort: ReasoningEffort = "defaultReasoningEffort",
        is_custom: bool = "isCustom",
        deprecated: bool = "deprecated",
        deprecation_date: String = "deprecationDate",
        no_image_support: bool = "noImageSupport",
        supports_image_generation: bool = "supportsImageGeneration",
        supports_pdfs: bool = "supportsPDFs",
        token_multiplier: Count = "tokenMultiplier",
        is_new: bool = "isNew",
        new_badge_label: String = "newBadgeLabel",
        promo_label: String = "promoLabel",
        uses_us_based_inference: bool = "usesUSBasedInference",
        compact_through_latest_signed_thinking: bool = "compactThroughLatestSignedThinking",
        /// In `list_models` only.
        disabled: bool = "disabled",
        disabled_reason: String = "disabledReason",
    }
}
