//! Tests of the catalog: valid and invalid settings and environments.

use serde_json::json;

use super::*;
use crate::Format;

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
fn an_invalid_entry_is_reported_with_its_place_and_skipped() {
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
fn a_key_in_the_environment_adds_the_models_of_its_vendor() {
    let mut catalog = Catalog::default();
    let variables = [("ANTHROPIC_API_KEY", "k"), ("GROQ_API_KEY", " "), ("OPENAI_API_KEY", "o")];
    assert_eq!(catalog.add_environment(&environment(&variables)), []);
    assert_eq!(catalog.vendors().collect::<Vec<_>>(), ["anthropic", "openai"]);
    let claude = catalog.find("custom:claude-sonnet-4-5").unwrap();
    assert_eq!(
        claude.endpoint.format.url(&claude.endpoint.base_url),
        "https://api.anthropic.com/v1/messages"
    );
    assert!(!claude.endpoint.options.adaptive_thinking);
    let newer = catalog.find("anthropic/claude-new-9").unwrap();
    assert_eq!((newer.id.as_str(), newer.model.as_str()), ("custom:anthropic/claude-new-9", "claude-new-9"));
    assert!(newer.endpoint.options.adaptive_thinking);
    assert_eq!(catalog.find(&newer.id).unwrap(), newer);
    assert!(catalog.find("groq/some").is_none() && catalog.find("unheard").is_none());
}

#[test]
fn an_ollama_host_is_completed() {
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
fn an_invalid_address_in_the_environment_is_reported() {
    let mut catalog = Catalog::default();
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "example.com")];
    let problems = catalog.add_environment(&environment(&variables));
    assert_eq!(
        problems[0].to_string(),
        "environment: OPENAI_BASE_URL must begin with http:// or https://, not `example.com`"
    );
}
