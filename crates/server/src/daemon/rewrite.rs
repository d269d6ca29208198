//! Between the dialects: `droid.*` of an agent, and `daemon.*` with a session id of clients. Pure.

use std::borrow::Cow;

use musher_wire::{Extra, Frame, Json, Notification, Request};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Returns the notification of a session for clients, with its sequence if they follow the session.
pub(crate) fn notification(session: &str, payload: &str, sequence: Option<u64>) -> Frame {
    let mut params = String::with_capacity(payload.len() + session.len() + 64);
    // ids are plain text: nothing in them needs an escape
    params.push_str("{\"sessionId\":\"");
    params.push_str(session);
    params.push_str("\",\"notification\":");
    params.push_str(payload);
    if let Some(sequence) = sequence {
        params.push_str(",\"sequence\":");
        params.push_str(&sequence.to_string());
    }
    params.push('}');
    // a payload is JSON when it is written to the journal; a damaged one must not damage the stream
    let params = RawValue::from_string(params).map_or_else(|_| Json::empty_object(), Json::from);
    Frame::Notification(Notification::new("daemon.session_notification", params))
}

/// Returns the notification in the params of an agent's message, as one line.
pub(crate) fn payload(params: &Json) -> Option<Payload<'_>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        notification: &'a RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params.text()).ok()?;
    let text = params.notification.get();
    let head: Head<'_> = serde_json::from_str(text).ok()?;
    let line = if text.contains(['\n', '\r']) {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        Cow::Owned(value.to_string())
    } else {
        Cow::Borrowed(text)
    };
    Some(Payload { line, head })
}

/// A notification, and the fields of it that the daemon reads.
#[derive(Debug)]
pub(crate) struct Payload<'a> {
    pub(crate) line: Cow<'a, str>,
    pub(crate) head: Head<'a>,
}

/// The fields of notifications that the daemon reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) new_state: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) request_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) title: Option<Cow<'a, str>>,
}

/// Returns the request of an agent, for clients.
pub(crate) fn question(session: &str, request: &Request) -> Frame {
    let method = request.method.strip_prefix("droid.").unwrap_or(&request.method);
    let mut params: Extra = request.params.as_ref().and_then(|params| params.to().ok()).unwrap_or_default();
    params.insert("sessionId", serde_json::Value::from(session));
    let params = Json::new(&params).unwrap_or_else(|_| Json::empty_object());
    Frame::Request(Request::new(request.id.clone(), format!("daemon.{method}"), params))
}

/// Fields that only the daemon reads.
const OURS: [&str; 10] = [
    "token",
    "afterSequence",
    "resumeTurn",
    "inactivityTimeoutMs",
    "disableInactivityTimeout",
    "runtimeSettingsPath",
    "worktree",
    "worktreeDir",
    "worktreeName",
    "worktreeBase",
];

/// Returns the call of a client, for the agent: under its method, with its `_meta`, without the fields of the daemon. The session id
/// stays where
/// `keeps_id` says so.
pub(crate) fn call(id: &str, method: &str, fields: &Extra, keeps_id: bool, meta: Option<Json>) -> Frame {
    let mut fields = fields.clone();
    for name in OURS {
        fields.remove(name);
    }
    if !keeps_id {
        fields.remove("sessionId");
    }
    let method = method.strip_prefix("daemon.").unwrap_or(method);
    let params = Json::new(&fields).unwrap_or_else(|_| Json::empty_object());
    let mut request = Request::new(id, format!("droid.{method}"), params);
    request.envelope.meta = meta;
    Frame::Request(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notification_has_the_session_and_the_sequence() {
        let frame = notification("s1", r#"{"type":"x","n":1}"#, Some(7));
        let Frame::Notification(it) = frame else { panic!() };
        assert_eq!(it.method, "daemon.session_notification");
        assert_eq!(
            it.params.unwrap().text(),
            r#"{"sessionId":"s1","notification":{"type":"x","n":1},"sequence":7}"#
        );
        let Frame::Notification(it) = notification("s1", "{}", None) else { panic!() };
        assert_eq!(it.params.unwrap().text(), r#"{"sessionId":"s1","notification":{}}"#);
    }

    #[test]
    fn payload_is_one_line() {
        let params: Json = serde_json::from_str("{\"sessionId\":\"s\",\"notification\":{\n\"type\":\"droid_working_state_changed\",\n\"newState\":\"idle\"}}").unwrap();
        let payload = payload(&params).unwrap();
        assert_eq!(payload.line, r#"{"type":"droid_working_state_changed","newState":"idle"}"#);
        assert_eq!(payload.head.new_state.as_deref(), Some("idle"));
        assert!(super::payload(&Json::empty_object()).is_none());
    }

    #[test]
    fn call_loses_the_credential_and_the_fields_of_the_daemon() {
        let fields: Extra =
            serde_json::from_str(r#"{"sessionId":"s","token":"secret","text":"hi","afterSequence":3}"#)
                .unwrap();
        assert_eq!(
            call("1", "daemon.add_user_message", &fields, false, None).to_line(),
            r#"{"jsonrpc":"2.0","type":"request","factoryApiVersion":"1.0.0","factoryProtocolVersion":"1.220.0","id":"1","method":"droid.add_user_message","params":{"text":"hi"}}"#
        );
        let load =
            call("1", "daemon.load_session", &fields, true, Some(Json::from(serde_json::json!({"a": 1}))));
        assert!(
            load.to_line().contains(r#""sessionId":"s""#) && load.to_line().contains(r#""_meta":{"a":1}"#)
        );
    }
}
