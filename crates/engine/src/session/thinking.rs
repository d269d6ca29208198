//! Which reasoning goes back to the model, and what is stored with a message to decide that later. Pure.
//!
//! Reasoning goes back unchanged, with its proof of origin, and only to the model that made it. The newest Claude models moreover bind it
//! to its prefix: they reject it if the system prompt, the tools or an earlier message differ from the request it answers (Anthropic,
//! "Preserved thinking", read in November 2026), as they do after a compaction, or after a tool was loaded or disabled. So a hash of its
//! prefix is stored with every response that has reasoning, and reasoning whose prefix differs by now stays out of the request. That
//! needs no beta header, and works through gateways.
//!
//! Another model gets no reasoning, and no text made of it: what follows from the reasoning is in the text and the calls behind it, a text
//! costs tokens in every later request, and models imitate it in their answers. Vendors that require some reasoning back with every
//! response (`replayReasoning`) get its disclosed text in their own field.
//!
//! If a vendor rejects reasoning all the same, the engine repeats the call without any. The response is marked, so that a resumed session
//! does not send it again.

use musher_model::{Block, Label, Message as ModelMessage, Proof, Thinking, ToolSpec};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::model_response::PlacedLabel;
use musher_message::{Content, Message, Role};

/// The object with the fields of musher in [`Message::extra`].
const MUSHER: &str = "musher";
/// The hash of the request that a response answers.
const PREFIX: &str = "prefix";
/// Set on the first response after the vendor has rejected the reasoning before it.
const REJECTED: &str = "thinkingRejected";
/// The labels of a response with several, with their places.
const LABELS: &str = "labels";
/// The length of a stored hash, in bytes.
const HASH: usize = 16;

/// What has to be known of the request a response answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The id of the model.
    pub(crate) model_id: String,
    prefix: String,
    is_after_rejection: bool,
}

impl Origin {
    /// Stores it with the response.
    pub(crate) fn mark(&self, message: &mut Message) {
        message.model_id = Some(self.model_id.clone());
        if self.is_after_rejection {
            store(message, REJECTED, true.into());
        }
        if !message.content.iter().any(is_bound) {
            return;
        }
        store(message, PREFIX, self.prefix.clone().into());
    }
}

/// The reasoning that vendors may accept back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// The number of messages whose reasoning a vendor has rejected, from the first on.
    rejected: usize,
    /// Whether no response has been marked with that yet.
    is_unmarked: bool,
}

impl Accepted {
    /// Restores it from the messages of a session.
    pub(crate) fn restore(messages: &[Message]) -> Self {
        let marked = messages.iter().rposition(|message| stored(message, REJECTED).is_some());
        Self { rejected: marked.unwrap_or(0), is_unmarked: false }
    }

    /// A vendor has rejected the reasoning of the first `count` messages.
    pub(crate) fn reject(&mut self, count: usize) {
        *self = Self { rejected: count, is_unmarked: true };
    }

    /// A response was marked.
    pub(crate) fn marked(&mut self) {
        self.is_unmarked = false;
    }
}

/// Chooses what goes back, message by message in the order of the request.
pub(crate) struct Replay<'a> {
    model_id: &'a str,
    /// Whether the model binds reasoning to its prefix.
    is_binding: bool,
    accepted: &'a Accepted,
    prefix: Sha256,
}

impl<'a> Replay<'a> {
    /// Begins with the parts of a request before the messages.
    pub(crate) fn new(
        model_id: &'a str,
        is_binding: bool,
        accepted: &'a Accepted,
        system: &[String],
        tools: &[ToolSpec],
    ) -> Self {
        let mut replay = Self { model_id, is_binding, accepted, prefix: Sha256::new() };
        replay.add(&json!([system, tools]));
        replay
    }

    /// Adds a message that the model has not written.
    pub(crate) fn push(&mut self, message: &ModelMessage) {
        self.add(&json!(message));
    }

    /// Adds the message with this index in the session, without the reasoning that cannot go back.
    pub(crate) fn push_stored(&mut self, index: usize, message: &Message, request: &mut ModelMessage) {
        if message.role == Role::Assistant {
            let is_foreign = message.model_id.as_deref().is_some_and(|model| model != self.model_id);
            if is_foreign || index < self.accepted.rejected {
                withhold_proofs(request);
            } else {
                insert_labels(message, request);
                if self.is_binding && stored(message, PREFIX).is_some_and(|prefix| *prefix != self.hash()) {
                    withhold_thinking(request);
                }
            }
        }
        self.push(request);
    }

    /// Returns what is stored with the response to the request.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            model_id: self.model_id.to_owned(),
            prefix: self.hash(),
            is_after_rejection: self.accepted.is_unmarked,
        }
    }

    fn add(&mut self, value: &Value) {
        self.prefix.update(value.to_string());
        self.prefix.update([0]);
    }

    fn hash(&self) -> String {
        use std::fmt::Write as _;
        let hash = self.prefix.clone().finalize();
        hash.iter().take(HASH).fold(String::new(), |mut text, byte| {
            // writing to a String cannot fail
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Keeps the labels of a response with their places.
pub(crate) fn set_labels(message: &mut Message, labels: &[PlacedLabel]) {
    let labels = labels.iter().map(|label| json!([label.index, label.label, label.value])).collect();
    store(message, LABELS, labels);
}

/// Returns whether a part may be bound to its prefix.
fn is_bound(content: &Content) -> bool {
    let proof = match content {
        Content::Thinking(Thinking { proof, .. }) => proof.as_ref(),
        _ => None,
    };
    matches!(
        proof,
        Some(
            Proof::Signature { .. }
                | Proof::Redacted { .. }
                | Proof::Details { .. }
                | Proof::Encrypted { .. }
        )
    )
}

/// Removes what only the model that made it can read, and everything that was signed. Disclosed reasoning stays as text, for vendors that
/// require some.
fn withhold_proofs(message: &mut ModelMessage) {
    message.content.retain_mut(|block| match block {
        Block::Thinking(thinking) => {
            thinking.proof = None;
            !thinking.text.is_empty()
        }
        Block::ToolUse(call) => {
            call.signature = None;
            true
        }
        Block::Other(_) | Block::Label { .. } => false,
        _ => true,
    });
}

/// Removes all reasoning that has a proof.
fn withhold_thinking(message: &mut ModelMessage) {
    message.content.retain(|block| !matches!(block, Block::Thinking(thinking) if thinking.proof.is_some()));
}

/// Adds the labels of a response to the parts they are about.
fn insert_labels(message: &Message, request: &mut ModelMessage) {
    let placed: Option<Vec<(usize, Label, String)>> =
        stored(message, LABELS).and_then(|labels| serde_json::from_value(labels.clone()).ok());
    let placed = placed.unwrap_or_else(|| {
        let value = |label: Label| message.extra.get(label.name())?.as_str().map(str::to_owned);
        Label::ALL.into_iter().filter_map(|label| Some((0, label, value(label)?))).collect()
    });
    // from the last on, so that the places of the others stay
    for (index, label, value) in placed.into_iter().rev() {
        let index = index.min(request.content.len());
        request.content.insert(index, Block::Label { label, value });
    }
}

fn stored<'a>(message: &'a Message, key: &str) -> Option<&'a Value> {
    message.extra.get(MUSHER)?.get(key)
}

fn store(message: &mut Message, key: &str, value: Value) {
    let mut fields = match message.extra.shift_remove(MUSHER) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.insert(key.to_owned(), value);
    message.extra.insert(MUSHER.to_owned(), fields.into());
}

#[cfg(test)]
mod tests;
