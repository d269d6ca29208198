//! Questions to the front end: which are open, until when, and what an answer means. No clock of its own.

use std::collections::HashMap;

use musher_claude::{Extra, HookOutput, Json, Permission};
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use crate::agent::{Answer, QuestionKind};
use crate::wire::frame::{Code, ErrorPayload};
use crate::wire::payload::kind_of;

/// The open questions of one session.
#[derive(Debug)]
pub(crate) struct Callbacks<K> {
    open: HashMap<String, Open<K>>,
}

#[derive(Debug)]
struct Open<K> {
    key: K,
    kind: QuestionKind,
    deadline: Instant,
}

impl<K: Clone + PartialEq> Callbacks<K> {
    pub(crate) fn new() -> Self {
        Self { open: HashMap::new() }
    }

    /// Adds a question of the agent and gives the id it has for the front end.
    pub(crate) fn ask(&mut self, key: K, kind: QuestionKind, deadline: Instant) -> String {
        let id = Uuid::new_v4().to_string();
        self.open.insert(id.clone(), Open { key, kind, deadline });
        id
    }

    /// Reads an answer. One that cannot be read leaves the question open.
    pub(crate) fn answer(&mut self, id: &str, payload: &Extra) -> Result<(K, Answer), ErrorPayload> {
        let open = self.open.get(id).ok_or_else(|| {
            ErrorPayload::new(Code::CallbackNotFound, format!("there is no open callback `{id}`"))
        })?;
        let answer = match open.kind {
            QuestionKind::Permission => permission(payload).map(Answer::Permission),
            QuestionKind::Hook => hook(payload).map(Answer::Hook),
        }?;
        let key = open.key.clone();
        self.open.remove(id);
        Ok((key, answer))
    }

    /// The agent takes a question back.
    pub(crate) fn cancel(&mut self, key: &K) {
        self.open.retain(|_, open| open.key != *key);
    }

    /// When the next one has to be answered.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().map(|open| open.deadline).min()
    }

    /// Takes out those whose time is over, with what the agent is answered in the front end's place.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<(String, K, Answer)> {
        let late: Vec<_> =
            self.open.iter().filter(|(_, open)| open.deadline <= now).map(|(id, _)| id.clone()).collect();
        let taken = late.into_iter().filter_map(|id| self.open.remove(&id).map(|open| (id, open)));
        let answered = taken.map(|(id, open)| {
            let answer = match open.kind {
                QuestionKind::Permission => {
                    Answer::Permission(Permission::deny("Permission request timed out"))
                }
                QuestionKind::Hook => Answer::Hook(HookOutput::default()),
            };
            (id, open.key, answer)
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

/// The fields of an answer, each under one of several names; `null` is absent.
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
    let message = format!("`payload.{path}` is missing or wrong: expected {expected}");
    ErrorPayload::new(Code::InvalidMessage, message).details(json!({"path": path, "expected": expected}))
}

#[cfg(test)]
mod tests;
