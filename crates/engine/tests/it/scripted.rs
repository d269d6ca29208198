//! A model that says what a test wants, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use musher_model::{
    Arguments, EventStream, FinishReason, ModelError, ModelEvent, Provider, Request, Thinking, ToolCall,
    Usage,
};
use serde_json::Value;

/// What every answer uses.
pub(crate) const USAGE: Usage =
    Usage { input: 800, output: 50, cache_read: 200, cache_write: 0, cache_write_long: 0, thinking: 0 };

/// One answer.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// These events, to the end.
    Events(Vec<ModelEvent>),
    /// These events, and then nothing for ever.
    Hang(Vec<ModelEvent>),
    /// These events, and then this.
    Fail(Vec<ModelEvent>, ModelError),
}

/// A text, word by word.
pub(crate) fn text(text: &str) -> Reply {
    Reply::Events(ended(words(text), FinishReason::Stop))
}

/// A text, word by word, that never ends.
pub(crate) fn endless(text: &str) -> Reply {
    Reply::Hang(words(text))
}

/// Thinking, then a text.
pub(crate) fn thinking(thoughts: &str, text: &str) -> Reply {
    let mut events = vec![
        ModelEvent::ThinkingDelta(thoughts.to_owned()),
        ModelEvent::ThinkingEnd(Thinking { text: thoughts.to_owned(), proof: None }),
    ];
    events.extend(words(text));
    Reply::Events(ended(events, FinishReason::Stop))
}

/// A text that is cut off by its length.
pub(crate) fn too_long(text: &str) -> Reply {
    Reply::Events(ended(words(text), FinishReason::Length))
}

/// Calls of tools, after a text if it is not empty. The ids are `call_0`, `call_1` ...
pub(crate) fn calls(text: &str, calls: &[(&str, Value)]) -> Reply {
    let mut events = words(text);
    for (index, (name, _)) in calls.iter().enumerate() {
        events.push(ModelEvent::ToolStart { index, id: format!("call_{index}"), name: (*name).to_owned() });
    }
    for (index, (name, input)) in calls.iter().enumerate() {
        let arguments = match input {
            Value::Object(input) => Arguments::Object(input.clone()),
            other => Arguments::Malformed { text: other.to_string(), problem: "not an object".to_owned() },
        };
        let (id, name) = (format!("call_{index}"), (*name).to_owned());
        events.push(ModelEvent::ToolCall(ToolCall { index, id, name, arguments }));
    }
    Reply::Events(ended(events, FinishReason::ToolCalls))
}

fn words(text: &str) -> Vec<ModelEvent> {
    text.split_inclusive(' ').map(|word| ModelEvent::TextDelta(word.to_owned())).collect()
}

fn ended(mut events: Vec<ModelEvent>, reason: FinishReason) -> Vec<ModelEvent> {
    events.push(ModelEvent::Usage(USAGE));
    events.push(ModelEvent::Finish(reason));
    events
}

/// A model with a list of answers.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    replies: Mutex<VecDeque<Reply>>,
    /// Answers for subagents, which may ask at any time.
    for_subagents: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self { replies: Mutex::new(replies.into_iter().collect()), ..Self::default() })
    }

    /// What it says next.
    pub(crate) fn tell(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// What it says to subagents.
    pub(crate) fn tell_subagents(&self, replies: impl IntoIterator<Item = Reply>) {
        self.for_subagents.lock().unwrap().extend(replies);
    }

    /// What subagents have asked so far.
    pub(crate) fn requests_of_subagents(&self) -> Vec<Request> {
        self.requests().into_iter().filter(is_of_subagent).collect()
    }

    /// What it was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn is_of_subagent(request: &Request) -> bool {
    request.system.first().is_some_and(|system| system.starts_with("You are a subagent"))
}

impl Provider for Scripted {
    fn stream(&self, request: Request) -> EventStream {
        let replies = if is_of_subagent(&request) { &self.for_subagents } else { &self.replies };
        self.requests.lock().unwrap().push(request);
        let reply = replies.lock().unwrap().pop_front().expect("the script has no answer left");
        match reply {
            Reply::Events(events) => Box::pin(stream::iter(events.into_iter().map(Ok))),
            Reply::Hang(events) => {
                Box::pin(stream::iter(events.into_iter().map(Ok)).chain(stream::pending()))
            }
            Reply::Fail(events, error) => {
                Box::pin(stream::iter(events.into_iter().map(Ok).chain([Err(error)])))
            }
        }
    }
}
