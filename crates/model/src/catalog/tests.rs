//! Tests of the catalog: valid and invalid settings and environments.

use serde_json::json;

use super::*;
use crate::{Format, Reasoning, Verbosity};

fn environment<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

fn full() -> Value {
    json!({
        "model": "big", "displayName": "My Big Model", "baseUrl": "https://${HOST}/v1", "apiKey": "${KEY}",
        "provider": "openai", "maxOutputTokens": 1234, "noImageSupport": true,
        "extraArgs": {"seed": 7}, "extraHeaders": {"x-team": "${KEY}-x"}
    })
}

#[test]
fn every_field_of_an_entry_is_used() {
    let mut catalog = Catalog::default();
    let variables = [("HOST", "example.com"), ("KEY", "k1")];
    assert_eq!(catalog.add_settings("s.json", &json!([full()]), &environment(&variables)), []);
    let entry = catalog.find("custom:big").unwrap();
    assert_eq!(catalog.find("custom:My-Big-Model-0").unwrap(), entry);
    assert_eq!(catalog.find("big").unwrap(), entry);
    assert_eq!(entry.endpoint.format, Format::OpenaiResponses);
    assert_eq!(entry.endpoint.base_url, "https://example.com/v1");
    assert_eq!(entry.endpoint.key.as_ref().unwrap().expose(), "k1");
    assert_eq!(entry.endpoint.headers[0].1.expose(), "k1-x");
    assert_eq!(entry.endpoint.options.extra["seed"], 7);
    assert_eq!((entry.max_output_tokens, entry.endpoint.takes_images), (Some(1234), false));
    assert_eq!(entry.origin, Origin::Settings { file: "s.json".to_owned(), index: 0 });
    assert!(!format!("{entry:?}").contains("k1"), "{entry:?}");
}

#[test]
fn legacy_field_names_are_read() {
    let old = json!([{"model": "m", "model_display_name": "M", "base_url": "http://h", "api_key": "k",
                      "provider": "anthropic", "max_tokens": 5}]);
    let mut catalog = Catalog::default();
    assert_eq!(catalog.add_settings("config.json", &old, &environment(&[])), []);
    assert_eq!(catalog.find("custom:m").unwrap().max_output_tokens, Some(5));
}

#[test]
fn invalid_entry_is_reported_with_its_place_and_skipped() {
    let with = |key: &str, value: Value| {
        let mut entry = full();
        entry[key] = value;
        entry
    };
    let mut without_model = full();
    without_model.as_object_mut().unwrap().remove("model");
    let models = json!([
        without_model,
        with("provider", json!("azure")),
        with("apiKey", json!("${MISSING}")),
        with("baseUrl", json!("ftp://x")),
        with("bedrock", json!({"awsRegion": "eu"})),
        7,
        with("model", json!("fine")),
    ]);
    let mut catalog = Catalog::default();
    let problems =
        catalog.add_settings("s.json", &models, &environment(&[("HOST", "h"), ("KEY", "sk-secret")]));
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = [
        "s.json: customModels[0]: missing field `model`",
        "s.json: customModels[1]: unknown variant `azure`, expected one of `generic-chat-completion-api`, `openai`, `anthropic`",
        "s.json: customModels[2]: `apiKey` needs the variable MISSING, which is not set",
        "s.json: customModels[3]: `baseUrl` must begin with http:// or https://, not `ftp://x`",
        "s.json: customModels[4]: `bedrock` is not supported: use a gateway that speaks one of the three formats",
        "s.json: customModels[5]: invalid type: integer `7`, expected struct CustomModel",
    ];
    assert_eq!(texts, expected);
    assert_eq!(catalog.entries().len(), 1);
    assert!(catalog.find("fine").is_some());
    let not_a_list = catalog.add_settings("s.json", &json!({}), &environment(&[]));
    assert_eq!(not_a_list[0].to_string(), "s.json: customModels: must be a list of models");
}

#[test]
fn two_entries_of_one_model_have_different_listed_ids() {
    let mut second = full();
    second["displayName"] = json!("Other");
    let mut catalog = Catalog::default();
    let variables = [("HOST", "h"), ("KEY", "k")];
    catalog.add_settings("s.json", &json!([full(), second, full()]), &environment(&variables));
    assert_eq!(catalog.find("custom:big").unwrap().display_name, "My Big Model");
    let listed: Vec<_> = catalog.entries().iter().map(|entry| entry.listed_id.as_str()).collect();
    assert_eq!(listed, ["custom:My-Big-Model-0", "custom:Other-0", "custom:My-Big-Model-1"]);
    assert_eq!(catalog.find("custom:Other-0").unwrap().display_name, "Other");
}

#[test]
fn key_in_the_environment_adds_the_models_of_its_vendor() {
    let mut catalog = Catalog::default();
    let variables = [("ANTHROPIC_API_KEY", "k"), ("GROQ_API_KEY", " "), ("OPENAI_API_KEY", "o")];
    assert_eq!(catalog.add_environment(&environment(&variables)), []);
    assert_eq!(catalog.vendors().collect::<Vec<_>>(), ["anthropic", "openai"]);
    let claude = catalog.find("custom:claude-sonnet-4-5").unwrap();
    assert_eq!(
        claude.endpoint.format.url(&claude.endpoint.base_url),
        "https://api.anthropic.com/v1/messages"
    );
    assert_eq!(claude.endpoint.options.reasoning, Some(Reasoning::AnthropicBudget));
    let newer = catalog.find("anthropic/claude-new-9").unwrap();
    assert_eq!((newer.id.as_str(), newer.model.as_str()), ("custom:anthropic/claude-new-9", "claude-new-9"));
    assert_eq!(newer.endpoint.options.reasoning, Some(Reasoning::AnthropicAdaptive));
    assert_eq!((newer.context_window, newer.max_output_tokens), (Some(1_000_000), Some(128_000)));
    assert!(newer.efforts.contains(&Effort::Max));
    assert_eq!(catalog.find(&newer.id).unwrap(), newer);
    assert!(catalog.find("groq/some").is_none() && catalog.find("unheard").is_none());
}

#[test]
fn ollama_host_is_completed() {
    let cases = [
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000/v1"),
        ("http://box:11434/", "http://box:11434/v1"),
        ("http://box:11434/v1", "http://box:11434/v1"),
        ("https://ollama.example", "https://ollama.example/v1"),
    ];
    for (host, url) in cases {
        let mut catalog = Catalog::default();
        catalog.add_environment(&environment(&[("OLLAMA_HOST", host)]));
        let entry = catalog.find("ollama/qwen3:8b").unwrap();
        assert_eq!((entry.endpoint.base_url.as_str(), entry.model.as_str()), (url, "qwen3:8b"), "{host}");
    }
}

#[test]
fn invalid_address_in_the_environment_is_reported() {
    let mut catalog = Catalog::default();
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "example.com")];
    let problems = catalog.add_environment(&environment(&variables));
    assert_eq!(
        problems[0].to_string(),
        "environment: OPENAI_BASE_URL must begin with http:// or https://, not `example.com`"
    );
}

fn only(catalog: &Catalog) -> ModelEntry {
    catalog.entries().first().unwrap().clone()
}

fn custom(fields: &Value) -> Catalog {
    let mut model =
        json!({"model": "m", "baseUrl": "https://gateway/v1", "provider": "generic-chat-completion-api"});
    for (key, value) in fields.as_object().unwrap() {
        model[key] = value.clone();
    }
    let mut catalog = Catalog::default();
    assert_eq!(catalog.add_settings("s.json", &json!([model]), &environment(&[])), []);
    catalog
}

#[test]
fn custom_model_reasons_as_its_name_says() {
    let claude = only(&custom(&json!({"model": "claude-opus-5-5", "provider": "anthropic"})));
    assert_eq!(claude.endpoint.options.reasoning, Some(Reasoning::AnthropicAdaptive));
    assert_eq!((claude.max_output_tokens, claude.efforts.len()), (Some(128_000), 5));
    let gpt = only(&custom(&json!({"model": "gpt-5.5", "provider": "openai", "maxOutputTokens": 9})));
    assert_eq!((gpt.max_output_tokens, gpt.max_input_tokens), (Some(9), Some(922_000)));
    assert!(gpt.efforts.contains(&Effort::XHigh) && gpt.price.is_none());
    let small = only(&custom(&json!({"model": "gpt-5.5", "provider": "openai", "contextWindow": 100_000})));
    assert_eq!(small.input_limit(), Some(100_000));
    let unknown = only(&custom(&json!({"model": "my-model"})));
    assert_eq!((unknown.endpoint.options.reasoning, unknown.efforts.len()), (Some(Reasoning::None), 0));
}

#[test]
fn custom_model_declares_how_it_reasons() {
    for (name, reasoning, efforts) in [
        ("anthropic-adaptive", Reasoning::AnthropicAdaptive, 5),
        ("anthropic-budget", Reasoning::AnthropicBudget, 4),
        ("openai", Reasoning::Openai, 3),
        ("deepseek", Reasoning::Deepseek, 3),
        ("gemini", Reasoning::Gemini, 3),
        ("openrouter", Reasoning::Openrouter, 4),
        ("none", Reasoning::None, 0),
    ] {
        let entry = only(&custom(&json!({"reasoning": name})));
        assert_eq!(
            (entry.endpoint.options.reasoning, entry.efforts.len()),
            (Some(reasoning), efforts),
            "{name}"
        );
        assert_eq!(reasoning.name(), name);
    }
    let own = only(&custom(&json!({"reasoning": "openai", "efforts": ["high"]})));
    assert_eq!(own.efforts, [Effort::High]);
    // a gateway that takes efforts of a model which its vendor's chat completions do not take
    let gateway = only(&custom(&json!({"model": "gpt-5.5", "reasoning": "openai"})));
    assert!(gateway.efforts.contains(&Effort::XHigh), "{:?}", gateway.efforts);
    let undeclared = only(&custom(&json!({"efforts": ["low", "high"]})));
    assert_eq!((undeclared.endpoint.options.reasoning, undeclared.efforts.len()), (None, 2));
    assert!(only(&custom(&json!({"reasoning": "deepseek"}))).endpoint.options.replay_reasoning);
}

#[test]
fn verbosity_is_kept_or_its_refusal_is_reported() {
    let gpt = only(&custom(&json!({"model": "gpt-5.5", "provider": "openai", "verbosity": "low"})));
    assert_eq!(gpt.endpoint.options.verbosity, Some(Verbosity::Low));
    let model = json!([{"model": "claude-opus-5-5", "baseUrl": "https://g", "provider": "anthropic", "verbosity": "low"}]);
    let problems = Catalog::default().add_settings("s.json", &model, &environment(&[]));
    assert_eq!(
        problems[0].to_string(),
        "s.json: customModels[0]: `verbosity` has no effect: `claude-opus-5-5` does not know it"
    );
}

#[test]
fn vendor_behind_a_gateway_of_its_own_is_asked_in_its_way() {
    let mut catalog = Catalog::default();
    catalog.add_environment(&environment(&[("OPENROUTER_API_KEY", "k"), ("GROQ_API_KEY", "k")]));
    let claude = catalog.find("openrouter/anthropic/claude-opus-5.5").unwrap();
    assert_eq!(claude.endpoint.options.reasoning, Some(Reasoning::Openrouter));
    assert!(claude.efforts.contains(&Effort::Max), "{:?}", claude.efforts);
    let unknown = catalog.find("openrouter/acme/one").unwrap();
    assert_eq!(unknown.efforts, [Effort::Off, Effort::Low, Effort::Medium, Effort::High]);
    let llama = catalog.find("groq/llama-3.3").unwrap();
    assert_eq!(llama.endpoint.options.reasoning, Some(Reasoning::None));
}

#[test]
fn settings_override_the_catalog_and_unlisted_models() {
    let mut catalog = Catalog::default();
    catalog.add_environment(&environment(&[("ANTHROPIC_API_KEY", "k")]));
    let overrides = json!({
        "claude-sonnet-5-5": {"contextWindow": 200_000, "price": {"input": 1, "output": 2}},
        "anthropic/claude-next": {"maxOutputTokens": 77, "reasoning": "none", "input": ["text"]},
        "broken": {"contextWindow": "many"},
        "claude-opus-5-5": {"model": "x"},
    });
    let problems: Vec<String> =
        catalog.add_overrides("s.json", &overrides).iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "s.json: modelOverrides.broken: invalid type: string \"many\", expected u64",
            "s.json: modelOverrides.claude-opus-5-5: `model` is the key, and not a field",
        ]
    );
    let sonnet = catalog.find("anthropic/claude-sonnet-5-5").unwrap();
    assert_eq!(
        (sonnet.context_window, json!(sonnet.price)),
        (Some(200_000), json!({"input": 1.0, "output": 2.0}))
    );
    let next = catalog.find("anthropic/claude-next").unwrap();
    assert_eq!((next.max_output_tokens, next.endpoint.takes_images), (Some(77), false));
    assert_eq!((next.endpoint.options.reasoning, next.efforts.len()), (Some(Reasoning::None), 0));
    assert_eq!(catalog.find("anthropic/claude-other").unwrap().max_output_tokens, Some(128_000));
}

#[test]
fn models_that_a_vendor_named_are_known_with_what_it_said() {
    let mut refreshed = Refreshed::default();
    refreshed.set(
        "ollama",
        "2026-11-19",
        vec![json!({"model": "qwen3:8b", "contextWindow": 40_960}), json!({"x": 1})],
    );
    refreshed.set(
        "openrouter",
        "2026-11-19",
        vec![json!({"model": "acme/one", "price": {"input": 1, "output": 2}})],
    );
    let mut catalog = Catalog::default();
    catalog.set_refreshed(refreshed);
    catalog.add_environment(&environment(&[("OLLAMA_HOST", "127.0.0.1"), ("OPENROUTER_API_KEY", "k")]));
    let listed: Vec<&str> = catalog.entries().iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(listed, ["custom:qwen3:8b"], "a server at home lists all, a gateway with hundreds none");
    assert_eq!(catalog.find("qwen3:8b").unwrap().context_window, Some(40_960));
    let named: Vec<String> = catalog.refreshed_entries().map(|entry| entry.id).collect();
    assert_eq!(named, ["custom:openrouter/acme/one"]);
    let price = catalog.find("openrouter/acme/one").unwrap().price;
    assert_eq!(json!(price), json!({"input": 1.0, "output": 2.0}));
}

#[test]
fn default_of_a_vendor_comes_first() {
    let mut catalog = Catalog::default();
    catalog.add_environment(&environment(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]));
    assert_eq!(only(&catalog).model, "claude-opus-5-5");
    let openai = catalog.entries().iter().find(|entry| entry.vendor == "openai").unwrap();
    assert_eq!(openai.model, "gpt-6.1-sol");
    assert!(snapshot().unwrap().date.starts_with("202"));
    assert!(known_models().count() > 80);
}

#[test]
fn price_steps_of_the_snapshot_are_in_the_catalog() {
    let mut catalog = Catalog::default();
    assert_eq!(catalog.add_environment(&environment(&[("ANTHROPIC_API_KEY", "k")])), []);
    let price = catalog.find("claude-haiku-5-5").unwrap().price.unwrap();
    assert_eq!(price.next_step(0), Some(100_000));
    let below = crate::Usage { input: 100_000, ..crate::Usage::default() };
    let above = crate::Usage { input: 100_001, ..below };
    assert!(price.cost(&above) > 4.9 * price.cost(&below));
}
