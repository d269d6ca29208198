//! Which models there are, and how the one a session names is asked.

use std::sync::Arc;

use crate::budget::Budget;
use crate::session::model_traits;
use musher_http::Client;
use musher_model::{Catalog, Effort, HttpProvider, ModelEntry, Price, Provider};

/// A model in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelView {
    /// How it is addressed and listed.
    pub id: String,
    /// Who serves it.
    pub provider: String,
    /// Its name for people.
    pub display_name: String,
    /// The efforts it knows.
    pub efforts: Vec<Effort>,
    /// The effort it uses if none is chosen.
    pub default_effort: Effort,
    /// Whether it reads no pictures.
    pub text_only: bool,
}

/// The models of a process: those of the catalogue, and those that were added by name.
#[derive(Clone, Default)]
pub(crate) struct Models {
    pub(crate) catalog: Catalog,
    /// Those of the settings files of a session.
    pub(crate) configured: Catalog,
    pub(crate) http: Client,
    pub(crate) added: Vec<(ModelView, Arc<dyn Provider>)>,
    pub(crate) default: Option<String>,
    /// What all models may spend.
    pub(crate) budget: Option<Budget>,
}

/// A model that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// The vendor's name of it.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) display_name: String,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) max_output_tokens: Option<u64>,
    /// The maximum number of tokens of a request and its answer.
    pub(crate) context_window: Option<u64>,
    /// The maximum number of tokens of a request: the vendor's input limit, or else the context window.
    pub(crate) input_limit: Option<u64>,
    /// What it costs, if known.
    pub(crate) price: Option<Price>,
    /// Whether the vendor can enforce the shape of an answer.
    pub(crate) native_schema: bool,
    /// Whether it reads documents such as PDFs in tool results.
    pub(crate) reads_documents: bool,
    /// Whether it reads documents that the user attaches, as far as is known.
    pub(crate) accepts_documents: bool,
    pub(crate) efforts: Vec<Effort>,
    pub(crate) default_effort: Effort,
    /// Whether it may generate titles.
    pub(crate) makes_titles: bool,
}

impl Models {
    /// Returns the model a session names, if there is one. Its calls keep to the budget.
    pub(crate) fn find(&self, id: &str) -> Option<Model> {
        let model = self.find_unlimited(id)?;
        Some(match &self.budget {
            Some(budget) => {
                let provider = budget.limit(Arc::clone(&model.provider), model.price.clone());
                Model { provider, ..model }
            }
            None => model,
        })
    }

    fn find_unlimited(&self, id: &str) -> Option<Model> {
        let named = self.added.iter().find(|(view, _)| view.id == id);
        if let Some((view, provider)) = named {
            return Some(Model {
                name: view.id.clone(),
                display_name: view.display_name.clone(),
                provider: Arc::clone(provider),
                max_output_tokens: None,
                context_window: None,
                input_limit: None,
                price: None,
                native_schema: false,
                reads_documents: false,
                accepts_documents: true,
                efforts: view.efforts.clone(),
                default_effort: view.default_effort,
                makes_titles: false,
            });
        }
        let entry = self.entry(id)?;
        Some(Model {
            name: entry.model.clone(),
            display_name: entry.display_name.clone(),
            max_output_tokens: entry.max_output_tokens,
            context_window: entry.context_window,
            input_limit: entry.input_limit(),
            price: entry.price,
            native_schema: entry.native_schema,
            reads_documents: entry.endpoint.takes_images
                && model_traits::reads_documents(entry.endpoint.format, &entry.model),
            accepts_documents: entry.input.is_empty() || entry.input.iter().any(|kind| kind == "pdf"),
            default_effort: default_effort(&entry.efforts),
            efforts: entry.efforts,
            provider: Arc::new(HttpProvider::new(self.http.clone(), entry.endpoint)),
            makes_titles: true,
        })
    }

    fn entry(&self, id: &str) -> Option<ModelEntry> {
        self.catalog.find(id).or_else(|| self.configured.find(id))
    }

    fn entries(&self) -> impl Iterator<Item = &ModelEntry> {
        self.catalog.entries().iter().chain(self.configured.entries())
    }

    /// Returns the model for a session that names none: the preferred one if it exists, otherwise the first.
    pub(crate) fn default_id(&self, preferred: Option<&str>) -> Option<String> {
        let preferred = preferred.or(self.default.as_deref()).filter(|id| self.find(id).is_some());
        let preferred =
            preferred.map(|id| self.entry(id).map_or_else(|| id.to_owned(), |entry| entry.listed_id));
        preferred
            .or_else(|| self.entries().next().map(|entry| entry.listed_id.clone()))
            .or_else(|| self.added.first().map(|(view, _)| view.id.clone()))
    }

    /// Returns all of them, with the one in use if it has no entry in the list: a model of a vendor whose models are known by name only.
    pub(crate) fn views_with(&self, current: &str) -> Vec<ModelView> {
        let mut views = self.views();
        let entry = self.entry(current).filter(|entry| views.iter().all(|view| view.id != entry.listed_id));
        views.extend(entry.map(|entry| ModelView { id: current.to_owned(), ..view(&entry) }));
        views
    }

    /// Returns all of them, for a list.
    pub(crate) fn views(&self) -> Vec<ModelView> {
        let added = self.added.iter().map(|(view, _)| view.clone());
        self.entries().map(view).chain(added).collect()
    }
}

fn view(entry: &ModelEntry) -> ModelView {
    ModelView {
        id: entry.listed_id.clone(),
        provider: entry.vendor.clone(),
        display_name: entry.display_name.clone(),
        efforts: if entry.efforts.is_empty() { vec![Effort::Off] } else { entry.efforts.clone() },
        default_effort: default_effort(&entry.efforts),
        text_only: !entry.endpoint.takes_images,
    }
}

/// Returns the effort of a session that names none.
fn default_effort(efforts: &[Effort]) -> Effort {
    Effort::usual(efforts).unwrap_or(Effort::Off)
}
