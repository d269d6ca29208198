//! The Droid protocol on stdin and stdout, until the client closes its end, or a signal arrives.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use musher_engine::{AgentHandle, Environment, start};
use musher_rpc::{Limits, stdio};
use musher_server::End;

use crate::commands::stop::Stop;
use crate::exit::{Exit, Failure};

/// Time limit for the agent to exit after a signal; then the process exits anyway.
const STOP_TIMEOUT: Duration = Duration::from_millis(2800);

pub(super) async fn serve(environment: Arc<Environment>, skip_permissions: bool) -> Result<Exit, Failure> {
    let stop = Stop::listen().context("cannot listen for signals")?;
    let connection = stdio(Limits::default()).context("cannot read stdin")?;
    let (agent, events) = start(environment);
    let handle = agent.clone();
    let handle = if skip_permissions { handle.skipping_permissions() } else { handle };
    let serving = musher_server::serve(connection, handle, events);
    tokio::pin!(serving);
    let signal = tokio::select! {
        _end = &mut serving => return Ok(Exit::Done),
        signal = stop.which() => signal,
    };
    let again = Stop::listen().context("cannot listen for signals")?;
    tokio::select! {
        // a second signal exits immediately
        () = again.wait() => Ok(signal.into()),
        () = end(&agent) => Ok(signal.into()),
        end = &mut serving => Ok(if end == End::CutShort { signal.into() } else { Exit::Done }),
    }
}

/// Stops the agent, and waits until the time limit is over.
async fn end(agent: &AgentHandle) {
    let told = async {
        agent.send_stop().await;
        std::future::pending::<()>().await;
    };
    // the caller waits for the end of the agent at the same time, and sees it earlier
    drop(tokio::time::timeout(STOP_TIMEOUT, told).await);
}
