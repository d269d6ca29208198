//! Converts the options of a front end to those of the Claude driver. Pure; invalid options are found before a process is started.

use std::path::Path;
use std::time::Duration;

use musher_claude::{Extra, Hook, Json, Options, SessionSource, SystemPrompt};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::wire::payload::{self, SandboxSettings, SessionOptions};

/// How much longer than the front end the CLI waits for a hook: otherwise the CLI would give up first and deny the tool.
const HOOK_MARGIN: Duration = Duration::from_secs(30);

/// The options of the CLI, and the id of the session they lead to.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) options: Options,
    /// The id that the agent will use.
    pub(crate) sdk_session_id: String,
}

/// Returns why the options cannot work, if they are well-formed but invalid.
pub(crate) fn invalid_option(options: &SessionOptions, cwd: &str) -> Option<String> {
    if !Path::new(cwd).is_dir() {
        return Some(format!("the directory `{cwd}` does not exist"));
    }
    if options.max_budget_usd.is_some_and(|dollars| dollars <= 0.0) {
        return Some("`max_budget_usd` must be more than 0".to_owned());
    }
    if options.fork_session == Some(true) && options.resume.is_none() {
        return Some("`fork_session` requires `resume`".to_owned());
    }
    None
}

/// Converts the options for the CLI. `callback_timeout` is how long a front end may take to answer a hook.
pub(crate) fn for_claude(it: SessionOptions, callback_timeout: Duration) -> Prepared {
    let mut options = Options::new();
    let new_id = || Uuid::new_v4().to_string();
    let (session, sdk_session_id) = match it.resume {
        None => {
            let id = new_id();
            (SessionSource::NewWithId(id.clone()), id)
        }
        Some(id) if it.fork_session == Some(true) => {
            let copy = new_id();
            (SessionSource::Fork { id, at: it.resume_session_at, new_id: Some(copy.clone()) }, copy)
        }
        Some(id) => (SessionSource::Resume { id: id.clone(), at: it.resume_session_at }, id),
    };
    options.session = session;
    options.model = it.model;
    options.fallback_model = it.fallback_model;
    options.permission_mode = it.permission_mode.map(mode);
    options.allow_dangerously_skip_permissions = it.allow_dangerously_skip_permissions.unwrap_or_default();
    options.tools = it.tools;
    options.allowed_tools = it.allowed_tools.unwrap_or_default();
    options.disallowed_tools = it.disallowed_tools.unwrap_or_default();
    options.system_prompt = match it.system_prompt {
        // the official SDK uses the preset only on request
        None => SystemPrompt::Custom(String::new()),
        Some(payload::SystemPrompt::Custom(text)) => SystemPrompt::Custom(text),
        Some(payload::SystemPrompt::Preset(preset)) => {
            preset.append.map_or(SystemPrompt::Preset, SystemPrompt::Append)
        }
    };
    options.max_turns = it.max_turns;
    options.max_budget_usd = it.max_budget_usd;
    options.max_thinking_tokens = it.max_thinking_tokens;
    options.include_partial_messages = it.include_partial_messages.unwrap_or_default();
    options.enable_file_checkpointing = it.enable_file_checkpointing.unwrap_or_default();
    options.additional_directories =
        it.additional_directories.unwrap_or_default().into_iter().map(Into::into).collect();
    for (name, server) in it.mcp_servers.unwrap_or_default() {
        options.mcp_servers.insert(&name, server.0);
    }
    options.strict_mcp_config = it.strict_mcp_config.unwrap_or_default();
    options.agents = it.agents.map(|agents| {
        let mut all = Extra::default();
        for (name, agent) in agents {
            all.insert(&name, agent.0);
        }
        Json::new(&all).unwrap_or_else(|_| Json::empty_object())
    });
    let mut number = 0;
    for (event, hooks) in it.hooks.unwrap_or_default() {
        let hooks = hooks.into_iter().map(|hook| {
            let callback_id = format!("hook_{number}");
            number += 1;
            Hook { matcher: hook.matcher, callback_id, timeout: Some(callback_timeout + HOOK_MARGIN) }
        });
        options.hooks.insert(event, hooks.collect());
    }
    options.sandbox = it.sandbox.map(|sandbox| translated(&sandbox));
    options.setting_sources =
        it.setting_sources.map(|sources| sources.into_iter().map(|it| it.as_str().to_owned()).collect());
    options.betas = it.betas.unwrap_or_default();
    options.output_schema = it.output_format.map(|format| format.schema.0);
    options.plugins = it.plugins.unwrap_or_default().into_iter().map(|plugin| plugin.path.into()).collect();
    Prepared { options, sdk_session_id }
}

pub(crate) fn mode(mode: payload::PermissionMode) -> musher_claude::PermissionMode {
    use musher_claude::PermissionMode as Ours;
    match mode {
        payload::PermissionMode::Default => Ours::Default,
        payload::PermissionMode::AcceptEdits => Ours::AcceptEdits,
        payload::PermissionMode::BypassPermissions => Ours::BypassPermissions,
        payload::PermissionMode::Plan => Ours::Plan,
        payload::PermissionMode::DontAsk => Ours::DontAsk,
        payload::PermissionMode::Auto => Ours::Auto,
    }
}

/// Converts the keys of the sandbox settings to the CLI's spelling.
fn translated(sandbox: &SandboxSettings) -> Json {
    fn camel(key: &str) -> String {
        let mut words = key.split('_');
        let mut all = words.next().unwrap_or_default().to_owned();
        for word in words {
            let mut letters = word.chars();
            all.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            all.push_str(letters.as_str());
        }
        all
    }
    fn rename(value: Value) -> Value {
        let Value::Object(fields) = value else { return value };
        let renamed: Map<_, _> =
            fields.into_iter().map(|(key, value)| (camel(&key), rename(value))).collect();
        Value::Object(renamed)
    }
    sandbox.0.to_value().map_or_else(|_| Json::empty_object(), |value| Json::from(rename(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(options: Value) -> Prepared {
        for_claude(serde_json::from_value(options).unwrap(), Duration::from_mins(5))
    }

    fn words(prepared: &Prepared) -> Vec<String> {
        let args = prepared.options.args();
        let ours = args.into_iter().skip(4).map(|word| word.into_string().unwrap());
        ours.filter(|word| !word.starts_with("--session-id=")).collect()
    }

    #[test]
    fn new_session_gets_our_id_and_resumed_session_does_not() {
        let fresh = options(json!({}));
        let word = format!("--session-id={}", fresh.sdk_session_id);
        assert!(fresh.options.args().contains(&word.into()));
        let resumed = options(json!({"resume": "abc", "resume_session_at": "m"}));
        assert_eq!(resumed.sdk_session_id, "abc");
        assert_eq!(words(&resumed), ["--resume=abc", "--resume-session-at=m"]);
        let forked = options(json!({"resume": "abc", "fork_session": true}));
        assert_ne!(forked.sdk_session_id, "abc");
        assert_eq!(words(&forked), ["--resume=abc", "--fork-session"]);
    }

    #[test]
    fn prompts_hooks_and_agents_are_in_the_first_request() {
        assert_eq!(options(json!({})).options.initialize().text(), r#"{"hooks":null,"systemPrompt":[""]}"#);
        let preset = json!({"system_prompt": {"type": "preset", "preset": "claude_code", "append": "x"}});
        assert_eq!(options(preset).options.initialize().text(), r#"{"hooks":null,"appendSystemPrompt":"x"}"#);
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash"}, {}], "Stop": [{}]}});
        assert_eq!(
            options(hooks).options.initialize().to_value().unwrap()["hooks"],
            json!({
                "PreToolUse": [
                    {"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 330},
                    {"matcher": null, "hookCallbackIds": ["hook_1"], "timeout": 330}
                ],
                "Stop": [{"matcher": null, "hookCallbackIds": ["hook_2"], "timeout": 330}]
            })
        );
    }

    #[test]
    fn sandbox_is_spelled_as_the_cli_does() {
        let sandbox = json!({"sandbox": {
            "enabled": true, "auto_allow_bash_if_sandboxed": true, "excludedCommands": ["git"],
            "network": {"allow_unix_sockets": ["/s"]}, "ignore_violations": {"file": ["/f"]}
        }});
        let expected = json!({"sandbox": {
            "enabled": true, "autoAllowBashIfSandboxed": true, "excludedCommands": ["git"],
            "network": {"allowUnixSockets": ["/s"]}, "ignoreViolations": {"file": ["/f"]}
        }});
        assert_eq!(words(&options(sandbox)), [format!("--settings={expected}")]);
    }

    #[test]
    fn invalid_options_are_reported_before_a_process_is_started() {
        let none = SessionOptions::default();
        assert_eq!(invalid_option(&none, "/"), None);
        assert!(invalid_option(&none, "/no/such/folder").is_some());
        let poor = SessionOptions { max_budget_usd: Some(0.0), ..SessionOptions::default() };
        assert!(invalid_option(&poor, "/").is_some());
        let lonely = SessionOptions { fork_session: Some(true), ..SessionOptions::default() };
        assert!(invalid_option(&lonely, "/").is_some());
    }
}
