//! The vendors known by name, each described by a data file in `vendors/`. To add one with a known format, add a file and a
//! line to `FILES`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::row::{Known, Row};
use super::{Environment, ModelEntry, Origin};
use crate::family::{self, Family};
use crate::{Effort, Endpoint, Format, FormatOptions, Reasoning, Secret};

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
    /// The model of new sessions if this vendor is the first one with a key.
    #[serde(default)]
    default: Option<String>,
    /// Whether its models are listed as soon as it was asked for them: a server at home has few, and no catalog knows them.
    #[serde(default)]
    pub(super) lists_refreshed: bool,
    /// Where the rows of the models come from.
    snapshot: Option<Snapshot>,
    #[serde(default)]
    models: Vec<Row>,
}

/// The source of the rows of a catalog file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Name and version of the source.
    pub source: String,
    /// Its date.
    pub date: String,
}

/// Returns the source of the built-in catalog and its date.
pub fn snapshot() -> Option<&'static Snapshot> {
    all().iter().find_map(|vendor| vendor.snapshot.as_ref())
}

/// Returns all models of the built-in catalog, whether or not there is a key for them.
pub fn known_models() -> impl Iterator<Item = ModelEntry> {
    all().iter().flat_map(|vendor| {
        let endpoint = Endpoint::new(vendor.format, vendor.base_url.clone().unwrap_or_default());
        vendor.models(&endpoint, vendor.key_env.first().map_or("", String::as_str)).collect::<Vec<_>>()
    })
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

/// Returns what is known of a model at an address: by its vendor, if the address is that of a vendor, and by its name.
pub(super) fn known_at(format: Format, base_url: &str, model: &str) -> Known {
    let is_behind =
        |vendor: &&Vendor| vendor.base_url.as_deref().is_some_and(|url| host(url) == host(base_url));
    match all().iter().find(is_behind) {
        Some(vendor) => vendor.known(format, model),
        None => Known::new(FormatOptions::default(), family::of(format, model), None),
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Returns a model of the vendor of an entry without a model.
pub(super) fn named(any: &ModelEntry, model: &str, refreshed: Option<&Row>) -> ModelEntry {
    let vendor = all().iter().find(|vendor| vendor.name == any.vendor);
    let known = vendor.map_or_else(
        || known_at(any.endpoint.format, &any.endpoint.base_url, model),
        |vendor| vendor.known(any.endpoint.format, model),
    );
    let mut entry = any.clone();
    known.apply(&mut entry);
    if let Some(row) = refreshed {
        row.apply(&mut entry);
    }
    entry.id = format!("custom:{}/{model}", entry.vendor);
    entry.listed_id.clone_from(&entry.id);
    if known.row.is_none() {
        model.clone_into(&mut entry.display_name);
    }
    model.clone_into(&mut entry.model);
    entry
}

impl Vendor {
    fn known(&self, format: Format, model: &str) -> Known {
        let family = match self.options.reasoning {
            // it translates for every vendor, so the model has the efforts it has at home
            Some(Reasoning::Openrouter) => {
                let family = family::at_home(model);
                let efforts: &[Effort] = if family.efforts.is_empty() {
                    Reasoning::Openrouter.usual_efforts()
                } else {
                    family.efforts
                };
                Family { reasoning: Reasoning::Openrouter, efforts, interleaves_by_header: false, ..family }
            }
            Some(Reasoning::None) => {
                Family { reasoning: Reasoning::None, efforts: &[], ..family::of(format, model) }
            }
            // its own way to ask for it, for those that reason
            Some(way) => match family::of(format, model) {
                family if family.reasoning == Reasoning::None => family,
                family => Family { reasoning: way, ..family },
            },
            None => family::of(format, model),
        };
        Known::new(self.options.clone(), family, self.models.iter().find(|row| row.id() == model))
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

    /// Returns the models of the catalog, the vendor's default first.
    pub(super) fn models(&self, endpoint: &Endpoint, variable: &str) -> impl Iterator<Item = ModelEntry> {
        let is_default = |row: &&Row| self.default.as_deref() == Some(row.id());
        let first = self.models.iter().filter(is_default);
        let rows = first.chain(self.models.iter().filter(move |row| !is_default(row)));
        rows.map(|row| {
            let mut entry = self.any_model(endpoint, variable);
            self.known(self.format, row.id()).apply(&mut entry);
            row.id().clone_into(&mut entry.model);
            entry.id = format!("custom:{}", row.id());
            entry.listed_id.clone_from(&entry.id);
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
            max_input_tokens: None,
            price: None,
            efforts: Vec::new(),
            native_schema: false,
            input: Vec::new(),
            retires: None,
            source: None,
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

    #[test]
    fn every_row_has_a_source_and_usable_limits() {
        for vendor in all() {
            assert_eq!(vendor.models.is_empty(), vendor.snapshot.is_none(), "{}", vendor.name);
            let endpoint = Endpoint::new(vendor.format, "https://host");
            let entries: Vec<ModelEntry> = vendor.models(&endpoint, "KEY").collect();
            if let Some(default) = &vendor.default {
                assert_eq!(Some(default), entries.first().map(|entry| &entry.model), "{}", vendor.name);
            }
            for entry in entries {
                let limits = (entry.context_window, entry.max_output_tokens, entry.input_limit());
                let (Some(window), Some(output), Some(input)) = limits else { panic!("{entry:?}") };
                assert!(window >= 4096 && input <= window && output <= window, "{entry:?}");
                assert!(entry.source.is_some() && entry.input.iter().any(|kind| kind == "text"), "{entry:?}");
                assert!(
                    entry.price.is_some_and(|price| price.rates.output >= price.rates.input),
                    "{}",
                    entry.id
                );
            }
        }
    }
}
