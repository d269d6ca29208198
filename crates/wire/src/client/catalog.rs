//! What an agent has: models, tools, skills, commands.

use crate::object::object;
use crate::{
    AutonomyLevel, AutonomyMode, InteractionMode, Json, ModelInfo, SettingsLevel, SkillLocation,
    ToolCategory, ToolSource,
};

object! {
    /// Arguments of `list_models`.
    pub struct ListModelsParams {} optional {
        include_disabled: bool = "includeDisabled",
    }
}

object! {
    /// Answer of `list_models`.
    pub struct ListModelsResult {
        models: Vec<ModelInfo> = "models",
    }
}

object! {
    /// Arguments of `list_tools`: the settings to judge by, if not those of the session.
    pub struct ListToolsParams {} optional {
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        additional_tool_ids: Vec<String> = "additionalToolIds",
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        model_id: String = "modelId",
        interaction_mode: InteractionMode = "interactionMode",
        autonomy_level: AutonomyLevel = "autonomyLevel",
        autonomy_mode: AutonomyMode = "autonomyMode",
        spec_mode_model_id: String = "specModeModelId",
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        include_schemas: bool = "includeSchemas",
        tool_ids: Vec<String> = "toolIds",
    }
}

object! {
    /// Answer of `list_tools`.
    pub struct ListToolsResult {
        tools: Vec<ToolInfo> = "tools",
    }
}

object! {
    /// A tool the agent has.
    pub struct ToolInfo {
        /// What settings name it by, such as `read-cli`.
        id: String = "id",
        /// What the model calls it, such as `Read`.
        llm_id: String = "llmId",
    } optional {
        display_name: String = "displayName",
        description: String = "description",
        category: ToolCategory = "category",
        default_allowed: bool = "defaultAllowed",
        /// Runs without asking under the settings at hand.
        currently_allowed: bool = "currentlyAllowed",
        source: ToolSource = "source",
        schemas: Json = "schemas",
    }
}

object! {
    /// Answer of `list_skills`.
    pub struct ListSkillsResult {
        skills: Vec<SkillInfo> = "skills",
    } optional {
        project_available: bool = "projectAvailable",
    }
}

object! {
    /// A skill the agent can load.
    pub struct SkillInfo {
        name: String = "name",
    } optional {
        description: String = "description",
        location: SkillLocation = "location",
        file_path: String = "filePath",
        enabled: bool = "enabled",
        user_invocable: bool = "userInvocable",
        version: String = "version",
        content: String = "content",
        resources: Vec<SkillResource> = "resources",
        disabled_by: Json = "disabledBy",
    }
}

object! {
    /// A file that comes with a skill.
    pub struct SkillResource {
        name: String = "name",
        path: String = "path",
    } optional {
        /// `reference` or `asset`
        kind: String = "type",
    }
}

object! {
    /// Arguments of `set_skill_disabled`.
    pub struct SetSkillDisabledParams {
        skill_name: String = "skillName",
        disabled: bool = "disabled",
    } optional {
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Answer of `list_commands`.
    pub struct ListCommandsResult {
        commands: Vec<CommandInfo> = "commands",
    }
}

object! {
    /// A slash command.
    pub struct CommandInfo {
        name: String = "name",
    } optional {
        description: String = "description",
        argument_hint: String = "argumentHint",
        is_executable: bool = "isExecutable",
    }
}
