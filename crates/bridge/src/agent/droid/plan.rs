//! The options of a front end as options of the SDK, and the part that the bridge does itself. Pure.
//!
//! An option without a counterpart is logged. A restriction that cannot be enforced is an error: a session that was requested
//! with a restriction must not start without it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use musher::wire::{HttpHeader, McpServerConfig, McpServerType, UpdateSessionSettingsParams};
use musher::{ResumeBuilder, Session, SessionBuilder};
use musher_claude::PermissionMode as Mode;
use serde::Deserialize;
use serde_json::Value;

use super::models::ModelNames;
use super::tools::{self, Rules};
use super::{modes, sandbox};
use crate::options::mode;
use crate::wire::payload::{self, SessionOptions, SystemPrompt};

/// The options to open a session, and those that the bridge keeps.
#[derive(Debug)]
pub(crate) struct SessionPlan {
    pub(super) cwd: PathBuf,
    pub(super) start: Start,
    /// Default: the mode the session had, or the most restrictive one.
    pub(super) mode: Option<Mode>,
    pub(super) may_bypass: bool,
    pub(super) model: Option<String>,
    pub(super) model_names: ModelNames,
    pub(super) rules: Rules,
    /// Ids of disabled tools.
    disabled: Vec<String>,
    /// Ids of the only enabled tools.
    only: Option<Vec<String>>,
    pub(super) servers: Vec<McpServerConfig>,
    pub(super) schema: Option<Value>,
    pub(super) max_turns: Option<u64>,
    /// The sandbox of commands, as the engine reads it.
    sandbox: Option<Value>,
    pub(super) is_partial: bool,
    pub(super) echoes_user: bool,
    /// Requested options without a meaning here.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Start {
    New { system_prompt: Option<SystemPrompt> },
    Resume { id: String, as_copy: bool },
}

impl SessionPlan {
    /// Reads the options; the error is for the front end.
    pub(crate) fn new(it: SessionOptions, cwd: &str) -> Result<Self, String> {
        refuse_unsupported_restrictions(&it)?;
        let mut notes = notes(&it);
        let sandbox = it.sandbox.as_ref().and_then(|sandbox| sandbox.0.to_value().ok());
        let sandbox = sandbox.map_or(Ok(None), |sandbox| sandbox::of_engine(&sandbox, &mut notes))?;
        let mut rules = Rules::default();
        for rule in it.allowed_tools.unwrap_or_default() {
            if !rules.add(&rule) {
                notes
                    .push(format!("the rule `{rule}` of `allowed_tools` is not understood: it is asked for"));
            }
        }
        let mut disabled = Vec::new();
        for rule in it.disallowed_tools.unwrap_or_default() {
            if rule.contains('(') || rule.starts_with("mcp__") {
                return Err(format!(
                    "this agent cannot forbid `{rule}` (`disallowed_tools`), only whole built-in tools"
                ));
            }
            let ids = tools::ids(&rule);
            if ids.is_empty() {
                notes.push(format!("there is no tool `{rule}` to forbid"));
            }
            disabled.extend(ids);
        }
        let only =
            it.tools.map(|names| -> Vec<_> { names.iter().flat_map(|name| tools::ids(name)).collect() });
        if only.as_ref().is_some_and(Vec::is_empty) {
            disabled = tools::all_ids();
        }
        let system_prompt = it.system_prompt;
        let start = match it.resume {
            Some(id) => {
                if system_prompt.is_some() {
                    notes.push("`system_prompt` is ignored: a resumed session keeps its own".to_owned());
                }
                Start::Resume { id, as_copy: it.fork_session == Some(true) }
            }
            None => Start::New { system_prompt },
        };
        let servers = it.mcp_servers.unwrap_or_default().into_iter().map(|(name, it)| server(name, &it));
        let mode = it.permission_mode.map(mode);
        let may_bypass =
            it.allow_dangerously_skip_permissions == Some(true) || mode == Some(Mode::BypassPermissions);
        Ok(Self {
            cwd: std::path::absolute(cwd).unwrap_or_else(|_| PathBuf::from(cwd)),
            start,
            mode,
            may_bypass,
            model: it.model,
            model_names: ModelNames::default(),
            rules,
            disabled,
            only: only.filter(|only| !only.is_empty()),
            servers: servers.collect::<Result<_, _>>()?,
            schema: it.output_format.and_then(|format| format.schema.0.to_value().ok()),
            max_turns: it.max_turns.filter(|turns| *turns > 0),
            sandbox,
            is_partial: it.include_partial_messages.unwrap_or_default(),
            echoes_user: it.enable_file_checkpointing.unwrap_or_default(),
            notes,
        })
    }

    /// Returns whether the session asks for a sandbox.
    pub(crate) fn has_sandbox(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Sets the sandbox of a session that asks for none.
    pub(crate) fn default_sandbox(&mut self, sandbox: Option<&Value>) {
        if self.sandbox.is_none() {
            self.sandbox = sandbox.cloned();
        }
    }

    /// Sets which names of models the agent has.
    pub(crate) fn know_models(&mut self, names: ModelNames) {
        self.model_names = names;
    }

    /// Returns the folder a program for this session starts in.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the options of a new session.
    pub(super) fn builder(&self, system_prompt: Option<&SystemPrompt>) -> SessionBuilder {
        let (interaction, autonomy) = modes::levels(self.mode.unwrap_or(Mode::Default));
        let mut builder = Session::builder().cwd(&self.cwd).interaction_mode(interaction).autonomy(autonomy);
        builder = match system_prompt {
            Some(SystemPrompt::Custom(text)) => builder.system_prompt(text.clone()),
            Some(SystemPrompt::Preset(payload::Preset { append: Some(more), .. })) => {
                builder.append_system_prompt(more.clone())
            }
            Some(SystemPrompt::Preset(_)) | None => builder,
        };
        if let Some(model) = &self.model {
            builder = builder.model(model.clone());
        }
        if !self.disabled.is_empty() {
            builder = builder.disabled_tools(self.disabled.clone());
        }
        if let Some(only) = &self.only {
            builder = builder.restrict_tools(only.clone());
        }
        if let Some(sandbox) = &self.sandbox {
            builder = builder.sandbox(sandbox.clone());
        }
        self.servers.iter().cloned().fold(builder, SessionBuilder::mcp_server)
    }

    /// Returns the options of a resumed session.
    pub(super) fn resume_builder(&self, id: &str) -> ResumeBuilder {
        let mut builder = Session::resume(id);
        builder.params_mut().sandbox = self.sandbox.clone().map(musher::wire::Json::from);
        if !self.disabled.is_empty() {
            builder = builder.disabled_tools(self.disabled.clone());
        }
        self.servers.iter().cloned().fold(builder, ResumeBuilder::mcp_server)
    }

    /// Returns the settings to change after a session was resumed, besides the model.
    pub(super) fn changes(&self) -> Option<UpdateSessionSettingsParams> {
        if self.mode.is_none() && self.only.is_none() {
            return None;
        }
        let changes = self.mode.map(modes::change_to).unwrap_or_default();
        Some(UpdateSessionSettingsParams { restrict_tool_ids: self.only.clone(), ..changes })
    }
}

/// Returns an error for restrictions that cannot be enforced here.
fn refuse_unsupported_restrictions(it: &SessionOptions) -> Result<(), String> {
    let refused = |what: &str| Err(format!("this agent cannot do `{what}`"));
    if it.hooks.as_ref().is_some_and(|hooks| !hooks.is_empty()) {
        return refused("hooks");
    }
    if it.max_budget_usd.is_some() {
        return refused("max_budget_usd");
    }
    if it.resume_session_at.is_some() {
        return refused("resume_session_at");
    }
    Ok(())
}

/// Returns a line for each option that has no meaning here.
fn notes(it: &SessionOptions) -> Vec<String> {
    let without_meaning = [
        ("max_thinking_tokens", it.max_thinking_tokens.is_some()),
        ("fallback_model", it.fallback_model.is_some()),
        ("additional_directories", it.additional_directories.is_some()),
        ("strict_mcp_config", it.strict_mcp_config == Some(true)),
        ("agents", it.agents.is_some()),
        ("setting_sources", it.setting_sources.is_some()),
        ("betas", it.betas.is_some()),
        ("plugins", it.plugins.is_some()),
    ];
    let given = without_meaning.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| format!("ignored the option `{name}`: this agent has nothing like it")).collect()
}

fn server(name: String, config: &payload::McpServerConfig) -> Result<McpServerConfig, String> {
    #[derive(Deserialize)]
    struct ServerInput {
        r#type: Option<String>,
        command: Option<String>,
        args: Option<Vec<String>>,
        env: Option<BTreeMap<String, String>>,
        url: Option<String>,
        headers: Option<BTreeMap<String, String>>,
    }
    let wrong = |what: &str| format!("the MCP server `{name}` {what}");
    let it: ServerInput = config.0.to().map_err(|error| wrong(&error.to_string()))?;
    let kind = match it.r#type.as_deref() {
        None | Some("stdio") => {
            let command = it.command.ok_or_else(|| wrong("has no `command`"))?;
            let env = Some(it.env.unwrap_or_default());
            return Ok(McpServerConfig {
                env,
                ..McpServerConfig::stdio(name, command, it.args.unwrap_or_default())
            });
        }
        Some("http") => McpServerType::Http,
        Some("sse") => McpServerType::Sse,
        Some(other) => return Err(wrong(&format!("is of the type `{other}`, which is not known"))),
    };
    let url = it.url.ok_or_else(|| wrong("has no `url`"))?;
    let headers = it.headers.unwrap_or_default().into_iter();
    let headers = headers.map(|(name, value)| HttpHeader::new(name, value)).collect();
    Ok(McpServerConfig { kind: Some(kind), ..McpServerConfig::http(name, url, headers) })
}

#[cfg(test)]
mod tests {
    use musher::Autonomy;
    use musher::wire::InteractionMode;
    use serde_json::json;

    use super::*;

    fn plan(options: Value) -> Result<SessionPlan, String> {
        SessionPlan::new(serde_json::from_value(options).unwrap(), "/work")
    }

    #[test]
    fn options_become_those_of_a_new_session() {
        let plan = plan(json!({
            "model": "m", "permission_mode": "acceptEdits", "disallowed_tools": ["Bash"], "tools": ["Read", "Bash"],
            "system_prompt": {"type": "preset", "preset": "claude_code", "append": "be brief"},
            "mcp_servers": {
                "a": {"command": "x", "args": ["y"], "env": {"K": "v"}},
                "b": {"type": "http", "url": "http://localhost/mcp", "headers": {"H": "v"}}
            },
        }))
        .unwrap();
        let Start::New { system_prompt } = &plan.start else { panic!("it is new") };
        let mut builder = plan.builder(system_prompt.as_ref());
        let params = builder.params_mut();
        assert_eq!(params.model_id.as_deref(), Some("m"));
        assert_eq!(params.autonomy_level, Some(Autonomy::Low));
        assert_eq!(params.interaction_mode, Some(InteractionMode::Auto));
        assert_eq!(params.disabled_tool_ids.as_deref().unwrap(), ["execute-cli"]);
        assert_eq!(params.restrict_tool_ids.as_deref().unwrap(), ["read-cli", "execute-cli"]);
        assert_eq!(params.system_prompt.as_ref().unwrap().to_value().unwrap()["append"], "be brief");
        let servers = serde_json::to_value(&plan.servers).unwrap();
        assert_eq!(
            servers,
            json!([
                {"name": "a", "command": "x", "args": ["y"], "env": {"K": "v"}},
                {"name": "b", "type": "http", "url": "http://localhost/mcp", "headers": [{"name": "H", "value": "v"}]}
            ])
        );
        assert!(plan.notes.is_empty() && plan.changes().is_some());
    }

    #[test]
    fn restriction_that_cannot_be_enforced_is_refused_and_the_rest_is_noted() {
        for lock in [
            json!({"hooks": {"PreToolUse": [{}]}}),
            json!({"sandbox": {"enabled": true, "allow_unsandboxed_commands": false}}),
            json!({"max_budget_usd": 1.0}),
            json!({"resume": "s", "resume_session_at": "m"}),
            json!({"disallowed_tools": ["Bash(rm:*)"]}),
            json!({"disallowed_tools": ["mcp__files"]}),
            json!({"mcp_servers": {"s": {"type": "sdk"}}}),
        ] {
            assert!(plan(lock.clone()).is_err(), "{lock}");
        }
        let harmless = json!({
            "hooks": {}, "sandbox": {"enabled": false}, "betas": ["b"], "fallback_model": "f", "agents": {},
            "disallowed_tools": ["NoSuchTool"], "allowed_tools": ["Edit(src/**)"]
        });
        assert_eq!(plan(harmless).unwrap().notes.len(), 5);
    }

    #[test]
    fn no_tools_at_all_means_none() {
        let none = plan(json!({"tools": []})).unwrap();
        assert!(none.only.is_none() && none.disabled.contains(&"execute-cli".to_owned()));
    }
}
