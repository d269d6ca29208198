//! The calls of one model response. Each is checked, asked about, run and announced exactly once, in order.
//!
//! First every call gets a verdict. Neighbours that only read run in parallel, every other call runs alone. The user is asked about a
//! call when it is its turn, one request at a time, like droid does: one call can be allowed and the next denied. A call that follows a
//! change gets a new verdict right before the user is asked or the call runs, because a link created by the earlier call may lead its
//! paths elsewhere.
//!
//! A call that fails because another process has put such a link there is judged again, once, when it has failed.
//!
//! No step visits all calls: a response with many of them takes linear time. Only the first [`MAX_CALLS_PER_ANSWER`] run.

use std::sync::Arc;

use musher_model::{Arguments, ToolCall, ToolUse};
use musher_tools::{Access, Concurrency, Registry, ToolOutput};
use uuid::Uuid;

use super::{Effect, message, new_id};
use crate::event::{RequestedCall, ToolPhase, UserRequest, WorkingState};
use crate::permission::{Decision, Policy, Verdict};
use crate::{Choice, Event, PermissionRequest};
use musher_message::{Content, Part, Role, Visibility};

/// The maximum number of tool calls of one response that run. Every further call gets an error result, because vendors require one
/// result per call. Models that work well make fewer than a hundred calls at once.
pub(super) const MAX_CALLS_PER_ANSWER: usize = 512;

/// The calls of one model response.
#[derive(Debug)]
pub(super) struct Batch {
    /// The id of the message with all results.
    results_id: Arc<str>,
    pub(super) calls: Vec<Call>,
    /// The number of announced results.
    announced: usize,
    /// All calls before this one are being checked, or were.
    next_to_check: usize,
    /// All calls before this one have started, or are rechecked right before they start.
    next_to_start: usize,
    load: Load,
    /// Counts what may change a verdict: started calls that are not read-only, and decisions that change the policy.
    changes: usize,
    /// The request to the user that waits for a response.
    pub(super) open: Option<OpenRequest>,
    /// How many calls all steps together have visited.
    #[cfg(test)]
    pub(super) visits: usize,
}

/// The number of calls in progress, which limits the calls that can be checked or started. [`Batch::change`] keeps it up to date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Load {
    /// Calls that are checked for the first time.
    checking: usize,
    /// Calls that run, or are rechecked right before they run.
    running: usize,
    /// Running calls that run alone.
    alone: usize,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: ToolUse,
    /// The policy for this call, if hooks have changed that of the session.
    pub(super) policy: Option<Box<Policy>>,
    /// Whether it runs in parallel with its neighbours.
    is_parallel: bool,
    /// Whether it changes nothing.
    is_read_only: bool,
    /// Whether the user has changed its input.
    is_rewritten: bool,
    stage: Stage,
    /// The output of a run that the sandbox has most likely made fail: the user is asked whether it runs again without.
    failed_in_sandbox: Option<ToolOutput>,
    /// Whether it has failed and was judged again, because its paths led elsewhere than when it was judged.
    is_judged_again: bool,
    output: Option<ToolOutput>,
}

/// The progress of a call.
#[derive(Debug)]
enum Stage {
    /// It was not checked.
    New,
    /// It is checked.
    Checking,
    /// The user has to decide, by the verdict after this many changes.
    NeedsPermission { request: Box<PermissionRequest>, changes: usize },
    /// It may run, by the verdict or approval after this many changes.
    Ready { access: Access, approval: Option<Approval>, changes: usize },
    /// It is checked again.
    Rechecking(Option<Approval>),
    /// It runs, or has a result.
    Started,
}

/// A decision that allows a call, and the request it answers.
#[derive(Debug, Clone)]
struct Approval {
    decision: Decision,
    request: Box<PermissionRequest>,
}

/// A request to the user that waits for a response.
#[derive(Debug)]
pub(super) struct OpenRequest {
    /// The call that needs it.
    pub(super) index: usize,
    pub(super) request: UserRequest,
}

impl Batch {
    /// Queues the calls. A call beyond the limit or with malformed arguments has a result at once.
    pub(super) fn new(calls: Vec<ToolCall>, tools: &Registry, out: &mut Vec<Effect>) -> Self {
        let queued = |(place, call): (usize, ToolCall)| {
            let (id, name) = (call.id.clone(), call.name.clone());
            out.push(Effect::Emit(Event::ToolPhase { id, name, phase: ToolPhase::Queued }));
            let output = match &call.arguments {
                _ if place >= MAX_CALLS_PER_ANSWER => Some(too_many()),
                Arguments::Object(_) => None,
                Arguments::Malformed { problem, .. } => {
                    Some(ToolOutput::error(problem, &format!("the arguments cannot be read: {problem}")))
                }
            };
            let stage = if output.is_some() { Stage::Started } else { Stage::New };
            // tools of MCP servers are unknown here: they run alone, and are not read-only
            let info = tools.info(&call.name);
            Call {
                is_parallel: info.is_some_and(|info| info.concurrency == Concurrency::Parallel),
                is_read_only: info.is_some_and(|info| info.is_read_only),
                tool: call.to_use(),
                policy: None,
                is_rewritten: false,
                stage,
                failed_in_sandbox: None,
                is_judged_again: false,
                output,
            }
        };
        Self {
            results_id: new_id(),
            calls: calls.into_iter().enumerate().map(queued).collect(),
            announced: 0,
            next_to_check: 0,
            next_to_start: 0,
            load: Load::default(),
            changes: 0,
            open: None,
            #[cfg(test)]
            visits: 0,
        }
    }

    /// Adds the results to this message.
    pub(super) fn join(&mut self, results_id: String) {
        self.results_id = results_id.into();
    }

    /// Changes a call and updates the load.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Call)) {
        let Some(call) = self.calls.get_mut(index) else { return };
        let before = call.load();
        change(call);
        let after = call.load();
        let changed = |count: usize, before: usize, after: usize| (count + after).saturating_sub(before);
        self.load = Load {
            checking: changed(self.load.checking, before.checking, after.checking),
            running: changed(self.load.running, before.running, after.running),
            alone: changed(self.load.alone, before.alone, after.alone),
        };
    }

    fn set_stage(&mut self, index: usize, stage: Stage) {
        self.change(index, |call| call.stage = stage);
    }

    /// Takes the stage of a call to replace it.
    fn take_stage(&mut self, index: usize) -> Option<Stage> {
        let mut taken = None;
        self.change(index, |call| taken = Some(std::mem::replace(&mut call.stage, Stage::Started)));
        taken
    }

    /// Counts a visit of a call: tests check that all steps together take linear time.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests count"))]
    fn visit(&mut self) {
        #[cfg(test)]
        {
            self.visits += 1;
        }
    }

    pub(super) fn open_request(&self) -> Option<&UserRequest> {
        self.open.as_ref().map(|open| &open.request)
    }

    /// Resolves the open request, and cancels every call without a result.
    pub(super) fn interrupt(mut self, out: &mut Vec<Effect>) {
        match self.open.take().map(|open| open.request) {
            Some(UserRequest::Permission { id, .. }) => {
                out.push(Effect::Emit(resolved(id, Vec::new(), Choice::Cancel)));
            }
            Some(UserRequest::Questions { id, .. }) => {
                out.push(Effect::Emit(Event::RequestWithdrawn { request: id }));
            }
            None => {}
        }
        self.cancel_rest(&ToolOutput::cancelled(), out);
    }

    /// Ends calls that are in no message of the conversation: clients get this result, and the log does not.
    pub(super) fn close(self, output: &ToolOutput, out: &mut Vec<Effect>) {
        for call in self.calls {
            out.push(Effect::Emit(Event::ToolResult {
                id: call.tool.id,
                message_id: Arc::clone(&self.results_id),
                content: output.for_client.clone(),
                is_error: output.is_error,
            }));
        }
    }

    /// Gives this result to every call without one.
    pub(super) fn cancel_rest(&mut self, output: &ToolOutput, out: &mut Vec<Effect>) {
        for index in self.announced..self.calls.len() {
            self.visit();
            self.change(index, |call| {
                call.stage = Stage::Started;
                call.output.get_or_insert_with(|| output.clone());
            });
        }
        self.announce(out);
    }

    /// Announces results in the order of the calls, up to the first missing one: first the log, then clients.
    pub(super) fn announce(&mut self, out: &mut Vec<Effect>) {
        while let Some(Call { tool, output: Some(output), .. }) = self.calls.get(self.announced) {
            let content = Content::ToolResult {
                tool_use_id: tool.id.clone(),
                for_client: output.for_client.clone(),
                for_model: output.for_model.clone(),
                is_error: output.is_error,
            };
            let id = self.results_id.to_string();
            out.push(Effect::AppendSilently(message(id, Role::Tool, vec![content], Visibility::Both)));
            out.push(Effect::Emit(Event::ToolResult {
                id: tool.id.clone(),
                message_id: Arc::clone(&self.results_id),
                content: output.for_client.clone(),
                is_error: output.is_error,
            }));
            self.announced += 1;
            self.visit();
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.announced == self.calls.len()
    }

    /// Starts the calls that can start, or asks the user about the next one. Returns the number of started calls.
    pub(super) fn start_next(&mut self, max_parallel: usize, out: &mut Vec<Effect>) -> usize {
        if self.open.is_some() || self.check_next(max_parallel, out) {
            return 0;
        }
        let mut started = 0;
        while self.load.alone == 0 {
            self.visit();
            let index = self.next_to_start;
            let Some(call) = self.calls.get(index) else { break };
            let has_room = self.load.running == 0 || call.is_parallel && self.load.running < max_parallel;
            match call.stage {
                Stage::Started | Stage::Rechecking(_) => self.next_to_start += 1,
                Stage::Ready { .. } if has_room => started += usize::from(self.start(index, out)),
                Stage::NeedsPermission { .. } if has_room => {
                    self.ask(index, out);
                    break;
                }
                _ => break,
            }
        }
        started
    }

    /// Starts to check the next calls, a limited number at a time because hooks are programs. Returns whether any check is pending.
    fn check_next(&mut self, max_parallel: usize, out: &mut Vec<Effect>) -> bool {
        while self.load.checking < max_parallel.max(1)
            && let Some(call) = self.calls.get(self.next_to_check)
        {
            let index = self.next_to_check;
            if matches!(call.stage, Stage::New) {
                out.push(Effect::Check { index, call: call.tool.clone() });
                self.set_stage(index, Stage::Checking);
            }
            self.next_to_check += 1;
            self.visit();
        }
        self.load.checking > 0
    }

    /// Starts a call that may run, or rechecks it if it follows a change. Returns whether it runs.
    fn start(&mut self, index: usize, out: &mut Vec<Effect>) -> bool {
        let is_again = self.failed_in_sandbox(index).is_some();
        match self.take_stage(index) {
            Some(Stage::Ready { approval, changes, .. }) if changes != self.changes && !is_again => {
                self.recheck(index, approval, out);
                false
            }
            Some(Stage::Ready { access, approval, .. }) => {
                self.run(index, access, approval.map(|approval| approval.decision), out);
                true
            }
            other => {
                self.put_back(index, other);
                false
            }
        }
    }

    fn put_back(&mut self, index: usize, stage: Option<Stage>) {
        if let Some(stage) = stage {
            self.set_stage(index, stage);
        }
    }

    fn recheck(&mut self, index: usize, approval: Option<Approval>, out: &mut Vec<Effect>) {
        self.set_stage(index, Stage::Rechecking(approval));
        if let Some(call) = self.calls.get(index) {
            out.push(Effect::Recheck { index, call: call.tool.clone(), policy: call.policy.clone() });
        }
    }

    /// Asks the user about a call, or rechecks it if it follows a change.
    fn ask(&mut self, index: usize, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get(index) else { return };
        let Stage::NeedsPermission { request, changes } = &call.stage else { return };
        // a verdict would let a call that has failed in the sandbox run there again
        if *changes != self.changes && call.failed_in_sandbox.is_none() {
            return self.recheck(index, None, out);
        }
        let ToolUse { id, name, input, .. } = call.tool.clone();
        let choices = request.choices.clone();
        let calls = vec![RequestedCall { id, name, input, request: (**request).clone() }];
        let request = UserRequest::Permission { id: Uuid::new_v4().to_string(), calls, choices };
        self.open = Some(OpenRequest { index, request: request.clone() });
        out.push(Effect::Emit(Event::State(WorkingState::Waiting)));
        out.push(Effect::AskUser(request));
    }

    /// Checks a call again that the user has changed. Its result tells the model.
    pub(super) fn check_rewritten(&mut self, index: usize, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        call.is_rewritten = true;
        out.push(Effect::Check { index, call: call.tool.clone() });
        self.set_stage(index, Stage::Checking);
    }

    fn run(&mut self, index: usize, access: Access, decision: Option<Decision>, out: &mut Vec<Effect>) {
        self.set_stage(index, Stage::Started);
        let Some(call) = self.calls.get(index) else { return };
        self.changes += usize::from(!call.is_read_only);
        let (id, name) = (call.tool.id.clone(), call.tool.name.clone());
        out.push(Effect::Emit(Event::ToolPhase { id, name, phase: ToolPhase::Executing }));
        out.push(Effect::Run { index, call: call.tool.clone(), access, decision });
    }

    /// Applies a verdict to run or ask. Returns whether the call runs because of it.
    pub(super) fn apply_verdict(&mut self, index: usize, verdict: Verdict, out: &mut Vec<Effect>) -> bool {
        let changes = self.changes;
        match (self.take_stage(index), verdict) {
            (Some(Stage::Checking), Verdict::Run(access)) => {
                self.set_stage(index, Stage::Ready { access, approval: None, changes });
            }
            (Some(Stage::Rechecking(approval)), Verdict::Run(access)) => {
                self.run(index, access, approval.map(|approval| approval.decision), out);
                return true;
            }
            (Some(Stage::Rechecking(Some(approval))), Verdict::Ask(request))
                if approval.request == request =>
            {
                self.run(index, request.access, Some(approval.decision), out);
                return true;
            }
            (Some(Stage::Checking), Verdict::Ask(request)) => {
                self.set_stage(index, Stage::NeedsPermission { request, changes });
            }
            // also if the approval was for another request
            (Some(Stage::Rechecking(_)), Verdict::Ask(request)) => {
                self.set_stage(index, Stage::NeedsPermission { request, changes });
                // it was about to run, and is not any more
                self.next_to_start = self.next_to_start.min(index);
            }
            // no check was pending
            (other, _) => self.put_back(index, other),
        }
        false
    }

    /// Returns the permission request of a call that needs one.
    pub(super) fn request(&self, index: usize) -> Option<&PermissionRequest> {
        match &self.calls.get(index)?.stage {
            Stage::NeedsPermission { request, .. } => Some(request),
            _ => None,
        }
    }

    /// Allows a call by a decision of the user.
    pub(super) fn allow(
        &mut self,
        index: usize,
        request_id: String,
        decision: Decision,
        out: &mut Vec<Effect>,
    ) {
        let choice = decision.choice;
        // a decision that covers later calls changes the policy, and with it the verdicts on the calls behind
        self.changes += usize::from(choice != Choice::ProceedOnce);
        let changes = self.changes;
        let Some(call) = self.calls.get(index) else { return };
        let Stage::NeedsPermission { request, .. } = &call.stage else { return };
        let request = request.clone();
        out.push(Effect::Emit(Event::State(WorkingState::Executing)));
        out.push(Effect::Emit(resolved(request_id, vec![call.tool.id.clone()], choice)));
        let access = request.access.clone();
        let approval = Some(Approval { decision, request: request.clone() });
        self.set_stage(index, Stage::Ready { access, approval, changes });
        out.push(Effect::Decided { request, choice });
    }

    /// A call has failed in the sandbox: asks the user whether it may run again without.
    pub(super) fn ask_again(&mut self, index: usize, request: Box<PermissionRequest>, output: ToolOutput) {
        let changes = self.changes;
        let is_running = |call: &Call| {
            matches!(call.stage, Stage::Started) && call.output.is_none() && call.failed_in_sandbox.is_none()
        };
        if !self.calls.get(index).is_some_and(is_running) {
            return;
        }
        self.change(index, |call| {
            call.failed_in_sandbox = Some(output);
            call.stage = Stage::NeedsPermission { request, changes };
        });
        self.next_to_start = self.next_to_start.min(index);
    }

    /// Returns whether a running call can be judged again, which happens once.
    pub(super) fn may_judge_again(&self, index: usize) -> bool {
        let is_running = |call: &Call| matches!(call.stage, Stage::Started) && call.output.is_none();
        self.calls.get(index).is_some_and(|call| is_running(call) && !call.is_judged_again)
    }

    /// A running call has failed because its paths lead elsewhere than when it was judged. An approval was for where they led before.
    pub(super) fn judge_again(&mut self, index: usize, out: &mut Vec<Effect>) {
        if !self.may_judge_again(index) {
            return;
        }
        self.change(index, |call| call.is_judged_again = true);
        self.recheck(index, None, out);
    }

    /// Returns the output of a call in the sandbox, if the user is or was asked whether it may run again without.
    pub(super) fn failed_in_sandbox(&self, index: usize) -> Option<&ToolOutput> {
        self.calls.get(index)?.failed_in_sandbox.as_ref()
    }

    pub(super) fn done(&mut self, index: usize, mut output: ToolOutput, out: &mut Vec<Effect>) {
        self.change(index, |call| {
            call.stage = Stage::Started;
            if call.is_rewritten {
                let input = serde_json::Value::Object(call.tool.input.clone());
                let note = format!(
                    "The user changed the input of this call before it ran. It was called with: {input}"
                );
                output.for_model.insert(0, Part::Text(note));
            }
            call.output.get_or_insert(output);
        });
        self.announce(out);
    }
}

impl Call {
    /// Returns what this call adds to the load.
    fn load(&self) -> Load {
        let is_running = match self.stage {
            Stage::Rechecking(_) => true,
            Stage::Started => self.output.is_none(),
            _ => false,
        };
        Load {
            checking: usize::from(matches!(self.stage, Stage::Checking)),
            running: usize::from(is_running),
            alone: usize::from(is_running && !self.is_parallel),
        }
    }
}

/// Returns the result of a call beyond the limit. Short, because there may be thousands.
fn too_many() -> ToolOutput {
    let text = format!(
        "Not run: one answer can have at most {MAX_CALLS_PER_ANSWER} tool calls. Repeat this call in your next answer if you still need it."
    );
    ToolOutput::error(&text, &text)
}

pub(super) fn resolved(request: String, tool_use_ids: Vec<String>, choice: Choice) -> Event {
    Event::PermissionResolved { request, tool_use_ids, choice }
}
