//! Callbacks of the front end: which are pending, their deadlines, and how answers are parsed. Has no clock of its own.

use std::collections::HashMap;

use musher_claude::{Extra, HookOutput, Json, Permission};
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use crate::agent::{Answer, QuestionKind};
use crate::wire::frame::{Code, ErrorPayload};
use crate::wire::payload::kind_of;

/// The pending callbacks of a session.
#[derive(Debug)]
pub(crate) struct Callbacks<K> {
    pending: HashMap<String, Pending<K>>,
}

#[derive(Debug)]
struct Pending<K> {
    key: K,
    kind: QuestionKind,
    deadline: Instant,
}

impl<K: Clone + PartialEq> Callbacks<K> {
    pub(crate) fn new() -> Self {
        Self { pending: HashMap::new() }
    }

    /// Adds a question of the agent and returns its callback id.
    pub(crate) fn ask(&mut self, key: K, kind: QuestionKind, deadline: Instant) -> String {
        let id = Uuid::new_v4().to_string();
        self.pending.insert(id.clone(), Pending { key, kind, deadline });
        id
    }

    /// Parses an answer. An invalid answer leaves the callback pending.
    pub(crate) fn answer(&mut self, id: &str, payload: &Extra) -> Result<(K, Answer), ErrorPayload> {
        let pending = self.pending.get(id).ok_or_else(|| {
            ErrorPayload::new(Code::CallbackNotFound, format!("no pending callback `{id}`"))
        })?;
        let answer = match pending.kind {
            QuestionKind::Permission => permission(payload).map(Answer::Permission),
            QuestionKind::Hook => hook(payload).map(Answer::Hook),
        }?;
        let key = pending.key.clone();
        self.pending.remove(id);
        Ok((key, answer))
    }

    /// Removes a question that the agent cancelled.
    pub(crate) fn cancel(&mut self, key: &K) {
        self.pending.retain(|_, pending| pending.key != *key);
    }

    /// Returns the deadline of the next callback.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.deadline).min()
    }

    /// Removes the callbacks whose deadline has passed, each with the default answer for the agent.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<(String, K, Answer)> {
        let late: Vec<_> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.deadline <= now)
            .map(|(id, _)| id.clone())
            .collect();
        let taken = late.into_iter().filter_map(|id| self.pending.remove(&id).map(|pending| (id, pending)));
        let answered = taken.map(|(id, pending)| {
            let answer = match pending.kind {
                QuestionKind::Permission => {
                    Answer::Permission(Permission::deny("Permission request timed out"))
                }
                QuestionKind::Hook => Answer::Hook(HookOutput::default()),
            };
            (id, pending.key, answer)
        });
        answered.collect()
    }
}

fn permission(payload: &Extra) -> Result<Permission, ErrorPayload> {
    let fields = Fields(payload);
    match fields.text(&["behavior"])?.as_deref() {
        Some("allow") => Ok(Permission::Allow {
            updated_input: fields.json(&["updated_input", "updatedInput"], "object")?,
            updated_permissions: fields.json(&["updated_permissions", "updatedPermissions"], "array")?,
        }),
        Some("deny") => Ok(Permission::Deny {
            message: fields.text(&["message"])?.unwrap_or_else(|| "Denied".to_owned()),
            interrupt: fields.flag(&["interrupt"])?,
        }),
        _ => Err(wrong("behavior", "\"allow\" or \"deny\"")),
    }
}

fn hook(payload: &Extra) -> Result<HookOutput, ErrorPayload> {
    let fields = Fields(payload);
    Ok(HookOutput {
        r#continue: fields.flag(&["continue"])?,
        suppress_output: fields.flag(&["suppress_output", "suppressOutput"])?,
        stop_reason: fields.text(&["stop_reason", "stopReason"])?,
        decision: fields.text(&["decision"])?,
        system_message: fields.text(&["system_message", "systemMessage"])?,
        reason: fields.text(&["reason"])?,
        hook_specific_output: fields.json(&["hook_specific_output", "hookSpecificOutput"], "object")?,
    })
}

/// The fields of an answer, each with one of several names; `null` counts as absent.
struct Fields<'a>(&'a Extra);

impl Fields<'_> {
    fn get(&self, names: &[&'static str]) -> Option<(&'static str, &Json)> {
        let named = names.iter().filter_map(|name| self.0.get(name).map(|value| (*name, value)));
        named.into_iter().find(|(_, value)| !value.is_null())
    }

    fn text(&self, names: &[&'static str]) -> Result<Option<String>, ErrorPayload> {
        let field = self.get(names);
        field.map(|(name, value)| value.to().map_err(|_shape| wrong(name, "a string"))).transpose()
    }

    fn flag(&self, names: &[&'static str]) -> Result<Option<bool>, ErrorPayload> {
        let field = self.get(names);
        field.map(|(name, value)| value.to().map_err(|_shape| wrong(name, "a boolean"))).transpose()
    }

    fn json(&self, names: &[&'static str], kind: &str) -> Result<Option<Json>, ErrorPayload> {
        match self.get(names) {
            Some((name, value)) if kind_of(value.text()) != kind => Err(wrong(name, kind)),
            field => Ok(field.map(|(_, value)| value.clone())),
        }
    }
}

fn wrong(path: &str, expected: &str) -> ErrorPayload {
    let message = format!("missing or invalid `payload.{path}`: expected {expected}");
    ErrorPayload::new(Code::InvalidMessage, message).details(json!({"path": path, "expected": expected}))
}

#[cfg(test)]
mod tests;
