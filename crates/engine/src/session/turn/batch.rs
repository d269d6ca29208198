//! The calls of one answer: prepared, asked for, run and announced, each exactly once and in order.
//!
//! Neighbours that only read run at the same time; everything else runs alone. One question is open at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use musher_model::{Arguments, ToolCall, ToolUse};
use musher_tools::{Access, ToolOutput, tool_info};
use uuid::Uuid;

use super::{Consent, Effect, Next, Phase, Turn, UserAnswer, Verdict, message, new_id, user_note};
use crate::event::{Question, QuestionedCall, ToolPhase, TurnEnd, WorkingState};
use crate::message::{Content, Role, Visibility};
use crate::permission::Kind;
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
    calls: Vec<Call>,
    /// How many results are announced.
    announced: usize,
    /// Calls somebody has to be asked about, and what.
    asks: VecDeque<(usize, Box<PermissionRequest>)>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Call {
    tool: ToolUse,
    is_begun: bool,
    output: Option<ToolOutput>,
}

#[derive(Debug)]
struct Open {
    index: usize,
    question: Question,
}

impl Batch {
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
    fn cancel_rest(&mut self, output: &ToolOutput, out: &mut Vec<Effect>) {
        for call in &mut self.calls {
            call.is_begun = true;
            call.output.get_or_insert_with(|| output.clone());
        }
        self.announce(out);
    }

    /// Announces results as far as they are there in order: first the log, then clients.
    fn announce(&mut self, out: &mut Vec<Effect>) {
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

    fn is_done(&self) -> bool {
        self.announced == self.calls.len()
    }

    /// The calls to begin now: the next one, with the neighbours that may run beside it.
    fn begin_next(&mut self, most: usize, out: &mut Vec<Effect>) {
        if self.open.is_some() || !self.asks.is_empty() {
            return;
        }
        let running = self.calls.iter().filter(|call| call.is_begun && call.output.is_none()).count();
        let runs_alone = |call: &Call| !is_parallel(&call.tool.name);
        if self.calls.iter().any(|call| call.is_begun && call.output.is_none() && runs_alone(call)) {
            return;
        }
        let mut room = most.saturating_sub(running);
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get_mut(index) else { return };
            if call.is_begun {
                continue;
            }
            if runs_alone(call) {
                if running == 0 && room == most {
                    call.is_begun = true;
                    out.push(Effect::Prepare { index, call: call.tool.clone() });
                }
                return;
            }
            if room == 0 {
                return;
            }
            room -= 1;
            call.is_begun = true;
            out.push(Effect::Prepare { index, call: call.tool.clone() });
        }
    }

    fn ask_next(&mut self, out: &mut Vec<Effect>) {
        if self.open.is_some() {
            return;
        }
        let Some((index, request)) = self.asks.pop_front() else { return };
        let Some(call) = self.calls.get(index) else { return };
        let questioned = QuestionedCall {
            id: call.tool.id.clone(),
            name: call.tool.name.clone(),
            input: call.tool.input.clone(),
            request: (*request).clone(),
        };
        let choices = request.choices.clone();
        let id = Uuid::new_v4().to_string();
        let question = Question::Permission { id, calls: vec![questioned], choices };
        self.open = Some(Open { index, question: question.clone() });
        out.push(Effect::Emit(Happening::State(WorkingState::Waiting)));
        out.push(Effect::Ask(question));
    }

    fn run(&mut self, index: usize, access: Access, consent: Option<Consent>, out: &mut Vec<Effect>) {
        let Some(call) = self.calls.get(index) else { return };
        let (id, name) = (call.tool.id.clone(), call.tool.name.clone());
        out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Executing }));
        out.push(Effect::Run { index, call: call.tool.clone(), access, consent });
    }

    fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Some(call) = self.calls.get_mut(index) {
            call.output.get_or_insert(output);
        }
        self.announce(out);
    }
}

impl Turn {
    pub(super) fn begin_tools(&mut self, calls: Vec<ToolCall>, out: &mut Vec<Effect>) {
        let is_stuck = self.is_stuck(&calls);
        let mut batch = Batch {
            results_id: new_id(),
            calls: Vec::with_capacity(calls.len()),
            announced: 0,
            asks: VecDeque::new(),
            open: None,
        };
        out.push(Effect::Emit(Happening::State(WorkingState::Executing)));
        for call in calls {
            let (id, name) = (call.id.clone(), call.name.clone());
            out.push(Effect::Emit(Happening::ToolPhase { id, name, phase: ToolPhase::Queued }));
            let output = match &call.arguments {
                Arguments::Object(_) => None,
                Arguments::Malformed { problem, .. } => {
                    Some(ToolOutput::error(problem, &format!("the arguments cannot be read: {problem}")))
                }
            };
            batch.calls.push(Call { tool: call.to_use(), is_begun: output.is_some(), output });
        }
        if is_stuck {
            let text = format!(
                "The same call was made {} times in a row; the turn was stopped.",
                self.identical_calls
            );
            batch.cancel_rest(&ToolOutput::error(&text, &text), out);
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.phase = Phase::Tools(batch);
        self.go_on(out);
    }

    /// A call may run, or not.
    pub(crate) fn prepared(&mut self, index: usize, verdict: Verdict, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        match verdict {
            Verdict::Run(access) => {
                self.tool_count += 1;
                batch.run(index, access, None, out);
            }
            Verdict::Ask(request) => {
                batch.asks.push_back((index, request));
                batch.ask_next(out);
            }
            Verdict::Refuse(output) => {
                batch.done(index, output, out);
                self.go_on(out);
            }
            Verdict::Halt(reason) => {
                self.halt(index, ToolOutput::error(&reason, &reason), &reason, out);
            }
            Verdict::Reject(output) => {
                batch.done(index, output, out);
                batch.cancel_rest(&ToolOutput::cancelled(), out);
                self.finish(TurnEnd::PermissionRejected, out);
            }
        }
    }

    /// A call that runs asks somebody.
    pub(crate) fn ask(&mut self, index: usize, question: Question, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.open = Some(Open { index, question: question.clone() });
        out.push(Effect::Emit(Happening::State(WorkingState::Waiting)));
        out.push(Effect::Ask(question));
    }

    /// A call is over.
    pub(crate) fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        self.go_on(out);
    }

    /// The call of an index, as it is run.
    pub(crate) fn call(&self, index: usize) -> Option<&ToolUse> {
        match &self.phase {
            Phase::Tools(batch) => batch.calls.get(index).map(|call| &call.tool),
            _ => None,
        }
    }

    /// Hooks have changed the arguments of a call. The model's own words stay as they are.
    pub(crate) fn rewrite(&mut self, index: usize, input: musher_tools::Input, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase
            && let Some(call) = batch.calls.get_mut(index)
        {
            call.tool.input = input;
            let ToolUse { id, name, input } = call.tool.clone();
            out.push(Effect::Emit(Happening::ToolCall { id, name, input }));
        }
    }

    /// Hooks end the turn: this call is over, others are not run, and the model is not asked again.
    pub(crate) fn halt(&mut self, index: usize, output: ToolOutput, reason: &str, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        batch.cancel_rest(&ToolOutput::cancelled(), out);
        out.push(Effect::Append(user_note(reason)));
        self.finish(TurnEnd::Completed, out);
    }

    /// A plan is carried out elsewhere: this call is over, others are not run, and the model is not asked again.
    pub(crate) fn hand_over(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase {
            batch.done(index, output, out);
            batch.cancel_rest(&ToolOutput::cancelled(), out);
        }
        self.finish(TurnEnd::SpecHandoff, out);
    }

    /// Somebody answered. What is no answer to the question that is open is none at all.
    pub(crate) fn answered(&mut self, question: &str, answer: UserAnswer, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        let Some(Open { index, question }) = batch.open.take_if(|open| id_of(&open.question) == question)
        else {
            return;
        };
        match question {
            Question::Permission { id, mut calls, choices } => {
                let Some(asked) = calls.pop() else { return };
                let consent = match answer {
                    UserAnswer::Permission { choice, edited_plan }
                        if may_choose(choice, &choices, &asked.request) =>
                    {
                        Ok(Consent { choice, edited_plan })
                    }
                    UserAnswer::Refused { reason } => Err(reason),
                    UserAnswer::Permission { .. } | UserAnswer::Questions(_) => Err(None),
                };
                self.permission(index, id, asked, consent, out);
            }
            Question::Ask { questions, .. } => {
                out.push(Effect::Emit(Happening::State(WorkingState::Streaming)));
                match answer {
                    UserAnswer::Questions(answers) => {
                        let output = crate::ask_user::output(&questions, &answers);
                        out.push(Effect::Ran { index, output });
                    }
                    UserAnswer::Refused { reason } => self.cancelled(index, refusal(reason), out),
                    UserAnswer::Permission { .. } => self.cancelled(index, ToolOutput::cancelled(), out),
                }
            }
        }
    }

    fn permission(
        &mut self,
        index: usize,
        question: String,
        asked: QuestionedCall,
        consent: Result<Consent, Option<String>>,
        out: &mut Vec<Effect>,
    ) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        match consent {
            Ok(consent) if consent.choice != Choice::Cancel => {
                out.push(Effect::Emit(Happening::State(WorkingState::Executing)));
                out.push(Effect::Emit(resolved(question, vec![asked.id], consent.choice)));
                let access = asked.request.access.clone();
                out.push(Effect::Consented { request: Box::new(asked.request), choice: consent.choice });
                self.tool_count += 1;
                batch.run(index, access, Some(consent), out);
                batch.ask_next(out);
            }
            refused => {
                out.push(Effect::Emit(Happening::State(WorkingState::Streaming)));
                out.push(Effect::Emit(resolved(question, Vec::new(), Choice::Cancel)));
                let is_plan = batch.calls.get(index).is_some_and(|call| call.tool.name == "ExitSpecMode");
                let output = match refused.err().flatten() {
                    None if is_plan => plan_refused(),
                    reason => refusal(reason),
                };
                self.cancelled(index, output, out);
            }
        }
    }

    /// Somebody refused: this call gets the reason, the others are not run, and the turn ends without asking the model.
    pub(crate) fn cancelled(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase {
            batch.done(index, output, out);
            batch.cancel_rest(&ToolOutput::cancelled(), out);
        }
        self.finish(TurnEnd::Completed, out);
    }

    /// Begins what can begin; with all results there, asks the model.
    fn go_on(&mut self, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.announce(out);
        if batch.is_done() {
            return out.push(Effect::Settled(Next::Ask));
        }
        batch.begin_next(self.limits.parallel_calls, out);
    }

    /// Whether the model makes the same calls again and again.
    fn is_stuck(&mut self, calls: &[ToolCall]) -> bool {
        let signature =
            format!("{:?}", calls.iter().map(|call| (&call.name, &call.arguments)).collect::<Vec<_>>());
        if self.last_calls == signature {
            self.identical_calls += 1;
        } else {
            self.last_calls = signature;
            self.identical_calls = 1;
        }
        self.identical_calls >= self.limits.identical_calls
    }
}

fn is_parallel(name: &str) -> bool {
    BESIDE.contains(&name) || !ALONE.contains(&name) && tool_info(name).is_some_and(|info| info.is_read_only)
}

/// What is not offered is no answer; only a changed plan is taken all the same.
fn may_choose(choice: Choice, choices: &[Choice], request: &PermissionRequest) -> bool {
    let is_plan = matches!(request.kind, Kind::ExitSpecMode { .. });
    choices.contains(&choice) || (is_plan && choice == Choice::ProceedEdit)
}

/// The id of a question.
pub(crate) fn id_of(question: &Question) -> &str {
    match question {
        Question::Permission { id, .. } | Question::Ask { id, .. } => id,
    }
}

fn resolved(question: String, tool_use_ids: Vec<String>, choice: Choice) -> Happening {
    Happening::PermissionResolved { question, tool_use_ids, choice }
}

fn refusal(reason: Option<String>) -> ToolOutput {
    match reason {
        None => ToolOutput::cancelled(),
        Some(reason) => {
            let text = format!("Tool execution cancelled: {reason}");
            ToolOutput::error(&text, &text)
        }
    }
}

fn plan_refused() -> ToolOutput {
    let text = "Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.";
    ToolOutput::error(text, text)
}
