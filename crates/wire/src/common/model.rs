//! The models that an agent offers.

use crate::object::object;
use crate::{Count, ModelProvider, ReasoningEffort};

object! {
    /// A model that the agent offers.
    pub struct ModelInfo {
        /// Id to use in `modelId` settings; `custom:...` for custom models.
        id: String = "id",
    } optional {
        /// Id of the model at its provider. Absent for custom models.
        model_id: String = "modelId",
        /// API that serves the model.
        model_provider: ModelProvider = "modelProvider",
        /// Name for display.
        display_name: String = "displayName",
        /// Short name for display.
        short_display_name: String = "shortDisplayName",
        /// Reasoning efforts that the model accepts.
        supported_reasoning_efforts: Vec<ReasoningEffort> = "supportedReasoningEfforts",
        /// Reasoning effort if none is chosen.
        default_reasoning_effort: ReasoningEffort = "defaultReasoningEffort",
        /// Whether the user's settings define the model.
        is_custom: bool = "isCustom",
        /// Whether the vendor advises against the model.
        deprecated: bool = "deprecated",
        /// Date from which the model is deprecated or unavailable.
        deprecation_date: String = "deprecationDate",
        /// Whether the model rejects images. Default: false.
        no_image_support: bool = "noImageSupport",
        /// Whether the model can generate images.
        supports_image_generation: bool = "supportsImageGeneration",
        /// Whether the model accepts PDF documents.
        supports_pdfs: bool = "supportsPDFs",
        /// Meaning not documented; seen in captures. By its name, the factor that converts tokens to credits.
        token_multiplier: Count = "tokenMultiplier",
        /// Whether to mark the model as new.
        is_new: bool = "isNew",
        /// Text of the mark for a new model.
        new_badge_label: String = "newBadgeLabel",
        /// Promotional text for display.
        promo_label: String = "promoLabel",
        /// Whether the model runs in the United States.
        uses_us_based_inference: bool = "usesUSBasedInference",
        /// Meaning not documented; declared in the Python SDK.
        compact_through_latest_signed_thinking: bool = "compactThroughLatestSignedThinking",
        /// Whether the model is unavailable; in results of `list_models` only.
        disabled: bool = "disabled",
        /// Why the model is unavailable; present if `disabled` is true.
        disabled_reason: String = "disabledReason",
    }
}
