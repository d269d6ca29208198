//! The moments at which hooks run, and what a hook reads then. The field names are droid's.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::env_file;

/// A moment at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the fields have the names that hooks read")]
pub enum Moment<'a> {
    /// A tool is about to run, before anybody is asked.
    PreToolUse { tool_name: &'a str, tool_input: &'a Map<String, Value> },
    /// A tool has run.
    PostToolUse { tool_name: &'a str, tool_input: &'a Map<String, Value>, tool_response: &'a str },
    /// The user has said something.
    UserPromptSubmit { message_id: &'a str, prompt: &'a str, has_images: bool },
    /// The user should look: something waits for them.
    Notification { message: &'a str, notification_type: &'a str },
    /// The model is done.
    Stop { message_id: &'a str, stop_hook_active: bool, tool_execution_count: u64, elapsed_time: u64 },
    /// A subagent is done.
    SubagentStop { message_id: &'a str, stop_hook_active: bool, tool_execution_count: u64, elapsed_time: u64 },
    /// The conversation is about to be summed up; the trigger is `manual` or `auto`.
    PreCompact {
        trigger: &'a str,
        custom_instructions: Option<&'a str>,
        message_count: usize,
        estimated_tokens: u64,
        message_id: Option<&'a str>,
    },
    /// A session begins; the source is `startup`, `resume`, `clear` or `compact`.
    ///
    /// In the file hooks may leave variables for commands.
    SessionStart { source: &'a str, message_id: Option<&'a str>, env_file: Option<&'a Path> },
    /// A session ends.
    SessionEnd {
        reason: &'a str,
        message_id: Option<&'a str>,
        session_duration_ms: u64,
        message_count: usize,
    },
}

/// What every hook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its log.
    pub transcript_path: &'a Path,
    /// Where it works.
    pub cwd: &'a Path,
    /// `off`, `spec`, `auto-low` ...
    pub permission_mode: &'a str,
}

impl Moment<'_> {
    /// The name in the configuration.
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

    /// What the pattern of a group is compared with; `None` if there is nothing, and every group fits.
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

    /// What clients are shown in the place of the pattern: droid tells them the tool, or how a session began.
    pub(super) fn shown_matcher(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { .. } | Self::PostToolUse { .. } | Self::SessionStart { .. } => self.subject(),
            _ => None,
        }
    }

    /// What a hook reads on its standard input.
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
    fn a_hook_is_told_what_happens() {
        let about = About {
            session_id: "s",
            transcript_path: Path::new("/h/s.jsonl"),
            cwd: Path::new("/w"),
            permission_mode: "off",
        };
        let tool_input = json!({"command": "ls"});
        let moment = Moment::PreToolUse { tool_name: "Execute", tool_input: tool_input.as_object().unwrap() };
        let expected = json!({
            "session_id": "s", "transcript_path": "/h/s.jsonl", "cwd": "/w", "permission_mode": "off",
            "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": "ls"},
        });
        assert_eq!(moment.input(&about), expected);
        let moment = Moment::PreCompact {
            trigger: "auto",
            custom_instructions: None,
            message_count: 3,
            estimated_tokens: 9,
            message_id: None,
        };
        assert_eq!(moment.input(&about).get("custom_instructions"), None);
        assert_eq!(moment.subject(), Some("auto"));
    }
}
