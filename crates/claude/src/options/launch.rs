//! Converts options to command-line arguments, environment variables and the first request.
//!
//! A value is always part of the same argument as its flag (`--flag=value`): as an argument of its own, a value that starts with a dash
//! would be parsed as a flag.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use musher_rpc::{Bound, Launch, Limits, MAX_LINE_LIMIT, ParentDeath};
use musher_wire::{Extra, Json};
use serde::Serialize;
use tempfile::NamedTempFile;

use super::{Hook, Options, SessionSource, SystemPrompt};
use crate::protocol::print;

/// Longer values go into a file: Linux limits one argument to 128 KiB.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

const MIB: usize = 1024 * 1024;

/// A launch, and the files that must exist as long as the CLI runs.
pub(crate) struct Started {
    pub(crate) launch: Launch,
    pub(crate) files: Vec<NamedTempFile>,
}

impl Options {
    /// Returns the command-line arguments after the program's name.
    ///
    /// An MCP configuration that is too long for an argument is missing: it goes into a file when a session is started.
    pub fn args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = [
            "--output-format=stream-json",
            "--input-format=stream-json",
            "--verbose",
            "--permission-prompt-tool=stdio",
        ]
        .map(Into::into)
        .into();
        let mut flag = |name: &str, value: &str| args.push(format!("{name}={value}").into());
        let mut maybe = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                flag(name, &value);
            }
        };
        maybe("--model", self.model.clone());
        maybe("--fallback-model", self.fallback_model.clone());
        maybe("--permission-mode", self.permission_mode.map(|mode| mode.as_str().to_owned()));
        maybe("--tools", self.tools.as_ref().map(|tools| tools.join(",")));
        maybe("--allowedTools", joined(&self.allowed_tools));
        maybe("--disallowedTools", joined(&self.disallowed_tools));
        maybe("--max-turns", self.max_turns.map(|turns| turns.to_string()));
        maybe("--max-budget-usd", self.max_budget_usd.map(|dollars| dollars.to_string()));
        maybe("--max-thinking-tokens", self.max_thinking_tokens.map(|tokens| tokens.to_string()));
        maybe("--betas", joined(&self.betas));
        maybe("--setting-sources", self.setting_sources.as_ref().map(|sources| sources.join(",")));
        maybe("--settings", self.settings());
        maybe("--mcp-config", self.mcp_config().filter(|config| !self.needs_mcp_file(config)));
        maybe("--json-schema", self.short_schema());
        self.session_args(&mut maybe);

        let mut folder = |name: &str, folder: &Path| {
            let mut word = OsString::from(format!("{name}="));
            word.push(folder);
            args.push(word);
        };
        self.additional_directories.iter().for_each(|directory| folder("--add-dir", directory));
        self.plugins.iter().for_each(|plugin| folder("--plugin-dir", plugin));

        let bypasses = self.permission_mode == Some(crate::PermissionMode::BypassPermissions);
        for (is_set, word) in [
            (bypasses || self.allow_dangerously_skip_permissions, "--allow-dangerously-skip-permissions"),
            (self.include_partial_messages, "--include-partial-messages"),
            (self.strict_mcp_config, "--strict-mcp-config"),
            (self.enable_file_checkpointing, "--replay-user-messages"),
            (matches!(self.session, SessionSource::Fork { .. }), "--fork-session"),
        ] {
            if is_set {
                args.push(word.into());
            }
        }
        args.extend(self.extra_args.iter().map(Into::into));
        args
    }

    /// Returns the body of the first request.
    pub fn initialize(&self) -> Json {
        let hooks: Option<Extra> = (!self.hooks.is_empty()).then(|| {
            let mut all = Extra::default();
            for (event, hooks) in &self.hooks {
                let hooks: Vec<_> = hooks.iter().map(Registration::of).collect();
                all.insert(event, Json::new(&hooks).unwrap_or_else(|_| Json::null()));
            }
            all
        });
        let mut fields = Extra::default();
        let mut field = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                fields.insert(name, value);
            }
        };
        field("hooks", Some(hooks.map_or_else(Json::null, |hooks| raw(&hooks))));
        field("agents", self.agents.clone());
        field("sdkMcpServers", (!self.sdk_mcp_servers.is_empty()).then(|| raw(&self.sdk_mcp_servers)));
        match &self.system_prompt {
            SystemPrompt::Preset => {}
            SystemPrompt::Append(text) => field("appendSystemPrompt", Some(raw(text))),
            SystemPrompt::Custom(text) => field("systemPrompt", Some(raw(&[text]))),
        }
        let has_long_schema = self.short_schema().is_none();
        field("jsonSchema", self.output_schema.clone().filter(|_| has_long_schema));
        raw(&fields)
    }

    /// Prepares the launch of the CLI in a directory.
    pub(crate) fn start(&self, program: &Path, cwd: &Path) -> io::Result<Started> {
        let limits = Limits {
            line: MAX_LINE_LIMIT,
            incoming: Bound { messages: 32, bytes: 4 * MIB },
            data: Bound { messages: 1024, bytes: 16 * MIB },
            ..Limits::default()
        };
        let mut launch = Launch::new(program)
            .args(self.args())
            .cwd(cwd)
            // otherwise the CLI assumes that it runs inside another one
            .env_remove("CLAUDECODE")
            .env_remove("NODE_OPTIONS")
            .env("CLAUDE_CODE_ENTRYPOINT", "sdk-musher")
            .limits(limits)
            .stderr_tail(4 * 1024)
            // the CLI writes its transcript until the end
            .grace(Duration::from_secs(5))
            .grace_after_interrupt(Duration::from_secs(2))
            .grace_after_term(Duration::from_secs(1))
            // a killed CLI would leave a running tool behind
            .on_parent_death(ParentDeath::Interrupt);
        if self.enable_file_checkpointing {
            launch = launch.env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
        }
        let mut files = Vec::new();
        if let Some(config) = self.mcp_config().filter(|config| self.needs_mcp_file(config)) {
            let mut file = tempfile::Builder::new().prefix("musher-mcp-").suffix(".json").tempfile()?;
            file.write_all(config.as_bytes())?;
            let mut word = OsString::from("--mcp-config=");
            word.push(file.path());
            launch = launch.arg(word);
            files.push(file);
        }
        for (name, value) in &self.env {
            launch = launch.env(name, value);
        }
        Ok(Started { launch, files })
    }

    fn session_args(&self, maybe: &mut impl FnMut(&str, Option<String>)) {
        match &self.session {
            SessionSource::New => {}
            SessionSource::NewWithId(id) => maybe("--session-id", Some(id.clone())),
            SessionSource::Resume { id, at } => {
                maybe("--resume", Some(id.clone()));
                maybe("--resume-session-at", at.clone());
            }
            SessionSource::Fork { id, at, new_id } => {
                maybe("--resume", Some(id.clone()));
                maybe("--resume-session-at", at.clone());
                maybe("--session-id", new_id.clone());
            }
        }
    }

    fn settings(&self) -> Option<String> {
        #[derive(Serialize)]
        struct Settings<'a> {
            sandbox: &'a Json,
        }
        self.sandbox.as_ref().map(|sandbox| print(&Settings { sandbox }))
    }

    fn mcp_config(&self) -> Option<String> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Config<'a> {
            mcp_servers: &'a Extra,
        }
        let mut servers = self.mcp_servers.clone();
        for name in &self.sdk_mcp_servers {
            servers.insert(name, serde_json::json!({"type": "sdk", "name": name}));
        }
        (!servers.is_empty()).then(|| print(&Config { mcp_servers: &servers }))
    }

    /// Returns whether MCP servers are passed in a private file: every process can read arguments, and servers have keys.
    fn needs_mcp_file(&self, config: &str) -> bool {
        !self.mcp_servers.is_empty() || config.len() > MAX_ARGUMENT_BYTES
    }

    fn short_schema(&self) -> Option<String> {
        self.output_schema
            .as_ref()
            .map(|schema| schema.text().to_owned())
            .filter(|it| it.len() <= MAX_ARGUMENT_BYTES)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Registration<'a> {
    matcher: Option<&'a str>,
    hook_callback_ids: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

impl<'a> Registration<'a> {
    fn of(hook: &'a Hook) -> Self {
        Self {
            matcher: hook.matcher.as_deref(),
            hook_callback_ids: [&hook.callback_id],
            // never zero, which has another meaning
            timeout: hook.timeout.map(|timeout| timeout.as_secs().max(1)),
        }
    }
}

fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(","))
}

fn raw<T: Serialize + ?Sized>(value: &T) -> Json {
    // strings, lists of strings and raw JSON: serializing cannot fail
    Json::new(value).unwrap_or_else(|_| Json::null())
}
