//! Entries of `customModels`, with the field names of droid's settings and of its older `config.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::row::set_reasoning;
use super::{Environment, ModelEntry, Origin, vendor};
use crate::{Effort, Endpoint, Format, Price, Reasoning, Secret, Verbosity, family};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CustomModel {
    model: String,
    #[serde(alias = "model_display_name", alias = "display_name")]
    display_name: Option<String>,
    #[serde(alias = "base_url")]
    base_url: String,
    #[serde(alias = "api_key", default)]
    api_key: Option<Secret>,
    provider: Kind,
    #[serde(alias = "max_output_tokens", alias = "max_tokens", alias = "maxTokens")]
    max_output_tokens: Option<u64>,
    #[serde(alias = "maxContextLimit", alias = "max_context_limit")]
    context_window: Option<u64>,
    #[serde(alias = "max_input_tokens")]
    max_input_tokens: Option<u64>,
    price: Option<Price>,
    #[serde(alias = "supports_images")]
    supports_images: Option<bool>,
    #[serde(alias = "no_image_support", default)]
    no_image_support: bool,
    #[serde(alias = "extra_args", default)]
    extra_args: Map<String, Value>,
    #[serde(alias = "extra_headers", default)]
    extra_headers: BTreeMap<String, Secret>,
    #[serde(default)]
    efforts: Vec<Effort>,
    reasoning: Option<Reasoning>,
    verbosity: Option<Verbosity>,
    #[serde(alias = "native_schema")]
    native_schema: Option<bool>,
    bedrock: Option<Value>,
}

#[derive(Deserialize, Clone, Copy)]
enum Kind {
    #[serde(rename = "generic-chat-completion-api")]
    Generic,
    #[serde(rename = "openai")]
    Openai,
    #[serde(rename = "anthropic")]
    Anthropic,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic-chat-completion-api",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Generic => Format::OpenaiChat,
            Self::Openai => Format::OpenaiResponses,
            Self::Anthropic => Format::Anthropic,
        }
    }
}

pub(super) fn entry(
    file: &str,
    index: usize,
    value: &Value,
    environment: Environment<'_>,
) -> Result<ModelEntry, String> {
    // serde's messages name the field; they never contain the key, because it is read as a plain string
    let custom = CustomModel::deserialize(value).map_err(|error| error.to_string())?;
    if custom.bedrock.is_some() {
        return Err(
            "`bedrock` is not supported: use a gateway that speaks one of the three formats".to_owned()
        );
    }
    if custom.model.is_empty() {
        return Err("`model` is empty".to_owned());
    }
    let base_url = expand(&custom.base_url, "baseUrl", environment)?;
    if !(base_url.starts_with("http://") || base_url.starts_with("https://")) {
        return Err(format!("`baseUrl` must begin with http:// or https://, not `{base_url}`"));
    }
    let mut endpoint = Endpoint::new(custom.provider.format(), base_url);
    if let Some(key) = custom.api_key.filter(|key| !key.is_empty()) {
        endpoint.key = Some(Secret::new(expand(key.expose(), "apiKey", environment)?));
    }
    for (name, value) in custom.extra_headers {
        let value = expand(value.expose(), "extraHeaders", environment)?;
        endpoint.headers.push((name, Secret::new(value)));
    }
    let display_name = custom.display_name.unwrap_or_else(|| custom.model.clone());
    let mut entry = ModelEntry {
        id: format!("custom:{}", custom.model),
        listed_id: listed_id(&display_name, 0),
        vendor: custom.provider.name().to_owned(),
        max_output_tokens: None,
        context_window: None,
        max_input_tokens: None,
        price: None,
        efforts: Vec::new(),
        native_schema: false,
        input: Vec::new(),
        retires: None,
        source: None,
        origin: Origin::Settings { file: file.to_owned(), index },
        model: custom.model,
        display_name: String::new(),
        endpoint,
    };
    let known = vendor::known_at(entry.endpoint.format, &entry.endpoint.base_url, &entry.model);
    known.apply(&mut entry);
    entry.display_name = display_name;
    if let Some(reasoning) = custom.reasoning {
        let at_home = family::at_home(&entry.model);
        set_reasoning(
            &mut entry,
            reasoning,
            if at_home.reasoning == reasoning { at_home.efforts } else { &[] },
        );
    } else if known.family.efforts.is_empty() && !custom.efforts.is_empty() {
        // a model that is unknown but has efforts takes them as its format has them
        entry.endpoint.options.reasoning = None;
    }
    if !custom.efforts.is_empty() {
        entry.efforts = custom.efforts;
    }
    if custom.verbosity.is_some()
        && !(known.family.has_verbosity || known.row.is_none() && known.family.efforts.is_empty())
    {
        return Err(format!("`verbosity` has no effect: `{}` does not know it", entry.model));
    }
    // whether a gateway passes a schema on is not known
    entry.native_schema = custom.native_schema.unwrap_or(false);
    entry.endpoint.options.verbosity = custom.verbosity;
    entry.endpoint.options.extra = custom.extra_args;
    entry.endpoint.takes_images = custom.supports_images.unwrap_or(!custom.no_image_support);
    entry.max_output_tokens = custom.max_output_tokens.or(entry.max_output_tokens);
    if custom.context_window.is_some() {
        // the input limit of the vendor belongs to its own window
        entry.max_input_tokens = None;
    }
    entry.context_window = custom.context_window.or(entry.context_window);
    entry.max_input_tokens = custom.max_input_tokens.or(entry.max_input_tokens);
    entry.price = custom.price.or(entry.price);
    Ok(entry)
}

/// Returns the listed id of a model: its name, and its number among the models of that name.
pub(super) fn listed_id(display_name: &str, number: usize) -> String {
    let words: Vec<&str> = display_name.split_whitespace().collect();
    format!("custom:{}-{number}", words.join("-"))
}

/// Replaces `${NAME}` by the value of the variable. Fails if it is not set, because an empty key would fail much later.
fn expand(text: &str, field: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        let value = environment(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| format!("`{field}` needs the variable {name}, which is not set"))?;
        out.push_str(&rest[..start]);
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}
