//! The Droid protocol on stdin and stdout, until the client is done or gone, or a signal comes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use musher_engine::{AgentHandle, Environment, start};
use musher_rpc::{Limits, stdio};
use musher_server::End;

use crate::commands::stop::Stop;
use crate::exit::{Exit, Failure};

/// How long the agent may take to end after a signal; what is left then is ended with the process.
const PATIENCE: Duration = Duration::from_millis(2800);

pub(super) async fn serve(environment: Arc<Environment>, skip_permissions: bool) -> Result<Exit, Failure> {
    let stop = Stop::listen().context("cannot listen for signals")?;
    let connection = stdio(Limits::default()).context("cannot read stdin")?;
    let (agent, events) = start(environment);
    let handle = agent.clone();
    let serving = async {
        if skip_permissions {
            musher_server::serve_without_asking(connection, handle, events).await
        } else {
            musher_server::serve(connection, handle, events).await
        }
    };
    tokio::pin!(serving);
    let signal = tokio::select! {
        _end = &mut serving => return Ok(Exit::Done),
        signal = stop.which() => signal,
    };
    let again = Stop::listen().context("cannot listen for signals")?;
    tokio::select! {
        // a second signal means now
        () = again.wait() => Ok(signal.into()),
        () = end(&agent) => Ok(signal.into()),
        end = &mut serving => Ok(if end == End::CutShort { signal.into() } else { Exit::Done }),
    }
}

/// Tells the agent to end until it hears it, and waits for as long as it may take.
async fn end(agent: &AgentHandle) {
    let told = async {
        while agent.stop().is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::future::pending::<()>().await;
    };
    // whoever waits for the agent sees its end before this
    drop(tokio::time::timeout(PATIENCE, told).await);
}
