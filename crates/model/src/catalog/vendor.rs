//! The vendors known by name, each described by a data file in `vendors/`. To add one with a known format, add a file and a
//! line to `FILES`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Environment, ModelEntry, Origin};
use crate::{Effort, Endpoint, Format, FormatOptions, Secret};

const FILES: [&str; 13] = [
    include_str!("../vendors/anthropic.json"),
    include_str!("../vendors/openai.json"),
    include_str!("../vendors/gemini.json"),
    include_str!("../vendors/openrouter.json"),
    include_str!("../vendors/deepseek.json"),
    include_str!("../vendors/mistral.json"),
    include_str!("../vendors/xai.json"),
    include_str!("../vendors/groq.json"),
    include_str!("../vendors/moonshot.json"),
    include_str!("../vendors/together.json"),
    include_str!("../vendors/fireworks.json"),
    include_str!("../vendors/cerebras.json"),
    include_str!("../vendors/ollama.json"),
];

/// A vendor as described by its data file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Vendor {
    pub(super) name: String,
    display_name: String,
    format: Format,
    /// Absent if only a variable can set the address.
    base_url: Option<String>,
    /// Environment variable that overrides the address.
    base_url_env: Option<String>,
    /// Defaults for a bare host in that variable.
    host: Option<Host>,
    /// Environment variables of the key; the first one that is set is used.
    key_env: Vec<String>,
    #[serde(default)]
    key_optional: bool,
    #[serde(default)]
    options: FormatOptions,
    /// Options of certain models; the first matching prefix is used.
    #[serde(default)]
    model_options: Vec<ModelOptions>,
    #[serde(default)]
    models: Vec<Model>,
}

/// The environment variables that configure a vendor, for help texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VendorVariables {
    /// Name of the vendor for display.
    pub display_name: &'static str,
    /// Environment variables of the key; the first one that is set is used.
    pub keys: &'static [String],
    /// Environment variable that overrides the address.
    pub address: Option<&'static str>,
}

/// Returns the vendors that are known by name.
pub fn vendors() -> impl Iterator<Item = VendorVariables> {
    all().iter().map(|vendor| VendorVariables {
        display_name: &vendor.display_name,
        keys: &vendor.key_env,
        address: vendor.base_url_env.as_deref(),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    port: u16,
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelOptions {
    prefix: String,
    options: FormatOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Model {
    #[serde(rename = "model")]
    id: String,
    display_name: String,
    context_window: Option<u64>,
    max_output_tokens: Option<u64>,
    #[serde(default)]
    efforts: Vec<Effort>,
    #[serde(default)]
    native_schema: bool,
    #[serde(default)]
    no_image_support: bool,
}

/// Returns all vendors. An invalid data file is a bug: it fails an assertion in debug builds, and a test.
pub(super) fn all() -> &'static [Vendor] {
    static ALL: LazyLock<Vec<Vendor>> = LazyLock::new(|| {
        let parse = |file: &&str| {
            let vendor = serde_json::from_str::<Vendor>(file);
            debug_assert!(vendor.is_ok(), "invalid vendor file: {vendor:?}: {file}");
            vendor.ok()
        };
        FILES.iter().filter_map(parse).collect()
    });
    &ALL
}

/// Returns the options for a model at an address: those of the vendor with that host, or of the vendor whose models a
/// gateway forwards.
pub(super) fn options_for(format: Format, base_url: &str, model: &str) -> FormatOptions {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_behind =
        |vendor: &&Vendor| vendor.base_url.as_deref().is_some_and(|url| host(url) == host(base_url));
    let passes_on = |vendor: &&Vendor| {
        format == Format::Anthropic && vendor.format == format && name.starts_with("claude")
    };
    let vendor = all().iter().find(is_behind).or_else(|| all().iter().find(passes_on));
    vendor.map_or_else(FormatOptions::default, |vendor| vendor.options(model))
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Turns an entry without a model into one for `model`.
pub(super) fn named(entry: &ModelEntry, model: &str) -> ModelEntry {
    let mut entry = entry.clone();
    entry.endpoint.options = options_for(entry.endpoint.format, &entry.endpoint.base_url, model);
    entry.id = format!("custom:{}/{model}", entry.vendor);
    entry.listed_id.clone_from(&entry.id);
    model.clone_into(&mut entry.display_name);
    model.clone_into(&mut entry.model);
    entry
}

impl Vendor {
    fn options(&self, model: &str) -> FormatOptions {
        let name = model.rsplit('/').next().unwrap_or(model);
        let special = self.model_options.iter().find(|special| name.starts_with(&special.prefix));
        special.map_or_else(|| self.options.clone(), |special| special.options.clone())
    }

    /// Returns the endpoint and the variable that configures it, or `None` if no variable is set.
    pub(super) fn endpoint(
        &self,
        environment: Environment<'_>,
    ) -> Result<Option<(Endpoint, String)>, String> {
        let set = |name: &String| {
            let value = environment(name).filter(|value| !value.trim().is_empty())?;
            Some((name.clone(), value.trim().to_owned()))
        };
        let key = self.key_env.iter().find_map(set);
        let address = self.base_url_env.as_ref().and_then(set);
        let variable = match (&key, &address) {
            (Some((variable, _)), _) => variable.clone(),
            (None, Some((variable, _))) if self.key_optional => variable.clone(),
            _ => return Ok(None),
        };
        let base_url = match (address, &self.base_url) {
            (Some((variable, url)), _) => self.completed(&variable, &url)?,
            (None, Some(url)) => url.clone(),
            (None, None) => return Ok(None),
        };
        let mut endpoint = Endpoint::new(self.format, base_url);
        endpoint.key = key.map(|(_, key)| Secret::new(key));
        Ok(Some((endpoint, variable)))
    }

    /// Completes an address from the environment: a bare host gets scheme, port and path.
    fn completed(&self, variable: &str, url: &str) -> Result<String, String> {
        let Some(Host { port, path }) = &self.host else {
            let is_url = url.starts_with("http://") || url.starts_with("https://");
            let problem = || format!("{variable} must begin with http:// or https://, not `{url}`");
            return if is_url { Ok(url.to_owned()) } else { Err(problem()) };
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let rest = rest.trim_end_matches('/').trim_end_matches(path.as_str());
        // 0.0.0.0 is an address to listen on, not one to connect to
        let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
        let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if has_port || scheme == "https" { String::new() } else { format!(":{port}") };
        Ok(format!("{scheme}://{rest}{port}{path}"))
    }

    pub(super) fn models(&self, endpoint: &Endpoint, variable: &str) -> impl Iterator<Item = ModelEntry> {
        self.models.iter().map(|model| {
            let mut entry = self.any_model(endpoint, variable);
            entry.endpoint.options = self.options(&model.id);
            entry.endpoint.takes_images = !model.no_image_support;
            entry.id = format!("custom:{}", model.id);
            entry.listed_id.clone_from(&entry.id);
            entry.model.clone_from(&model.id);
            entry.display_name.clone_from(&model.display_name);
            entry.max_output_tokens = model.max_output_tokens;
            entry.context_window = model.context_window;
            entry.efforts.clone_from(&model.efforts);
            entry.native_schema = model.native_schema;
            entry
        })
    }

    /// Returns an entry without a model.
    pub(super) fn any_model(&self, endpoint: &Endpoint, variable: &str) -> ModelEntry {
        ModelEntry {
            id: String::new(),
            listed_id: String::new(),
            model: String::new(),
            display_name: self.display_name.clone(),
            vendor: self.name.clone(),
            endpoint: Endpoint { options: self.options.clone(), ..endpoint.clone() },
            max_output_tokens: None,
            context_window: None,
            efforts: Vec::new(),
            native_schema: false,
            origin: Origin::Environment { variable: variable.to_owned() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_file_parses_and_has_a_unique_name() {
        for file in FILES {
            serde_json::from_str::<Vendor>(file).unwrap();
        }
        let mut names: Vec<&str> = all().iter().map(|vendor| vendor.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FILES.len());
    }
}
