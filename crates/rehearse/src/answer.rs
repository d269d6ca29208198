//! Converts a reply to a stream of vendor-neutral events, with all delays as data.
//!
//! Pure: nothing here waits. The player of an answer waits before each event as long as the event says.

use std::time::Duration;

use crate::script::{Cut, Finish, Hang, HttpError, Reply, Step, Usage, every};
use crate::{Api, Call};

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The number of the answer within the rehearsal, from 1; ids are made from it.
    pub number: u64,
    /// The part of the script that the answer comes from.
    pub source: Source,
    /// The delay before the first byte.
    pub delay: Duration,
    /// The events, in order. The last one is [`Event::Finish`] or [`Event::Fault`].
    pub events: Vec<Timed>,
    /// The complete token counts; also sent as an event before the finish.
    pub usage: Usage,
}

/// The part of the script that an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A reply.
    Reply {
        /// Its index in the script, from 0.
        index: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// The `otherwise` of the script.
    Otherwise,
    /// Nothing matched; the answer is an error that says why.
    Unmatched,
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reply { name: Some(name), .. } => formatter.write_str(name),
            Self::Reply { index, name: None } => write!(formatter, "reply {}", index + 1),
            Self::Otherwise => formatter.write_str("otherwise"),
            Self::Unmatched => formatter.write_str("nothing matched"),
        }
    }
}

/// An event and the delay before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// The delay.
    pub after: Duration,
    /// The event.
    pub event: Event,
}

/// One event of an answer.
///
/// Content comes in blocks that never overlap: one or more pieces of the same kind, then [`Event::BlockEnd`]. A tool call is
/// [`Event::ToolCall`], one or more [`Event::Arguments`], then [`Event::BlockEnd`]. Only a fault may come before the end of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A piece of text.
    Text(String),
    /// A piece of reasoning.
    Thinking(String),
    /// The start of a tool call.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// A piece of the JSON text of the arguments.
    Arguments(String),
    /// The block is complete.
    BlockEnd,
    /// The token counts.
    Usage(Usage),
    /// The answer is complete.
    Finish(Finish),
    /// The answer breaks off.
    Fault(Fault),
}

/// How an answer breaks off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An HTTP error instead of an answer. It is the only event.
    Http(HttpError),
    /// An error in the middle of an answer.
    InStream(HttpError),
    /// The connection is cut.
    Cut(Cut),
    /// Nothing more is sent.
    Hang(Hang),
}

impl Answer {
    pub(crate) fn new(number: u64, source: Source, reply: &Reply, call: &Call) -> Self {
        let mut events =
            Events { between: Duration::from_millis(reply.delay.between_ms), ..Events::default() };
        let mut tools = 0;
        for step in &reply.steps {
            match step {
                Step::Text(text) => events.block(text.pieces().into_iter().map(Event::Text)),
                Step::Thinking(text) => events.block(text.pieces().into_iter().map(Event::Thinking)),
                Step::Tool(tool) => {
                    tools += 1;
                    let id = tool.id.clone().unwrap_or_else(|| tool_call_id(call.api, number, tools));
                    let text = tool.arguments_text();
                    let pieces = tool.chunk.map_or_else(|| vec![text.clone()], |chunk| every(&text, chunk));
                    let start = Event::ToolCall { id, name: tool.name.clone() };
                    events.block(std::iter::once(start).chain(pieces.into_iter().map(Event::Arguments)));
                }
                Step::WaitMs(milliseconds) => events.wait += Duration::from_millis(*milliseconds),
                Step::Error(error) if events.list.is_empty() && !error.in_stream => {
                    events.fault(Fault::Http(error.clone()));
                }
                Step::Error(error) => events.fault(Fault::InStream(error.clone())),
                Step::Cut(cut) => events.fault(Fault::Cut(*cut)),
                Step::Hang(hang) => events.fault(Fault::Hang(*hang)),
            }
            if events.is_over {
                break;
            }
        }
        let usage = complete(reply.usage, call, &events.list);
        let finish = reply.finish.unwrap_or(if tools > 0 { Finish::ToolCalls } else { Finish::Stop });
        events.finish(usage, finish);
        let delay = Duration::from_millis(reply.delay.first_ms);
        Self { number, source, delay, events: events.list, usage }
    }

    /// Returns the error if the client sees it as an HTTP status.
    pub fn http_error(&self) -> Option<&HttpError> {
        match self.events.first().map(|timed| &timed.event) {
            Some(Event::Fault(Fault::Http(error))) => Some(error),
            _ => None,
        }
    }

    /// Returns the fault that the answer starts with, if it has no content at all.
    pub(crate) fn fault_at_once(&self) -> Option<&Fault> {
        self.fault().filter(|_| self.events.len() == 1)
    }

    /// Returns the fault that ends the answer, if it does not finish.
    pub fn fault(&self) -> Option<&Fault> {
        match self.events.last().map(|timed| &timed.event) {
            Some(Event::Fault(fault)) => Some(fault),
            _ => None,
        }
    }

    /// Returns the finish reason, if the answer finishes.
    pub fn finish(&self) -> Option<Finish> {
        match self.events.last().map(|timed| &timed.event) {
            Some(Event::Finish(finish)) => Some(*finish),
            _ => None,
        }
    }

    /// Returns the content as complete blocks, for formats that send it at once.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for timed in &self.events {
            match (&timed.event, &mut open) {
                (Event::Text(piece), Some(Block::Text(text)))
                | (Event::Thinking(piece), Some(Block::Thinking(text)))
                | (Event::Arguments(piece), Some(Block::ToolCall { arguments: text, .. })) => {
                    text.push_str(piece);
                }
                (Event::Text(piece), _) => open = Some(Block::Text(piece.clone())),
                (Event::Thinking(piece), _) => open = Some(Block::Thinking(piece.clone())),
                (Event::ToolCall { id, name }, _) => {
                    open = Some(Block::ToolCall {
                        id: id.clone(),
                        name: name.clone(),
                        arguments: String::new(),
                    });
                }
                (Event::BlockEnd, _) => blocks.extend(open.take()),
                _ => {}
            }
        }
        blocks.extend(open);
        blocks
    }

    /// Returns how long the whole answer takes.
    pub fn duration(&self) -> Duration {
        self.events.iter().fold(self.delay, |sum, timed| sum.saturating_add(timed.after))
    }
}

/// A complete block of content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// Reasoning.
    Thinking(String),
    /// A tool call.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The JSON text of the arguments.
        arguments: String,
    },
}

#[derive(Default)]
struct Events {
    list: Vec<Timed>,
    between: Duration,
    wait: Duration,
    block_is_open: bool,
    is_over: bool,
}

impl Events {
    fn push(&mut self, event: Event) {
        let after = std::mem::take(&mut self.wait);
        self.list.push(Timed { after, event });
    }

    /// A block stays open until the next one starts, so that a fault leaves it unfinished.
    fn block(&mut self, pieces: impl Iterator<Item = Event>) {
        self.end_block();
        for piece in pieces {
            // The start of a tool call and its first arguments share one delay.
            let waits = !self.list.is_empty() && !self.follows_tool_call();
            if waits {
                self.wait += self.between;
            }
            self.push(piece);
        }
        self.block_is_open = true;
    }

    fn follows_tool_call(&self) -> bool {
        matches!(self.list.last(), Some(Timed { event: Event::ToolCall { .. }, .. }))
    }

    fn end_block(&mut self) {
        if std::mem::take(&mut self.block_is_open) {
            // A pause between two blocks belongs before the second, not before the end of the first.
            self.list.push(Timed { after: Duration::ZERO, event: Event::BlockEnd });
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.push(Event::Fault(fault));
        self.is_over = true;
    }

    fn finish(&mut self, usage: Usage, finish: Finish) {
        if self.is_over {
            return;
        }
        self.end_block();
        self.push(Event::Usage(usage));
        self.push(Event::Finish(finish));
    }
}

fn tool_call_id(api: Api, number: u64, index: u32) -> String {
    let prefix = match api {
        Api::Anthropic => "toolu",
        Api::OpenaiChat | Api::OpenaiResponses => "call",
    };
    format!("{prefix}_rehearsal_{number:06}_{index}")
}

fn complete(usage: Usage, call: &Call, events: &[Timed]) -> Usage {
    let length = |text: &String| text.chars().count() as u64;
    let mut said = 0;
    let mut thought = 0;
    for timed in events {
        match &timed.event {
            Event::Text(text) | Event::Arguments(text) => said += length(text),
            Event::ToolCall { name, .. } => said += length(name),
            Event::Thinking(text) => thought += length(text),
            _ => {}
        }
    }
    Usage {
        input: usage.input.or(Some(tokens(call.input_chars))),
        output: usage.output.or(Some(tokens(said + thought))),
        cache_read: usage.cache_read.or(Some(0)),
        cache_creation: usage.cache_creation.or(Some(0)),
        reasoning: usage.reasoning.or(Some(tokens(thought))),
    }
}

/// Estimates tokens with the usual rule: four characters per token.
pub(crate) fn tokens(characters: u64) -> u64 {
    characters.div_ceil(4)
}
