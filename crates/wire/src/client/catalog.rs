//! Lists of what an agent offers: models, tools, skills, slash commands.

use crate::object::object;
use crate::{
    AutonomyLevel, AutonomyMode, InteractionMode, Json, ModelInfo, SettingsLevel, SkillLocation,
    ToolCategory, ToolSource,
};

object! {
    /// Parameters of `list_models`.
    pub struct ListModelsParams {} optional {
        /// Whether to list disabled models as well. Default: false.
        include_disabled: bool = "includeDisabled",
    }
}

object! {
    /// Result of `list_models`.
    pub struct ListModelsResult {
        /// The models; custom models are last.
        models: Vec<ModelInfo> = "models",
    }
}

object! {
    /// Parameters of `list_tools`: settings to evaluate instead of the session's own.
    pub struct ListToolsParams {} optional {
        /// Ids of tools to switch on in addition to the default selection.
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        /// Ids of tools to switch off.
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        /// Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them.
        additional_tool_ids: Vec<String> = "additionalToolIds",
        /// If not empty, only these tools are available.
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        /// Model to list tools for; absent means the session's model.
        model_id: String = "modelId",
        /// Whether the session executes, plans or runs missions.
        interaction_mode: InteractionMode = "interactionMode",
        /// Which tool calls run without a permission request.
        autonomy_level: AutonomyLevel = "autonomyLevel",
        /// Legacy form that combines interaction mode and autonomy level.
        autonomy_mode: AutonomyMode = "autonomyMode",
        /// Model to use while planning; absent means the main model.
        spec_mode_model_id: String = "specModeModelId",
        /// Run every tool call without a permission request. Default: false.
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        /// Whether to return `schemas`. No visible effect in 0.225.2.
        include_schemas: bool = "includeSchemas",
        /// Ids of the tools to list. No visible effect in 0.225.2.
        tool_ids: Vec<String> = "toolIds",
    }
}

object! {
    /// Result of `list_tools`.
    pub struct ListToolsResult {
        /// The tools, including those that are not allowed at present.
        tools: Vec<ToolInfo> = "tools",
    }
}

object! {
    /// A tool of the agent.
    pub struct ToolInfo {
        /// Id of the tool in settings and parameters, such as `read-cli`.
        id: String = "id",
        /// Name that the model uses, such as `Read`.
        llm_id: String = "llmId",
    } optional {
        /// Name for display.
        display_name: String = "displayName",
        /// Description for display.
        description: String = "description",
        /// Effect of the tool.
        category: ToolCategory = "category",
        /// Whether calls run without a permission request at the default settings.
        default_allowed: bool = "defaultAllowed",
        /// Whether calls run without a permission request at the current settings.
        currently_allowed: bool = "currentlyAllowed",
        /// Provider of the tool.
        source: ToolSource = "source",
        /// Input schemas of the tool. Form not documented.
        schemas: Json = "schemas",
    }
}

object! {
    /// Result of `list_skills`.
    pub struct ListSkillsResult {
        /// The skills, including disabled ones.
        skills: Vec<SkillInfo> = "skills",
    } optional {
        /// Meaning not documented; `true` in captures.
        project_available: bool = "projectAvailable",
    }
}

object! {
    /// A skill that the agent can load.
    pub struct SkillInfo {
        /// Name of the skill.
        name: String = "name",
    } optional {
        /// Description for display.
        description: String = "description",
        /// Where the skill is defined.
        location: SkillLocation = "location",
        /// Path of the skill's main file.
        file_path: String = "filePath",
        /// Whether the model may load the skill.
        enabled: bool = "enabled",
        /// Whether users can invoke the skill as a slash command.
        user_invocable: bool = "userInvocable",
        /// Version from the skill's front matter.
        version: String = "version",
        /// Text of the skill, without front matter.
        content: String = "content",
        /// Files that belong to the skill.
        resources: Vec<SkillResource> = "resources",
        /// The settings that disable the skill, such as `{kind: "ledger", sources: [...]}`.
        disabled_by: Json = "disabledBy",
    }
}

object! {
    /// A file that belongs to a skill.
    pub struct SkillResource {
        /// Name of the file.
        name: String = "name",
        /// Path of the file.
        path: String = "path",
    } optional {
        /// `reference` or `asset`.
        kind: String = "type",
    }
}

object! {
    /// Parameters of `set_skill_disabled`.
    pub struct SetSkillDisabledParams {
        /// Name of the skill. Unknown names are accepted.
        skill_name: String = "skillName",
        /// True to disable the skill, false to enable it.
        disabled: bool = "disabled",
    } optional {
        /// Settings to change: `user` or `project`.
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Result of `list_commands`.
    pub struct ListCommandsResult {
        /// The slash commands.
        commands: Vec<CommandInfo> = "commands",
    }
}

object! {
    /// A slash command.
    pub struct CommandInfo {
        /// Name of the command, without the slash.
        name: String = "name",
    } optional {
        /// Description for display.
        description: String = "description",
        /// Placeholder for the arguments, such as `<name>`.
        argument_hint: String = "argumentHint",
        /// Meaning not documented; `false` in captures of prompt templates.
        is_executable: bool = "isExecutable",
    }
}
