//! The names of models: which of them an agent has, and what its list calls them.
//!
//! An agent takes any name when settings change, and fails only at the next turn. So names are checked before.

use std::fmt;
use std::path::Path;

use musher::wire::{ListModelsParams, ModelInfo, UpdateSessionSettingsParams};
use musher::{Session, SessionState};

use super::describe;
use crate::config::HasModel;

/// What is known about the names of models besides the agent's list.
#[derive(Clone, Default)]
pub(crate) struct ModelNames(Option<HasModel>);

impl ModelNames {
    /// Returns the names of an agent that can be asked for any of them.
    pub(crate) fn of(has_model: HasModel) -> Self {
        Self(Some(has_model))
    }

    /// Returns the name to send for a requested one, or nothing if only the agent itself can say whether it has such a model.
    fn resolve(&self, wanted: &str, state: &SessionState) -> Result<Option<String>, String> {
        if let Some(listed) = listed_id(&state.models, wanted) {
            return Ok(Some(listed.to_owned()));
        }
        let cwd = state.cwd.as_deref().unwrap_or(Path::new("/"));
        match &self.0 {
            Some(has_model) if has_model(cwd, wanted) => Ok(Some(wanted.to_owned())),
            // a custom model has more names than the listed one, and an old agent lists none
            None if wanted.starts_with("custom:") || state.models.is_empty() => Ok(Some(wanted.to_owned())),
            None if wanted.contains('/') => Ok(None),
            _ => Err(unknown(wanted, &state.models)),
        }
    }
}

impl fmt::Debug for ModelNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelNames").field(&self.0.is_some()).finish()
    }
}

/// Sets the model of a session, unless the agent has none of this name.
pub(super) async fn set(session: &Session, names: &ModelNames, wanted: &str) -> Result<(), String> {
    let failed = |error: musher::Error| describe(&error);
    let change = |model: String| {
        let model_id = Some(model);
        session.update_settings(UpdateSessionSettingsParams {
            model_id,
            ..UpdateSessionSettingsParams::default()
        })
    };
    let state = session.state();
    if let Some(name) = names.resolve(wanted, &state)? {
        return change(name).await.map_err(failed).map(drop);
    }
    let Some(before) = state.settings.model_id else { return Err(unknown(wanted, &state.models)) };
    // an agent lists a model that is known by its vendor only while it is in use
    change(wanted.to_owned()).await.map_err(failed)?;
    let listed = session.client().list_models(ListModelsParams::default()).await.map_err(failed)?;
    if listed_id(&listed.models, wanted).is_some() {
        return Ok(());
    }
    change(before).await.map_err(failed)?;
    Err(unknown(wanted, &listed.models))
}

/// Returns the reason why a model cannot be used, with those that can.
pub(super) fn unknown(wanted: &str, models: &[ModelInfo]) -> String {
    let ids: Vec<_> = models.iter().map(|model| model.id.as_str()).collect();
    let available =
        if ids.is_empty() { String::new() } else { format!("; available models: {}", ids.join(", ")) };
    format!("unknown model `{wanted}`{available}")
}

/// Returns the id of a model in a list: it may be requested by its id, without `custom:`, by its vendor's name, or with its vendor.
fn listed_id<'a>(models: &'a [ModelInfo], wanted: &str) -> Option<&'a str> {
    let has_id = |model: &&ModelInfo| model.id == wanted;
    let has_name = |model: &&ModelInfo, name: &str| {
        model.id.strip_prefix("custom:") == Some(name) || model.model_id.as_deref() == Some(name)
    };
    let is_vendors = |model: &&ModelInfo| {
        let (vendor, name) = wanted.split_once('/').unwrap_or_default();
        model.model_provider.as_ref().is_some_and(|provider| provider.as_str() == vendor)
            && has_name(model, name)
    };
    let found = models.iter().find(has_id);
    let found = found.or_else(|| models.iter().find(|model| has_name(model, wanted)));
    found.or_else(|| models.iter().find(is_vendors)).map(|model| model.id.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_name_of_a_listed_model_leads_to_its_id() {
        let models: Vec<ModelInfo> = serde_json::from_value(json!([
            {"id": "custom:gpt-5.1", "modelProvider": "openai"},
            {"id": "sol", "modelId": "gpt-sol", "modelProvider": "openai"},
        ]))
        .unwrap();
        for (wanted, expected) in [
            ("custom:gpt-5.1", Some("custom:gpt-5.1")),
            ("gpt-5.1", Some("custom:gpt-5.1")),
            ("openai/gpt-5.1", Some("custom:gpt-5.1")),
            ("gpt-sol", Some("sol")),
            ("openai/gpt-sol", Some("sol")),
            ("xai/gpt-5.1", None),
            ("custom:sol", None),
            ("gpt-5", None),
            ("", None),
        ] {
            assert_eq!(listed_id(&models, wanted), expected, "{wanted}");
        }
        assert_eq!(unknown("x", &models), "unknown model `x`; available models: custom:gpt-5.1, sol");
        assert_eq!(unknown("x", &[]), "unknown model `x`");
    }
}
