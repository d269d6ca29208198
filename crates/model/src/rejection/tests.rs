//! Real error messages of vendors, each with its source, and how they are classified.

use crate::{ErrorClass, Format};

#[track_caller]
fn assert_class(rows: &[(&str, u16, &str)], class: ErrorClass) {
    for (source, status, body) in rows {
        let error = Format::OpenaiChat.error(*status, body);
        assert_eq!(error.class, class, "{source}: {error}");
    }
}

#[test]
fn context_overflow_of_every_vendor_is_recognized() {
    let rows = [
        (
            "Anthropic: RooCodeInc/Roo-Code #5816, July 2025",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208732 tokens > 200000 maximum"}}"#,
        ),
        (
            "Anthropic: docker/docker-agent #569, October 2025",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
        ),
        (
            "OpenAI: dimagi/open-chat-studio #463, June 2024",
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8202 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            "Gemini: google-gemini/gemini-cli #12098, October 2025",
            400,
            r#"[{"error":{"code":400,"message":"The input token count (314175) exceeds the maximum number of tokens allowed (131072).","status":"INVALID_ARGUMENT"}}]"#,
        ),
        (
            "Gemini: google-gemini/gemini-cli #4231, July 2025",
            400,
            r#"{"error":{"message":"{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).\",\n    \"status\": \"INVALID_ARGUMENT\"\n  }\n}\n","code":400,"status":"Bad Request"}}"#,
        ),
        (
            "xAI: cline/cline #3120, April 2025",
            400,
            r#"{"error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}"#,
        ),
        (
            "llama.cpp: ggml-org/llama.cpp #15780, September 2025",
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}"#,
        ),
        (
            "llama.cpp inside a stream: oobabooga/textgen #7257, October 2025",
            0,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}"#,
        ),
        (
            "Moonshot: MoonshotAI/kimi-cli #2011, April 2026",
            400,
            r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)","type":"invalid_request_error"}}"#,
        ),
        (
            "Bedrock: aws-samples/assessment-generator #2, June 2024",
            400,
            r#"{"message":"Input is too long for requested model."}"#,
        ),
        (
            "Z.ai: zeroclaw-labs/zeroclaw #4124, March 2026",
            400,
            r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
        ),
        (
            "GitHub Copilot: microsoft/vscode #289219, January 2026",
            400,
            r#"{"error":{"message":"prompt token count of 1236658 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
        ),
        (
            "GitHub Copilot without a code: microsoft/vscode-copilot-release #6700, March 2025",
            400,
            r#"{"error":{"message":"prompt token count of 65446 exceeds the limit of 64000","param":"","code":"","type":""}}"#,
        ),
        (
            "DashScope: agentscope-ai/QwenPaw #6255, July 2026",
            400,
            r#"{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]","param":null,"type":"invalid_request_error"}}"#,
        ),
        (
            "Volcano Engine: langgenius/dify #32221, February 2026",
            400,
            r#"{"error":{"code":"InvalidParameter","message":"Input length 203743 exceeds the maximum length 202752"}}"#,
        ),
        (
            "MiniMax: agentscope-ai/QwenPaw #1873, March 2026",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"invalid params, context window exceeds limit (2013)"}}"#,
        ),
        (
            "LM Studio: Gitlawb/openclaude #353, April 2026",
            400,
            r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}"#,
        ),
        (
            "LM Studio: anomalyco/opencode #11141, January 2026",
            400,
            r#"{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}"#,
        ),
        (
            "LM Studio: lmstudio-ai/lmstudio-bug-tracker #546, March 2025",
            400,
            r#"{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough."}"#,
        ),
        (
            "vLLM: vllm-project/vllm #20409, July 2025",
            400,
            r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion. None","type":"BadRequestError","param":null,"code":400}"#,
        ),
        (
            "vLLM: proxysoul/Empryo #52, April 2026",
            400,
            r#"{"error":{"message":"You passed 202753 input tokens and requested 0 output tokens. However, the model's context length is only 202752 tokens, resulting in a maximum input length of 202752 tokens.","code":400}}"#,
        ),
        (
            "Text Generation Inference: bytedance/UI-TARS-desktop #626, May 2025",
            422,
            r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`"}"#,
        ),
        (
            "OpenRouter: earendil-works/pi #6378, July 2026",
            400,
            r#"{"error":{"message":"This endpoint's maximum context length is 262000 tokens. However, you requested about 263390 tokens (658 of text input, 732 of tool input, 262000 in the output).","code":400,"metadata":{"provider_name":null}}}"#,
        ),
        (
            "a vendor behind OpenRouter: cline/cline #13194, August 2026",
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages.\",\"type\":\"Bad Request\",\"code\":400}}","provider_name":"Nvidia"}}}"#,
        ),
    ];
    assert_class(&rows, ErrorClass::ContextLength);
}

#[test]
fn rejected_reasoning_is_recognized() {
    let rows = [
        (
            "Anthropic: platform.claude.com, \"Fix a thinking block bound to a different conversation\", read November 2026",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."}}"#,
        ),
        (
            "Anthropic behind a gateway: docs.apiyi.com, September 2026",
            429,
            r#"{"error":{"message":"messages.1.content.0: Invalid `signature` in `thinking` block","type":"rate_limit_error"}}"#,
        ),
        (
            "Anthropic: microsoft/vscode #318076, May 2026",
            400,
            r#"{"error":{"type":"invalid_request_error","message":"messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."}}"#,
        ),
        (
            "OpenAI: openai/codex #8119, December 2025",
            400,
            r#"{"error":{"message":"The encrypted content gAAA...c90= could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}"#,
        ),
        (
            "Gemini: discuss.ai.google.dev 109823, November 2025",
            400,
            r#"[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.","status":"INVALID_ARGUMENT"}}]"#,
        ),
    ];
    assert_class(&rows, ErrorClass::Thinking);
    let unknown = r#"{"error":{"message":"'messages.2' : property 'reasoning_content' is unsupported","type":"invalid_request_error"}}"#;
    assert_class(&[("a host without the field", 400, unknown)], ErrorClass::Thinking);
}

#[test]
fn similar_messages_of_other_errors_are_not_mistaken() {
    let rate = r#"{"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute"}}"#;
    assert_class(&[("Anthropic", 429, rate)], ErrorClass::RateLimit);
    let in_stream = r#"{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached: too many tokens per minute"}}"#;
    assert_class(&[("OpenAI", 0, in_stream)], ErrorClass::RateLimit);
    let output = r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens","type":"invalid_request_error"}}"#;
    assert_class(&[("OpenAI", 400, output)], ErrorClass::Invalid);
    // without reasoning, these would be rejected all the same
    for missing in [
        r#"{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"}}"#,
        r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API."}}"#,
    ] {
        assert_class(&[("Moonshot, DeepSeek", 400, missing)], ErrorClass::Invalid);
    }
}

#[test]
fn error_of_a_vendor_behind_a_gateway_is_shown() {
    let body = r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"glm is temporarily rate-limited upstream","provider_name":"BaseTen"}}}"#;
    let error = Format::OpenaiChat.error(429, body);
    assert_eq!(error.message, "Provider returned error: glm is temporarily rate-limited upstream");
    assert_eq!(error.class, ErrorClass::RateLimit);
}
