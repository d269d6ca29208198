//! Prints a frame as one line of JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Envelope, Frame, Id};
use crate::Json;

pub(super) fn line(frame: &Frame) -> String {
    if let Frame::Malformed(malformed) = frame {
        return malformed.raw.to_string();
    }
    // printing cannot fail: all keys are strings, and all raw values are valid JSON
    let line = serde_json::to_string(frame).unwrap_or_default();
    // a raw payload may contain line breaks between tokens, where a space is equivalent; in strings, JSON forbids them
    if line.contains('\n') { line.replace('\n', " ") } else { line }
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Request(request) => {
                head(&mut map, &request.envelope)?;
                map.serialize_entry("id", &request.id)?;
                map.serialize_entry("method", &request.method)?;
                optional(&mut map, "params", request.params.as_ref())?;
                tail(&mut map, &request.envelope)?;
            }
            Self::Response(response) => {
                head(&mut map, &response.envelope)?;
                map.serialize_entry("id", &response.id)?;
                match &response.outcome {
                    Ok(result) => map.serialize_entry("result", result)?,
                    Err(error) => map.serialize_entry("error", error)?,
                }
                tail(&mut map, &response.envelope)?;
            }
            Self::Notification(notification) => {
                head(&mut map, &notification.envelope)?;
                map.serialize_entry("method", &notification.method)?;
                optional(&mut map, "params", notification.params.as_ref())?;
                tail(&mut map, &notification.envelope)?;
            }
            Self::Malformed(malformed) => {
                return Err(serde::ser::Error::custom(format_args!(
                    "cannot serialize a malformed frame: {}",
                    malformed.reason
                )));
            }
        }
        map.end()
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(text) => match serde_json::from_str::<Json>(text) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(text),
            },
            Self::Null => serializer.serialize_unit(),
        }
    }
}

fn head<M: SerializeMap>(map: &mut M, envelope: &Envelope) -> Result<(), M::Error> {
    optional(map, "jsonrpc", envelope.jsonrpc.as_ref())?;
    optional(map, "type", envelope.kind.as_ref())?;
    optional(map, "factoryApiVersion", envelope.api_version.as_ref())?;
    optional(map, "factoryProtocolVersion", envelope.protocol_version.as_ref())
}

fn tail<M: SerializeMap>(map: &mut M, envelope: &Envelope) -> Result<(), M::Error> {
    optional(map, "_meta", envelope.meta.as_ref())?;
    for (key, value) in envelope.extra.iter() {
        map.serialize_entry(key, value)?;
    }
    Ok(())
}

fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, value),
        None => Ok(()),
    }
}
