//! Failures of the agent and of the session as errors of the protocol.

use agent_client_protocol::Error;
use musher::wire::RpcError;

use crate::registry::{explained, no_session};

/// Returns the error of a session that cannot be opened.
pub(super) fn opening_error(error: &musher::Error) -> Error {
    if let musher::ErrorKind::SessionNotFound { session_id } = error.kind() {
        return no_session(session_id, "the agent does not have it");
    }
    if error.is_invalid_input() {
        return explained(&Error::invalid_params(), plain(error));
    }
    let text = failure_text(error);
    let lower = text.to_lowercase();
    if ["api key", "api_key", "not logged in", "log in", "authentication"]
        .iter()
        .any(|sign| lower.contains(sign))
    {
        return explained(&Error::auth_required(), text);
    }
    internal(error)
}

/// Returns the process that runs a turn of the session, if that is why the agent refused.
fn running_in(error: &musher::Error) -> Option<u64> {
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let refusal = causes.find_map(|cause| cause.downcast_ref::<RpcError>())?;
    refusal.data.as_ref()?.to_value().ok()?.get("runningInProcess")?.as_u64()
}

/// Any other failure, with the last output of the agent.
pub(super) fn internal(error: &musher::Error) -> Error {
    explained(&Error::internal_error(), failure_text(error))
}

/// Returns the error of a request to a session that was closed meanwhile.
pub(super) fn session_closed() -> Error {
    explained(&Error::internal_error(), "the session is closed")
}

fn failure_text(error: &musher::Error) -> String {
    if let Some(process) = running_in(error) {
        return format!(
            "The session is running in process {process}. Send the prompt again when its turn has ended."
        );
    }
    match error.kind() {
        musher::ErrorKind::ProcessExit { stderr, .. } if !stderr.trim().is_empty() => {
            let text = error.with_causes().to_string();
            // some errors have the last output in their text already
            if text.contains(stderr.trim()) { text } else { format!("{text}: {}", stderr.trim()) }
        }
        _ => plain(error),
    }
}

/// Returns the reason of an error in plain words: what the agent said, without the method that failed and its code.
fn plain(error: &musher::Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let refusal = causes.filter_map(|cause| cause.downcast_ref::<RpcError>()).last();
    refusal.map_or_else(|| error.with_causes().to_string(), |refusal| refusal.message.clone())
}
