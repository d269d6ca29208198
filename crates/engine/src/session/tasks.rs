//! Tasks of the agent and what they send back to it.
//!
//! A task belongs to a turn or to a session. Its messages carry the number of its owner, so the actor can drop messages of a turn or a
//! session that is over.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use musher_model::{EventStream, ModelError, ModelEvent};
use musher_tools::ToolOutput;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::compact::CompactionOutcome;
use super::port::CallRequest;
use super::subagents::SubagentReport;
use crate::command::{CommandId, Reply};
use crate::hooks::env_file::Variables;
use crate::hooks::{HookOutcome, HookProgress};
use crate::permission::{Policy, Verdict};
use crate::{Error, Event, PermissionRequest, SessionId};

/// Everything that tasks of an agent send back.
#[derive(Debug)]
pub(crate) enum Input {
    /// From a task of a turn.
    Turn { turn: u64, input: TurnInput },
    /// From a task of a session.
    Session { session: u64, input: SessionInput },
}

/// What tasks of a turn send back.
#[derive(Debug)]
pub(crate) enum TurnInput {
    /// The model sent an event, or failed.
    Model { call: usize, event: Result<ModelEvent, ModelError> },
    /// The MCP servers are connected or have failed: the model can be called.
    ServersReady { call: usize },
    /// The uncommitted changes are read, if there is a report of them: the model can be called.
    WorkingTree { call: usize, report: Option<String> },
    /// The MCP servers are connected or have failed: a call of a tool that was unknown can be checked.
    CheckAgain { index: usize, call: Box<musher_model::ToolUse> },
    /// Hooks have started or ended.
    Hook(Box<HookProgress>),
    /// The `UserPromptSubmit` hooks have ended.
    PromptHooks(Box<HookOutcome>),
    /// The summary of the conversation is ready, or has failed.
    CompactionOutcome(CompactionOutcome),
    /// The `Stop` hooks have ended.
    StopHooks(Box<HookOutcome>),
    /// The `PreToolUse` hooks of a call have ended.
    PreToolHooks(Box<HookOutcome>),
    /// Hooks have changed the arguments of a call.
    Rewritten { index: usize, input: musher_tools::Input },
    /// The `PostToolUse` hooks of a call have ended.
    PostToolHooks { index: usize, output: ToolOutput, outcome: Box<HookOutcome> },
    /// The verdict on a call, and the policy it was judged by if hooks have changed that.
    Verdict { index: usize, verdict: Verdict, policy: Option<Box<Policy>> },
    /// Hooks end the turn before a call, for this reason.
    Halted { index: usize, reason: String },
    /// A running call needs something of the session.
    Request(Box<CallRequest>),
    /// A running call has progress to show.
    Progress(Box<Event>),
    /// A call has ended.
    Done { index: usize, output: ToolOutput },
    /// A call has ended because the user denied what it wanted to do.
    Denied { index: usize, output: ToolOutput },
    /// A call has failed in the sandbox, and this asks the user whether it may run again without.
    FailedInSandbox { index: usize, request: Box<PermissionRequest>, output: ToolOutput },
    /// A call has failed, and its paths lead elsewhere than when it was judged.
    LedElsewhere { index: usize, output: ToolOutput },
    /// A task has ended.
    Ended { panic: Option<String> },
}

/// What tasks of a session send back.
#[derive(Debug)]
pub(crate) enum SessionInput {
    /// The state of MCP servers has changed.
    Servers,
    /// Clients have to know this.
    Announce(Box<Event>),
    /// Hooks have started or ended.
    Hook(Box<HookProgress>),
    /// The `SessionStart` hooks have ended.
    Started { outcome: Box<HookOutcome>, variables: Option<Variables> },
    /// The summary that a client requested is ready, or has failed.
    CompactionOutcome { command_id: CommandId, outcome: CompactionOutcome },
    /// The `SessionEnd` hooks have ended.
    Closed(CommandId),
    /// The call for a title has ended, and the session has its result.
    Title,
    /// A subagent reports to the session that started it.
    Subagent { id: SessionId, report: SubagentReport },
    /// It is time to try again whether another process has ended its turn.
    RetryHeldPrompts,
    /// A command is done.
    Reply { command_id: CommandId, outcome: Result<Reply, Error> },
}

/// Sends input from tasks of one turn to the actor.
#[derive(Debug, Clone)]
pub(crate) struct TurnSender {
    pub(crate) turn: u64,
    pub(crate) inputs: mpsc::Sender<Input>,
}

impl TurnSender {
    /// Sends an input. Returns whether the agent still runs.
    pub(crate) async fn send(&self, input: TurnInput) -> bool {
        self.inputs.send(Input::Turn { turn: self.turn, input }).await.is_ok()
    }

    /// Sends an input if the queue has room.
    pub(crate) fn try_send(&self, input: TurnInput) {
        self.inputs.try_send(Input::Turn { turn: self.turn, input }).ok();
    }

    /// Runs a task, and reports its end or panic.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let sender = self.clone();
        tokio::spawn(async move {
            let panic = AssertUnwindSafe(task).catch_unwind().await.err().map(|panic| panic_text(&*panic));
            sender.send(TurnInput::Ended { panic }).await;
        });
    }

    /// Returns a listener that forwards the progress of hooks.
    pub(crate) fn hook_listener(&self) -> impl FnMut(HookProgress) -> BoxFuture<'static, ()> + use<> {
        let sender = self.clone();
        move |progress| {
            let sender = sender.clone();
            async move {
                sender.send(TurnInput::Hook(Box::new(progress))).await;
            }
            .boxed()
        }
    }
}

/// Sends input from tasks of one session to the actor.
#[derive(Debug, Clone)]
pub(crate) struct SessionSender {
    session: u64,
    inputs: mpsc::Sender<Input>,
}

impl SessionSender {
    pub(crate) fn new(session: u64, inputs: mpsc::Sender<Input>) -> Self {
        Self { session, inputs }
    }

    /// Sends an input. Returns whether the agent still runs.
    pub(crate) async fn send(&self, input: SessionInput) -> bool {
        self.inputs.send(Input::Session { session: self.session, input }).await.is_ok()
    }

    /// Answers a command.
    pub(crate) async fn reply(&self, command_id: CommandId, outcome: Result<Reply, Error>) {
        self.send(SessionInput::Reply { command_id, outcome }).await;
    }

    /// Returns a listener that forwards the progress of hooks.
    pub(crate) fn hook_listener(&self) -> impl FnMut(HookProgress) -> BoxFuture<'static, ()> + use<> {
        let sender = self.clone();
        move |progress| {
            let sender = sender.clone();
            async move {
                sender.send(SessionInput::Hook(Box::new(progress))).await;
            }
            .boxed()
        }
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

/// Forwards the events of a model call until the call ends or is cancelled.
pub(crate) async fn forward_model(
    mut stream: EventStream,
    call: usize,
    cancel: CancellationToken,
    sender: TurnSender,
) {
    let forward = async {
        while let Some(event) = stream.next().await {
            if !sender.send(TurnInput::Model { call, event }).await {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = forward => {}
    }
}
