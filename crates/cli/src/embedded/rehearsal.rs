//! The scripted model in this process: a script's answers as a model's events, without a server between.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use musher_model::{
    Arguments, ErrorClass, EventStream, FinishReason, Format, FormatOptions, ModelError, ModelEvent,
    Provider, Request, Thinking, ToolCall, Usage,
};
use musher_rehearse::{Api, Event, Fault, Finish, Rehearsal, Script, Timed};
use serde_json::Value;

/// A model that follows a script.
#[derive(Debug)]
pub(super) struct Scripted(Arc<Rehearsal>);

impl Scripted {
    /// Returns the built-in tour.
    pub(super) fn tour() -> Result<Self, musher_rehearse::Error> {
        Ok(Self::of(Script::tour()?))
    }

    /// Creates a model with a given script.
    pub(super) fn of(script: Script) -> Self {
        Self(Arc::new(Rehearsal::new(script)))
    }
}

impl Provider for Scripted {
    fn stream(&self, request: Request) -> EventStream {
        let rehearsal = Arc::clone(&self.0);
        // do nothing before the stream is polled: a script counts its calls
        Box::pin(stream::unfold(State::Asked(rehearsal, Box::new(request)), |state| async {
            let mut playing = match state {
                State::Asked(rehearsal, request) => match Playing::begin(&rehearsal, &request) {
                    Ok(playing) => playing,
                    Err(problem) => {
                        return Some((Err(ModelError::new(ErrorClass::Invalid, problem)), State::Over));
                    }
                },
                State::Playing(playing) => playing,
                State::Over => return None,
            };
            let next = playing.next().await?;
            let state = if next.is_err() { State::Over } else { State::Playing(playing) };
            Some((next, state))
        }))
    }
}

enum State {
    Asked(Arc<Rehearsal>, Box<Request>),
    Playing(Playing),
    Over,
}

/// An answer that is being streamed.
struct Playing {
    events: VecDeque<Timed>,
    /// The remaining events, in order.
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    thinking: Option<String>,
    calls: Vec<(String, String, String)>,
}

impl Playing {
    fn begin(rehearsal: &Rehearsal, request: &Request) -> Result<Self, String> {
        let mut call = Api::OpenaiChat.read(&Format::OpenaiChat.body(request, &FormatOptions::default()))?;
        call.stream = true;
        let answer = rehearsal.answer(&call);
        let mut events: VecDeque<_> = answer.events.into();
        if let Some(first) = events.front_mut() {
            first.after += answer.delay;
        }
        Ok(Self { events, ready: VecDeque::new(), thinking: None, calls: Vec::new() })
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let Timed { after, event } = self.events.pop_front()?;
            if !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            if let Event::Fault(Fault::Hang(_)) = event {
                std::future::pending::<()>().await;
            }
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.ready.push_back(Ok(ModelEvent::TextDelta(text))),
            Event::Thinking(text) => {
                self.thinking.get_or_insert_default().push_str(&text);
                self.ready.push_back(Ok(ModelEvent::ThinkingDelta(text)));
            }
            Event::ToolCall { id, name } => {
                let index = self.calls.len();
                self.calls.push((id.clone(), name.clone(), String::new()));
                self.ready.push_back(Ok(ModelEvent::ToolStart { index, id, name }));
            }
            Event::Arguments(delta) => {
                if let Some((_, _, arguments)) = self.calls.last_mut() {
                    arguments.push_str(&delta);
                    let index = self.calls.len() - 1;
                    self.ready.push_back(Ok(ModelEvent::ToolArguments { index, delta }));
                }
            }
            Event::BlockEnd => {
                if let Some(text) = self.thinking.take() {
                    self.ready.push_back(Ok(ModelEvent::ThinkingEnd(Thinking { text, proof: None })));
                }
            }
            Event::Usage(usage) => self.ready.push_back(Ok(ModelEvent::Usage(counts(&usage)))),
            Event::Finish(finish) => self.finish(finish),
            Event::Fault(fault) => self.ready.push_back(Err(failure(&fault))),
            _ => {}
        }
    }

    fn finish(&mut self, finish: Finish) {
        for (index, (id, name, text)) in self.calls.drain(..).enumerate() {
            let arguments = match serde_json::from_str(if text.is_empty() { "{}" } else { &text }) {
                Ok(Value::Object(object)) => Arguments::Object(object),
                Ok(_) => Arguments::Malformed { text, problem: "no JSON object".to_owned() },
                Err(error) => Arguments::Malformed { text, problem: error.to_string() },
            };
            self.ready.push_back(Ok(ModelEvent::ToolCall(ToolCall { index, id, name, arguments })));
        }
        let reason = match finish {
            Finish::Length => FinishReason::Length,
            Finish::ToolCalls => FinishReason::ToolCalls,
            Finish::ContentFilter => FinishReason::ContentFilter,
            _ => FinishReason::Stop,
        };
        self.ready.push_back(Ok(ModelEvent::Finish(reason)));
    }
}

fn counts(usage: &musher_rehearse::Usage) -> Usage {
    Usage {
        input: usage.input.unwrap_or_default(),
        output: usage.output.unwrap_or_default(),
        cache_read: usage.cache_read.unwrap_or_default(),
        cache_write: usage.cache_creation.unwrap_or_default(),
        thinking: usage.reasoning.unwrap_or_default(),
        ..Usage::default()
    }
}

fn failure(fault: &Fault) -> ModelError {
    match fault {
        Fault::Http(error) | Fault::InStream(error) => {
            let message = error.message.clone().unwrap_or_else(|| "scripted error".to_owned());
            ModelError::reported(error.status, error.kind.as_deref().unwrap_or_default(), message)
        }
        _ => ModelError::new(ErrorClass::Cut, "the scripted answer was cut off"),
    }
}
