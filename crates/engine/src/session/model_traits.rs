//! What follows from the model in use: which tool it edits files with, whether it reads documents, and whether it binds reasoning to the
//! conversation. Pure.

use musher_model::Format;
use musher_tools::EditStyle;

/// Returns the tool with which a model edits best.
///
/// The models of the GPT family since 4.1, o3, o4 and codex are trained on patches; see `OpenAI`'s prompting guide for GPT-4.1
/// (April 2025, "apply patch") and the open-source codex.
pub(crate) fn edit_style(model: &str) -> EditStyle {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let is_trained = match name.strip_prefix("gpt-") {
        Some(version) => {
            let number = version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
            version.starts_with("oss") || number.parse().is_ok_and(|number: f32| number >= 4.1)
        }
        None => name.starts_with("o3") || name.starts_with("o4") || name.starts_with("codex"),
    };
    if is_trained { EditStyle::Patch } else { EditStyle::Replace }
}

/// Returns whether a model reads PDFs through an API format.
///
/// Claude reads them as `document` blocks, in tool results too (Anthropic, "PDF support"). The vision models of `OpenAI` read `input_file` parts
/// through the responses format ("File inputs"). Chat completions cannot hold them in a tool result. Both as documented in November 2026.
pub(crate) fn reads_documents(format: Format, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    match format {
        Format::Anthropic => name.starts_with("claude"),
        Format::OpenaiResponses => {
            let is_vision =
                ["gpt-4o", "gpt-4.1", "o1", "o3", "o4"].iter().any(|prefix| name.starts_with(prefix));
            is_vision
                || name.starts_with("gpt-")
                    && edit_style(&name) == EditStyle::Patch
                    && !name.starts_with("gpt-oss")
        }
        _ => false,
    }
}

/// Returns whether a model rejects reasoning that is sent back after another beginning of the conversation: see
/// [`thinking`](super::thinking).
///
/// Claude Fable and Mythos since 5.1, Opus, Sonnet and Haiku since 5.5; Anthropic, "Preserved thinking", "Change tools or instructions
/// without failing the prefix check", November 2026.
pub(crate) fn binds_thinking(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    let Some((_, rest)) = name.split_once("claude-") else { return false };
    let mut parts = rest.split(['-', '.', '@', ':']);
    let first = match parts.next() {
        Some("fable" | "mythos") => (5, 1),
        Some("opus" | "sonnet" | "haiku") => (5, 5),
        _ => return false,
    };
    // a date, not a minor version
    let mut number =
        || parts.next().and_then(|part| part.parse::<u32>().ok()).filter(|number| *number < 1000);
    (number().unwrap_or(0), number().unwrap_or(0)) >= first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpt_family_edits_with_patches_and_others_by_replacing() {
        for name in [
            "gpt-4.1-mini",
            "gpt-5",
            "openai/gpt-5.1-codex",
            "gpt-6-astra",
            "gpt-oss-120b",
            "o3",
            "o4-mini",
            "codex-mini-latest",
        ] {
            assert_eq!(edit_style(name), EditStyle::Patch, "{name}");
        }
        for name in [
            "gpt-4o",
            "gpt-4",
            "gpt-3.5-turbo",
            "claude-opus-5-5",
            "gemini-4",
            "openrouter/qwen/qwen3-coder",
            "o1",
            "",
        ] {
            assert_eq!(edit_style(name), EditStyle::Replace, "{name}");
        }
    }

    #[test]
    fn documents_go_to_models_that_read_them_through_that_format() {
        assert!(reads_documents(Format::Anthropic, "claude-sonnet-5-5"));
        assert!(
            reads_documents(Format::OpenaiResponses, "gpt-5.1")
                && reads_documents(Format::OpenaiResponses, "gpt-4o")
        );
        for (format, name) in [
            (Format::Anthropic, "deepseek-v4"),
            (Format::OpenaiChat, "gpt-5.1"),
            (Format::OpenaiResponses, "gpt-oss-20b"),
            (Format::OpenaiResponses, "my-model"),
        ] {
            assert!(!reads_documents(format, name), "{name}");
        }
    }

    #[test]
    fn newest_claude_models_bind_reasoning_to_the_conversation() {
        for name in [
            "claude-fable-5-1",
            "claude-mythos-5-2",
            "claude-opus-5-5",
            "anthropic/claude-sonnet-5.5",
            "eu.anthropic.claude-haiku-5-5-20260901-v1:0",
            "claude-opus-6-20270101",
        ] {
            assert!(binds_thinking(name), "{name}");
        }
        for name in [
            "claude-opus-5",
            "claude-opus-5-20260401",
            "claude-sonnet-4-6",
            "claude-fable-5",
            "claude-3-7-sonnet-latest",
            "gpt-5.5",
            "claude",
        ] {
            assert!(!binds_thinking(name), "{name}");
        }
    }
}
