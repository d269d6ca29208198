//! Spans as OTLP in JSON: ids in hexadecimal digits, 64-bit integers as text. Pure.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::span::{Span, SpanEvent, Value};

/// An operation inside the process.
const KIND_INTERNAL: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// Returns the body of one export.
pub(super) fn body(resource: &[(String, String)], spans: &[Span]) -> Json {
    let resource: Vec<Json> =
        resource.iter().map(|(name, value)| json!({"key": name, "value": {"stringValue": value}})).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{
            "scope": {"name": "musher", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]})
}

fn span(span: &Span) -> Json {
    let mut json = json!({
        "traceId": hex(&span.trace_id),
        "spanId": hex(&span.id),
        "name": span.name,
        "kind": KIND_INTERNAL,
        "startTimeUnixNano": nanoseconds(span.begin),
        "endTimeUnixNano": nanoseconds(span.end),
        "attributes": attributes(&span.attributes),
        "events": span.events.iter().map(event).collect::<Vec<_>>(),
        "droppedEventsCount": span.dropped_events,
        "status": {},
    });
    if let Some(parent) = &span.parent {
        json["parentSpanId"] = Json::from(hex(parent));
    }
    if span.has_failed {
        json["status"] = json!({"code": STATUS_ERROR});
    }
    json
}

fn event(event: &SpanEvent) -> Json {
    json!({
        "timeUnixNano": nanoseconds(event.at),
        "name": event.name,
        "attributes": attributes(&event.attributes),
    })
}

fn attributes(attributes: &[(&'static str, Value)]) -> Json {
    let attribute = |(name, value): &(&'static str, Value)| {
        let value = match value {
            Value::Text(text) => json!({"stringValue": text}),
            Value::Integer(number) => json!({"intValue": number.to_string()}),
            Value::Float(number) => json!({"doubleValue": number}),
            Value::Bool(value) => json!({"boolValue": value}),
        };
        json!({"key": name, "value": value})
    };
    attributes.iter().map(attribute).collect()
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}
