//! The settings of all layers as one value, and which of them a repository may set without being trusted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use musher_model::Effort;
use serde::Deserialize;
use serde_json::Value;

use super::Severity;
use super::file::Reader;
use crate::{Autonomy, Mode};

/// The merged settings. What no file says is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The model of new sessions.
    pub model: Option<String>,
    /// How much it thinks.
    pub reasoning_effort: Option<Effort>,
    /// The mode new sessions begin in.
    pub mode: Option<Mode>,
    /// The autonomy new sessions begin with; never above [`max_autonomy`](Self::max_autonomy).
    pub autonomy: Option<Autonomy>,
    /// The model of planning.
    pub spec_model: Option<String>,
    /// How much it thinks.
    pub spec_reasoning_effort: Option<Effort>,
    /// No session may have more autonomy than this.
    pub max_autonomy: Option<Autonomy>,
    /// Commands that run without asking.
    pub command_allow: Vec<String>,
    /// Commands that are always asked for.
    pub command_deny: Vec<String>,
    /// Commands that never run.
    pub command_block: Vec<String>,
    /// Whether no hook runs.
    pub hooks_disabled: bool,
    /// How long a call of an MCP tool may take.
    pub mcp_call_timeout: Option<Duration>,
    /// Whether the first answer waits for all MCP servers.
    pub block_on_mcp_load: Option<bool>,
    /// The autonomy of subagents.
    pub subagent_autonomy: Option<Autonomy>,
    /// From how many tokens on a conversation is summed up.
    pub compaction_token_limit: Option<u64>,
    /// The same for single models.
    pub compaction_token_limit_per_model: BTreeMap<String, u64>,
    /// Where plans are saved.
    pub spec_save_dir: Option<PathBuf>,
    /// How long to wait for a model.
    pub llm_request_timeout: Option<Duration>,
    /// Skills that are switched off, by name.
    pub disabled_skills: Vec<String>,
}

/// Restrictions of droid that the engine does not know how to keep. A session must not start as if they were not there.
const UNSUPPORTED_RESTRICTIONS: [&str; 3] = ["mcpPolicy", "modelPolicy", "builtInToolAutonomyOverrides"];

impl Settings {
    /// Lays one file over what is there.
    pub(super) fn apply(&mut self, reader: &mut Reader<'_>) {
        let over = reader;
        for (field, severity) in [("sessionDefaultSettings", Severity::Fatal), ("mcp", Severity::Error)] {
            if over.json.field(field).is_some_and(|value| !value.is_object() && !value.is_null()) {
                over.report(field, "expected an object", severity);
            }
        }
        // where requests go is the user's choice, and so is where files are written and whether hooks watch
        let model = over.get_believed("sessionDefaultSettings.model").or_else(|| over.get_believed("model"));
        set(&mut self.model, model);
        set(&mut self.spec_model, over.get_believed("sessionDefaultSettings.specModeModel"));
        set(&mut self.spec_save_dir, over.get_believed("specSaveDir"));
        match over.get_believed_restriction("subagentAutonomyLevel") {
            None => {}
            Some(SubagentLevel::Inherit) => self.subagent_autonomy = None,
            Some(SubagentLevel::Level(level)) => self.subagent_autonomy = Some(level),
        }
        let hooks_disabled = over.get_believed_restriction("hooksDisabled");
        self.hooks_disabled = hooks_disabled.unwrap_or(self.hooks_disabled);
        add(&mut self.command_allow, over.get_believed("commandAllowlist"));

        // these only narrow
        add(&mut self.command_deny, commands(over, "commandDenylist"));
        add(&mut self.command_block, commands(over, "commandBlocklist"));
        if let Some(max) = over.get_restriction::<Autonomy>("maxAutonomyLevel") {
            self.max_autonomy = Some(self.max_autonomy.map_or(max, |now| now.min(max)));
        }
        add(&mut self.disabled_skills, over.get_restriction("disabledSkills"));
        self.apply_consent(over);
        if let (Some(max), Some(autonomy)) = (self.max_autonomy, &mut self.autonomy) {
            *autonomy = max.min(*autonomy);
        }
        refuse_unsupported(over);

        // these neither widen nor narrow
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

    /// Mode and autonomy: a file that is not believed may only make them stricter.
    fn apply_consent(&mut self, over: &mut Reader<'_>) {
        let field = "sessionDefaultSettings.autonomyLevel";
        if let Some(autonomy) = over.get_restriction::<Autonomy>(field) {
            if over.is_believed || autonomy <= self.autonomy.unwrap_or(Autonomy::Off) {
                self.autonomy = Some(autonomy);
            } else {
                over.ignore(field);
            }
        }
        let field = "sessionDefaultSettings.interactionMode";
        // droid's mode for missions; sessions of ours have no such mode, and it restricts nothing
        if over.json.field(field).is_some_and(|mode| mode == "agi") {
            return over.complain(field, "the mode `agi` is not supported");
        }
        if let Some(mode) = over.get_restriction::<Mode>(field) {
            if over.is_believed || mode == Mode::Spec || Some(mode) == self.mode {
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
    /// That of the session.
    Inherit,
    #[serde(untagged)]
    Level(Autonomy),
}

/// A list of commands to hold back. An entry that could never match is a mistake: its author relies on it.
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

/// Refuses what restricts in a way the engine cannot keep.
fn refuse_unsupported(over: &mut Reader<'_>) {
    let is_said = |value: &Value| !value.is_null() && value.as_object().is_none_or(|it| !it.is_empty());
    for field in UNSUPPORTED_RESTRICTIONS {
        if over.json.field(field).is_some_and(is_said) {
            over.refuse(field, "this restriction is not supported yet, so it cannot be kept");
        }
    }
    let sandbox = over.json.field("sandbox").filter(|value| !value.is_null());
    if sandbox.is_some_and(|value| !value.is_object()) {
        over.refuse("sandbox", "expected an object");
    }
    for (field, what) in [("sandbox.enabled", "a sandbox"), ("allowManagedHooksOnly", "managed hooks only")] {
        if over.get_restriction(field) == Some(true) {
            over.refuse(field, format!("{what} is not supported yet, so this restriction cannot be kept"));
        }
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
