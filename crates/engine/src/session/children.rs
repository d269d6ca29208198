//! What an actor starts and gets back: tasks that end when they are told to, and say so when they have ended.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt as _, StreamExt as _};
use musher_model::{EventStream, ModelError, ModelEvent, Usage};
use musher_tools::ToolOutput;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::compact::Summed;
use super::port::CallRequest;
use super::subagents::News;
use crate::command::{Reply, Ticket};
use crate::hooks::env_file::Variables;
use crate::hooks::{HookNews, HookOutcome};
use crate::permission::{Policy, Verdict};
use crate::{Error, Happening, SessionId};

/// Everything that comes back from tasks of an agent. What is of a turn or a session that is over counts for nothing.
#[derive(Debug)]
pub(crate) enum Input {
    /// From a task of a turn.
    Turn { turn: u64, what: FromTurn },
    /// From a task of a session.
    Session { session: u64, what: FromSession },
}

/// What comes back from tasks of a turn.
#[derive(Debug)]
pub(crate) enum FromTurn {
    /// The model said something, or failed.
    Model { call: usize, event: Result<ModelEvent, ModelError> },
    /// The servers are there, as far as they will be: the model can be asked.
    Ready { call: usize },
    /// Hooks run, or have run.
    Hook(Box<HookNews>),
    /// What hooks want of the user's words.
    PromptJudged(Box<HookOutcome>),
    /// The conversation is summed up, or cannot be.
    Summed(Summed),
    /// What hooks want now that the model is done.
    MayStop(Box<HookOutcome>),
    /// What hooks want to be known about a call.
    Advised(Box<HookOutcome>),
    /// Hooks have changed the arguments of a call.
    Rewritten { index: usize, input: musher_tools::Input },
    /// What hooks want of the result of a call.
    Reviewed { index: usize, output: ToolOutput, outcome: Box<HookOutcome> },
    /// Whether a call may run, and the rules it was judged by if hooks have changed them.
    Prepared { index: usize, verdict: Verdict, rules: Option<Box<Policy>> },
    /// Hooks end the turn before a call, for this reason.
    Halted { index: usize, reason: String },
    /// A call that runs wants something of the session.
    Request(Box<CallRequest>),
    /// A call that runs has something to show.
    Progress(Box<Happening>),
    /// A call is over.
    Done { index: usize, output: ToolOutput },
    /// A call is over since somebody refused what it wanted to do.
    Refused { index: usize, output: ToolOutput },
    /// A task has ended, whatever it sent before.
    Ended { panic: Option<String> },
}

/// What comes back from tasks of a session.
#[derive(Debug)]
pub(crate) enum FromSession {
    /// MCP servers came or went.
    Servers,
    /// Hooks run, or have run.
    Hook(Box<HookNews>),
    /// The first hooks of the session are over.
    Started { outcome: Box<HookOutcome>, variables: Option<Variables> },
    /// The conversation is summed up for a client, or cannot be.
    Summed { ticket: Ticket, summed: Summed },
    /// The last hooks of the session are over.
    Closed(Ticket),
    /// A model made a title.
    Title { title: String, usage: Usage },
    /// A subagent has news.
    Subagent { id: SessionId, news: News },
    /// A command is done.
    Reply { ticket: Ticket, outcome: Result<Reply, Error> },
}

/// A way back to the actor for tasks of one turn.
#[derive(Debug, Clone)]
pub(crate) struct Back {
    pub(crate) turn: u64,
    pub(crate) inputs: mpsc::Sender<Input>,
}

impl Back {
    /// Tells the actor. When nobody listens any more, nobody waits for it either.
    pub(crate) async fn send(&self, what: FromTurn) -> bool {
        self.inputs.send(Input::Turn { turn: self.turn, what }).await.is_ok()
    }

    /// Tells the actor if it can be told at once.
    pub(crate) fn try_send(&self, what: FromTurn) {
        self.inputs.try_send(Input::Turn { turn: self.turn, what }).ok();
    }

    /// Runs a task, and tells when it has ended.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let back = self.clone();
        tokio::spawn(async move {
            let panic = AssertUnwindSafe(task).catch_unwind().await.err().map(|panic| said(&*panic));
            back.send(FromTurn::Ended { panic }).await;
        });
    }
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

/// Passes on what a model says, until it is done or told to stop.
pub(crate) async fn ask_model(mut stream: EventStream, call: usize, cancel: CancellationToken, back: Back) {
    let pass_on = async {
        while let Some(event) = stream.next().await {
            if !back.send(FromTurn::Model { call, event }).await {
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
