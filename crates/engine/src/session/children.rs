//! What an actor starts and gets back: tasks that end when they are told to, and say so when they have ended.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt as _, StreamExt as _};
use musher_model::{EventStream, ModelError, ModelEvent};
use musher_tools::ToolOutput;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::turn::Verdict;
use crate::Happening;

/// Everything that comes back from tasks of an agent.
#[derive(Debug)]
pub(crate) enum Input {
    /// The model said something, or failed.
    Model { turn: u64, call: usize, event: Result<ModelEvent, ModelError> },
    /// Whether a call may run.
    Prepared { turn: u64, index: usize, verdict: Verdict },
    /// A call that runs has something to show.
    Progress { turn: u64, what: Box<Happening> },
    /// A call is over.
    Done { turn: u64, index: usize, output: ToolOutput },
    /// A task of a turn has ended, whatever it sent before.
    Ended { turn: u64, panic: Option<String> },
}

/// Runs a task of a turn, and tells when it has ended.
pub(crate) fn spawn(turn: u64, inputs: mpsc::Sender<Input>, task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(async move {
        let panic = AssertUnwindSafe(task).catch_unwind().await.err().map(|panic| said(&*panic));
        // nobody listens any more: then nobody waits for it either
        inputs.send(Input::Ended { turn, panic }).await.ok();
    });
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

/// Passes on what a model says, until it is done or told to stop.
pub(crate) async fn ask_model(
    mut stream: EventStream,
    (turn, call): (u64, usize),
    cancel: CancellationToken,
    inputs: mpsc::Sender<Input>,
) {
    let pass_on = async {
        while let Some(event) = stream.next().await {
            if inputs.send(Input::Model { turn, call, event }).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = pass_on => {}
    }
}
