//! Permission modes of the front end as autonomy settings of the Droid protocol, and back. Pure.

use musher::Autonomy;
use musher::wire::{InteractionMode, SessionSettings, UpdateSessionSettingsParams};
use musher_claude::PermissionMode as Mode;

/// Requests that the bridge answers itself, because the agent has no such mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Ask,
    AllowAll,
    DenyAll,
}

impl Standing {
    pub(super) fn of(mode: Mode) -> Self {
        match mode {
            Mode::BypassPermissions => Self::AllowAll,
            Mode::DontAsk => Self::DenyAll,
            _ => Self::Ask,
        }
    }
}

/// Doing or planning, and how freely.
pub(super) fn levels(mode: Mode) -> (InteractionMode, Autonomy) {
    match mode {
        Mode::Plan => (InteractionMode::Spec, Autonomy::Off),
        Mode::AcceptEdits => (InteractionMode::Auto, Autonomy::Low),
        // the model says how risky a command is
        Mode::Auto => (InteractionMode::Auto, Autonomy::Medium),
        // a few commands are asked for even then: those are answered here
        Mode::BypassPermissions => (InteractionMode::Auto, Autonomy::High),
        _ => (InteractionMode::Auto, Autonomy::Off),
    }
}

/// Returns the change of settings that makes a mode.
pub(super) fn change_to(mode: Mode) -> UpdateSessionSettingsParams {
    let (interaction, autonomy) = levels(mode);
    UpdateSessionSettingsParams {
        interaction_mode: Some(interaction),
        autonomy_level: Some(autonomy),
        ..UpdateSessionSettingsParams::default()
    }
}

/// Returns the mode that settings amount to.
pub(super) fn current(settings: &SessionSettings, standing: Standing) -> Mode {
    if settings.interaction_mode == Some(InteractionMode::Spec) {
        return Mode::Plan;
    }
    match (standing, &settings.autonomy_level) {
        (Standing::AllowAll, _) => Mode::BypassPermissions,
        (Standing::DenyAll, _) => Mode::DontAsk,
        (Standing::Ask, Some(Autonomy::Low)) => Mode::AcceptEdits,
        (Standing::Ask, Some(Autonomy::Medium | Autonomy::High)) => Mode::Auto,
        (Standing::Ask, _) => Mode::Default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_comes_back_as_itself() {
        for mode in Mode::ALL {
            let (interaction, autonomy) = levels(mode);
            let settings = SessionSettings {
                interaction_mode: Some(interaction),
                autonomy_level: Some(autonomy),
                ..SessionSettings::default()
            };
            assert_eq!(current(&settings, Standing::of(mode)), mode);
        }
    }
}
