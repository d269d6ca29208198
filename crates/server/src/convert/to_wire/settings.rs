//! Settings of a session. Each message includes a different subset.

use musher_engine as engine;
use musher_engine::{Autonomy, Effort, Mode};
use musher_wire as wire;
use musher_wire::{AutonomyLevel, AutonomyMode, InteractionMode, Json, ReasoningEffort, SessionSettings};

/// For a change: what most clients show.
pub(super) fn changed(settings: &engine::Settings) -> SessionSettings {
    let level = autonomy(settings.autonomy);
    SessionSettings {
        model_id: Some(settings.model.clone()),
        reasoning_effort: Some(effort(settings.effort)),
        autonomy_mode: Some(match (settings.mode, settings.autonomy) {
            (Mode::Spec, _) => AutonomyMode::Spec,
            (_, Autonomy::Off) => AutonomyMode::Normal,
            (_, Autonomy::Low) => AutonomyMode::AutoLow,
            (_, Autonomy::Medium) => AutonomyMode::AutoMedium,
            (_, Autonomy::High) => AutonomyMode::AutoHigh,
        }),
        interaction_mode: Some(match settings.mode {
            Mode::Auto => InteractionMode::Auto,
            Mode::Spec => InteractionMode::Spec,
        }),
        autonomy_level: Some(level),
        available_autonomy_levels: Some(vec![
            AutonomyLevel::Off,
            AutonomyLevel::Low,
            AutonomyLevel::Medium,
            AutonomyLevel::High,
        ]),
        spec_mode_model_id: settings.spec_model.clone(),
        spec_mode_reasoning_effort: settings.spec_effort.map(effort),
        compaction_threshold_check_enabled: Some(settings.compaction_check),
        tags: settings.tags.as_ref().map(|tags| tags.iter().map(tag).collect()),
        ..SessionSettings::default()
    }
}

/// For the response to a settings request: includes the tool selection.
pub(super) fn complete(settings: &engine::Settings) -> SessionSettings {
    SessionSettings {
        additional_tool_ids: Some(settings.tools.additional.clone()),
        enabled_tool_ids: Some(settings.tools.enabled.clone()),
        disabled_tool_ids: Some(settings.tools.disabled.clone()),
        restrict_tool_ids: Some(settings.tools.restricted.clone()),
        compaction_token_limit: settings.compaction_token_limit.map(Into::into),
        ..changed(settings)
    }
}

/// For a session that was opened: everything.
pub(super) fn opened(settings: &engine::Settings) -> SessionSettings {
    SessionSettings {
        tool_execution_mode: Some("direct_only".to_owned()),
        allow_subagents_in_scripts: Some(false),
        system_prompt: settings.system_prompt.as_ref().map(Json::from),
        ..complete(settings)
    }
}

pub(super) fn effort(effort: Effort) -> ReasoningEffort {
    effort.name().into()
}

fn autonomy(autonomy: Autonomy) -> AutonomyLevel {
    match autonomy {
        Autonomy::Off => AutonomyLevel::Off,
        Autonomy::Low => AutonomyLevel::Low,
        Autonomy::Medium => AutonomyLevel::Medium,
        Autonomy::High => AutonomyLevel::High,
    }
}

fn tag(tag: &engine::Tag) -> wire::Tag {
    let mut it = wire::Tag::new(tag.name.as_str());
    it.metadata.clone_from(&tag.metadata);
    it
}
