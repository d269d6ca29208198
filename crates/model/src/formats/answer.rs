//! State common to the decoders of all formats: assembles tool calls, collects reasoning, and withholds everything that may
//! be emitted only at the proper end of an answer.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{Arguments, ErrorClass, FinishReason, ModelError, ModelEvent, Proof, Thinking, ToolCall, Usage};

/// The state of an incomplete answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    calls: Vec<Open>,
    thinking: Option<String>,
    has_content: bool,
    /// Whether the last thing was text, and whether the next text is a block of its own.
    last_is_text: bool,
    starts_text: bool,
    finish: Option<FinishReason>,
    is_over: bool,
    /// Token usage, as reported so far.
    pub(super) usage: Usage,
}

#[derive(Debug)]
struct Open {
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    pub(super) fn text(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        if piece.is_empty() {
            return;
        }
        self.end_thinking(None, out);
        self.has_content = true;
        if std::mem::take(&mut self.starts_text) && self.last_is_text {
            out.push(ModelEvent::TextBreak);
        }
        self.last_is_text = true;
        out.push(ModelEvent::TextDelta(piece.to_owned()));
    }

    /// Starts a text block.
    pub(super) fn start_text(&mut self) {
        self.starts_text = true;
    }

    /// Adds a part of an unknown kind.
    pub(super) fn other(&mut self, part: Value, out: &mut Vec<ModelEvent>) {
        self.end_thinking(None, out);
        self.has_content = true;
        self.last_is_text = false;
        out.push(ModelEvent::Other(part));
    }

    pub(super) fn thinking(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        if piece.is_empty() {
            return;
        }
        self.has_content = true;
        self.thinking.get_or_insert_default().push_str(piece);
        out.push(ModelEvent::ThinkingDelta(piece.to_owned()));
    }

    /// Returns whether a reasoning block with content is open.
    pub(super) fn is_thinking(&self) -> bool {
        self.thinking.is_some()
    }

    /// Ends the reasoning block, if one is open or if there is a proof of a hidden one.
    pub(super) fn end_thinking(&mut self, proof: Option<Proof>, out: &mut Vec<ModelEvent>) {
        if self.thinking.is_none() && proof.is_none() {
            return;
        }
        let text = self.thinking.take().unwrap_or_default();
        self.last_is_text = false;
        out.push(ModelEvent::ThinkingEnd(Thinking { text, proof }));
    }

    /// Starts a tool call and returns its index.
    pub(super) fn start_call(&mut self, id: &str, name: &str, out: &mut Vec<ModelEvent>) -> usize {
        self.end_thinking(None, out);
        self.has_content = true;
        self.last_is_text = false;
        let index = self.calls.len();
        let id = if id.is_empty() { format!("call_{index}") } else { id.to_owned() };
        out.push(ModelEvent::ToolStart { index, id: id.clone(), name: name.to_owned() });
        self.calls.push(Open { id, name: name.to_owned(), arguments: String::new() });
        index
    }

    pub(super) fn arguments(&mut self, index: usize, piece: &str, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        if piece.is_empty() {
            return;
        }
        call.arguments.push_str(piece);
        out.push(ModelEvent::ToolArguments { index, delta: piece.to_owned() });
    }

    /// Sets the complete arguments of a call, for vendors that repeat them. They override the fragments.
    pub(super) fn all_arguments(&mut self, index: usize, text: &str, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        if call.arguments.is_empty() {
            self.arguments(index, text, out);
        } else if call.arguments != text && !text.is_empty() {
            text.clone_into(&mut call.arguments);
        }
    }

    /// Emits the usage reported so far, if there is any.
    pub(super) fn report_usage(&self, out: &mut Vec<ModelEvent>) {
        if self.usage != Usage::default() {
            out.push(ModelEvent::Usage(self.usage));
        }
    }

    /// Sets the finish reason. Token usage may still follow.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    pub(super) fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Handles the proper end of the answer: emits tool calls, token usage and finish reason.
    pub(super) fn complete(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let Some(mut reason) = self.finish.take() else {
            return Err(ModelError::new(ErrorClass::Cut, "the answer was truncated: no finish reason"));
        };
        if !self.has_content && reason == FinishReason::Stop {
            return Err(ModelError::new(ErrorClass::Empty, "the answer of the model is empty"));
        }
        if reason == FinishReason::Stop && !self.calls.is_empty() {
            reason = FinishReason::ToolCalls;
        }
        self.is_over = true;
        self.end_thinking(None, out);
        let is_cut = matches!(reason, FinishReason::Length | FinishReason::ContextWindow);
        let mut ids = HashSet::new();
        for (index, call) in self.calls.drain(..).enumerate() {
            let id = unique(&call.id, &mut ids);
            let arguments = parse(call.arguments, is_cut);
            out.push(ModelEvent::ToolCall(ToolCall { index, id, name: call.name, arguments }));
        }
        out.push(ModelEvent::Usage(self.usage));
        out.push(ModelEvent::Finish(reason));
        Ok(())
    }
}

fn unique(id: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = id.to_owned();
    let mut number = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{id}_{number}");
        number += 1;
    }
    candidate
}

/// Parses arguments. Empty text means no arguments, unless the answer hit its token limit: then they may be missing.
fn parse(text: String, is_cut: bool) -> Arguments {
    if text.trim().is_empty() && !is_cut {
        return Arguments::Object(Map::new());
    }
    let problem = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(arguments)) => return Arguments::Object(arguments),
        Ok(_) => "the arguments are not a JSON object".to_owned(),
        Err(_) if is_cut => {
            "the answer reached its token limit before the arguments were complete: use several smaller calls"
                .to_owned()
        }
        Err(error) => format!("the arguments are not valid JSON: {error}"),
    };
    Arguments::Malformed { text, problem }
}
