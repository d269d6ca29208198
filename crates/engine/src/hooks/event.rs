//! The events at which hooks run, and the JSON a hook reads. The field names are droid's.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::env_file;

/// An event at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the fields have the names that hooks read")]
pub enum HookEvent<'a> {
    /// A tool is about to run; permission was not checked yet.
    PreToolUse { tool_name: &'a str, tool_input: &'a Map<String, Value> },
    /// A tool has run.
    PostToolUse { tool_name: &'a str, tool_input: &'a Map<String, Value>, tool_response: &'a str },
    /// The user has sent a prompt.
    UserPromptSubmit { message_id: &'a str, prompt: &'a str, has_images: bool },
    /// Something waits for the user.
    Notification { message: &'a str, notification_type: &'a str },
    /// The model has finished.
    Stop { message_id: &'a str, stop_hook_active: bool, tool_execution_count: u64, elapsed_time: u64 },
    /// A subagent has finished.
    SubagentStop { message_id: &'a str, stop_hook_active: bool, tool_execution_count: u64, elapsed_time: u64 },
    /// The conversation is about to be compacted; the trigger is `manual` or `auto`.
    PreCompact {
        trigger: &'a str,
        custom_instructions: Option<&'a str>,
        message_count: usize,
        estimated_tokens: u64,
        message_id: Option<&'a str>,
    },
    /// A session begins; the source is `startup`, `resume`, `clear` or `compact`.
    ///
    /// Hooks may write variables for commands to `env_file`.
    SessionStart { source: &'a str, message_id: Option<&'a str>, env_file: Option<&'a Path> },
    /// A session ends.
    SessionEnd {
        reason: &'a str,
        message_id: Option<&'a str>,
        session_duration_ms: u64,
        message_count: usize,
    },
}

/// The session, as every hook reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its log.
    pub transcript_path: &'a Path,
    /// Its working directory.
    pub cwd: &'a Path,
    /// `off`, `spec`, `auto-low` ...
    pub permission_mode: &'a str,
}

impl HookEvent<'_> {
    /// Returns the name in the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PreToolUse { .. } => "PreToolUse",
            Self::PostToolUse { .. } => "PostToolUse",
            Self::UserPromptSubmit { .. } => "UserPromptSubmit",
            Self::Notification { .. } => "Notification",
            Self::Stop { .. } => "Stop",
            Self::SubagentStop { .. } => "SubagentStop",
            Self::PreCompact { .. } => "PreCompact",
            Self::SessionStart { .. } => "SessionStart",
            Self::SessionEnd { .. } => "SessionEnd",
        }
    }

    /// Returns the text that patterns are matched against; `None` if every group matches.
    pub(super) fn subject(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { tool_name, .. } | Self::PostToolUse { tool_name, .. } => Some(tool_name),
            Self::Notification { notification_type, .. } => Some(notification_type),
            Self::PreCompact { trigger, .. } => Some(trigger),
            Self::SessionStart { source, .. } => Some(source),
            Self::SessionEnd { reason, .. } => Some(reason),
            Self::UserPromptSubmit { .. } | Self::Stop { .. } | Self::SubagentStop { .. } => None,
        }
    }

    /// Returns what clients see as the matcher: like droid, the tool, or how the session began.
    pub(super) fn shown_matcher(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { .. } | Self::PostToolUse { .. } | Self::SessionStart { .. } => self.subject(),
            _ => None,
        }
    }

    /// Returns the JSON a hook reads on standard input.
    pub fn input(&self, about: &About<'_>) -> Value {
        let mut input = json!({
            "session_id": about.session_id,
            "transcript_path": about.transcript_path,
            "cwd": about.cwd,
            "permission_mode": about.permission_mode,
            "hook_event_name": self.name(),
        });
        if let (Value::Object(input), Value::Object(own)) = (&mut input, self.own()) {
            input.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
        }
        input
    }

    fn own(&self) -> Value {
        match *self {
            Self::PreToolUse { tool_name, tool_input } => {
                json!({"tool_name": tool_name, "tool_input": tool_input})
            }
            Self::PostToolUse { tool_name, tool_input, tool_response } => {
                json!({"tool_name": tool_name, "tool_input": tool_input, "tool_response": tool_response})
            }
            Self::UserPromptSubmit { message_id, prompt, has_images } => {
                json!({"message_id": message_id, "prompt": prompt, "has_images": has_images})
            }
            Self::Notification { message, notification_type } => {
                json!({"message": message, "notification_type": notification_type})
            }
            Self::Stop { message_id, stop_hook_active, tool_execution_count, elapsed_time }
            | Self::SubagentStop { message_id, stop_hook_active, tool_execution_count, elapsed_time } => {
                json!({
                    "message_id": message_id,
                    "stop_hook_active": stop_hook_active,
                    "tool_execution_count": tool_execution_count,
                    "elapsed_time": elapsed_time,
                })
            }
            Self::PreCompact {
                trigger,
                custom_instructions,
                message_count,
                estimated_tokens,
                message_id,
            } => json!({
                "trigger": trigger,
                "custom_instructions": custom_instructions,
                "message_count": message_count,
                "estimated_tokens": estimated_tokens,
                "message_id": message_id,
            }),
            Self::SessionStart { source, message_id, env_file } => {
                json!({"source": source, "message_id": message_id, env_file::VARIABLE: env_file})
            }
            Self::SessionEnd { reason, message_id, session_duration_ms, message_count } => json!({
                "reason": reason,
                "message_id": message_id,
                "session_duration_ms": session_duration_ms,
                "message_count": message_count,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_input_has_the_fields_of_the_event() {
        let about = About {
            session_id: "s",
            transcript_path: Path::new("/h/s.jsonl"),
            cwd: Path::new("/w"),
            permission_mode: "off",
        };
        let tool_input = json!({"command": "ls"});
        let event =
            HookEvent::PreToolUse { tool_name: "Execute", tool_input: tool_input.as_object().unwrap() };
        let expected = json!({
            "session_id": "s", "transcript_path": "/h/s.jsonl", "cwd": "/w", "permission_mode": "off",
            "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": "ls"},
        });
        assert_eq!(event.input(&about), expected);
        let event = HookEvent::PreCompact {
            trigger: "auto",
            custom_instructions: None,
            message_count: 3,
            estimated_tokens: 9,
            message_id: None,
        };
        assert_eq!(event.input(&about).get("custom_instructions"), None);
        assert_eq!(event.subject(), Some("auto"));
    }
}
