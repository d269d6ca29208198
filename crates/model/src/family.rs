//! What is known of a model by its name: how it reasons, which efforts it has, and its limits. For models outside the catalog, and for
//! what the catalog does not say. Pure.
//!
//! Sources, seen in November 2026, some of them as excerpts only; a rule that is not confirmed by its vendor's page follows public lists of
//! models (`LiteLLM` 1.109.1), which holds for some efforts of GPT, Grok and Mistral:
//! - Claude: Anthropic, "Models overview" (windows, output limits, "adaptive (always on)"), "Adaptive thinking", "Extended thinking" (which
//!   models take budgets, `display`, interleaved thinking), "Effort" (which models know `xhigh` and `max`).
//! - GPT: `OpenAI`, "Reasoning" and the pages of the models (efforts, windows). Chat completions: see [`chat_of_gpt`].
//! - Gemini: Google, "Gemini thinking" (levels since Gemini 3, budgets before) and "`OpenAI` compatibility".
//! - `DeepSeek`, "Thinking Mode" (table of parameters by format). Kimi: Moonshot, "Use thinking effort". GLM: Z.ai, "Thinking mode".
//!   Grok: xAI, "Reasoning". Mistral: "Reasoning".

use crate::{Effort, Format, Reasoning};
use Effort::{High, Low, Max, Medium, Minimal, Off, XHigh};

/// What is known of a model by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) reasoning: Reasoning,
    pub(crate) efforts: &'static [Effort],
    pub(crate) context_window: Option<u64>,
    pub(crate) max_input_tokens: Option<u64>,
    pub(crate) max_output_tokens: Option<u64>,
    /// Whether it thinks between tool calls only if a beta header asks for it.
    pub(crate) interleaves_by_header: bool,
    /// Whether it knows a verbosity.
    pub(crate) has_verbosity: bool,
    /// Whether its vendor can enforce a JSON Schema for answers.
    pub(crate) native_schema: bool,
}

/// A model without a rule.
const UNKNOWN: Family = Family {
    reasoning: Reasoning::None,
    efforts: &[],
    context_window: None,
    max_input_tokens: None,
    max_output_tokens: None,
    interleaves_by_header: false,
    has_verbosity: false,
    native_schema: false,
};

impl Family {
    const fn new(reasoning: Reasoning, efforts: &'static [Effort]) -> Self {
        Self { reasoning, efforts, ..UNKNOWN }
    }

    const fn limits(self, window: u64, output: u64) -> Self {
        Self { context_window: Some(window), max_output_tokens: Some(output), ..self }
    }

    const fn input(self, input: u64) -> Self {
        Self { max_input_tokens: Some(input), ..self }
    }

    const fn schema(self) -> Self {
        Self { native_schema: true, ..self }
    }
}

/// Returns what is known of a model that is asked in the format of its own vendor.
pub(crate) fn at_home(model: &str) -> Family {
    let name = model.rsplit('/').next().unwrap_or(model);
    let format = if name.contains("claude-") { Format::Anthropic } else { Format::OpenaiResponses };
    of(format, model)
}

/// Returns what is known of a model that is asked in a format.
pub(crate) fn of(format: Format, model: &str) -> Family {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    if let Some((_, rest)) = name.split_once("claude-") {
        // a gateway that speaks another format has its own way to ask for thinking
        let family = claude(rest);
        return if format == Format::Anthropic {
            family
        } else {
            Family { reasoning: Reasoning::None, efforts: &[], ..family }
        };
    }
    let family = if let Some(rest) = name.strip_prefix("gpt-") {
        gpt(rest)
    } else if let Some(rest) = name.strip_prefix("gemini-") {
        gemini(rest)
    } else if let Some(rest) = name.strip_prefix("deepseek-") {
        deepseek(rest)
    } else if let Some(rest) = name.strip_prefix("grok-") {
        grok(rest)
    } else if let Some(rest) = name.strip_prefix("kimi-k") {
        kimi(rest)
    } else if let Some(rest) = name.strip_prefix("glm-") {
        glm(rest)
    } else if name.starts_with("magistral") || name.starts_with("mistral") {
        mistral(&name)
    } else {
        o_series(&name)
    };
    let family = if format == Format::OpenaiChat { chat_of_gpt(&name, family) } else { family };
    // Anthropic's format has no place for the other ways
    if format == Format::Anthropic && family.reasoning != Reasoning::Deepseek {
        Family { reasoning: Reasoning::None, efforts: &[], ..family }
    } else {
        family
    }
}

/// Returns the version at the start of a text, such as 4.6 in `4-6-20260205`. A date does not belong to it.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(['-', '.', '@', ':', 'p'])
        .map(|part| part.parse::<u32>().ok().filter(|number| *number < 1000));
    let major = numbers.next().flatten().unwrap_or(0);
    (major, numbers.next().flatten().unwrap_or(0))
}

fn claude(rest: &str) -> Family {
    let (kind, rest) = match rest.split_once(['-', '.']) {
        Some((kind, rest)) if kind.parse::<u32>().is_err() => (kind, rest),
        None if rest.parse::<u32>().is_err() => (rest, ""),
        _ => ("", rest),
    };
    let version = version(rest);
    let adaptive =
        |efforts| Family::new(Reasoning::AnthropicAdaptive, efforts).limits(1_000_000, 128_000).schema();
    let budget = Family::new(Reasoning::AnthropicBudget, &[Off, Low, Medium, High]);
    // Efforts and "always on": Anthropic, "Effort" and "Adaptive thinking". Budgets and the header: "Extended thinking", "Interleaved
    // thinking". Windows and output: "Models overview". All of November 2026; of models that are retired, their pages of the time.
    match kind {
        // a family that is newer than this table
        kind if !kind.is_empty() && version == (0, 0) && !["fable", "mythos"].contains(&kind) => {
            adaptive(&[Low, Medium, High])
        }
        "fable" | "mythos" => adaptive(&[Low, Medium, High, XHigh, Max]),
        "opus" | "sonnet" if version >= (5, 5) => adaptive(&[Low, Medium, High, XHigh, Max]),
        _ if version >= (4, 7) => adaptive(&[Off, Low, Medium, High, XHigh, Max]),
        _ if version >= (4, 6) => adaptive(&[Off, Low, Medium, High, Max]),
        _ if version >= (4, 5) => {
            Family { interleaves_by_header: true, ..budget.limits(200_000, 64_000).schema() }
        }
        "opus" if version >= (4, 0) => {
            Family { interleaves_by_header: true, ..budget.limits(200_000, 32_000) }
        }
        _ if version >= (4, 0) => Family { interleaves_by_header: true, ..budget.limits(200_000, 64_000) },
        _ if version >= (3, 7) => budget.limits(200_000, 64_000),
        _ if version >= (3, 5) => UNKNOWN.limits(200_000, 8192),
        _ if version >= (2, 0) => UNKNOWN.limits(200_000, 4096),
        _ => UNKNOWN,
    }
}

fn gpt(rest: &str) -> Family {
    if rest.starts_with("oss") {
        return Family::new(Reasoning::Openai, &[Low, Medium, High]).limits(131_072, 65_536);
    }
    // Windows and output: the pages of the models at developers.openai.com, November 2026
    let version = version(rest);
    let is = |part: &str| rest.split('-').any(|word| word == part);
    if version < (5, 0) {
        return match rest {
            _ if rest.starts_with("4.1") => UNKNOWN.limits(1_047_576, 32_768).schema(),
            _ if rest.starts_with("4o") => UNKNOWN.limits(128_000, 16_384).schema(),
            _ if rest.starts_with("4-turbo") => UNKNOWN.limits(128_000, 4096),
            _ if rest.starts_with("4.5") => UNKNOWN.limits(128_000, 16_384).schema(),
            _ => UNKNOWN,
        };
    }
    if is("chat") {
        return UNKNOWN.limits(128_000, 16_384).schema();
    }
    let efforts: &[Effort] = match version {
        // OpenAI, "Reasoning", November 2026: `minimal` until GPT-5, `none` since 5.1, `xhigh` since 5.2, `max` since 5.6. The efforts of
        // `pro` and `codex` follow LiteLLM 1.109.1 (12 November 2026)
        (5, 0) if is("pro") => &[High],
        (5, 0) if is("codex") => &[Low, Medium, High],
        (5, 0) => &[Minimal, Low, Medium, High],
        (5, 1) if is("max") => &[Low, Medium, High, XHigh],
        (5, 1) if is("codex") => &[Low, Medium, High],
        (5, 1) => &[Off, Low, Medium, High],
        (5, 2..=5) if is("pro") => &[Medium, High, XHigh],
        (5, 2..=5) if is("codex") => &[Low, Medium, High, XHigh],
        (5, 2..=5) => &[Off, Low, Medium, High, XHigh],
        // the larger models since 6 always think
        _ if is("luna") || is("terra") || is("sol") && version < (6, 1) => {
            &[Off, Low, Medium, High, XHigh, Max]
        }
        _ => &[Low, Medium, High, XHigh, Max],
    };
    let family = Family { has_verbosity: true, ..Family::new(Reasoning::Openai, efforts).schema() };
    if version < (5, 4) || is("mini") || is("nano") {
        family.limits(400_000, 128_000).input(272_000)
    } else {
        family.limits(1_050_000, 128_000).input(922_000)
    }
}

/// Chat completions do not take an effort together with tools since GPT-5.2: until 5.5 the field must be absent, since 5.6 it must be
/// `none` (openai-openapi#541, May 2026; livekit/agents#5088 and #7169, March and September 2026; litellm#34569, July 2026). The
/// responses format has no such limit.
fn chat_of_gpt(name: &str, family: Family) -> Family {
    match name.strip_prefix("gpt-").map(version) {
        Some((5, 2..=5)) => Family { reasoning: Reasoning::None, efforts: &[], ..family },
        Some(version) if version >= (5, 6) => Family { efforts: &[Off], ..family },
        _ => family,
    }
}

/// `OpenAI`, "Reasoning" and the pages of the models, November 2026.
fn o_series(name: &str) -> Family {
    let is_reasoning = ["o1", "o3", "o4-mini"]
        .iter()
        .any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')));
    if !is_reasoning || name.starts_with("o1-mini") || name.starts_with("o1-preview") {
        return UNKNOWN;
    }
    Family::new(Reasoning::Openai, &[Low, Medium, High]).limits(200_000, 100_000).schema()
}

fn gemini(rest: &str) -> Family {
    let version = version(rest);
    let is = |part: &str| rest.split('-').any(|word| word == part);
    // Google, "Gemini thinking" (levels, and budgets of 2.5) and "OpenAI compatibility" (their names as efforts), November 2026
    let efforts: &[Effort] = match version {
        (2, 5) if is("pro") => &[Low, Medium, High],
        (2, 5) => &[Off, Low, Medium, High],
        (3, 0) if is("pro") => &[Low, High],
        (3, 0..=6) if is("flash") => &[Minimal, Low, Medium, High],
        // `gemini-pro-latest` and the like are of the newest version
        (major, _) if major >= 3 || major == 0 && is("latest") => &[Low, Medium, High],
        _ => return UNKNOWN,
    };
    Family::new(Reasoning::Gemini, efforts).limits(1_048_576, 65_536)
}

fn deepseek(rest: &str) -> Family {
    let is_current =
        rest.starts_with("flash") || rest.strip_prefix('v').is_some_and(|rest| version(rest) >= (4, 0));
    if !is_current {
        return UNKNOWN.limits(128_000, 32_000);
    }
    // api-docs.deepseek.com, "Thinking Mode", November 2026
    let efforts: &[Effort] = if rest.contains("pro") { &[Off, High, Max] } else { &[Off, Low, High, Max] };
    Family::new(Reasoning::Deepseek, efforts).limits(1_000_000, 384_000)
}

/// docs.x.ai, "Reasoning", November 2026; the efforts of 4.6 and later follow `LiteLLM` 1.109.1 (12 November 2026).
fn grok(rest: &str) -> Family {
    let openai = |efforts| Family::new(Reasoning::Openai, efforts);
    match version(rest) {
        _ if rest.starts_with("3-mini") => openai(&[Low, High]).limits(131_072, 131_072),
        (4, 3) => openai(&[Off, Low, Medium, High]).limits(1_000_000, 30_000),
        (4, 5) => openai(&[Low, Medium, High]).limits(500_000, 500_000),
        (4, minor) if (6..20).contains(&minor) => {
            openai(&[Low, Medium, High, XHigh]).limits(500_000, 500_000)
        }
        _ => UNKNOWN,
    }
}

/// platform.kimi.ai, "Use thinking effort" and the pages of the models, November 2026.
fn kimi(rest: &str) -> Family {
    match version(rest) {
        (3, _) => Family::new(Reasoning::Openai, &[Low, High, Max]).limits(1_048_576, 131_072),
        (2, 5 | 6) => Family::new(Reasoning::Deepseek, &[Off, High]).limits(262_144, 262_144),
        // it always thinks, and that cannot be changed
        (2, _) => UNKNOWN.limits(262_144, 262_144),
        _ => UNKNOWN,
    }
}

/// docs.z.ai, "Thinking mode", and the pages of the models, November 2026.
fn glm(rest: &str) -> Family {
    match version(rest) {
        version if version >= (5, 3) => {
            Family::new(Reasoning::Deepseek, &[Low, High, Max]).limits(1_000_000, 131_072)
        }
        (5, 2) => Family::new(Reasoning::Deepseek, &[Off, High, Max]).limits(1_000_000, 131_072),
        version if version >= (4, 5) => {
            Family::new(Reasoning::Deepseek, &[Off, High]).limits(200_000, 131_072)
        }
        _ => UNKNOWN,
    }
}

/// docs.mistral.ai, "Reasoning" and the cards of the models, November 2026.
fn mistral(name: &str) -> Family {
    let adjustable = [
        "magistral",
        "mistral-medium-2604",
        "mistral-medium-3",
        "mistral-medium-latest",
        "mistral-small-2603",
        "mistral-small-latest",
    ];
    if name.starts_with("mistral-large-4") {
        // public lists disagree about the others
        Family::new(Reasoning::Openai, &[High]).limits(1_048_576, 262_144)
    } else if adjustable.iter().any(|prefix| name.starts_with(prefix)) {
        Family::new(Reasoning::Openai, &[Off, High]).limits(262_144, 262_144)
    } else {
        UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Format::{Anthropic, OpenaiChat, OpenaiResponses};

    #[track_caller]
    fn assert_reasons(format: Format, models: &[&str], reasoning: Reasoning, efforts: &[Effort]) {
        for model in models {
            let family = of(format, model);
            assert_eq!((family.reasoning, family.efforts), (reasoning, efforts), "{model}");
        }
    }

    #[test]
    fn claude_models_decide_themselves_since_4_6_and_take_budgets_before() {
        let adaptive = Reasoning::AnthropicAdaptive;
        let always_on = [
            "claude-fable-5-2",
            "claude-mythos-preview",
            "claude-opus-5-5",
            "anthropic/claude-sonnet-5.5",
            "eu.anthropic.claude-opus-6-20270101-v1:0",
        ];
        assert_reasons(Anthropic, &always_on, adaptive, &[Low, Medium, High, XHigh, Max]);
        let can_be_off =
            ["claude-opus-4-7", "claude-opus-5", "claude-haiku-5-5", "claude-sonnet-5", "claude-haiku-9"];
        assert_reasons(Anthropic, &can_be_off, adaptive, &[Off, Low, Medium, High, XHigh, Max]);
        let first = ["claude-opus-4-6", "claude-sonnet-4.6", "claude-opus-4-6-20260205"];
        assert_reasons(Anthropic, &first, adaptive, &[Off, Low, Medium, High, Max]);
        let budget = [
            "claude-opus-4-5-20251101",
            "claude-haiku-4-5",
            "claude-opus-4-20250514",
            "claude-3-7-sonnet-latest",
        ];
        assert_reasons(Anthropic, &budget, Reasoning::AnthropicBudget, &[Off, Low, Medium, High]);
        assert_reasons(Anthropic, &["claude-other", "claude-next-preview"], adaptive, &[Low, Medium, High]);
        assert_reasons(Anthropic, &["claude-3-5-haiku", "claude-2.1", "claude"], Reasoning::None, &[]);
        assert_reasons(OpenaiChat, &["claude-opus-5-5"], Reasoning::None, &[]);
        assert!(of(Anthropic, "claude-opus-4-1").interleaves_by_header);
        assert!(!of(Anthropic, "claude-opus-4-6").interleaves_by_header);
    }

    #[test]
    fn gpt_models_have_the_efforts_of_their_version() {
        let has = |models: &[&str], efforts: &[Effort]| {
            assert_reasons(OpenaiResponses, models, Reasoning::Openai, efforts);
        };
        has(&["gpt-5", "gpt-5-mini-2025-08-07"], &[Minimal, Low, Medium, High]);
        has(&["gpt-5.1", "openai/gpt-5.1"], &[Off, Low, Medium, High]);
        has(&["gpt-5.1-codex-max", "gpt-5.3-codex"], &[Low, Medium, High, XHigh]);
        has(&["gpt-5.5", "gpt-5.4-mini"], &[Off, Low, Medium, High, XHigh]);
        has(&["gpt-5.6-terra", "gpt-6-sol", "gpt-6-luna"], &[Off, Low, Medium, High, XHigh, Max]);
        has(&["gpt-6-astra", "gpt-6.1-sol", "gpt-7"], &[Low, Medium, High, XHigh, Max]);
        has(&["o3", "o4-mini-2025-04-16", "gpt-oss-120b"], &[Low, Medium, High]);
        assert_reasons(
            OpenaiResponses,
            &["gpt-4.1", "gpt-4o", "gpt-5-chat-latest", "o1-mini", "omni"],
            Reasoning::None,
            &[],
        );
        assert!(of(OpenaiResponses, "gpt-5.5").has_verbosity && !of(OpenaiResponses, "o3").has_verbosity);
    }

    #[test]
    fn gpt_models_since_5_2_take_no_effort_in_chat_completions() {
        assert_reasons(OpenaiChat, &["gpt-5.2", "gpt-5.5"], Reasoning::None, &[]);
        assert_reasons(OpenaiChat, &["gpt-5.6-terra", "gpt-6-astra"], Reasoning::Openai, &[Off]);
        assert_reasons(OpenaiChat, &["gpt-5.1"], Reasoning::Openai, &[Off, Low, Medium, High]);
    }

    #[test]
    fn other_vendors_have_their_own_ways() {
        assert_reasons(OpenaiChat, &["gemini-3.5-flash"], Reasoning::Gemini, &[Minimal, Low, Medium, High]);
        assert_reasons(
            OpenaiChat,
            &["gemini-4-argon", "gemini-pro-latest"],
            Reasoning::Gemini,
            &[Low, Medium, High],
        );
        assert_reasons(OpenaiChat, &["gemini-2.5-flash-lite"], Reasoning::Gemini, &[Off, Low, Medium, High]);
        assert_reasons(OpenaiChat, &["gemini-2.0-flash", "gemma-4-31b-it"], Reasoning::None, &[]);
        assert_reasons(OpenaiChat, &["deepseek-v4-pro"], Reasoning::Deepseek, &[Off, High, Max]);
        assert_reasons(Anthropic, &["deepseek-v4-flash"], Reasoning::Deepseek, &[Off, Low, High, Max]);
        assert_reasons(OpenaiChat, &["deepseek-chat"], Reasoning::None, &[]);
        assert_reasons(
            OpenaiChat,
            &["grok-4.6", "xai/grok-4.7"],
            Reasoning::Openai,
            &[Low, Medium, High, XHigh],
        );
        assert_reasons(OpenaiChat, &["grok-4.20-reasoning", "grok-code-fast-1"], Reasoning::None, &[]);
        assert_reasons(OpenaiChat, &["moonshotai/kimi-k3.1-pro"], Reasoning::Openai, &[Low, High, Max]);
        assert_reasons(
            OpenaiChat,
            &["kimi-k2.6", "glm-4.7", "zai-org/GLM-5.1"],
            Reasoning::Deepseek,
            &[Off, High],
        );
        assert_reasons(OpenaiChat, &["mistral-medium-latest"], Reasoning::Openai, &[Off, High]);
        assert_reasons(OpenaiChat, &["qwen3-coder", "my-model", ""], Reasoning::None, &[]);
    }

    #[test]
    fn limits_of_unlisted_models_are_those_of_their_family() {
        let limits = |format, model| {
            let family = of(format, model);
            (family.context_window, family.max_input_tokens, family.max_output_tokens)
        };
        assert_eq!(limits(Anthropic, "claude-opus-7"), (Some(1_000_000), None, Some(128_000)));
        assert_eq!(limits(Anthropic, "claude-haiku-4-5"), (Some(200_000), None, Some(64_000)));
        assert_eq!(limits(OpenaiResponses, "gpt-7"), (Some(1_050_000), Some(922_000), Some(128_000)));
        assert_eq!(limits(OpenaiResponses, "gpt-5.1"), (Some(400_000), Some(272_000), Some(128_000)));
        assert_eq!(limits(OpenaiChat, "some"), (None, None, None));
    }
}
