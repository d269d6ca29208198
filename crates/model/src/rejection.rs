//! Rejections that vendors report by a message: a conversation that is too long, and reasoning that cannot be sent back. Pure.
//!
//! Codes come first, then a table of messages. `tests` has a real message for each row, with its source.

/// Codes of a conversation that exceeds the context window.
///
/// `context_length_exceeded`: `OpenAI` and compatible vendors. `exceed_context_size_error`: llama.cpp (ggml-org/llama.cpp #15780).
/// `model_max_prompt_tokens_exceeded`: GitHub Copilot (microsoft/vscode #289219). `1261`: Z.ai (zeroclaw-labs/zeroclaw #4124).
const OVERFLOW_CODES: [&str; 4] =
    ["context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded", "1261"];

/// Messages of a conversation that exceeds the context window: all texts of a row occur, in lower case.
const OVERFLOWS: [&[&str]; 18] = [
    &["prompt is too long"],
    &["exceed context limit"],
    &["maximum context length"],
    &["context window"],
    &["context length"],
    &["context_length_exceeded"],
    &["input token count", "exceeds the maximum"],
    &["maximum prompt length is"],
    &["exceeds the available context size"],
    &["exceeded model token limit"],
    &["input is too long for requested model"],
    &["prompt exceeds max length"],
    &["prompt token count of", "exceeds the limit of"],
    &["range of input length should be"],
    &["input length", "exceeds the maximum length"],
    &["n_keep", "n_ctx"],
    &["`inputs` tokens + `max_new_tokens` must be"],
    &["too many tokens"],
];

/// Codes of reasoning that cannot be sent back. `invalid_encrypted_content`: `OpenAI` responses (openai/codex #8119).
const THINKING_CODES: [&str; 1] = ["invalid_encrypted_content"];

/// Messages of reasoning that cannot be sent back: all texts of a row occur, in lower case.
const THINKING: [&[&str]; 8] = [
    &["invalid `signature` in `thinking` block"],
    &["block is bound to a different"],
    &["blocks in the latest assistant message cannot be modified"],
    &["invalid `data` in `redacted_thinking` block"],
    &["encrypted content", "could not be verified"],
    &["'reasoning'", "without its required following item"],
    &["thought_signature"],
    &["thought signature"],
];

/// Fields in which reasoning is sent back, and what vendors that do not know them say about unknown fields.
const FIELDS: [&str; 2] = ["reasoning_content", "reasoning_details"];
const UNKNOWN: [&str; 6] =
    ["unsupported", "not permitted", "unexpected", "unknown", "unrecognized", "not allowed"];

/// Whether an error says that the conversation is too long. Status 0 stands for an error inside a stream.
pub(crate) fn is_too_long(status: u16, codes: &[&str], message: &str) -> bool {
    if codes.iter().any(|code| OVERFLOW_CODES.contains(code)) {
        return true;
    }
    let message = message.to_ascii_lowercase();
    let is_about_rate = message.contains("rate limit") || message.contains("per minute");
    is_about_request(status) && !is_about_rate && matches(&OVERFLOWS, &message)
}

/// Whether an error says that the vendor does not accept reasoning that was sent back.
pub(crate) fn is_thinking_rejected(status: u16, codes: &[&str], message: &str) -> bool {
    if codes.iter().any(|code| THINKING_CODES.contains(code)) {
        return true;
    }
    let message = message.to_ascii_lowercase();
    let is_unknown_field = FIELDS.iter().any(|field| message.contains(field))
        && UNKNOWN.iter().any(|word| message.contains(word));
    // gateways report it with status 429, too (docs.apiyi.com, September 2026)
    (is_about_request(status) || status == 429) && (is_unknown_field || matches(&THINKING, &message))
}

/// Whether an error of this status may be about the content of the request. Some gateways and local servers report those with 500.
fn is_about_request(status: u16) -> bool {
    matches!(status, 0 | 400 | 413 | 422 | 500)
}

fn matches(table: &[&[&str]], message: &str) -> bool {
    table.iter().any(|row| row.iter().all(|text| message.contains(text)))
}

#[cfg(test)]
mod tests;
