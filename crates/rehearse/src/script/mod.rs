//! The script: which reply answers which call. Plain data, built in Rust or read from a file.
//!
//! Nothing here runs a script or counts anything: see `rehearsal.rs`.

mod load;
mod number;
mod order;
mod pattern;
mod reply;
mod step;
mod when;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use pattern::Pattern;
pub use reply::{Delay, Finish, Reply, Usage};
pub(crate) use step::every;
pub use step::{Cut, Hang, HttpError, Pieces, Step, ToolCall};
pub use when::{ToolResultMatcher, When, when};

/// A script of replies.
///
/// A call is answered by the first reply whose matchers all hold and which is not used up, else by `otherwise`. Without `otherwise` the
/// call gets an error that says why nothing matched.
///
/// ```
/// use musher_rehearse::{Reply, Script, when};
///
/// let script = Script::new()
///     .reply(Reply::text("A title").when(when().without_tools()))
///     .reply(Reply::text("First answer").when(when().turn(1)))
///     .otherwise(Reply::text("Any further answer"));
///
/// let same = Script::parse("inline", r"
/// replies:
///   - when: {tools: false}
///     steps: [{text: A title}]
///   - when: {turn: 1}
///     steps: [{text: First answer}]
/// otherwise:
///   steps: [{text: Any further answer}]
/// ")?;
/// assert_eq!(script, same);
/// # Ok::<(), musher_rehearse::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A rehearsal script")]
#[non_exhaustive]
pub struct Script {
    /// What this script is for; ignored by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Names listed by the models endpoint. Calls may name any model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The replies; the first that matches answers.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// The answer to every call that no reply matches; it takes no `when` and no `times`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "unconditional")]
    pub otherwise: Option<Reply>,
}

impl Script {
    /// Creates a script without replies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the short tour that is played when no script is given.
    pub fn tour() -> Result<Self, crate::Error> {
        Self::parse("tour.yaml", include_str!("../../scripts/tour.yaml"))
    }

    /// Adds a reply, tried after the existing ones.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Self {
        self.replies.push(reply);
        self
    }

    /// Sets the answer to calls that no reply matches. Its matchers, if any, are ignored.
    #[must_use]
    pub fn otherwise(self, reply: Reply) -> Self {
        Self { otherwise: Some(Reply { when: When::default(), times: None, ..reply }), ..self }
    }

    /// Adds a name to the list of models.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.models.push(name.into());
        self
    }
}

fn unconditional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reply>, D::Error> {
    let reply = Option::<Reply>::deserialize(deserializer)?;
    match &reply {
        Some(reply) if reply.when != When::default() => {
            Err(serde::de::Error::custom("`otherwise` takes no `when`: it answers every remaining call"))
        }
        Some(reply) if reply.times.is_some() => {
            Err(serde::de::Error::custom("`otherwise` takes no `times`: it answers every remaining call"))
        }
        _ => Ok(reply),
    }
}
