//! The merged settings of all layers, and which of them an untrusted repository may set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use musher_model::Effort;
use serde::Deserialize;
use serde_json::Value;

use super::Severity;
use super::file::Reader;
use crate::sandbox::SandboxSettings;
use musher_permission::{Autonomy, Mode};

/// The merged settings. Settings that no file has are `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The model of new sessions.
    pub model: Option<String>,
    /// Its reasoning effort.
    pub reasoning_effort: Option<Effort>,
    /// The initial mode of sessions.
    pub mode: Option<Mode>,
    /// The initial autonomy level of sessions; never above [`max_autonomy`](Self::max_autonomy).
    pub autonomy: Option<Autonomy>,
    /// The model of planning mode.
    pub spec_model: Option<String>,
    /// Its reasoning effort.
    pub spec_reasoning_effort: Option<Effort>,
    /// The maximum autonomy level of sessions.
    pub max_autonomy: Option<Autonomy>,
    /// Commands that run without asking.
    pub command_allow: Vec<String>,
    /// Environment variables that commands may see although they look like credentials. A `*` at the end stands for any ending.
    pub allowed_variables: Vec<String>,
    /// Commands that always need permission.
    pub command_deny: Vec<String>,
    /// Commands that never run.
    pub command_block: Vec<String>,
    /// The sandbox of commands.
    pub sandbox: SandboxSettings,
    /// Whether hooks are disabled.
    pub hooks_disabled: bool,
    /// The timeout of an MCP tool call.
    pub mcp_call_timeout: Option<Duration>,
    /// Whether the first turn waits for all MCP servers.
    pub block_on_mcp_load: Option<bool>,
    /// The autonomy level of subagents.
    pub subagent_autonomy: Option<Autonomy>,
    /// The number of tokens at which a conversation is compacted.
    pub compaction_token_limit: Option<u64>,
    /// The same limit for single models.
    pub compaction_token_limit_per_model: BTreeMap<String, u64>,
    /// The directory for saved plans.
    pub spec_save_dir: Option<PathBuf>,
    /// The timeout of model requests.
    pub llm_request_timeout: Option<Duration>,
    /// The names of disabled skills.
    pub disabled_skills: Vec<String>,
}

/// Restrictions of droid that the engine cannot enforce. A session must not start as if they did not exist.
const UNSUPPORTED_RESTRICTIONS: [&str; 3] = ["mcpPolicy", "modelPolicy", "builtInToolAutonomyOverrides"];

impl Settings {
    /// Merges the settings of one file into these.
    pub(super) fn apply(&mut self, reader: &mut Reader<'_>) {
        let over = reader;
        for (field, severity) in [("sessionDefaultSettings", Severity::Fatal), ("mcp", Severity::Error)] {
            if over.json.field(field).is_some_and(|value| !value.is_object() && !value.is_null()) {
                over.report(field, "expected an object", severity);
            }
        }
        // the user chooses where requests go, where files are written, and whether hooks run
        let model = over.get_trusted("sessionDefaultSettings.model").or_else(|| over.get_trusted("model"));
        set(&mut self.model, model);
        set(&mut self.spec_model, over.get_trusted("sessionDefaultSettings.specModeModel"));
        set(&mut self.spec_save_dir, over.get_trusted("specSaveDir"));
        match over.get_trusted_restriction("subagentAutonomyLevel") {
            None => {}
            Some(SubagentLevel::Inherit) => self.subagent_autonomy = None,
            Some(SubagentLevel::Level(level)) => self.subagent_autonomy = Some(level),
        }
        let hooks_disabled = over.get_trusted_restriction("hooksDisabled");
        self.hooks_disabled = hooks_disabled.unwrap_or(self.hooks_disabled);
        add(&mut self.command_allow, over.get_trusted("commandAllowlist"));
        add(&mut self.allowed_variables, over.get_trusted("allowedVariables"));

        // these only restrict
        add(&mut self.command_deny, commands(over, "commandDenylist"));
        add(&mut self.command_block, commands(over, "commandBlocklist"));
        if let Some(max) = over.get_restriction::<Autonomy>("maxAutonomyLevel") {
            self.max_autonomy = Some(self.max_autonomy.map_or(max, |now| now.min(max)));
        }
        add(&mut self.disabled_skills, over.get_restriction("disabledSkills"));
        self.apply_approvals(over);
        if let Some(sandbox) = over.get_restriction::<SandboxSettings>("sandbox") {
            if over.is_file_trusted {
                self.sandbox.override_with(sandbox);
            } else if !self.sandbox.restrict_with(sandbox) {
                over.ignore("sandbox");
            }
        }
        if let (Some(max), Some(autonomy)) = (self.max_autonomy, &mut self.autonomy) {
            *autonomy = max.min(*autonomy);
        }
        refuse_unsupported(over);

        // these neither widen nor restrict permissions
        let effort =
            over.get("sessionDefaultSettings.reasoningEffort").or_else(|| over.get("reasoningEffort"));
        set(&mut self.reasoning_effort, effort);
        let effort = over.get("sessionDefaultSettings.specModeReasoningEffort");
        set(&mut self.spec_reasoning_effort, effort);
        set(&mut self.mcp_call_timeout, over.get("mcp.callTimeoutMs").map(Duration::from_millis));
        set(&mut self.block_on_mcp_load, over.get("blockOnMcpLoad"));
        set(&mut self.compaction_token_limit, over.get("compactionTokenLimit"));
        let limits: Option<BTreeMap<String, u64>> = over.get("compactionTokenLimitPerModel");
        self.compaction_token_limit_per_model.extend(limits.unwrap_or_default());
        set(&mut self.llm_request_timeout, over.get("llmRequestTimeout").map(Duration::from_millis));
    }

    /// Merges mode and autonomy level: an untrusted file may only make them stricter.
    fn apply_approvals(&mut self, over: &mut Reader<'_>) {
        let field = "sessionDefaultSettings.autonomyLevel";
        if let Some(autonomy) = over.get_restriction::<Autonomy>(field) {
            if over.is_file_trusted || autonomy <= self.autonomy.unwrap_or(Autonomy::Off) {
                self.autonomy = Some(autonomy);
            } else {
                over.ignore(field);
            }
        }
        let field = "sessionDefaultSettings.interactionMode";
        // droid's mode for missions; the engine has no such mode, and it restricts nothing
        if over.json.field(field).is_some_and(|mode| mode == "agi") {
            return over.complain(field, "the mode `agi` is not supported");
        }
        if let Some(mode) = over.get_restriction::<Mode>(field) {
            if over.is_file_trusted || mode == Mode::Spec || Some(mode) == self.mode {
                self.mode = Some(mode);
            } else {
                over.ignore(field);
            }
        }
    }
}

/// The value of `subagentAutonomyLevel`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SubagentLevel {
    /// The autonomy level of the session.
    Inherit,
    #[serde(untagged)]
    Level(Autonomy),
}

/// Reads a list of commands to deny or ask for. An entry that can never match is a mistake: its author relies on it.
fn commands(over: &mut Reader<'_>, field: &str) -> Option<Vec<String>> {
    let list: Vec<String> = over.get_restriction(field)?;
    for (index, command) in list.iter().enumerate() {
        let program = command.split_whitespace().next().unwrap_or_default();
        if program.is_empty() {
            over.refuse(&format!("{field}[{index}]"), "expected the first words of a command, found nothing");
        } else if program.contains(['*', '?']) {
            let message = format!("patterns are not supported in the name of the program, found `{program}`");
            over.refuse(&format!("{field}[{index}]"), message);
        }
    }
    Some(list)
}

/// Reports restrictions that the engine cannot enforce as fatal.
fn refuse_unsupported(over: &mut Reader<'_>) {
    let is_said = |value: &Value| !value.is_null() && value.as_object().is_none_or(|it| !it.is_empty());
    for field in UNSUPPORTED_RESTRICTIONS {
        if over.json.field(field).is_some_and(is_said) {
            over.refuse(field, "this restriction is not supported yet, so it cannot be kept");
        }
    }
    if over.get_restriction("allowManagedHooksOnly") == Some(true) {
        let message = "managed hooks only is not supported yet, so this restriction cannot be kept";
        over.refuse("allowManagedHooksOnly", message);
    }
}

fn set<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

fn add(list: &mut Vec<String>, more: Option<Vec<String>>) {
    for one in more.unwrap_or_default() {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
