//! The models that a vendor lists itself: one GET request, and the forms of the answer.
//!
//! All vendors answer with a list `data` of objects with an `id`. Some say more: Anthropic limits and capabilities ("List models", November
//! 2026), `OpenRouter` limits, modalities and prices per token, Groq and others a context window.

use http::Method;
use musher_http::{Client, Response};
use serde_json::{Map, Value, json};

use crate::{Endpoint, ErrorClass, Format, ModelError};

/// The maximum number of models in one answer of Anthropic; the others send all.
const PAGE: usize = 1000;
/// Parts of names of models that no conversation can be held with.
const OTHER_KINDS: [&str; 15] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "audio",
    "realtime",
    "moderation",
    "transcribe",
    "imagen",
    "veo",
    "rerank",
    "guard",
    "ocr",
    "live",
];

/// Asks a vendor which models it has. Returns rows for [`Refreshed::set`](crate::Refreshed::set), in the vendor's order.
///
/// # Errors
///
/// Fails if the vendor cannot be reached, refuses the key, or answers in another form.
pub async fn list_models(client: &Client, endpoint: &Endpoint) -> Result<Vec<Value>, ModelError> {
    let base = endpoint.base_url.trim_end_matches('/');
    let url = match endpoint.format {
        Format::Anthropic => format!("{}/v1/models?limit={PAGE}", base.strip_suffix("/v1").unwrap_or(base)),
        Format::OpenaiChat | Format::OpenaiResponses => format!("{base}/models"),
    };
    let mut headers = endpoint.headers()?;
    headers.remove("content-type");
    headers.insert("accept", http::HeaderValue::from_static("application/json"));
    let asked = async {
        let mut response: Response = client.request(Method::GET, &url, headers, Vec::new()).await?;
        let status = response.status;
        let text = response.text().await;
        if !status.is_success() {
            return Err(endpoint.format.error(status.as_u16(), &text));
        }
        let value: Value = serde_json::from_str(&text).map_err(|error| {
            ModelError::new(ErrorClass::Protocol, format!("cannot parse the list of models: {error}"))
        })?;
        rows(&value)
            .ok_or_else(|| ModelError::new(ErrorClass::Protocol, "invalid list of models: it has no `data`"))
    };
    asked.await.map_err(|error| endpoint.redacted(error))
}

/// Returns the rows of a list.
fn rows(value: &Value) -> Option<Vec<Value>> {
    let list = value.get("data").unwrap_or(value).as_array()?;
    Some(list.iter().filter_map(row).collect())
}

fn row(model: &Value) -> Option<Value> {
    // Google puts a folder before the name
    let id = model.get("id")?.as_str()?;
    let id = id.strip_prefix("models/").unwrap_or(id);
    if OTHER_KINDS.iter().any(|kind| id.contains(kind)) {
        return None;
    }
    let number =
        |keys: &[&str]| keys.iter().find_map(|key| model.pointer(key)?.as_u64().filter(|number| *number > 0));
    let mut row = Map::new();
    row.insert("model".to_owned(), id.into());
    let name = ["display_name", "name"].iter().find_map(|key| model.get(*key)?.as_str());
    if let Some(name) = name.filter(|name| *name != id) {
        row.insert("displayName".to_owned(), name.into());
    }
    let window =
        ["/max_input_tokens", "/context_length", "/context_window", "/max_context_length", "/max_model_len"];
    let output = ["/max_tokens", "/max_completion_tokens", "/top_provider/max_completion_tokens"];
    for (key, value) in [("contextWindow", number(&window)), ("maxOutputTokens", number(&output))] {
        if let Some(value) = value {
            row.insert(key.to_owned(), value.into());
        }
    }
    if let Some(price) = model.get("pricing").and_then(price) {
        row.insert("price".to_owned(), price);
    }
    if let Some(kinds) = model.pointer("/architecture/input_modalities").and_then(Value::as_array) {
        // what `OpenRouter` calls a file is a PDF
        let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
        let kinds = kinds.into_iter().map(|kind| if kind == "file" { "pdf" } else { kind });
        row.insert("input".to_owned(), kinds.collect());
    }
    Some(Value::Object(row))
}

/// Returns a price per million tokens, from one per token in text (`OpenRouter`).
fn price(pricing: &Value) -> Option<Value> {
    let rate = |key: &str| {
        let rate = pricing.get(key)?.as_str()?.parse::<f64>().ok().filter(|rate| *rate >= 0.0)?;
        // without the noise of the conversion
        Some((rate * 1e12).round() / 1e6)
    };
    let mut price = json!({"input": rate("prompt")?, "output": rate("completion")?});
    for (key, name) in [("input_cache_read", "cacheRead"), ("input_cache_write", "cacheWrite")] {
        if let Some(rate) = rate(key) {
            price[name] = json!(rate);
        }
    }
    Some(price)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `OpenRouter`, "List available models"; shortened.
    #[test]
    fn list_of_openrouter_has_limits_modalities_and_prices() {
        let list = json!({"data": [{
            "id": "z-ai/glm-5.3", "name": "Z.ai: GLM 5.3", "context_length": 1_000_000,
            "architecture": {"input_modalities": ["text", "file"], "output_modalities": ["text"]},
            "pricing": {"prompt": "0.0000014", "completion": "0.0000044", "input_cache_read": "0.00000026"},
            "top_provider": {"max_completion_tokens": 131_072}}]});
        let expected = json!([{"model": "z-ai/glm-5.3", "displayName": "Z.ai: GLM 5.3", "contextWindow": 1_000_000,
            "maxOutputTokens": 131_072, "price": {"input": 1.4, "output": 4.4, "cacheRead": 0.26},
            "input": ["text", "pdf"]}]);
        assert_eq!(json!(rows(&list)), expected);
    }

    /// Anthropic, "List models"; `OpenAI`, "List models"; Google, "`OpenAI` compatibility". Shortened.
    #[test]
    fn lists_of_other_vendors_have_what_they_say() {
        let list = json!({"data": [
            {"type": "model", "id": "claude-opus-5-5", "display_name": "Claude Opus 5.5",
             "max_input_tokens": 1_000_000, "max_tokens": 128_000},
            {"id": "gpt-6-sol", "object": "model", "owned_by": "openai"},
            {"id": "models/gemini-4-argon", "object": "model"},
            {"id": "text-embedding-3-large", "object": "model"},
            {"object": "model"}], "has_more": false});
        let expected = json!([
            {"model": "claude-opus-5-5", "displayName": "Claude Opus 5.5", "contextWindow": 1_000_000,
             "maxOutputTokens": 128_000},
            {"model": "gpt-6-sol"}, {"model": "gemini-4-argon"}]);
        assert_eq!(json!(rows(&list)), expected);
        assert_eq!(rows(&json!({"models": []})), None);
    }
}
