//! Pieces of a message as the events of the vendor's API that front ends know from `stream_event`. Pure.
//!
//! Droid sends pieces of text and thinking and, later, the whole message. A tool call comes in one piece, with the message.

use musher::wire::{ContentBlock, Message};
use serde_json::{Value, json};

use super::blocks;

/// The message that is emitted piece by piece.
#[derive(Debug, Default)]
pub(super) struct Stream {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    message_id: String,
    /// How many blocks there were, with the one that is open.
    blocks: u64,
    block: Option<Block>,
    /// The text emitted so far; an interrupted turn returns it.
    text: String,
}

/// The open block: its kind and the agent's number for it.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    kind: Kind,
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
}

impl Stream {
    /// Returns a piece of a message.
    pub(super) fn piece(
        &mut self,
        kind: Kind,
        message_id: &str,
        number: u64,
        text: &str,
        model: &str,
    ) -> Vec<Value> {
        let mut events = self.begin(message_id, model);
        let Some(open) = &mut self.open else { return events };
        let block = Block { kind, number };
        if open.block.as_ref() != Some(&block) {
            events.extend(open.close_block());
            let empty = match kind {
                Kind::Text => json!({"type": "text", "text": ""}),
                Kind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            };
            events.push(json!({"type": "content_block_start", "index": open.blocks, "content_block": empty}));
            open.blocks += 1;
            open.block = Some(block);
        }
        let delta = match kind {
            Kind::Text => json!({"type": "text_delta", "text": text}),
            Kind::Thinking => json!({"type": "thinking_delta", "thinking": text}),
        };
        if kind == Kind::Text {
            open.text.push_str(text);
        }
        events.push(json!({"type": "content_block_delta", "index": open.blocks - 1, "delta": delta}));
        events
    }

    /// Takes the whole message. Returns the events that are left to emit before and after it.
    pub(super) fn whole(&mut self, message: &Message, model: &str) -> (Vec<Value>, Vec<Value>) {
        let mut before = self.begin(&message.id, model);
        let Some(mut open) = self.open.take() else { return (before, Vec::new()) };
        let mut is_called = false;
        for block in &message.content {
            let ContentBlock::ToolUse(call) = block else { continue };
            is_called = true;
            before.extend(open.close_block());
            let empty = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
            let input = json!({"type": "input_json_delta", "partial_json": call.input.text()});
            let index = open.blocks;
            before.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
            before.push(json!({"type": "content_block_delta", "index": index, "delta": input}));
            before.push(json!({"type": "content_block_stop", "index": index}));
            open.blocks += 1;
        }
        let reason = if is_called { "tool_use" } else { "end_turn" };
        (before, open.close(Some(reason)))
    }

    /// Discards the open message.
    pub(super) fn retract(&mut self) {
        // the next one begins with a start of its own, as after every broken stream
        self.open = None;
    }

    /// Ends an open message early. Returns its id, its text so far, and the closing events.
    pub(super) fn cut(&mut self) -> Option<(String, String, Vec<Value>)> {
        let mut open = self.open.take()?;
        let events = open.close(None);
        Some((open.message_id, open.text, events))
    }

    fn begin(&mut self, message_id: &str, model: &str) -> Vec<Value> {
        let mut events = Vec::new();
        if self.open.as_ref().is_some_and(|open| open.message_id != message_id)
            && let Some((_, _, closing)) = self.cut()
        {
            events = closing;
        }
        if self.open.is_none() {
            let message = blocks::message(message_id, model, &[]);
            events.push(json!({"type": "message_start", "message": message}));
            let (message_id, text) = (message_id.to_owned(), String::new());
            self.open = Some(Open { message_id, blocks: 0, block: None, text });
        }
        events
    }
}

impl Open {
    fn close_block(&mut self) -> Option<Value> {
        self.block.take().map(|_| json!({"type": "content_block_stop", "index": self.blocks - 1}))
    }

    fn close(&mut self, reason: Option<&str>) -> Vec<Value> {
        let mut events: Vec<_> = self.close_block().into_iter().collect();
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}
