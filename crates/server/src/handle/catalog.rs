//! Tools and skills of the agent.

use musher_engine::{Command, ToolFilter};
use musher_wire as wire;
use musher_wire::{Request, SettingsLevel};

use super::{asks, succeeds};
use crate::convert::from_wire;
use crate::dispatch::Handled;
use crate::params;

pub(super) fn tools(request: &Request) -> Handled {
    let given = params::read::<wire::ListTools>(request)?;
    let settings = from_wire::Settings {
        model_id: given.model_id,
        interaction_mode: given.interaction_mode,
        autonomy_level: given.autonomy_level,
        autonomy_mode: given.autonomy_mode,
        spec_mode_model_id: given.spec_mode_model_id.map(Some),
        enabled_tool_ids: given.enabled_tool_ids,
        disabled_tool_ids: given.disabled_tool_ids,
        additional_tool_ids: given.additional_tool_ids,
        restrict_tool_ids: given.restrict_tool_ids,
        ..from_wire::Settings::default()
    };
    asks(Command::ListTools(Box::new(ToolFilter {
        settings: from_wire::settings(settings),
        skip_permissions: given.skip_permissions_unsafe,
        ids: given.tool_ids,
        schemas: given.include_schemas.unwrap_or_default(),
    })))
}

pub(super) fn set_skill_disabled(request: &Request) -> Handled {
    let given = params::read::<wire::SetSkillDisabled>(request)?;
    let level = match given.settings_level {
        None => None,
        Some(level @ (SettingsLevel::User | SettingsLevel::Project)) => Some(level.as_str().to_owned()),
        Some(_) => {
            let why = "Invalid value, expected \"user\" or \"project\"";
            return Err(params::wrong(request, "settingsLevel", why));
        }
    };
    succeeds(Command::SetSkillDisabled { name: given.skill_name, disabled: given.disabled, level })
}
