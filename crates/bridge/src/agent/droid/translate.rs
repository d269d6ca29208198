//! Events of a turn as messages of the front end's protocol. Pure: no task, no clock; ids come from a function.
//!
//! The order is that of the Claude Code CLI: `system/init`, then for each answer of the model its pieces (if requested), one
//! `assistant` message for each block, a `user` message for each tool result, and at the end one `result`.

mod ending;

use std::collections::BTreeMap;

use musher::wire::{ContentBlock, DroidWorkingState, LlmRetryReason, Message};
use musher::{Event, ToolOutcome};
use musher_claude::PermissionMode as Mode;
use serde_json::{Value, json};

use super::ask::ToolCall;
use super::blocks;
use super::stream::{Kind, Stream};

/// The session data in the `init` message of each turn.
#[derive(Debug, Clone)]
pub(super) struct SessionInfo {
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) model: String,
    pub(super) mode: Mode,
    pub(super) tools: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) skills: Vec<String>,
    /// Each with `name` and `status`.
    pub(super) servers: Value,
}

/// Which messages the front end requested.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutputOptions {
    pub(super) partial: bool,
    pub(super) echo: bool,
    pub(super) max_turns: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Translator {
    pub(super) info: SessionInfo,
    options: OutputOptions,
    new_id: fn() -> String,
    /// What was used so far, by model.
    totals: BTreeMap<String, Totals>,
    stream: Stream,
    turn: Turn,
}

/// What was used of a model.
#[derive(Debug, Default)]
struct Totals {
    /// Input, output, written to and read from the cache.
    tokens: [u64; 4],
    /// The cost in US dollars, as far as the agent knows prices.
    usd: f64,
}

/// The state of the running turn.
#[derive(Debug, Default)]
struct Turn {
    /// The message it began with.
    id: String,
    steps: u64,
    /// Tool calls without a result.
    open_calls: Vec<(String, String)>,
    calls: Vec<String>,
    denials: Vec<Value>,
    is_compacting: bool,
    is_echoed: bool,
    /// Why the bridge stopped it, if it did.
    stopped: Option<Stopped>,
    stop_reason: Option<&'static str>,
}

/// Why the bridge stops a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It reached the maximum number of turns.
    MaxTurns,
    /// The front end denied a request and asked to interrupt.
    Refusal,
}

impl Translator {
    pub(super) fn new(info: SessionInfo, options: OutputOptions, new_id: fn() -> String) -> Self {
        let (stream, turn) = (Stream::default(), Turn::default());
        Self { info, options, new_id, totals: BTreeMap::new(), stream, turn }
    }

    /// Begins a turn; returns its `init` message.
    pub(super) fn begin(&mut self, turn_id: &str) -> String {
        self.stream.retract();
        self.turn = Turn { id: turn_id.to_owned(), ..Turn::default() };
        let SessionInfo { cwd, model, mode, tools, commands, skills, servers, .. } = &self.info;
        self.message(json!({
            "type": "system", "subtype": "init", "cwd": cwd, "tools": tools, "mcp_servers": servers, "model": model,
            "permissionMode": mode.as_str(), "slash_commands": commands, "apiKeySource": "none",
            // there is none, and parsers want the field
            "claude_code_version": "",
            "output_style": "default", "agents": [], "skills": skills, "plugins": [],
        }))
    }

    /// Translates an event of the turn.
    pub(super) fn event(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::TextDelta(it) => self.piece(Kind::Text, &it.message_id, it.block_index, &it.text),
            Event::ThinkingDelta(it) => self.piece(Kind::Thinking, &it.message_id, it.block_index, &it.text),
            Event::Assistant(message) => self.assistant(message),
            Event::User(message) => self.user(message),
            Event::ToolResult(outcome) => vec![self.tool_result(outcome)],
            Event::System(message) => {
                let content = message.text();
                vec![self.system("informational", json!({"content": content, "level": "info"}))]
            }
            Event::Retry(retry) => {
                let error = match retry.reason {
                    LlmRetryReason::RateLimited => "rate_limit",
                    LlmRetryReason::Overloaded => "overloaded",
                    _ => "unknown",
                };
                let fields = json!({
                    "attempt": retry.attempt, "max_retries": null, "retry_delay_ms": retry.delay.map(|delay| delay.as_millis()), "error_status": null, "error": error,
                });
                vec![self.system("api_retry", fields)]
            }
            Event::Retracted { .. } => {
                self.stream.retract();
                Vec::new()
            }
            Event::State(state) => self.state(state),
            Event::Result(result) => self.result(result),
            _ => Vec::new(),
        }
    }

    /// Sets the mode; returns a message if it changed.
    pub(super) fn mode_is(&mut self, mode: Mode) -> Option<String> {
        if self.info.mode == mode {
            return None;
        }
        self.info.mode = mode;
        Some(self.system("status", json!({"status": null, "permissionMode": mode.as_str()})))
    }

    /// Records a denied tool call.
    pub(super) fn denied(&mut self, told: &ToolCall) {
        self.turn
            .denials
            .push(json!({"tool_name": told.name, "tool_use_id": told.id, "tool_input": told.input}));
    }

    /// Records why the bridge stops the turn.
    pub(super) fn stopping(&mut self, why: Stopped) {
        self.turn.stopped.get_or_insert(why);
    }

    /// Returns whether the turn reached its maximum number of answers, with all tool results, and would continue.
    pub(super) fn is_spent(&self) -> bool {
        let turn = &self.turn;
        self.options.max_turns.is_some_and(|max| turn.steps >= max)
            && turn.stop_reason == Some("tool_use")
            && turn.open_calls.is_empty()
            && turn.stopped.is_none()
    }

    /// Returns whether the front end knows this tool call.
    pub(super) fn knows_call(&self, id: &str) -> bool {
        self.turn.calls.iter().any(|known| known == id)
    }

    /// Returns the open call of a tool, by the agent's name for it.
    pub(super) fn open_call(&self, name: &str) -> Option<&str> {
        self.turn.open_calls.iter().find(|(_, tool)| tool == name).map(|(id, _)| id.as_str())
    }

    fn piece(&mut self, kind: Kind, message_id: &str, number: u64, text: &str) -> Vec<String> {
        let events = self.stream.piece(kind, message_id, number, text, &self.info.model);
        self.stream_events(events)
    }

    fn stream_events(&self, events: Vec<Value>) -> Vec<String> {
        if !self.options.partial {
            return Vec::new();
        }
        let messages = events.into_iter();
        messages
            .map(|event| {
                self.message(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
            })
            .collect()
    }

    fn assistant(&mut self, message: &Message) -> Vec<String> {
        let model = message.model_id.clone().unwrap_or_else(|| self.info.model.clone());
        self.turn.steps += 1;
        self.turn.stop_reason = Some("end_turn");
        for block in &message.content {
            if let ContentBlock::ToolUse(call) = block {
                self.turn.stop_reason = Some("tool_use");
                self.turn.calls.push(call.id.clone());
                self.turn.open_calls.push((call.id.clone(), call.name.clone()));
            }
        }
        let (before, after) = self.stream.whole(message, &model);
        let mut messages = self.stream_events(before);
        for block in &message.content {
            let message = blocks::message(&message.id, &model, &[blocks::block(block)]);
            messages.push(
                self.message(json!({"type": "assistant", "message": message, "parent_tool_use_id": null})),
            );
        }
        messages.extend(self.stream_events(after));
        messages
    }

    fn user(&mut self, message: &Message) -> Vec<String> {
        // old agents ignore our id, but send the user's message first
        let is_echo = message.id == self.turn.id || !self.turn.is_echoed;
        self.turn.is_echoed = true;
        if is_echo && !self.options.echo {
            return Vec::new();
        }
        let content: Vec<_> = message.content.iter().map(blocks::block).collect();
        let flag = if is_echo { "isReplay" } else { "isSynthetic" };
        let mut told = json!({
            "type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null, flag: true,
        });
        if is_echo {
            // the id that `rewindFiles` takes
            told["uuid"] = json!(message.id);
        }
        vec![self.message(told)]
    }

    fn tool_result(&mut self, outcome: &ToolOutcome) -> String {
        self.turn.open_calls.retain(|(id, _)| *id != outcome.tool_use_id);
        let block = blocks::tool_result(&outcome.tool_use_id, &outcome.content, outcome.is_error);
        let raw = block["content"].clone();
        self.message(json!({
            "type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": null, "tool_use_result": raw,
        }))
    }

    fn state(&mut self, state: &DroidWorkingState) -> Vec<String> {
        let is_compacting = *state == DroidWorkingState::CompactingConversation;
        if is_compacting == self.turn.is_compacting {
            return Vec::new();
        }
        self.turn.is_compacting = is_compacting;
        vec![self.system("status", json!({"status": is_compacting.then_some("compacting")}))]
    }

    /// Ends an open message early; emits its text if `wants_text`.
    fn cut(&mut self, wants_text: bool) -> Vec<String> {
        let Some((id, text, events)) = self.stream.cut() else { return Vec::new() };
        let mut messages = Vec::new();
        if wants_text && !text.is_empty() {
            let message = blocks::message(&id, &self.info.model, &[json!({"type": "text", "text": text})]);
            messages.push(self.message(
                json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "aborted": true}),
            ));
        }
        messages.extend(self.stream_events(events));
        messages
    }

    fn system(&self, subtype: &str, mut fields: Value) -> String {
        fields["type"] = json!("system");
        fields["subtype"] = json!(subtype);
        self.message(fields)
    }

    /// Returns the line of a message, with the fields that every message has.
    fn message(&self, mut fields: Value) -> String {
        fields["session_id"] = json!(self.info.session_id);
        if fields.get("uuid").is_none() {
            fields["uuid"] = json!((self.new_id)());
        }
        fields.to_string()
    }
}

#[cfg(test)]
mod tests;
