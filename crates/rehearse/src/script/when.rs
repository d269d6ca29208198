//! The matchers: which calls a reply answers.
//!
//! An absent matcher holds for every call. [`When::mismatch`] says why a call does not match, because a script that silently does not match
//! is the most common mistake.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Pattern;
use super::number::some_positive;
use crate::{Api, Call};

/// Which calls a reply answers: all given matchers must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct When {
    /// The n-th user turn of the conversation, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub turn: Option<u32>,
    /// The n-th model call within the current user turn, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub call: Option<u32>,
    /// The last text of the user, without system reminders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Pattern>,
    /// Any of the tool results since the model's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<ToolResultMatcher>,
    /// The requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Pattern>,
    /// Whether any tool is offered. Agents send side requests, such as for titles, without tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// The exact name of an offered tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers: Option<String>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Pattern>,
    /// The API of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
}

/// Creates a matcher that holds for every call; narrow it with its methods.
///
/// ```
/// use musher_rehearse::{Pattern, when};
/// let words = when().turn(2).prompt("once again"); // a string is matched literally
/// let regex = when().turn(2).prompt(Pattern::new("(?i)again$")?);
/// # Ok::<(), musher_rehearse::Error>(())
/// ```
pub fn when() -> When {
    When::default()
}

impl When {
    /// Matches only the n-th user turn of the conversation, from 1.
    #[must_use]
    pub fn turn(self, turn: u32) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Matches only the n-th model call of a user turn, from 1.
    #[must_use]
    pub fn call(self, call: u32) -> Self {
        Self { call: Some(call), ..self }
    }

    /// Matches only if the pattern is found in the last text of the user.
    #[must_use]
    pub fn prompt(self, pattern: impl Into<Pattern>) -> Self {
        Self { prompt: Some(pattern.into()), ..self }
    }

    /// Matches only if the pattern is found in a tool result since the model's last message.
    #[must_use]
    pub fn tool_result(self, pattern: impl Into<Pattern>) -> Self {
        let tool = self.tool_result.and_then(|matcher| matcher.tool);
        Self { tool_result: Some(ToolResultMatcher { tool, text: Some(pattern.into()) }), ..self }
    }

    /// Matches only if this tool has a result since the model's last message.
    #[must_use]
    pub fn result_of(self, tool: &str) -> Self {
        let text = self.tool_result.and_then(|matcher| matcher.text);
        Self { tool_result: Some(ToolResultMatcher { tool: Some(tool.to_owned()), text }), ..self }
    }

    /// Matches only if the pattern is found in the name of the requested model.
    #[must_use]
    pub fn model(self, pattern: impl Into<Pattern>) -> Self {
        Self { model: Some(pattern.into()), ..self }
    }

    /// Matches only if tools are offered.
    #[must_use]
    pub fn with_tools(self) -> Self {
        Self { tools: Some(true), ..self }
    }

    /// Matches only if no tools are offered, as in an agent's side requests.
    #[must_use]
    pub fn without_tools(self) -> Self {
        Self { tools: Some(false), ..self }
    }

    /// Matches only if a tool of exactly this name is offered.
    #[must_use]
    pub fn offers(self, tool: &str) -> Self {
        Self { offers: Some(tool.to_owned()), ..self }
    }

    /// Matches only if the pattern is found in the system prompt.
    #[must_use]
    pub fn system(self, pattern: impl Into<Pattern>) -> Self {
        Self { system: Some(pattern.into()), ..self }
    }

    /// Matches only requests of this API.
    #[must_use]
    pub fn api(self, api: Api) -> Self {
        Self { api: Some(api), ..self }
    }

    /// Returns whether the call matches.
    pub fn matches(&self, call: &Call) -> bool {
        self.mismatch(call).is_none()
    }

    /// Describes the first matcher that does not hold; `None` if all hold.
    pub fn mismatch(&self, call: &Call) -> Option<String> {
        number("turn", self.turn, call.turn)
            .or_else(|| number("call", self.call, call.call))
            .or_else(|| {
                let api = self.api.filter(|api| *api != call.api)?;
                Some(format!("api is {}, not {}", call.api.name(), api.name()))
            })
            .or_else(|| pattern("model", self.model.as_ref(), &call.model))
            .or_else(|| {
                let wanted = self.tools.filter(|wanted| *wanted == call.tools.is_empty())?;
                Some(if wanted { "no tools are offered" } else { "tools are offered" }.to_owned())
            })
            .or_else(|| {
                let wanted = self.offers.as_ref().filter(|wanted| !call.tools.contains(wanted))?;
                Some(format!("the tool {wanted} is not offered"))
            })
            .or_else(|| pattern("prompt", self.prompt.as_ref(), &call.prompt))
            .or_else(|| pattern("system", self.system.as_ref(), &call.system))
            .or_else(|| self.tool_result.as_ref()?.mismatch(call))
    }
}

fn number(name: &str, wanted: Option<u32>, is: u32) -> Option<String> {
    let wanted = wanted.filter(|wanted| *wanted != is)?;
    Some(format!("{name} is {is}, not {wanted}"))
}

fn pattern(name: &str, wanted: Option<&Pattern>, is: &str) -> Option<String> {
    let wanted = wanted.filter(|wanted| !wanted.matches(is))?;
    Some(format!("{name} does not match `{}`", wanted.as_str()))
}

/// Matches the tool results since the model's last message; one match is enough.
///
/// In a script: a pattern alone, or an object with `tool`, `text` or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolResultMatcher {
    /// The exact name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The pattern to find in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Pattern>,
}

impl ToolResultMatcher {
    fn mismatch(&self, call: &Call) -> Option<String> {
        let is_match = call.tool_results.iter().any(|result| {
            self.tool.as_ref().is_none_or(|tool| result.tool.as_ref() == Some(tool))
                && self.text.as_ref().is_none_or(|text| text.matches(&result.text))
        });
        if is_match {
            return None;
        }
        if call.tool_results.is_empty() {
            return Some("there is no new tool result".to_owned());
        }
        let of = self.tool.as_ref().map_or_else(String::new, |tool| format!(" of {tool}"));
        let text =
            self.text.as_ref().map_or_else(String::new, |text| format!(" matching `{}`", text.as_str()));
        Some(format!("there is no new tool result{of}{text}"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct ToolResultFields {
    /// The exact name of the tool.
    tool: Option<String>,
    /// The pattern to find in the result.
    text: Option<Pattern>,
}

impl<'de> Deserialize<'de> for ToolResultMatcher {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PatternOrFields;
        impl<'de> Visitor<'de> for PatternOrFields {
            type Value = ToolResultMatcher;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a regular expression, or an object with `tool` and `text`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let text = Pattern::new(text).map_err(E::custom)?;
                Ok(ToolResultMatcher { tool: None, text: Some(text) })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let ToolResultFields { tool, text } =
                    Deserialize::deserialize(MapAccessDeserializer::new(map))?;
                if tool.is_none() && text.is_none() {
                    return Err(A::Error::custom("`tool_result` needs `tool`, `text` or both"));
                }
                Ok(ToolResultMatcher { tool, text })
            }
        }
        deserializer.deserialize_any(PatternOrFields)
    }
}

impl JsonSchema for ToolResultMatcher {
    fn schema_name() -> Cow<'static, str> {
        "ToolResultMatcher".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Matches the tool results since the model's last message; one match is enough.",
            "anyOf": [generator.subschema_for::<Pattern>(), generator.subschema_for::<ToolResultFields>()]
        })
    }
}
