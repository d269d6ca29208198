//! Failures of the agent and of the session as errors of the protocol.

use agent_client_protocol::Error;

use crate::registry::no_session;

/// The error of a session that cannot be opened.
pub(super) fn opening_error(error: &musher::Error) -> Error {
    if let musher::ErrorKind::SessionNotFound { session_id } = error.kind() {
        return no_session(session_id);
    }
    if error.is_invalid_input() {
        return Error::invalid_params().data(error.with_causes().to_string());
    }
    let text = failure_text(error);
    let lower = text.to_lowercase();
    if ["api key", "api_key", "not logged in", "log in", "authentication"]
        .iter()
        .any(|sign| lower.contains(sign))
    {
        return Error::auth_required().data(text);
    }
    internal(error)
}

/// Any other failure, with the last output of the agent.
pub(super) fn internal(error: &musher::Error) -> Error {
    Error::new(-32603, failure_text(error))
}

/// The error of a request to a session that was closed meanwhile.
pub(super) fn session_closed() -> Error {
    Error::new(-32603, "the session is closed")
}

fn failure_text(error: &musher::Error) -> String {
    match error.kind() {
        musher::ErrorKind::ProcessExit { stderr, .. } if !stderr.trim().is_empty() => {
            let text = error.with_causes().to_string();
            // some errors have the last output in their text already
            if text.contains(stderr.trim()) { text } else { format!("{text}: {}", stderr.trim()) }
        }
        _ => error.with_causes().to_string(),
    }
}
