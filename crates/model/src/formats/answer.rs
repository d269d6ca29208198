//! What is common to the answers of all formats: calls put together, thinking collected, and everything that may only be
//! said at the proper end held back until then.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{Arguments, ErrorClass, FinishReason, ModelError, ModelEvent, Proof, Thinking, ToolCall, Usage};

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    calls: Vec<Open>,
    thinking: Option<String>,
    has_content: bool,
    finish: Option<FinishReason>,
    is_over: bool,
    /// The counts, as the format reports them.
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
        out.push(ModelEvent::TextDelta(piece.to_owned()));
    }

    pub(super) fn thinking(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        if piece.is_empty() {
            return;
        }
        self.has_content = true;
        self.thinking.get_or_insert_default().push_str(piece);
        out.push(ModelEvent::ThinkingDelta(piece.to_owned()));
    }

    /// Whether a block of thinking has begun and said something.
    pub(super) fn is_thinking(&self) -> bool {
        self.thinking.is_some()
    }

    /// Ends the block of thinking, if one is open or there is a proof of one that is not shown.
    pub(super) fn end_thinking(&mut self, proof: Option<Proof>, out: &mut Vec<ModelEvent>) {
        if self.thinking.is_none() && proof.is_none() {
            return;
        }
        let text = self.thinking.take().unwrap_or_default();
        out.push(ModelEvent::ThinkingEnd(Thinking { text, proof }));
    }

    /// A call begins; returns its number.
    pub(super) fn start_call(&mut self, id: &str, name: &str, out: &mut Vec<ModelEvent>) -> usize {
        self.end_thinking(None, out);
        self.has_content = true;
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

    /// The arguments of a call in one piece, from a vendor that repeats them. Its last word counts.
    pub(super) fn all_arguments(&mut self, index: usize, text: &str, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.calls.get_mut(index) else { return };
        if call.arguments.is_empty() {
            self.arguments(index, text, out);
        } else if call.arguments != text && !text.is_empty() {
            text.clone_into(&mut call.arguments);
        }
    }

    /// The model says why it stopped. The answer may go on with token counts.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    pub(super) fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The proper end: gives the calls, the counts and the reason.
    pub(super) fn complete(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let Some(mut reason) = self.finish.take() else {
            return Err(ModelError::new(ErrorClass::Cut, "the answer ended without saying why"));
        };
        if !self.has_content && reason == FinishReason::Stop {
            return Err(ModelError::new(ErrorClass::Empty, "the model answered with nothing"));
        }
        if reason == FinishReason::Stop && !self.calls.is_empty() {
            reason = FinishReason::ToolCalls;
        }
        self.is_over = true;
        self.end_thinking(None, out);
        let is_cut = reason == FinishReason::Length;
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

/// No arguments at all are none, unless the answer ran into its limit: then they may just not have come.
fn parse(text: String, is_cut: bool) -> Arguments {
    if text.trim().is_empty() && !is_cut {
        return Arguments::Object(Map::new());
    }
    let problem = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(arguments)) => return Arguments::Object(arguments),
        Ok(_) => "the arguments are not a JSON object".to_owned(),
        Err(_) if is_cut => {
            "the answer ran into its limit of tokens before the arguments were complete".to_owned()
        }
        Err(error) => format!("the arguments are not valid JSON: {error}"),
    };
    Arguments::Malformed { text, problem }
}
