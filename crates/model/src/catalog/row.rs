//! Rows of the catalog: what a data file, a vendor's own list or the user's settings say about a model, and what is known of it in all.

use serde::Deserialize;

use super::ModelEntry;
use crate::family::Family;
use crate::{Effort, FormatOptions, Price, Reasoning, Verbosity};

/// What is said about a model; everything but the id can be missing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Row {
    /// The vendor's name of the model; the key has it in settings.
    model: String,
    display_name: Option<String>,
    context_window: Option<u64>,
    max_input_tokens: Option<u64>,
    max_output_tokens: Option<u64>,
    price: Option<Price>,
    /// What the model reads: `text`, `image`, `pdf`.
    input: Option<Vec<String>>,
    efforts: Option<Vec<Effort>>,
    reasoning: Option<Reasoning>,
    verbosity: Option<Verbosity>,
    native_schema: Option<bool>,
    /// The day from which the vendor does not serve it any more.
    retires: Option<String>,
    /// The page with these figures.
    source: Option<String>,
}

impl Row {
    pub(super) fn id(&self) -> &str {
        &self.model
    }

    /// Overwrites what the row says.
    pub(super) fn apply(&self, entry: &mut ModelEntry) {
        fn set<T: Clone>(field: &mut Option<T>, value: Option<&T>) {
            if value.is_some() {
                *field = value.cloned();
            }
        }
        set(&mut entry.context_window, self.context_window.as_ref());
        set(&mut entry.max_input_tokens, self.max_input_tokens.as_ref());
        set(&mut entry.max_output_tokens, self.max_output_tokens.as_ref());
        set(&mut entry.price, self.price.as_ref());
        set(&mut entry.retires, self.retires.as_ref());
        set(&mut entry.source, self.source.as_ref());
        set(&mut entry.endpoint.options.verbosity, self.verbosity.as_ref());
        if let Some(name) = &self.display_name {
            entry.display_name.clone_from(name);
        }
        if let Some(input) = &self.input {
            entry.endpoint.takes_images = input.iter().any(|kind| kind == "image");
            entry.input.clone_from(input);
        }
        if let Some(reasoning) = self.reasoning {
            set_reasoning(entry, reasoning, &[]);
        }
        if let Some(efforts) = &self.efforts {
            entry.efforts.clone_from(efforts);
        }
        entry.native_schema = self.native_schema.unwrap_or(entry.native_schema);
    }
}

/// Sets how a model is asked to reason. If that is another way than before, the efforts are those of the family if its way is this one, or
/// else the usual ones.
pub(super) fn set_reasoning(entry: &mut ModelEntry, reasoning: Reasoning, of_family: &[Effort]) {
    if entry.endpoint.options.reasoning != Some(reasoning) || entry.efforts.is_empty() {
        let efforts = if of_family.is_empty() { reasoning.usual_efforts() } else { of_family };
        entry.efforts = efforts.to_vec();
    }
    entry.endpoint.options.reasoning = Some(reasoning);
    entry.endpoint.options.replay_reasoning |= reasoning == Reasoning::Deepseek;
}

/// What is known of a model by its vendor and its name.
#[derive(Debug, Clone)]
pub(super) struct Known {
    options: FormatOptions,
    pub(super) family: Family,
    pub(super) row: Option<Row>,
}

impl Known {
    pub(super) fn new(options: FormatOptions, family: Family, row: Option<&Row>) -> Self {
        Self { options, family, row: row.cloned() }
    }

    /// Sets everything that is known.
    pub(super) fn apply(&self, entry: &mut ModelEntry) {
        let family = self.family;
        entry.endpoint.options = self.options.clone();
        entry.endpoint.options.reasoning = Some(family.reasoning);
        entry.endpoint.options.replay_reasoning |= family.reasoning == Reasoning::Deepseek;
        entry.endpoint.options.interleaves_by_header = family.interleaves_by_header;
        entry.efforts = family.efforts.to_vec();
        entry.context_window = family.context_window;
        entry.max_input_tokens = family.max_input_tokens;
        entry.max_output_tokens = family.max_output_tokens;
        entry.native_schema = family.native_schema;
        if let Some(row) = &self.row {
            row.apply(entry);
        }
    }
}
