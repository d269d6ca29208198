//! How models are asked to reason, and which effort a model gets if it does not know the requested one. Pure.

use serde::{Deserialize, Serialize};

use crate::Effort;

/// How a model is asked to reason: the fields of the request that control it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reasoning {
    /// The model decides, and the effort is a hint: `thinking.type: adaptive` and `output_config.effort`.
    AnthropicAdaptive,
    /// A number of tokens: `thinking.budget_tokens`.
    AnthropicBudget,
    /// `reasoning.effort` in the responses format, `reasoning_effort` in chat completions.
    Openai,
    /// `thinking.type`, and an effort beside it. Also the models of Moonshot and Z.ai that can only be switched on and off.
    Deepseek,
    /// Google's `thinking_config`, with summaries of the thoughts.
    Gemini,
    /// The `reasoning` object of `OpenRouter`, which it translates for the vendor behind it.
    Openrouter,
    /// Nothing is sent.
    None,
}

impl Reasoning {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicAdaptive => "anthropic-adaptive",
            Self::AnthropicBudget => "anthropic-budget",
            Self::Openai => "openai",
            Self::Deepseek => "deepseek",
            Self::Gemini => "gemini",
            Self::Openrouter => "openrouter",
            Self::None => "none",
        }
    }

    /// Returns the efforts of a model of which only this is known.
    pub(crate) fn usual_efforts(self) -> &'static [Effort] {
        use Effort::{High, Low, Max, Medium, Off};
        match self {
            Self::AnthropicAdaptive => &[Off, Low, Medium, High, Max],
            Self::AnthropicBudget | Self::Openrouter => &[Off, Low, Medium, High],
            Self::Openai | Self::Gemini => &[Low, Medium, High],
            Self::Deepseek => &[Off, High, Max],
            Self::None => &[],
        }
    }
}

/// How long the answers of a model should be, for models that can be told so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verbosity {
    /// Short answers.
    Low,
    /// The usual length.
    Medium,
    /// Long answers.
    High,
}

impl Verbosity {
    /// Returns the name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Effort {
    /// Returns the effort a model gets for this one: itself if the model knows it, otherwise the closest one. Up to `medium` that is the
    /// next higher one, so that a model that only knows `high` still thinks; above it the next lower one, so that no call costs more than
    /// the user wanted. `None` if the model has no efforts.
    ///
    /// ```
    /// use musher_model::Effort::{High, Low, Max, Medium, Off, XHigh};
    ///
    /// assert_eq!(Medium.closest(&[Off, High, Max]), Some(High));
    /// assert_eq!(XHigh.closest(&[Low, Medium, High, Max]), Some(High));
    /// assert_eq!(Off.closest(&[Low, High]), Some(Low), "a model that always thinks");
    /// assert_eq!(Low.closest(&[]), None);
    /// ```
    pub fn closest(self, known: &[Self]) -> Option<Self> {
        let above = || known.iter().copied().filter(|effort| *effort >= self).min();
        let below = || known.iter().copied().filter(|effort| *effort <= self).max();
        if self <= Self::Medium { above().or_else(below) } else { below().or_else(above) }
    }

    /// Returns the effort of a model for which the user has chosen none: `medium`, or else `high`, or else its lowest.
    pub fn usual(known: &[Self]) -> Option<Self> {
        let preferred = [Self::Medium, Self::High].into_iter().find(|effort| known.contains(effort));
        preferred.or_else(|| known.iter().copied().min())
    }
}
