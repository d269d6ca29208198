//! The calls of one answer, and how far each is: judged, asked for, run and announced, each exactly once and in order.
//!
//! First all calls are judged. Neighbours that only read run at the same time; everything else runs alone. Somebody is asked about a call
//! when it is its turn, one question at a time, as droid does: so one call can be allowed and the next refused. What follows a call that may
//! have changed something is judged again right before it is asked for or runs: a link that was made a moment ago leads elsewhere than what
//! was judged.
//!
//! No step looks at all calls: an answer with many of them takes linear time. Only the first [`MAX_CALLS_PER_ANSWER`] run.

use std::sync::Arc;

use musher_model::{Arguments, ToolCall, ToolUse};
use musher_tools::{Access, Concurrency, Registry, ToolOutput};
use uuid::Uuid;

use super::{Decision, Effect, message, new_id};
use crate::event::{Question, QuestionedCall, ToolPhase, WorkingState};
use crate::permission::{Policy, Verdict};
use crate::{Choice, Happening, PermissionRequest};
use musher_message::{Content, Role, Visibility};

/// The maximum number of tool calls of one answer that run. Every further call gets an error result, because vendors require one
/// result per call. Models that work well make fewer than a hundred calls at once.
pub(super) const MAX_CALLS_PER_ANSWER: usize = 512;

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Batch {
    /// The id of the message all results are in.
    results_id: Arc<str>,
    pub(super) calls: Vec<Call>,
    /// How many results are announced.
    announced: usize,
    /// All calls before this one have been handed to the permission rules, or are over.
    next_to_judge: usize,
    /// All calls before this one have begun, or are judged again right before they begin.
    next_to_begin: usize,
    load: Load,
    /// How often something happened that a verdict may depend on: a call began that may change something, or somebody changed the rules.
    changes: usize,
    pub(super) open: Option<Open>,
    /// How many calls the steps have looked at, all steps together.
    #[cfg(test)]
    pub(super) visits: usize,
}

/// How many calls are in progress: what limits which calls can be judged or begin. [`Batch::change`] keeps it up to date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Load {
    /// Calls that are judged for the first time.
    judged: usize,
    /// Calls that run, or are judged again right before they run.
    running: usize,
    /// Those of them that run alone.
    alone: usize,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: ToolUse,
    /// The rules for it, if they are others than those of the session.
    pub(super) rules: Option<Box<Policy>>,
    /// Whether it runs at the same time as its neighbours.
    is_parallel: bool,
    /// Whether it changes nothing.
    is_read_only: bool,
    stage: Stage,
    output: Option<ToolOutput>,
}

/// Where a call is on its way to being run.
#[derive(Debug)]
enum Stage {
    /// Nobody has looked at it.
    New,
    /// It is judged.
    Judged,
    /// Somebody has to be asked about it when it is its turn, as far as could be seen after so many changes.
    Asks { request: Box<PermissionRequest>, changes: usize },
    /// It may run, as far as could be seen after so many changes.
    Ready { access: Access, agreed: Option<Agreed>, changes: usize },
    /// It is judged again.
    Again(Option<Agreed>),
    /// It runs, or has a result.
    Begun,
}

/// What somebody agreed to, and how.
#[derive(Debug, Clone)]
struct Agreed {
    decision: Decision,
    request: Box<PermissionRequest>,
}

/// A question that is open.
#[derive(Debug)]
pub(super) struct Open {
    /// The call it is about.
    pub(super) index: usize,
    pub(super) question: Question,
}

impl Batch {
    /// Queues the calls. One that is too many, or whose arguments cannot be read, is over already.
    pub(super) fn new(calls: Vec<ToolCall>, tools: &Registry, out: &mut Vec<Effect>) -> Self {
        let queued = |(place, call): (usize, ToolCall)| {
            let (id, name) = (call.id.clone(), call.name.clone());
            out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Queued }));
            let output = match &call.arguments {
                _ if place >= MAX_CALLS_PER_ANSWER => Some(too_many()),
                Arguments::Object(_) => None,
                Arguments::Malformed { problem, .. } => {
                    Some(ToolOutput::error(problem, &format!("the arguments cannot be read: {problem}")))
                }
            };
            let stage = if output.is_some() { Stage::Begun } else { Stage::New };
            // tools of servers are unknown here: they run alone, and may change something
            let info = tools.info(&call.name);
            Call {
                is_parallel: info.is_some_and(|info| info.concurrency == Concurrency::Parallel),
                is_read_only: info.is_some_and(|info| info.is_read_only),
                tool: call.to_use(),
                rules: None,
                stage,
                output,
            }
        };
        Self {
            results_id: new_id(),
            calls: calls.into_iter().enumerate().map(queued).collect(),
            announced: 0,
            next_to_judge: 0,
            next_to_begin: 0,
            load: Load::default(),
            changes: 0,
            open: None,
            #[cfg(test)]
            visits: 0,
        }
    }

    /// Changes a call, and with it the load.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Call)) {
        let Some(call) = self.calls.get_mut(index) else { return };
        let before = call.load();
        change(call);
        let after = call.load();
        let changed = |count: usize, before: usize, after: usize| (count + after).saturating_sub(before);
        self.load = Load {
            judged: changed(self.load.judged, before.judged, after.judged),
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
        self.change(index, |call| taken = Some(std::mem::replace(&mut call.stage, Stage::Begun)));
        taken
    }

    /// Counts that a step has looked at a call: tests check that all steps together take linear time.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests count"))]
    fn visit(&mut self) {
        #[cfg(test)]
        {
            self.visits += 1;
        }
    }

    pub(super) fn question(&self) -> Option<&Question> {
        self.open.as_ref().map(|open| &open.question)
    }

    /// Settles what is open and gives every call without a result one that says so.
    pub(super) fn interrupt(mut self, out: &mut Vec<Effect>) {
        match self.open.take().map(|open| open.question) {
            Some(Question::Permission { id, .. }) => {
                out.push(Effect::Emit(resolved(id, Vec::new(), Choice::Cancel)));
            }
            Some(Question::Ask { id, .. }) => {
                out.push(Effect::Emit(Happening::QuestionWithdrawn { question: id }));
            }
            None => {}
        }
        self.cancel_rest(&ToolOutput::cancelled(), out);
    }

    /// Gives every call without a result this one.
    pub(super) fn cancel_rest(&mut self, output: &ToolOutput, out: &mut Vec<Effect>) {
        for index in self.announced..self.calls.len() {
            self.visit();
            self.change(index, |call| {
                call.stage = Stage::Begun;
                call.output.get_or_insert_with(|| output.clone());
            });
        }
        self.announce(out);
    }

    /// Announces results as far as they are there in order: first the log, then clients.
    pub(super) fn announce(&mut self, out: &mut Vec<Effect>) {
        while let Some(Call { tool, output: Some(output), .. }) = self.calls.get(self.announced) {
            let content = Content::ToolResult {
                tool_use_id: tool.id.clone(),
                for_client: output.for_wire.clone(),
                for_model: output.for_model.clone(),
                is_error: output.is_error,
            };
            let id = self.results_id.to_string();
            out.push(Effect::AppendQuietly(message(id, Role::Tool, vec![content], Visibility::Both)));
            out.push(Effect::Emit(Happening::ToolResult {
                id: tool.id.clone(),
                message_id: Arc::clone(&self.results_id),
                content: output.for_wire.clone(),
                is_error: output.is_error,
            }));
            self.announced += 1;
            self.visit();
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.announced == self.calls.len()
    }

    /// Begins what can begin, or asks about the next call somebody has to be asked about. Says how many calls were begun.
    pub(super) fn begin_next(&mut self, most: usize, out: &mut Vec<Effect>) -> usize {
        if self.open.is_some() || self.judge_next(most, out) {
            return 0;
        }
        let mut begun = 0;
        while self.load.alone == 0 {
            self.visit();
            let index = self.next_to_begin;
            let Some(call) = self.calls.get(index) else { break };
            let has_room = self.load.running == 0 || call.is_parallel && self.load.running < most;
            match call.stage {
                Stage::Begun | Stage::Again(_) => self.next_to_begin += 1,
                Stage::Ready { .. } if has_room => begun += usize::from(self.begin(index, out)),
                Stage::Asks { .. } if has_room => {
                    self.ask(index, out);
                    break;
                }
                _ => break,
            }
        }
        begun
    }

    /// Lets the next calls be judged, so many at once: hooks are programs. Says whether any has yet to be.
    fn judge_next(&mut self, most: usize, out: &mut Vec<Effect>) -> bool {
        while self.load.judged < most.max(1)
            && let Some(call) = self.calls.get(self.next_to_judge)
        {
            let index = self.next_to_judge;
            if matches!(call.stage, Stage::New) {
                out.push(Effect::Prepare { index, call: call.tool.clone() });
                self.set_stage(index, Stage::Judged);
            }
            self.next_to_judge += 1;
            self.visit();
        }
        self.load.judged > 0
    }

    /// Begins a call that may run; says whether it runs. One that follows a change is judged again.
    fn begin(&mut self, index: usize, out: &mut Vec<Effect>) -> bool {
        match self.take_stage(index) {
            Some(Stage::Ready { agreed, changes, .. }) if changes != self.changes => {
                self.judge_again(index, agreed, out);
                false
            }
            Some(Stage::Ready { access, agreed, .. }) => {
                self.run(index, access, agreed.map(|agreed| agreed.decision), out);
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

    fn judge_again(&mut self, index: usize, agreed: Option<Agreed>, out: &mut Vec<Effect>) {
        self.set_stage(index, Stage::Again(agreed));
        if let Some(call) = self.calls.get(index) {
            out.push(Effect::JudgeAgain { index, call: call.tool.clone(), rules: call.rules.clone() });
        }
    }

    /// Asks somebody about a call, unless it follows a change: then it is judged again first.
    fn ask(&mut self, index: usize, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get(index) else { return };
        let Stage::Asks { request, changes } = &call.stage else { return };
        if *changes != self.changes {
            return self.judge_again(index, None, out);
        }
        let ToolUse { id, name, input } = call.tool.clone();
        let choices = request.choices.clone();
        let calls = vec![QuestionedCall { id, name, input, request: (**request).clone() }];
        let question = Question::Permission { id: Uuid::new_v4().to_string(), calls, choices };
        self.open = Some(Open { index, question: question.clone() });
        out.push(Effect::Emit(Happening::State(WorkingState::Waiting)));
        out.push(Effect::Ask(question));
    }

    fn run(&mut self, index: usize, access: Access, decision: Option<Decision>, out: &mut Vec<Effect>) {
        self.set_stage(index, Stage::Begun);
        let Some(call) = self.calls.get(index) else { return };
        self.changes += usize::from(!call.is_read_only);
        let (id, name) = (call.tool.id.clone(), call.tool.name.clone());
        out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Executing }));
        out.push(Effect::Run { index, call: call.tool.clone(), access, decision });
    }

    /// A call was judged; says whether it runs because of that.
    pub(super) fn judged(&mut self, index: usize, verdict: Verdict, out: &mut Vec<Effect>) -> bool {
        let changes = self.changes;
        match (self.take_stage(index), verdict) {
            (Some(Stage::Judged), Verdict::Run(access)) => {
                self.set_stage(index, Stage::Ready { access, agreed: None, changes });
            }
            (Some(Stage::Again(agreed)), Verdict::Run(access)) => {
                self.run(index, access, agreed.map(|agreed| agreed.decision), out);
                return true;
            }
            (Some(Stage::Again(Some(agreed))), Verdict::Ask(request)) if agreed.request == request => {
                self.run(index, request.access, Some(agreed.decision), out);
                return true;
            }
            (Some(Stage::Judged), Verdict::Ask(request)) => {
                self.set_stage(index, Stage::Asks { request, changes });
            }
            // also something else than what was agreed to
            (Some(Stage::Again(_)), Verdict::Ask(request)) => {
                self.set_stage(index, Stage::Asks { request, changes });
                // it was on its way to run, and is not any more
                self.next_to_begin = self.next_to_begin.min(index);
            }
            // a verdict nobody asked for
            (other, _) => self.put_back(index, other),
        }
        false
    }

    /// What somebody is asked about a call.
    pub(super) fn request(&self, index: usize) -> Option<&PermissionRequest> {
        match &self.calls.get(index)?.stage {
            Stage::Asks { request, .. } => Some(request),
            _ => None,
        }
    }

    /// Somebody agreed to a call, which may run from now on.
    pub(super) fn agreed(
        &mut self,
        index: usize,
        question: String,
        decision: Decision,
        out: &mut Vec<Effect>,
    ) {
        let choice = decision.choice;
        // more than once: the rules change, and with them what the calls behind need
        self.changes += usize::from(choice != Choice::ProceedOnce);
        let changes = self.changes;
        let Some(call) = self.calls.get(index) else { return };
        let Stage::Asks { request, .. } = &call.stage else { return };
        let request = request.clone();
        out.push(Effect::Emit(Happening::State(WorkingState::Executing)));
        out.push(Effect::Emit(resolved(question, vec![call.tool.id.clone()], choice)));
        let access = request.access.clone();
        let agreed = Some(Agreed { decision, request: request.clone() });
        self.set_stage(index, Stage::Ready { access, agreed, changes });
        out.push(Effect::Consented { request, choice });
    }

    pub(super) fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        self.change(index, |call| {
            call.stage = Stage::Begun;
            call.output.get_or_insert(output);
        });
        self.announce(out);
    }
}

impl Call {
    /// What this call adds to the load.
    fn load(&self) -> Load {
        let is_running = match self.stage {
            Stage::Again(_) => true,
            Stage::Begun => self.output.is_none(),
            _ => false,
        };
        Load {
            judged: usize::from(matches!(self.stage, Stage::Judged)),
            running: usize::from(is_running),
            alone: usize::from(is_running && !self.is_parallel),
        }
    }
}

/// The result of a call that is too many. Short, because there may be thousands.
fn too_many() -> ToolOutput {
    let text = format!(
        "Not run: one answer can have at most {MAX_CALLS_PER_ANSWER} tool calls. Repeat this call in your next answer if you still need it."
    );
    ToolOutput::error(&text, &text)
}

/// The id of a question.
pub(crate) fn id_of(question: &Question) -> &str {
    match question {
        Question::Permission { id, .. } | Question::Ask { id, .. } => id,
    }
}

pub(super) fn resolved(question: String, tool_use_ids: Vec<String>, choice: Choice) -> Happening {
    Happening::PermissionResolved { question, tool_use_ids, choice }
}
