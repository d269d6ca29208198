//! Which models there are: from the settings, from the environment, and how each is asked.
//!
//! Reads no file and no environment itself: both are given. A mistake in one entry is reported and leaves the others alone.

mod custom;
mod vendor;

pub use vendor::{VendorVariables, vendors};

use serde_json::Value;

use crate::{Effort, Endpoint};

/// Looks up a variable of the environment.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The models that can be asked.
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
/// let model = catalog.find("custom:big").expect("it was just added");
/// assert_eq!((model.display_name.as_str(), model.listed_id.as_str()), ("My Big", "custom:My-Big-0"));
/// assert_eq!(model.endpoint.key.map(|key| key.expose().to_owned()).as_deref(), Some("secret"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    entries: Vec<ModelEntry>,
    /// Vendors whose every model can be asked by name.
    open: Vec<ModelEntry>,
}

/// One model that can be asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelEntry {
    /// `custom:<model>`: how it is addressed.
    pub id: String,
    /// `custom:<name>-<number>`: how it is listed, and addressed if two have the same model.
    pub listed_id: String,
    /// The vendor's name of it.
    pub model: String,
    /// A name for people.
    pub display_name: String,
    /// Who serves it: the `provider` of the settings, or the vendor's name.
    pub vendor: String,
    /// Where and how it is asked.
    pub endpoint: Endpoint,
    /// The most tokens of an answer.
    pub max_output_tokens: Option<u64>,
    /// How many tokens it reads.
    pub context_window: Option<u64>,
    /// The efforts it knows; empty if nothing is known.
    pub efforts: Vec<Effort>,
    /// Whether the vendor can enforce the shape of an answer.
    pub native_schema: bool,
    /// Where it is from.
    pub origin: Origin,
}

/// Where a model is from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// An entry of a settings file.
    Settings {
        /// The file.
        file: String,
        /// Which entry, from 0.
        index: usize,
    },
    /// A variable of the environment.
    Environment {
        /// The variable.
        variable: String,
    },
}

/// An entry that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct CatalogProblem {
    /// The file and the place in it.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

impl Catalog {
    /// Adds the `customModels` of a settings file. Those added first win.
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
                    // those of one name are counted
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

    /// Adds the models of the vendors whose keys are in the environment.
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

    /// All models that are known by name.
    pub fn entries(&self) -> &[ModelEntry] {
        &self.entries
    }

    /// The names of the vendors of which any model can be asked, as `<vendor>/<model>`.
    pub fn vendors(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|entry| entry.vendor.as_str())
    }

    /// A model by its id, its listed id, its plain name, or as `<vendor>/<model>`.
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
