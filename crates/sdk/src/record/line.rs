//! One line of a recording, read and printed. No file is touched here.

use musher_wire::{Frame, Json};
use serde::{Deserialize, Serialize};

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Direction {
    /// The client, to the agent.
    #[serde(rename = "c2s")]
    Client,
    /// The agent, to the client.
    #[serde(rename = "s2c")]
    Agent,
}

/// One line. Exactly one of `msg`, `raw` and `end` is set.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) dir: Direction,
    /// Seconds since the connection was opened.
    #[serde(default)]
    pub(super) t: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) msg: Option<Json>,
    /// The text of a line that is not a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) raw: Option<String>,
    /// Why the connection ended, if the agent ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
}

impl Line {
    pub(super) fn frame(dir: Direction, t: f64, frame: &Frame) -> Self {
        let text = frame.to_line();
        let msg = match frame {
            Frame::Malformed(_) => None,
            _ => serde_json::from_str(&text).ok(),
        };
        let raw = msg.is_none().then_some(text);
        Self { dir, t, msg, raw, end: None }
    }

    pub(super) fn end(t: f64, why: String) -> Self {
        Self { dir: Direction::Agent, t, msg: None, raw: None, end: Some(why) }
    }

    /// Returns the text of the message.
    pub(super) fn said(&self) -> Option<&str> {
        self.msg.as_ref().map(Json::text).or(self.raw.as_deref())
    }
}
