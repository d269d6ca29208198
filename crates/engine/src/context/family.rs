//! Families of models with common habits, recognised by the name of a model.

/// A family of models. The system prompt has a short part for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFamily {
    /// Claude models.
    Claude,
    /// GPT models, and other models of `OpenAI`.
    Gpt,
    /// Gemini and all other models.
    Other,
}

/// Parts of the names of Claude models, with and without the name of the family.
const CLAUDE: [&str; 5] = ["claude", "opus", "sonnet", "haiku", "fable"];
/// The same for `OpenAI`.
const GPT: [&str; 3] = ["gpt", "codex", "chatgpt"];
/// Names that are too short to look for inside of a name.
const GPT_STARTS: [&str; 3] = ["o1", "o3", "o4"];

impl ModelFamily {
    /// Returns the family of a model by its name, with or without a vendor.
    ///
    /// ```
    /// use musher_engine::context::ModelFamily;
    ///
    /// assert_eq!(ModelFamily::of("openrouter/anthropic/claude-opus-5-5"), ModelFamily::Claude);
    /// assert_eq!(ModelFamily::of("custom:gpt-6.1-sol"), ModelFamily::Gpt);
    /// assert_eq!(ModelFamily::of("gemini-3.5-pro"), ModelFamily::Other);
    /// ```
    pub fn of(model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        let name = name.rsplit('/').next().unwrap_or_default();
        let name = name.strip_prefix("custom:").unwrap_or(name);
        let has_part = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let first_word = || name.split(['-', '.', '_']).next().unwrap_or_default();
        if has_part(&CLAUDE) {
            Self::Claude
        } else if has_part(&GPT) || GPT_STARTS.contains(&first_word()) {
            Self::Gpt
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_follows_the_name_of_the_model() {
        let cases = [
            ("claude-sonnet-4-6", ModelFamily::Claude),
            ("us.anthropic.claude-haiku-4-5-v1:0", ModelFamily::Claude),
            ("Opus-5.5", ModelFamily::Claude),
            ("openai/gpt-5.1-codex", ModelFamily::Gpt),
            ("openai/gpt-oss-120b", ModelFamily::Gpt),
            ("custom:o3", ModelFamily::Gpt),
            ("o4-mini", ModelFamily::Gpt),
            ("o1000", ModelFamily::Other),
            ("gemini-3.1-pro", ModelFamily::Other),
            ("qwen3-coder", ModelFamily::Other),
            ("", ModelFamily::Other),
        ];
        for (model, family) in cases {
            assert_eq!(ModelFamily::of(model), family, "{model}");
        }
    }
}
