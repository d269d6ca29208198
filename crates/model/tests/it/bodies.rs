//! Complete request bodies of each format, compared with the files in `formats/`.

use musher_model::{
    Block, Cache, Effort, Format, FormatOptions, Media, Message, OutputSchema, Proof, Request, Role,
    Thinking, ToolChoice, ToolResult, ToolSpec, ToolUse,
};
use serde_json::json;

use crate::snapshot::assert_snapshot;

const FORMATS: [(Format, &str); 3] = [
    (Format::OpenaiChat, "openai_chat"),
    (Format::OpenaiResponses, "openai_responses"),
    (Format::Anthropic, "anthropic"),
];

fn media(media_type: &str, name: Option<&str>) -> Media {
    Media { media_type: media_type.to_owned(), data: "AAAA".to_owned(), name: name.map(str::to_owned) }
}

fn thinking(text: &str, proof: Option<Proof>) -> Block {
    Block::Thinking(Thinking { text: text.to_owned(), proof })
}

fn call(id: &str, name: &str) -> Block {
    let input = json!({"path": "a.rs", "limit": 5}).as_object().unwrap().clone();
    Block::ToolUse(ToolUse::new(id, name, input))
}

/// Returns a request with every kind of block and every field.
fn everything() -> Request {
    let assistant = vec![
        thinking("signed", Some(Proof::Signature { signature: "sig".to_owned() })),
        thinking("", Some(Proof::Redacted { data: "hidden".to_owned() })),
        thinking("sealed", Some(Proof::Encrypted { id: "rs_1".to_owned(), content: "enc".to_owned() })),
        thinking("plain", Some(Proof::Plain)),
        thinking("unproven", None),
        Block::text("I look."),
        call("c1", "Read"),
        call("c2", "LS"),
    ];
    let picture = Block::Image(media("image/png", None));
    let failed = ToolResult { is_error: true, ..ToolResult::text("c2", "no such folder") };
    let results = vec![
        Block::ToolResult(ToolResult {
            id: "c1".to_owned(),
            content: vec![Block::text("a picture"), picture],
            is_error: false,
        }),
        Block::ToolResult(failed),
        Block::text("And now?"),
    ];
    let asked = vec![
        Block::text("What is this?"),
        Block::Image(media("image/jpeg", None)),
        Block::Document(media("application/pdf", Some("a.pdf"))),
    ];
    let messages = vec![
        Message { role: Role::User, content: asked },
        Message { role: Role::Assistant, content: assistant },
        Message { role: Role::User, content: results },
        Message::assistant("Done."),
        Message::user("Thanks."),
    ];
    let mut request = Request::new("some-model", messages);
    request.system = vec!["You help.".to_owned(), "Be brief.".to_owned()];
    request.tools = vec![ToolSpec {
        name: "Read".to_owned(),
        description: "Reads a file".to_owned(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }];
    request.tool_choice = ToolChoice::Required;
    request.effort = Some(Effort::Medium);
    request.max_output_tokens = Some(16_000);
    request.temperature = Some(0.5);
    request.stop = vec!["END".to_owned()];
    request.cache = Cache::Long;
    request.cache_key = Some("session-1".to_owned());
    request.output = Some(OutputSchema { name: "answer".to_owned(), schema: json!({"type": "object"}) });
    request
}

#[test]
fn request_with_all_fields_has_the_expected_body_in_every_format() {
    for (format, name) in FORMATS {
        let body = format.body(&everything(), &FormatOptions::default());
        let text = serde_json::to_string_pretty(&body).unwrap() + "\n";
        assert_snapshot(&format!("formats/{name}-everything.json"), &text);
    }
}

#[test]
fn minimal_request_has_the_expected_body_in_every_format() {
    for (format, name) in FORMATS {
        let request = Request::new("some-model", vec![Message::user("Hello")]);
        let body = format.body(&request, &FormatOptions::default());
        let text = serde_json::to_string_pretty(&body).unwrap() + "\n";
        assert_snapshot(&format!("formats/{name}-question.json"), &text);
    }
}

fn options(value: serde_json::Value) -> FormatOptions {
    serde_json::from_value(value).unwrap()
}

#[test]
fn options_change_the_body_as_documented() {
    let all = options(
        json!({"maxCompletionTokens": true, "replayReasoning": true, "noStreamOptions": true, "reasoning": "none",
                             "extra": {"seed": 7, "stop": null}}),
    );
    let body = Format::OpenaiChat.body(&everything(), &all);
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(16_000), &json!(null)));
    let all_thoughts = "signed\nsealed\nplain\nunproven";
    assert_eq!(body["messages"][2]["reasoning_content"], all_thoughts, "also those of other models");
    assert_eq!((body.get("stream_options"), body.get("reasoning_effort")), (None, None));
    assert_eq!((&body["seed"], &body["stop"]), (&json!(7), &json!(null)));

    let request = Request { tool_choice: ToolChoice::Auto, ..everything() };
    let body = Format::Anthropic.body(&request, &options(json!({"reasoning": "anthropic-adaptive"})));
    assert_eq!(body["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(body["output_config"]["effort"], "medium");
}

#[test]
fn effort_off_forced_calls_and_small_limits_disable_thinking() {
    let mut request = everything();
    assert_eq!(
        Format::Anthropic.body(&request, &FormatOptions::default()).get("thinking"),
        None,
        "a forced call"
    );
    request.tool_choice = ToolChoice::Auto;
    request.effort = Some(Effort::Off);
    assert_eq!(Format::Anthropic.body(&request, &FormatOptions::default()).get("thinking"), None);
    assert_eq!(Format::Anthropic.body(&request, &FormatOptions::default())["temperature"], 0.5);
    let body = Format::OpenaiResponses.body(&request, &FormatOptions::default());
    assert_eq!((&body["reasoning"], body.get("include")), (&json!({"effort": "none"}), None));
    request.effort = Some(Effort::Max);
    request.max_output_tokens = Some(1500);
    assert_eq!(Format::Anthropic.body(&request, &FormatOptions::default()).get("thinking"), None);
    request.max_output_tokens = Some(4096);
    assert_eq!(
        Format::Anthropic.body(&request, &FormatOptions::default())["thinking"]["budget_tokens"],
        3072
    );
}

#[test]
fn without_images_replaces_images_and_documents() {
    let body = Format::OpenaiChat.body(&everything().without_images(), &FormatOptions::default()).to_string();
    assert!(!body.contains("AAAA") && !body.contains("image_url"), "{body}");
    assert!(body.contains("[image omitted: this model accepts text only]"), "{body}");
    assert!(body.contains("[document omitted: this model accepts text only]"), "{body}");
}

#[test]
fn at_most_four_places_are_marked_for_the_cache() {
    let body = Format::Anthropic.body(&everything(), &FormatOptions::default()).to_string();
    assert_eq!(body.matches("cache_control").count(), 3);
}

/// One case per row of the tables in the vendors' documentation: Anthropic "Adaptive thinking" and "Effort", `DeepSeek` "Thinking Mode", Google
/// "`OpenAI` compatibility", `OpenRouter` "Reasoning Tokens", `OpenAI` "Reasoning" and "Verbosity". Read in November 2026.
#[test]
fn every_way_to_ask_for_reasoning_has_the_documented_fields() {
    let cases = [
        (
            Format::Anthropic,
            "anthropic-adaptive",
            Effort::Max,
            json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}}),
        ),
        (Format::Anthropic, "anthropic-adaptive", Effort::Off, json!({"thinking": {"type": "disabled"}})),
        (
            Format::Anthropic,
            "anthropic-budget",
            Effort::Low,
            json!({"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ),
        (
            Format::Anthropic,
            "deepseek",
            Effort::High,
            json!({"thinking": {"type": "enabled"}, "output_config": {"effort": "high"}}),
        ),
        (Format::OpenaiChat, "openai", Effort::Max, json!({"reasoning_effort": "max"})),
        (
            Format::OpenaiChat,
            "deepseek",
            Effort::High,
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ),
        (Format::OpenaiChat, "deepseek", Effort::Off, json!({"thinking": {"type": "disabled"}})),
        (Format::OpenaiChat, "openrouter", Effort::XHigh, json!({"reasoning": {"effort": "xhigh"}})),
        (Format::OpenaiChat, "none", Effort::High, json!({})),
        (
            Format::OpenaiResponses,
            "openai",
            Effort::Max,
            json!({"reasoning": {"effort": "max", "summary": "auto"}, "include": ["reasoning.encrypted_content"]}),
        ),
        (Format::OpenaiResponses, "none", Effort::High, json!({})),
    ];
    for (format, reasoning, effort, expected) in cases {
        let mut request = Request::new("m", vec![Message::user("Hello")]);
        let plain = format.body(&request, &FormatOptions::default());
        request.effort = Some(effort);
        let mut body = format.body(&request, &options(json!({"reasoning": reasoning})));
        body.as_object_mut().unwrap().retain(|key, _| plain.get(key).is_none());
        assert_eq!(body, expected, "{reasoning} {effort:?}");
    }
    let mut request = Request::new("gemini-4-argon", vec![Message::user("Hello")]);
    request.effort = Some(Effort::Low);
    let gemini = options(json!({"reasoning": "gemini"}));
    let config = |request: &Request| {
        Format::OpenaiChat.body(request, &gemini)["extra_body"]["google"]["thinking_config"].clone()
    };
    assert_eq!(config(&request), json!({"thinking_level": "low", "include_thoughts": true}));
    request.model = "gemini-2.5-flash".to_owned();
    assert_eq!(config(&request), json!({"thinking_budget": 1024, "include_thoughts": true}));
    request.effort = Some(Effort::Off);
    assert_eq!(config(&request), json!({"thinking_budget": 0, "include_thoughts": false}));
    let body = Format::OpenaiResponses.body(&request, &options(json!({"verbosity": "low"})));
    assert_eq!(body["text"], json!({"verbosity": "low"}));
}
