//! The catalog of available models, from settings and the environment, with the endpoint of each.
//!
//! Reads no files and no environment itself: the caller passes both in. An invalid entry is reported and does not affect
//! the other entries.

mod custom;
mod vendor;

pub use vendor::{VendorVariables, vendors};

use serde_json::Value;

use crate::{Effort, Endpoint};

/// Looks up an environment variable.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The available models.
///
/// ```
/// use musher_model::Catalog;
/// use serde_json::json;
///
/// let environment = |name: &str| (name == "MY_KEY").then(|| "secret".to_owned());
/// let models = json!([{"model": "big", "displayName": "My Big", "baseUrl": "https://host/v1",
///                      "apiKey": "${MY_KEY}", "provider": "generic-chat-completion-api"}]);
/// let mut catalog = Catalog::default();
/// let problems = catalog.add_settings("settings.json", &models, &environment);
/// assert!(problems.is_empty());
/// let model = catalog.find("custom:big").expect("the model was just added");
/// assert_eq!((model.display_name.as_str(), model.listed_id.as_str()), ("My Big", "custom:My-Big-0"));
/// assert_eq!(model.endpoint.key.map(|key| key.expose().to_owned()).as_deref(), Some("secret"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    entries: Vec<ModelEntry>,
    /// Vendors with a key in the environment: any model of theirs is available by name.
    open: Vec<ModelEntry>,
}

/// An available model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelEntry {
    /// Id: `custom:<model>`.
    pub id: String,
    /// Id in lists, `custom:<name>-<number>`. Unique even if two entries have the same model.
    pub listed_id: String,
    /// Name of the model at its vendor.
    pub model: String,
    /// Name for display.
    pub display_name: String,
    /// The `provider` of the settings, or the name of the vendor.
    pub vendor: String,
    /// How to reach the model.
    pub endpoint: Endpoint,
    /// Maximum number of tokens in an answer.
    pub max_output_tokens: Option<u64>,
    /// Size of the context window in tokens.
    pub context_window: Option<u64>,
    /// Supported reasoning efforts; empty if unknown.
    pub efforts: Vec<Effort>,
    /// Whether the vendor can enforce a JSON Schema for answers.
    pub native_schema: bool,
    /// Where the entry is defined.
    pub origin: Origin,
}

/// Where a model is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// An entry of a settings file.
    Settings {
        /// Path of the file.
        file: String,
        /// Index of the entry, counted from 0.
        index: usize,
    },
    /// An environment variable.
    Environment {
        /// Name of the variable.
        variable: String,
    },
}

/// An invalid entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct CatalogProblem {
    /// The file, and the place in it.
    pub place: String,
    /// Why the entry is invalid.
    pub problem: String,
}

impl Catalog {
    /// Adds the `customModels` of a settings file. Of several models with one id, the first one wins.
    pub fn add_settings(
        &mut self,
        file: &str,
        models: &Value,
        environment: Environment<'_>,
    ) -> Vec<CatalogProblem> {
        let Some(models) = models.as_array() else {
            let problem = "must be a list of models".to_owned();
            return vec![CatalogProblem { place: format!("{file}: customModels"), problem }];
        };
        let mut problems = Vec::new();
        for (index, model) in models.iter().enumerate() {
            match custom::entry(file, index, model, environment) {
                Ok(mut entry) => {
                    // entries of one name are numbered
                    let is_same = |known: &&ModelEntry| known.display_name == entry.display_name;
                    let number = self.entries.iter().filter(is_same).count();
                    entry.listed_id = custom::listed_id(&entry.display_name, number);
                    self.entries.push(entry);
                }
                Err(problem) => {
                    problems
                        .push(CatalogProblem { place: format!("{file}: customModels[{index}]"), problem });
                }
            }
        }
        problems
    }

    /// Adds the models of all vendors whose keys are in the environment.
    pub fn add_environment(&mut self, environment: Environment<'_>) -> Vec<CatalogProblem> {
        let mut problems = Vec::new();
        for vendor in vendor::all() {
            match vendor.endpoint(environment) {
                Ok(Some((endpoint, variable))) => {
                    self.open.push(vendor.any_model(&endpoint, &variable));
                    self.entries.extend(vendor.models(&endpoint, &variable));
                }
                Ok(None) => {}
                Err(problem) => {
                    problems.push(CatalogProblem { place: "environment".to_owned(), problem });
                }
            }
        }
        problems
    }

    /// Returns all models that are known by name.
    pub fn entries(&self) -> &[ModelEntry] {
        &self.entries
    }

    /// Returns the names of the vendors whose models are available as `<vendor>/<model>`.
    pub fn vendors(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|entry| entry.vendor.as_str())
    }

    /// Finds a model by its id, its listed id, its name, or as `<vendor>/<model>`.
    pub fn find(&self, id: &str) -> Option<ModelEntry> {
        let name = id.strip_prefix("custom:").unwrap_or(id);
        let known = self.entries.iter();
        let listed = known.clone().find(|entry| entry.listed_id == id);
        let named = || known.clone().find(|entry| entry.model == name);
        if let Some(entry) = listed.or_else(named) {
            return Some(entry.clone());
        }
        let (vendor, model) = name.split_once('/').filter(|(_, model)| !model.is_empty())?;
        let is_vendors = |entry: &&ModelEntry| entry.vendor == vendor && is_environment(entry);
        if let Some(entry) = known.clone().filter(is_vendors).find(|entry| entry.model == model) {
            return Some(entry.clone());
        }
        let entry = self.open.iter().find(is_vendors)?;
        Some(vendor::named(entry, model))
    }
}

fn is_environment(entry: &ModelEntry) -> bool {
    matches!(entry.origin, Origin::Environment { .. })
}

#[cfg(test)]
mod tests;
