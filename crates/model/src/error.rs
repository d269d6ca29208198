//! What can go wrong with a call, as a class to decide on and a text to show.
//!
//! Who decides looks at the class, never at the text: texts are the vendors' and change.

use std::fmt;
use std::time::Duration;

/// Why a call of a model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of failure it is.
    pub class: ErrorClass,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// How long the vendor asks us to wait.
    pub retry_after: Option<Duration>,
    /// The vendor's id of the request, for its support.
    pub request_id: Option<String>,
    /// What to show; cleaned of secrets.
    pub message: String,
}

impl ModelError {
    /// An error of this class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, status: None, retry_after: None, request_id: None, message: message.into() }
    }

    /// An error the vendor reports, classified by its status and its own words for it.
    pub fn reported(status: u16, kind: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let status_told = (status != 0).then_some(status);
        Self { status: status_told, ..Self::new(classify(status, kind, &message), message) }
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
            // the rest fails again until somebody changes the settings
            _ => ErrorClass::Config,
        };
        Self::new(class, error.report())
    }
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The key is missing or wrong.
    Auth,
    /// There is no money or quota left.
    Billing,
    /// The key may not do this.
    Permission,
    /// No such model, or no such address.
    NotFound,
    /// The conversation is longer than the model can read.
    ContextLength,
    /// The vendor refuses the request as it is.
    Invalid,
    /// Too many requests for now.
    RateLimit,
    /// The vendor has too much to do.
    Overloaded,
    /// The vendor failed.
    Server,
    /// The vendor could not be reached, or the connection broke before it answered.
    Network,
    /// The vendor was silent for too long.
    Timeout,
    /// The answer ended before its end.
    Cut,
    /// The answer has no content.
    Empty,
    /// The answer is not what its format says, or larger than we take.
    Protocol,
    /// The settings of the model are wrong.
    Config,
}

impl ErrorClass {
    /// Whether the same request may succeed a little later.
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
            | Self::Invalid
            | Self::Protocol
            | Self::Config => false,
        }
    }

    /// A word for it, the same in every version.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::ContextLength => "context_length",
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

/// The class of a reported error. Inside a stream there is no status (0), only the vendor's words.
fn classify(status: u16, kind: &str, message: &str) -> ErrorClass {
    if matches!(kind, "context_length_exceeded") || (matches!(status, 0 | 400) && is_too_long(message)) {
        return ErrorClass::ContextLength;
    }
    if matches!(kind, "insufficient_quota" | "billing_error" | "billing_hard_limit_reached") {
        return ErrorClass::Billing;
    }
    match status {
        0 => classify_words(kind),
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

fn classify_words(kind: &str) -> ErrorClass {
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

fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["prompt is too long", "maximum context length", "context window", "context length", "too many tokens"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_errors_have_the_class_of_their_status_and_words() {
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
    fn what_only_the_caller_can_put_right_is_never_tried_again() {
        for status in [400, 401, 402, 403, 404] {
            assert!(!ModelError::reported(status, "", "").class.is_retryable(), "{status}");
        }
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(ModelError::reported(status, "", "").class.is_retryable(), "{status}");
        }
    }
}
