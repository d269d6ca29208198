//! Errors of model calls: a class for decisions and a message for display.
//!
//! Code decides by the class, never by the message: messages come from the vendors and change. Where vendors report a class only by a
//! message, `rejection` has the known ones.

use std::fmt;
use std::time::Duration;

use crate::rejection::{is_thinking_rejected, is_too_long};

/// Error of a model call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// The class of the error.
    pub class: ErrorClass,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// Delay before a retry, as requested by the vendor.
    pub retry_after: Option<Duration>,
    /// The vendor's id of the request, for support requests.
    pub request_id: Option<String>,
    /// Message for display, without secrets.
    pub message: String,
}

impl ModelError {
    /// Creates an error of this class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, status: None, retry_after: None, request_id: None, message: message.into() }
    }

    /// Creates an error that the vendor reported, classified by the HTTP status and the vendor's error code `kind`.
    pub fn reported(status: u16, kind: &str, message: impl Into<String>) -> Self {
        Self::with_codes(status, &[kind], message)
    }

    /// Creates an error that the vendor reported, with all its codes, the most specific first.
    pub(crate) fn with_codes(status: u16, codes: &[&str], message: impl Into<String>) -> Self {
        let message = message.into();
        let known_status = (status != 0).then_some(status);
        Self { status: known_status, ..Self::new(classify(status, codes, &message), message) }
    }
}

impl From<musher_http::Error> for ModelError {
    fn from(error: musher_http::Error) -> Self {
        use musher_http::ErrorKind;
        let class = match error.kind() {
            ErrorKind::Timeout => ErrorClass::Timeout,
            ErrorKind::Incomplete => ErrorClass::Cut,
            ErrorKind::TooLarge => ErrorClass::Protocol,
            ErrorKind::Connect | ErrorKind::Broken => ErrorClass::Network,
            // all others recur until the settings change
            _ => ErrorClass::Config,
        };
        Self::new(class, error.report())
    }
}

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The API key is missing or invalid.
    Auth,
    /// The quota or the credit is used up.
    Billing,
    /// The API key lacks permission.
    Permission,
    /// The model or the URL does not exist.
    NotFound,
    /// The conversation exceeds the model's context window.
    ContextLength,
    /// The vendor rejected reasoning that was sent back. The same request without it may succeed.
    Thinking,
    /// The vendor rejected the request as invalid.
    Invalid,
    /// The rate limit was exceeded.
    RateLimit,
    /// The vendor is overloaded.
    Overloaded,
    /// The vendor reported a server error.
    Server,
    /// The connection could not be established, or broke before the response.
    Network,
    /// The vendor did not send data in time.
    Timeout,
    /// The answer was truncated.
    Cut,
    /// The answer has no content.
    Empty,
    /// The answer does not follow its format, or exceeds a size limit.
    Protocol,
    /// The settings of the model are invalid.
    Config,
}

impl ErrorClass {
    /// Returns whether the same request may succeed when retried.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Network
            | Self::Timeout
            | Self::Cut
            | Self::Empty => true,
            Self::Auth
            | Self::Billing
            | Self::Permission
            | Self::NotFound
            | Self::ContextLength
            | Self::Thinking
            | Self::Invalid
            | Self::Protocol
            | Self::Config => false,
        }
    }

    /// Returns a stable name of the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::ContextLength => "context_length",
            Self::Thinking => "thinking_rejected",
            Self::Invalid => "invalid",
            Self::RateLimit => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Server => "server_error",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::Cut => "cut",
            Self::Empty => "empty_response",
            Self::Protocol => "protocol",
            Self::Config => "config",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Classifies a reported error. Errors inside a stream have status 0; then only the vendor's codes decide.
fn classify(status: u16, codes: &[&str], message: &str) -> ErrorClass {
    if is_too_long(status, codes, message) {
        return ErrorClass::ContextLength;
    }
    if is_thinking_rejected(status, codes, message) {
        return ErrorClass::Thinking;
    }
    let kind = codes.first().copied().unwrap_or_default();
    if matches!(kind, "insufficient_quota" | "billing_error" | "billing_hard_limit_reached") {
        return ErrorClass::Billing;
    }
    match status {
        0 => classify_code(kind),
        401 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        403 => ErrorClass::Permission,
        404 => ErrorClass::NotFound,
        408 => ErrorClass::Timeout,
        413 => ErrorClass::ContextLength,
        429 => ErrorClass::RateLimit,
        503 | 529 => ErrorClass::Overloaded,
        409 | 425 | 500.. => ErrorClass::Server,
        _ => ErrorClass::Invalid,
    }
}

fn classify_code(kind: &str) -> ErrorClass {
    match kind {
        "authentication_error" | "invalid_api_key" => ErrorClass::Auth,
        "permission_error" => ErrorClass::Permission,
        "not_found_error" | "model_not_found" => ErrorClass::NotFound,
        "invalid_request_error" | "invalid_prompt" => ErrorClass::Invalid,
        "request_too_large" => ErrorClass::ContextLength,
        "rate_limit_error" | "rate_limit_exceeded" | "429" => ErrorClass::RateLimit,
        "overloaded_error" | "server_is_overloaded" | "slow_down" | "503" | "529" => ErrorClass::Overloaded,
        "timeout_error" => ErrorClass::Timeout,
        _ => ErrorClass::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_errors_are_classified_by_status_and_code() {
        let cases = [
            (400, "invalid_request_error", "bad field", ErrorClass::Invalid),
            (400, "invalid_request_error", "prompt is too long: 9 > 8", ErrorClass::ContextLength),
            (400, "context_length_exceeded", "", ErrorClass::ContextLength),
            (401, "", "", ErrorClass::Auth),
            (402, "", "", ErrorClass::Billing),
            (403, "", "", ErrorClass::Permission),
            (404, "", "", ErrorClass::NotFound),
            (408, "", "", ErrorClass::Timeout),
            (409, "", "", ErrorClass::Server),
            (413, "", "", ErrorClass::ContextLength),
            (425, "", "", ErrorClass::Server),
            (429, "", "", ErrorClass::RateLimit),
            (429, "insufficient_quota", "", ErrorClass::Billing),
            (500, "", "", ErrorClass::Server),
            (503, "", "", ErrorClass::Overloaded),
            (529, "", "", ErrorClass::Overloaded),
            (301, "", "", ErrorClass::Invalid),
            (0, "overloaded_error", "", ErrorClass::Overloaded),
            (0, "rate_limit_exceeded", "", ErrorClass::RateLimit),
            (0, "never heard of", "", ErrorClass::Server),
        ];
        for (status, kind, message, class) in cases {
            assert_eq!(ModelError::reported(status, kind, message).class, class, "{status} {kind} {message}");
        }
    }

    #[test]
    fn errors_that_need_a_changed_request_are_not_retryable() {
        for status in [400, 401, 402, 403, 404] {
            assert!(!ModelError::reported(status, "", "").class.is_retryable(), "{status}");
        }
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(ModelError::reported(status, "", "").class.is_retryable(), "{status}");
        }
    }
}
