//! Between the two dialects: exec mode, which sessions speak, and daemon mode, which adds the session to each message. Pure.

use musher_wire::{Frame, Json, Notification, Word};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The prefix of methods in exec mode.
const EXEC: &str = "droid.";
/// The prefix of methods in daemon mode.
const DAEMON: &str = "daemon.";

/// The method with which this crate tells a session that notifications are missing. Never sent over a network.
pub(crate) const GAP: &str = "musher.connection_gap";

/// Returns the method as a daemon names it. Methods of daemons and extensions stay as they are.
pub(super) fn to_daemon(method: &str) -> Word {
    match method.strip_prefix(EXEC) {
        Some(name) => format!("{DAEMON}{name}").into(),
        None => method.to_owned().into(),
    }
}

/// Returns the method as exec mode names it.
pub(super) fn to_exec(method: &str) -> Word {
    match method.strip_prefix(DAEMON) {
        Some("session_notification") => Word::Borrowed("droid.session_notification"),
        Some(name) => format!("{EXEC}{name}").into(),
        None => method.to_owned().into(),
    }
}

/// Adds a text field to an object, without parsing the rest of it: prompts can hold megabytes.
pub(super) fn with_field(object: Option<&Json>, key: &str, value: &str) -> Json {
    let text = object.map_or("{}", Json::text);
    let field = format!("{}:{}", Value::from(key), Value::from(value));
    let spliced = match text.strip_prefix('{').map(str::trim_start) {
        Some("}") | None => format!("{{{field}}}"),
        Some(rest) => format!("{{{field},{rest}"),
    };
    RawValue::from_string(spliced).map_or_else(|_| Json::from(json!({key: value})), Json::from)
}

/// The addressee of a message of a daemon, and its place in the order of the session.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(rename = "sessionId", default)]
    pub(super) session_id: Option<String>,
    /// Only our own daemon counts its notifications.
    #[serde(default)]
    pub(super) sequence: Option<u64>,
    #[serde(borrow, default)]
    pub(super) notification: Option<&'a RawValue>,
}

impl<'a> Head<'a> {
    pub(super) fn of(params: Option<&'a Json>) -> Self {
        params.and_then(|params| serde_json::from_str(params.text()).ok()).unwrap_or_default()
    }
}

/// The parts of a notification that decide how it is routed. Other notifications have fields of the same names and other types.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Facts<'a> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    request_id: Option<Value>,
    turn_id: Option<Value>,
    new_state: Option<Value>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(notification: Option<&'a RawValue>) -> Self {
        let text = notification.map(RawValue::get);
        // deltas are most of the traffic, and nothing in them matters here
        let is_delta = |text: &&str| text.starts_with(r#"{"type":"assistant_text_delta""#);
        text.filter(|text| !is_delta(text))
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// Returns the id of the message that was created.
    pub(super) fn message_id(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Message {
            id: String,
        }
        serde_json::from_str::<Message>(self.message?.get()).ok().map(|message| message.id)
    }

    pub(super) fn request_id(&self) -> Option<&str> {
        self.request_id.as_ref()?.as_str()
    }

    pub(super) fn turn_id(&self) -> Option<&str> {
        self.turn_id.as_ref()?.as_str()
    }

    /// Returns whether the agent became idle.
    pub(super) fn is_idle(&self) -> bool {
        self.new_state.as_ref().is_some_and(|state| state == "idle")
    }
}

/// Returns a notification of a session as exec mode has it, made on this side.
pub(super) fn notification(session: &str, content: &Value) -> Frame {
    let params = json!({"sessionId": session, "notification": content});
    Frame::Notification(Notification::new("droid.session_notification", Json::from(params)))
}

/// Returns the message that notifications are missing.
pub(super) fn gap(session: &str, reason: &str) -> Frame {
    Frame::Notification(Notification::new(GAP, Json::from(json!({"sessionId": session, "reason": reason}))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_change_their_prefix_and_extensions_do_not() {
        assert_eq!(to_daemon("droid.add_user_message"), "daemon.add_user_message");
        assert_eq!(to_daemon("daemon.list_inbox"), "daemon.list_inbox");
        assert_eq!(to_exec("daemon.request_permission"), "droid.request_permission");
        assert_eq!(to_exec("musher.read_text_file"), "musher.read_text_file");
    }

    #[test]
    fn field_is_added_to_any_object() {
        let added = |text: &str| {
            let object = Json::new(&RawValue::from_string(text.to_owned()).unwrap()).unwrap();
            with_field(Some(&object), "sessionId", "a\"b").text().to_owned()
        };
        assert_eq!(added("{}"), r#"{"sessionId":"a\"b"}"#);
        assert_eq!(added(r#"{"text":"{}"}"#), r#"{"sessionId":"a\"b","text":"{}"}"#);
        assert_eq!(added("{ \n }"), r#"{"sessionId":"a\"b"}"#);
        assert_eq!(added("[1]"), r#"{"sessionId":"a\"b"}"#);
        assert_eq!(with_field(None, "k", "v").text(), r#"{"k":"v"}"#);
    }

    #[test]
    fn facts_of_a_notification_are_read_and_deltas_are_skipped() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let created = raw(r#"{"type":"create_message","message":{"id":"m","role":"user","content":[]}}"#);
        let facts = Facts::of(Some(&created));
        assert_eq!((facts.kind.as_str(), facts.message_id().as_deref()), ("create_message", Some("m")));
        let exited = raw(r#"{"type":"session_process_exited","message":"killed","newState":1}"#);
        assert_eq!(Facts::of(Some(&exited)).kind, "session_process_exited");
        let delta = raw(r#"{"type":"assistant_text_delta","textDelta":"x"}"#);
        assert_eq!(Facts::of(Some(&delta)).kind, "");
    }
}
