//! The catalog of available models, from settings and the environment, with the endpoint of each.
//!
//! Reads no files and no environment itself: the caller passes both in. An invalid entry is reported and does not affect
//! the other entries.

mod custom;
mod refreshed;
mod row;
mod vendor;

pub use refreshed::Refreshed;
pub use vendor::{Snapshot, VendorVariables, known_models, snapshot, vendors};

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{Effort, Endpoint, Price};
use row::Row;

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
    /// What the vendors said when they were asked for their models.
    refreshed: Refreshed,
    /// What the user says about models, by their names in settings.
    overrides: BTreeMap<String, Row>,
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
    /// Maximum number of tokens in a request, if it is smaller than the context window.
    pub max_input_tokens: Option<u64>,
    /// Price of the model.
    pub price: Option<Price>,
    /// Supported reasoning efforts; empty if unknown.
    pub efforts: Vec<Effort>,
    /// Whether the vendor can enforce a JSON Schema for answers.
    pub native_schema: bool,
    /// What the model reads: `text`, `image`, `pdf`; empty if unknown.
    pub input: Vec<String>,
    /// The day from which the vendor does not serve the model any more.
    pub retires: Option<String>,
    /// The page with the limits and the price.
    pub source: Option<String>,
    /// Where the entry is defined.
    pub origin: Origin,
}

impl ModelEntry {
    /// Returns the maximum number of tokens that a request may have: the input limit, or else the context window.
    pub fn input_limit(&self) -> Option<u64> {
        match (self.max_input_tokens, self.context_window) {
            (Some(input), Some(window)) => Some(input.min(window)),
            (input, window) => input.or(window),
        }
    }
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
                    let any = vendor.any_model(&endpoint, &variable);
                    self.entries.extend(vendor.models(&endpoint, &variable));
                    if vendor.lists_refreshed {
                        let rows = self.refreshed.rows(&vendor.name);
                        self.entries.extend(rows.map(|row| {
                            let entry = vendor::named(&any, row.id(), Some(row));
                            let id = format!("custom:{}", row.id());
                            ModelEntry { listed_id: id.clone(), id, ..entry }
                        }));
                    }
                    self.open.push(any);
                }
                Ok(None) => {}
                Err(problem) => {
                    problems.push(CatalogProblem { place: "environment".to_owned(), problem });
                }
            }
        }
        problems
    }

    /// Sets what the vendors said when they were asked for their models. Call it before the other methods.
    pub fn set_refreshed(&mut self, refreshed: Refreshed) {
        self.refreshed = refreshed;
    }

    /// Changes what is known of models: an object whose keys are names of models or `<vendor>/<model>`. Call it after all models are
    /// added, with the object of the lowest precedence first.
    pub fn add_overrides(&mut self, file: &str, overrides: &Value) -> Vec<CatalogProblem> {
        let Some(overrides) = overrides.as_object() else {
            let problem = "must be an object with names of models".to_owned();
            return vec![CatalogProblem { place: format!("{file}: modelOverrides"), problem }];
        };
        let mut problems = Vec::new();
        for (name, value) in overrides {
            let row = match Row::deserialize(value) {
                Ok(row) if row.id().is_empty() => row,
                Ok(_) => {
                    let problem = "`model` is the key, and not a field".to_owned();
                    problems
                        .push(CatalogProblem { place: format!("{file}: modelOverrides.{name}"), problem });
                    continue;
                }
                Err(error) => {
                    let problem = error.to_string();
                    problems
                        .push(CatalogProblem { place: format!("{file}: modelOverrides.{name}"), problem });
                    continue;
                }
            };
            for entry in self.entries.iter_mut().filter(|entry| is_about(name, entry)) {
                row.apply(entry);
            }
            self.overrides.insert(name.clone(), row);
        }
        problems
    }

    /// Returns the endpoints of the vendors that have a key, without a model.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, &Endpoint)> {
        self.open.iter().map(|entry| (entry.vendor.as_str(), &entry.endpoint))
    }

    /// Returns the models that a vendor named when it was asked, and that are not in the catalog.
    pub fn refreshed_entries(&self) -> impl Iterator<Item = ModelEntry> {
        let is_listed = |vendor: &str, model: &str| {
            self.entries.iter().any(|entry| entry.vendor == vendor && entry.model == model)
        };
        self.open.iter().flat_map(move |any| {
            let rows = self.refreshed.rows(&any.vendor).filter(move |row| !is_listed(&any.vendor, row.id()));
            rows.map(|row| self.named(any, row.id()))
        })
    }

    fn named(&self, any: &ModelEntry, model: &str) -> ModelEntry {
        let refreshed = self.refreshed.rows(&any.vendor).find(|row| row.id() == model);
        let mut entry = vendor::named(any, model, refreshed);
        for (_, row) in self.overrides.iter().filter(|(name, _)| is_about(name, &entry)).collect::<Vec<_>>() {
            row.apply(&mut entry);
        }
        entry
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
        Some(self.named(entry, model))
    }
}

/// Returns whether a name in settings means this model.
fn is_about(name: &str, entry: &ModelEntry) -> bool {
    let name = name.strip_prefix("custom:").unwrap_or(name);
    name == entry.model
        || name.strip_prefix(entry.vendor.as_str()).and_then(|rest| rest.strip_prefix('/'))
            == Some(&entry.model)
        || entry.listed_id.strip_prefix("custom:") == Some(name)
}

fn is_environment(entry: &ModelEntry) -> bool {
    matches!(entry.origin, Origin::Environment { .. })
}

#[cfg(test)]
mod tests;
