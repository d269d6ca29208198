//! What the user sees of an agent's error: what the agent said, without the method that failed and its code, and what to do about it.

use std::error::Error as StdError;

use musher::wire::RpcError;

use crate::embedded;

/// Returns the error and its causes, from the outermost. What the agent answered stands for the call that failed.
pub(crate) fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut causes = Vec::new();
    for cause in error.chain() {
        if let Some(answer) = cause.downcast_ref::<musher::Error>().and_then(answer) {
            causes.push(answer.message.clone());
            break;
        }
        causes.push(cause.to_string());
    }
    causes
}

/// Returns a hint for the errors of agents whose remedy is known.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    let error = error.chain().find_map(|cause| cause.downcast_ref::<musher::Error>())?;
    if error.is_process_exit() {
        return Some(
            "`--agent` takes a program that speaks the Droid protocol, such as `droid`; `--agent engine` is the built-in agent"
                .to_owned(),
        );
    }
    let answer = answer(error)?;
    let home = embedded::home().ok()?;
    let is_not_writable = answer.message.starts_with("cannot create the directory");
    (is_not_writable && answer.message.contains(&*home.to_string_lossy()))
        .then(|| format!("set {} to a writable directory", embedded::HOME_VARIABLE))
}

/// Returns the error that the agent answered with. If it only does not know the method, its message does not say which.
fn answer(error: &musher::Error) -> Option<&RpcError> {
    if error.is_unsupported() {
        return None;
    }
    let causes = std::iter::successors(StdError::source(error), |cause| (**cause).source());
    causes.filter_map(|cause| cause.downcast_ref::<RpcError>()).last()
}
