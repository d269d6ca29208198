//! `traceparent` of W3C Trace Context, which peers send as `_meta.traceparent` with requests and notifications.

use std::fmt;

use crate::Json;

/// The place of a request in a trace: a valid `traceparent`, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
///
/// ```
/// use musher_wire::TraceParent;
///
/// let parent = TraceParent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
/// assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert!(parent.is_sampled());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceParent(Box<str>);

/// Length of version 00; later versions may be longer.
const LENGTH: usize = 55;

impl TraceParent {
    /// Parses a header value. Returns `None` if it is not valid, which the standard says to ignore.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
        let mut parts = text.split('-');
        let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_valid = is_hex(version, 2) && is_hex(trace, 32) && is_hex(parent, 16) && is_hex(flags, 2);
        let is_known = version != "ff" && (version != "00" || text.len() == LENGTH);
        (is_valid && is_known && !is_zero(trace) && !is_zero(parent)).then(|| Self(text[..LENGTH].into()))
    }

    /// Returns the parent of the `_meta` of a message.
    pub fn of_meta(meta: &Json) -> Option<Self> {
        Self::parse(meta.to_value().ok()?.get("traceparent")?.as_str()?)
    }

    /// Returns the `_meta` of a message with this parent.
    pub fn to_meta(&self) -> Json {
        Json::from(serde_json::json!({ "traceparent": *self.0 }))
    }

    /// Returns the header value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.0[3..35]
    }

    /// Returns the id of the span that made the request: 16 hexadecimal digits.
    pub fn parent_id(&self) -> &str {
        &self.0[36..52]
    }

    /// Returns whether the caller records the trace.
    pub fn is_sampled(&self) -> bool {
        u8::from_str_radix(&self.0[53..], 16).is_ok_and(|flags| flags & 1 == 1)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn valid_parent_is_read_from_meta_and_written_back() {
        let parent = TraceParent::parse(VALID).unwrap();
        assert_eq!(parent.as_str(), VALID);
        assert_eq!(parent.parent_id(), "00f067aa0ba902b7");
        assert_eq!(TraceParent::of_meta(&parent.to_meta()), Some(parent));
        assert!(!TraceParent::parse(&VALID.replace("-01", "-00")).unwrap().is_sampled());
    }

    #[test]
    fn later_version_may_be_longer() {
        let later = format!("{}-more", VALID.replacen("00", "01", 1));
        assert_eq!(TraceParent::parse(&later).unwrap().trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(TraceParent::parse(&format!("{VALID}-more")), None);
    }

    #[test]
    fn invalid_parent_is_ignored() {
        let zero = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let upper = VALID.to_uppercase();
        let unknown = VALID.replacen("00", "ff", 1);
        for text in ["", "00", &VALID[1..], &upper, &unknown, zero, "é-é-é-é"] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }
}
