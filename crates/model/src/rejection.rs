//! Rejections that vendors report by a message: a conversation that is too long, and reasoning that cannot be sent back. Pure.
//!
//! Codes come first, then a table of messages. `tests` has a real message for each row, with its source.

/// Codes of a conversation that exceeds the context window.
///
/// `context_length_exceeded`: `OpenAI` and compatible vendors. `exceed_context_size_error`: llama.cpp (ggml-org/llama.cpp #15780).
/// `model_max_prompt_tokens_exceeded`: GitHub Copilot (microsoft/vscode #289219). `1261`: Z.ai (zeroclaw-labs/zeroclaw #4124).
const OVERFLOW_CODES: [&str; 4] =
    ["context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded", "1261"];

/// Messages of a conversation that exceeds the context window: all texts of a row occur, in lower case. `tests` has each as it was sent.
const OVERFLOWS: [&[&str]; 18] = [
    &["prompt is too long"],      // Anthropic: RooCodeInc/Roo-Code #5816, July 2025
    &["exceed context limit"],    // Anthropic: docker/docker-agent #569, October 2025
    &["maximum context length"],  // OpenAI: dimagi/open-chat-studio #463, June 2024
    &["context window"],          // MiniMax: agentscope-ai/QwenPaw #1873, March 2026
    &["context length"],          // LM Studio: lmstudio-bug-tracker #546, March 2025
    &["context_length_exceeded"], // gateways that put the code into the message
    &["input token count", "exceeds the maximum"], // Gemini: google-gemini/gemini-cli #12098, October 2025
    &["maximum prompt length is"], // xAI: cline/cline #3120, April 2025
    &["exceeds the available context size"], // llama.cpp: ggml-org/llama.cpp #15780, September 2025
    &["exceeded model token limit"], // Moonshot: MoonshotAI/kimi-cli #2011, April 2026
    &["input is too long for requested model"], // Bedrock: aws-samples/assessment-generator #2, June 2024
    &["prompt exceeds max length"], // Z.ai: zeroclaw-labs/zeroclaw #4124, March 2026
    &["prompt token count of", "exceeds the limit of"], // Copilot: vscode-copilot-release #6700, March 2025
    &["range of input length should be"], // DashScope: agentscope-ai/QwenPaw #6255, July 2026
    &["input length", "exceeds the maximum length"], // Volcano Engine: langgenius/dify #32221, February 2026
    &["n_keep", "n_ctx"],         // LM Studio: anomalyco/opencode #11141, January 2026
    &["`inputs` tokens + `max_new_tokens` must be"], // TGI: bytedance/UI-TARS-desktop #626, May 2025
    &["too many tokens"],         // no report known: words that several hosts use
];

/// Codes of reasoning that cannot be sent back. `invalid_encrypted_content`: `OpenAI` responses (openai/codex #8119).
const THINKING_CODES: [&str; 1] = ["invalid_encrypted_content"];

/// Messages of reasoning that cannot be sent back: all texts of a row occur, in lower case.
const THINKING: [&[&str]; 8] = [
    &["invalid `signature` in `thinking` block"], // Anthropic, "Fix a thinking block bound to a different conversation", November 2026
    &["block is bound to a different"],           // the same page
    &["blocks in the latest assistant message cannot be modified"], // Anthropic: microsoft/vscode #318076, May 2026
    &["invalid `data` in `redacted_thinking` block"], // after the form of the first row; no report known
    &["encrypted content", "could not be verified"],  // OpenAI: openai/codex #8119, December 2025
    &["'reasoning'", "without its required following item"], // OpenAI, "Reasoning", November 2026
    &["thought_signature"],                           // Gemini: discuss.ai.google.dev 109823, November 2025
    &["thought signature"],                           // the same in words
];

/// Fields in which reasoning is sent back, and what vendors that do not know them say about unknown fields.
const FIELDS: [&str; 2] = ["reasoning_content", "reasoning_details"];
const UNKNOWN: [&str; 6] =
    ["unsupported", "not permitted", "unexpected", "unknown", "unrecognized", "not allowed"];

/// Returns whether an error says that the conversation is too long. Status 0 stands for an error inside a stream.
pub(crate) fn is_too_long(status: u16, codes: &[&str], message: &str) -> bool {
    if codes.iter().any(|code| OVERFLOW_CODES.contains(code)) {
        return true;
    }
    let message = message.to_ascii_lowercase();
    let is_about_rate = message.contains("rate limit") || message.contains("per minute");
    is_about_request(status) && !is_about_rate && matches(&OVERFLOWS, &message)
}

/// Returns whether an error says that the vendor does not accept reasoning that was sent back.
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

/// Returns whether an error of this status may be about the content of the request. Some gateways and local servers report those with 500.
fn is_about_request(status: u16) -> bool {
    matches!(status, 0 | 400 | 413 | 422 | 500)
}

fn matches(table: &[&[&str]], message: &str) -> bool {
    table.iter().any(|row| row.iter().all(|text| message.contains(text)))
}

#[cfg(test)]
mod tests;
