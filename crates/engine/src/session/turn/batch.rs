//! The calls of one answer, and how far each is: judged, asked for, run and announced, each exactly once and in order.
//!
//! First all calls are judged. Neighbours that only read run at the same time; everything else runs alone. Somebody is asked about a call
//! when it is its turn, one question at a time, as droid does: so one call can be allowed and the next refused. What follows a call that may
//! have changed something is judged again right before it is asked for or runs: a link that was made a moment ago leads elsewhere than what
//! was judged.

use std::sync::Arc;

use musher_model::{Arguments, ToolCall, ToolUse};
use musher_tools::{Access, ToolOutput, tool_info};
use uuid::Uuid;

use super::{Consent, Effect, message, new_id};
use crate::event::{Question, QuestionedCall, ToolPhase, WorkingState};
use crate::message::{Content, Role, Visibility};
use crate::permission::Policy;
use crate::{Choice, Happening, PermissionRequest};

/// Calls that run at the same time as their neighbours, although they are listed as reading: each has the floor to itself.
const ALONE: [&str; 3] = ["AskUser", "ExitSpecMode", "TodoWrite"];

/// Calls that run at the same time as their neighbours, although they may change something: subagents are for that.
const BESIDE: [&str; 2] = ["Task", "TaskOutput"];

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Batch {
    /// The id of the message all results are in.
    results_id: Arc<str>,
    pub(super) calls: Vec<Call>,
    /// How many results are announced.
    announced: usize,
    /// How often something happened that a verdict may depend on: a call began that may change something, or somebody changed the rules.
    changes: usize,
    pub(super) open: Option<Open>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: ToolUse,
    /// The rules for it, if they are others than those of the session.
    pub(super) rules: Option<Box<Policy>>,
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
    consent: Consent,
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
    /// Queues the calls. One whose arguments cannot be read is over already.
    pub(super) fn new(calls: Vec<ToolCall>, out: &mut Vec<Effect>) -> Self {
        let queued = |call: ToolCall| {
            let (id, name) = (call.id.clone(), call.name.clone());
            out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Queued }));
            let output = match &call.arguments {
                Arguments::Object(_) => None,
                Arguments::Malformed { problem, .. } => {
                    Some(ToolOutput::error(problem, &format!("the arguments cannot be read: {problem}")))
                }
            };
            let stage = if output.is_some() { Stage::Begun } else { Stage::New };
            Call { tool: call.to_use(), rules: None, stage, output }
        };
        let calls = calls.into_iter().map(queued).collect();
        Self { results_id: new_id(), calls, announced: 0, changes: 0, open: None }
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
        for call in &mut self.calls {
            call.stage = Stage::Begun;
            call.output.get_or_insert_with(|| output.clone());
        }
        self.announce(out);
    }

    /// Announces results as far as they are there in order: first the log, then clients.
    pub(super) fn announce(&mut self, out: &mut Vec<Effect>) {
        while let Some(Call { tool, output: Some(output), .. }) = self.calls.get(self.announced) {
            self.announced += 1;
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
        let mut running = self.calls.iter().filter(|call| call.is_running()).count();
        if self.calls.iter().any(|call| call.is_running() && !call.is_parallel()) {
            return 0;
        }
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get(index) else { break };
            match call.stage {
                Stage::Begun | Stage::Again(_) => continue,
                _ if call.is_parallel() && running < most => {}
                _ if running == 0 => {}
                _ => break,
            }
            let is_parallel = call.is_parallel();
            if matches!(call.stage, Stage::Asks { .. }) {
                self.ask(index, out);
                break;
            }
            begun += usize::from(self.begin(index, out));
            running += 1;
            if !is_parallel {
                break;
            }
        }
        begun
    }

    /// Lets the next calls be judged, so many at once: hooks are programs. Says whether any has yet to be.
    fn judge_next(&mut self, most: usize, out: &mut Vec<Effect>) -> bool {
        let mut judged = self.calls.iter().filter(|call| matches!(call.stage, Stage::Judged)).count();
        for (index, call) in self.calls.iter_mut().enumerate() {
            if judged >= most.max(1) {
                return true;
            }
            if matches!(call.stage, Stage::New) {
                call.stage = Stage::Judged;
                out.push(Effect::Prepare { index, call: call.tool.clone() });
                judged += 1;
            }
        }
        judged > 0
    }

    /// Begins a call that may run; says whether it runs. One that follows a change is judged again.
    fn begin(&mut self, index: usize, out: &mut Vec<Effect>) -> bool {
        let now = self.changes;
        let Some(call) = self.calls.get_mut(index) else { return false };
        match std::mem::replace(&mut call.stage, Stage::Begun) {
            Stage::Ready { agreed, changes, .. } if changes != now => {
                call.stage = Stage::Again(agreed);
                out.push(Effect::JudgeAgain { index, call: call.tool.clone(), rules: call.rules.clone() });
                false
            }
            Stage::Ready { access, agreed, .. } => {
                self.run(index, access, agreed.map(|agreed| agreed.consent), out);
                true
            }
            other => {
                call.stage = other;
                false
            }
        }
    }

    /// Asks somebody about a call, unless it follows a change: then it is judged again first.
    fn ask(&mut self, index: usize, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        let Stage::Asks { request, changes } = &call.stage else { return };
        if *changes != self.changes {
            call.stage = Stage::Again(None);
            out.push(Effect::JudgeAgain { index, call: call.tool.clone(), rules: call.rules.clone() });
            return;
        }
        let ToolUse { id, name, input } = call.tool.clone();
        let choices = request.choices.clone();
        let calls = vec![QuestionedCall { id, name, input, request: (**request).clone() }];
        let question = Question::Permission { id: Uuid::new_v4().to_string(), calls, choices };
        self.open = Some(Open { index, question: question.clone() });
        out.push(Effect::Emit(Happening::State(WorkingState::Waiting)));
        out.push(Effect::Ask(question));
    }

    fn run(&mut self, index: usize, access: Access, consent: Option<Consent>, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        call.stage = Stage::Begun;
        self.changes += usize::from(!tool_info(&call.tool.name).is_some_and(|info| info.is_read_only));
        let (id, name) = (call.tool.id.clone(), call.tool.name.clone());
        out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Executing }));
        out.push(Effect::Run { index, call: call.tool.clone(), access, consent });
    }

    /// A call was judged; says whether it runs because of that.
    pub(super) fn judged(&mut self, index: usize, verdict: Sentence, out: &mut Vec<Effect>) -> bool {
        let changes = self.changes;
        let Some(call) = self.calls.get_mut(index) else { return false };
        match (std::mem::replace(&mut call.stage, Stage::Begun), verdict) {
            (Stage::Judged, Sentence::Runs(access)) => {
                call.stage = Stage::Ready { access, agreed: None, changes };
            }
            (Stage::Again(agreed), Sentence::Runs(access)) => {
                self.run(index, access, agreed.map(|agreed| agreed.consent), out);
                return true;
            }
            (Stage::Judged | Stage::Again(None), Sentence::Asks(request)) => {
                call.stage = Stage::Asks { request, changes };
            }
            (Stage::Again(Some(agreed)), Sentence::Asks(request)) => {
                if agreed.request == request {
                    self.run(index, request.access, Some(agreed.consent), out);
                    return true;
                }
                // something else than what was agreed to
                call.stage = Stage::Asks { request, changes };
            }
            // a verdict nobody asked for
            (other, _) => call.stage = other,
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
    pub(super) fn agreed(&mut self, index: usize, question: String, consent: Consent, out: &mut Vec<Effect>) {
        let choice = consent.choice;
        // more than once: the rules change, and with them what the calls behind need
        self.changes += usize::from(choice != Choice::ProceedOnce);
        let changes = self.changes;
        let Some(call) = self.calls.get_mut(index) else { return };
        let Stage::Asks { request, .. } = &call.stage else { return };
        let request = request.clone();
        out.push(Effect::Emit(Happening::State(WorkingState::Executing)));
        out.push(Effect::Emit(resolved(question, vec![call.tool.id.clone()], choice)));
        let access = request.access.clone();
        let agreed = Some(Agreed { consent, request: request.clone() });
        call.stage = Stage::Ready { access, agreed, changes };
        out.push(Effect::Consented { request, choice });
    }

    pub(super) fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Some(call) = self.calls.get_mut(index) {
            call.stage = Stage::Begun;
            call.output.get_or_insert(output);
        }
        self.announce(out);
    }
}

impl Call {
    fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Again(_)) || matches!(self.stage, Stage::Begun) && self.output.is_none()
    }

    fn is_parallel(&self) -> bool {
        is_parallel(&self.tool.name)
    }
}

/// A verdict that leaves a call alive.
pub(super) enum Sentence {
    Runs(Access),
    Asks(Box<PermissionRequest>),
}

fn is_parallel(name: &str) -> bool {
    BESIDE.contains(&name) || !ALONE.contains(&name) && tool_info(name).is_some_and(|info| info.is_read_only)
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
