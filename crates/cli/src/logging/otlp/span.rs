//! A span that is being recorded, and its attributes.

use std::fmt;
use std::time::SystemTime;

use tracing::field::{Field, Visit};

use crate::logging::secrets::Secrets;

/// The maximum number of events of a span; more are counted.
const MAX_EVENTS: usize = 128;
/// The longest text of an attribute, in bytes, as in a line of the log.
const MAX_TEXT: usize = 4096;
/// Field of a span with the place of its request in the trace of the client.
const TRACE_PARENT: &str = "traceparent";

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
}

/// Something that happened during a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanEvent {
    pub(super) at: SystemTime,
    pub(super) name: String,
    pub(super) attributes: Vec<(&'static str, Value)>,
}

/// A span.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) trace_id: [u8; 16],
    pub(super) id: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    pub(super) name: &'static str,
    pub(super) begin: SystemTime,
    pub(super) end: SystemTime,
    pub(super) attributes: Vec<(&'static str, Value)>,
    pub(super) events: Vec<SpanEvent>,
    pub(super) dropped_events: usize,
    pub(super) has_failed: bool,
    /// Whether the caller of the request records the trace; if not, neither do we.
    pub(super) is_sampled: bool,
}

impl Span {
    /// Adds an event. One with `is_error = true` marks the span as failed.
    pub(super) fn add(&mut self, event: SpanEvent) {
        self.has_failed |= event.attributes.contains(&("is_error", Value::Bool(true)));
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        } else {
            self.dropped_events += 1;
        }
    }
}

/// Collects the fields of a span or of an event.
pub(super) struct Fields<'a> {
    pub(super) secrets: &'a Secrets,
    pub(super) attributes: Vec<(&'static str, Value)>,
    pub(super) message: Option<String>,
    pub(super) trace_parent: Option<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(secrets: &'a Secrets) -> Self {
        Self { secrets, attributes: Vec::new(), message: None, trace_parent: None }
    }

    fn text(&mut self, field: &Field, text: &str) {
        let mut text = self.secrets.masked(text).into_owned();
        if text.len() > MAX_TEXT {
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        }
        match field.name() {
            "message" => self.message = Some(text),
            TRACE_PARENT => self.trace_parent = Some(text),
            name => self.attributes.push((name, Value::Text(text))),
        }
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.attributes.push((field.name(), Value::Integer(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).map_or_else(|_large| Value::Text(value.to_string()), Value::Integer);
        self.attributes.push((field.name(), value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.attributes.push((field.name(), Value::Float(value)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.attributes.push((field.name(), Value::Bool(value)));
    }
}
