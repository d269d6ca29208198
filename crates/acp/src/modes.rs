//! Modes and options of a session: how the agent's settings are shown, and what a choice means for them.
//!
//! Pure. The ids of the modes are those of the agent's own, older setting that had both in one.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionMode, SessionModeState,
};
use musher::wire::SessionSettings;
use musher::wire::{AutonomyLevel, InteractionMode, ModelInfo, ReasoningEffort, UpdateSessionSettingsParams};

use crate::registry::explained;

/// The option that is the mode.
pub(crate) const MODE: &str = "mode";
/// The option that is the model.
pub(crate) const MODEL: &str = "model";
/// The option for the reasoning effort.
pub(crate) const EFFORT: &str = "reasoning_effort";

/// Every mode: id, name, description, and what it is for the agent.
#[rustfmt::skip]
const MODES: [(&str, &str, &str, Option<AutonomyLevel>); 5] = [
    ("spec", "Spec", "Plan first, and ask before anything is done", None),
    ("normal", "Normal", "Ask before files change and commands run", Some(AutonomyLevel::Off)),
    ("auto-low", "Auto (low)", "Edit files in the working directory without asking", Some(AutonomyLevel::Low)),
    ("auto-medium", "Auto (medium)", "Also build, install packages and use local version control", Some(AutonomyLevel::Medium)),
    ("auto-high", "Auto (high)", "Almost everything; some actions always need approval", Some(AutonomyLevel::High)),
];

/// Returns the mode a session is in.
pub(crate) fn current(settings: &SessionSettings) -> &'static str {
    if settings.interaction_mode == Some(InteractionMode::Spec) {
        return "spec";
    }
    let level = settings.autonomy_level.as_ref().unwrap_or(&AutonomyLevel::Off);
    MODES.iter().find(|mode| mode.3.as_ref() == Some(level)).map_or("normal", |mode| mode.0)
}

/// Returns all modes, and the one a session is in.
pub(crate) fn modes(settings: &SessionSettings) -> SessionModeState {
    let offered = offered(settings);
    let modes =
        offered.map(|(id, name, description, _)| SessionMode::new(*id, *name).description(*description));
    SessionModeState::new(current(settings), modes.collect::<Vec<_>>())
}

/// Returns what a mode means for the settings.
pub(crate) fn into_mode(id: &str) -> Result<UpdateSessionSettingsParams, Error> {
    let (_, _, _, level) = MODES
        .iter()
        .find(|mode| mode.0 == id)
        .ok_or_else(|| explained(&Error::invalid_params(), format!("there is no mode `{id}`")))?;
    let mode = if level.is_some() { InteractionMode::Auto } else { InteractionMode::Spec };
    Ok(UpdateSessionSettingsParams {
        interaction_mode: Some(mode),
        autonomy_level: level.clone(),
        ..UpdateSessionSettingsParams::default()
    })
}

/// Returns the options of a session, whole.
pub(crate) fn options(settings: &SessionSettings, models: &[ModelInfo]) -> Vec<SessionConfigOption> {
    let modes = offered(settings).map(|(id, name, description, _)| {
        SessionConfigSelectOption::new(*id, *name).description(*description)
    });
    let mode = SessionConfigOption::select(MODE, "Mode", current(settings), modes.collect::<Vec<_>>())
        .category(SessionConfigOptionCategory::Mode);
    let mut options = vec![mode];
    if let Some(current) = &settings.model_id {
        options.push(model_option(current, models));
        options.extend(effort_option(settings, current, models));
    }
    options
}

/// Returns what choosing `value` for the option `id` means for the settings.
pub(crate) fn choose(
    id: &str,
    value: &str,
    settings: &SessionSettings,
    models: &[ModelInfo],
) -> Result<UpdateSessionSettingsParams, Error> {
    let unknown = || explained(&Error::invalid_params(), format!("invalid value `{value}` for `{id}`"));
    let change = UpdateSessionSettingsParams::default();
    match id {
        MODE => into_mode(value),
        MODEL => {
            let is_known =
                models.iter().any(|model| model.id == value) || settings.model_id.as_deref() == Some(value);
            if !is_known {
                return Err(unknown());
            }
            Ok(with_model(value.to_owned()))
        }
        EFFORT => {
            let effort = ReasoningEffort::from(value);
            let model = settings.model_id.as_deref().and_then(|current| find(models, current));
            if !model.is_some_and(|model| efforts(model).contains(&effort)) {
                return Err(unknown());
            }
            Ok(UpdateSessionSettingsParams { reasoning_effort: Some(effort), ..change })
        }
        _ => Err(explained(&Error::invalid_params(), format!("there is no option `{id}`"))),
    }
}

/// Returns the change to the model with this id.
pub(crate) fn with_model(id: String) -> UpdateSessionSettingsParams {
    UpdateSessionSettingsParams { model_id: Some(id), ..UpdateSessionSettingsParams::default() }
}

/// Returns the error of a name that no model has.
pub(crate) fn unknown_model(name: &str, models: &[ModelInfo]) -> Error {
    let ids: Vec<_> = models.iter().map(|model| model.id.as_str()).collect();
    let text = format!("unknown model `{name}`; available models: {}", ids.join(", "));
    explained(&Error::invalid_params(), text)
}

/// Returns what an option is set to, and all its values with their names.
pub(crate) fn values(option: &SessionConfigOption) -> Option<(String, Vec<(String, String)>)> {
    let SessionConfigKind::Select(select) = &option.kind else { return None };
    let SessionConfigSelectOptions::Ungrouped(choices) = &select.options else { return None };
    let choices = choices.iter().map(|choice| (choice.value.0.to_string(), choice.name.clone()));
    Some((select.current_value.0.to_string(), choices.collect()))
}

/// Returns the modes that the agent allows; an organisation may forbid some.
fn offered(
    settings: &SessionSettings,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str, Option<AutonomyLevel>)> {
    let current = current(settings);
    let levels = settings.available_autonomy_levels.clone();
    MODES.iter().filter(move |mode| match (&mode.3, &levels) {
        (Some(level), Some(levels)) => mode.0 == current || levels.contains(level),
        _ => true,
    })
}

fn model_option(current: &str, models: &[ModelInfo]) -> SessionConfigOption {
    let usable = models.iter().filter(|model| {
        model.id == current || (model.disabled != Some(true) && model.deprecated != Some(true))
    });
    let mut choices: Vec<_> = usable
        .map(|model| {
            let name = model.display_name.clone().unwrap_or_else(|| model.id.clone());
            SessionConfigSelectOption::new(model.id.clone(), name)
        })
        .collect();
    if find(models, current).is_none() {
        choices.insert(0, SessionConfigSelectOption::new(current.to_owned(), current));
    }
    SessionConfigOption::select(MODEL, "Model", current.to_owned(), choices)
        .category(SessionConfigOptionCategory::Model)
}

fn effort_option(
    settings: &SessionSettings,
    model: &str,
    models: &[ModelInfo],
) -> Option<SessionConfigOption> {
    let model = find(models, model)?;
    let mut choices = efforts(model).to_vec();
    let current = settings.reasoning_effort.clone().or_else(|| model.default_reasoning_effort.clone())?;
    if choices.len() < 2 {
        return None;
    }
    if !choices.contains(&current) {
        choices.insert(0, current.clone());
    }
    let choices: Vec<_> = choices
        .iter()
        .map(|effort| {
            SessionConfigSelectOption::new(effort.as_str().to_owned(), capitalised(effort.as_str()))
        })
        .collect();
    let option =
        SessionConfigOption::select(EFFORT, "Reasoning effort", current.as_str().to_owned(), choices);
    Some(option.category(SessionConfigOptionCategory::ThoughtLevel))
}

fn find<'a>(models: &'a [ModelInfo], id: &str) -> Option<&'a ModelInfo> {
    models.iter().find(|model| model.id == id)
}

fn efforts(model: &ModelInfo) -> &[ReasoningEffort] {
    model.supported_reasoning_efforts.as_deref().unwrap_or_default()
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn settings(json: Value) -> SessionSettings {
        serde_json::from_value(json).unwrap()
    }

    fn models() -> Vec<ModelInfo> {
        let models = json!([
            {"id": "deep", "displayName": "Deep", "supportedReasoningEfforts": ["low", "high"], "defaultReasoningEffort": "high"},
            {"id": "flat", "displayName": "Flat", "supportedReasoningEfforts": ["none"]},
            {"id": "gone", "deprecated": true},
        ]);
        serde_json::from_value(models).unwrap()
    }

    #[test]
    fn each_mode_means_settings_and_back() {
        for (id, expected) in [
            ("spec", json!({"interactionMode": "spec"})),
            ("normal", json!({"interactionMode": "auto", "autonomyLevel": "off"})),
            ("auto-low", json!({"interactionMode": "auto", "autonomyLevel": "low"})),
            ("auto-medium", json!({"interactionMode": "auto", "autonomyLevel": "medium"})),
            ("auto-high", json!({"interactionMode": "auto", "autonomyLevel": "high"})),
        ] {
            assert_eq!(serde_json::to_value(into_mode(id).unwrap()).unwrap(), expected);
            assert_eq!(current(&settings(expected)), id);
        }
        assert_eq!(i32::from(into_mode("yolo").unwrap_err().code), -32602);
    }

    #[test]
    fn mode_forbidden_by_the_organisation_is_not_offered() {
        let settings = settings(json!({"autonomyLevel": "off", "availableAutonomyLevels": ["off", "low"]}));
        let ids: Vec<_> = modes(&settings).available_modes.iter().map(|mode| mode.id.0.to_string()).collect();
        assert_eq!(ids, ["spec", "normal", "auto-low"]);
    }

    #[test]
    fn reasoning_effort_follows_the_model() {
        let ids = |model: &str| -> Vec<_> {
            let settings = settings(json!({"modelId": model, "reasoningEffort": "low"}));
            options(&settings, &models()).iter().map(|option| option.id.0.to_string()).collect()
        };
        assert_eq!(ids("deep"), ["mode", "model", "reasoning_effort"]);
        assert_eq!(ids("flat"), ["mode", "model"]);
        // a model that is not in the list is still shown
        assert_eq!(ids("mine"), ["mode", "model"]);
    }

    #[test]
    fn only_known_values_can_be_chosen() {
        let settings = settings(json!({"modelId": "deep", "reasoningEffort": "low"}));
        for (id, value, expected) in [
            ("model", "flat", Some(json!({"modelId": "flat"}))),
            ("model", "nonsense", None),
            ("reasoning_effort", "high", Some(json!({"reasoningEffort": "high"}))),
            ("reasoning_effort", "max", None),
            ("mode", "spec", Some(json!({"interactionMode": "spec"}))),
            ("colour", "red", None),
        ] {
            let chosen = choose(id, value, &settings, &models()).ok();
            assert_eq!(chosen.map(|chosen| serde_json::to_value(chosen).unwrap()), expected, "{id} {value}");
        }
    }
}
