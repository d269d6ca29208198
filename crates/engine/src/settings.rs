//! The settings of a session, and changes to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Autonomy, Mode};

pub use musher_config::ToolSelection;
pub use musher_model::Effort;

/// The settings of a session, as clients see them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The model.
    pub model: String,
    /// The reasoning effort.
    pub effort: Effort,
    /// Spec mode or not.
    pub mode: Mode,
    /// The autonomy level.
    pub autonomy: Autonomy,
    /// The model in spec mode.
    pub spec_model: Option<String>,
    /// The reasoning effort in spec mode.
    pub spec_effort: Option<Effort>,
    /// The tool selection.
    pub tools: ToolSelection,
    /// Tags of the client.
    pub tags: Option<Vec<Tag>>,
    /// The size beyond which the conversation is compacted, in tokens.
    pub compaction_token_limit: Option<u64>,
    /// Whether the conversation is compacted automatically.
    pub compaction_check: bool,
    /// The system prompt as the client gave it.
    pub system_prompt: Option<serde_json::Value>,
}

impl Settings {
    /// Returns the model in use: that for spec mode, if there is one in this mode.
    pub(crate) fn model_in_use(&self) -> &str {
        match (&self.spec_model, self.mode) {
            (Some(model), Mode::Spec) => model,
            _ => &self.model,
        }
    }
}

/// A tag of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// Metadata of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// A change of settings. Absent fields stay as they are; the inner `None` of a double option clears.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `Settings`")]
pub struct SettingsChange {
    pub model: Option<String>,
    pub effort: Option<Effort>,
    pub mode: Option<Mode>,
    pub autonomy: Option<Autonomy>,
    pub spec_model: Option<Option<String>>,
    pub spec_effort: Option<Option<Effort>>,
    pub enabled_tools: Option<Vec<String>>,
    pub disabled_tools: Option<Vec<String>>,
    pub additional_tools: Option<Vec<String>>,
    pub restricted_tools: Option<Vec<String>>,
    pub tags: Option<Vec<Tag>>,
    pub compaction_token_limit: Option<u64>,
    pub compaction_check: Option<bool>,
}
