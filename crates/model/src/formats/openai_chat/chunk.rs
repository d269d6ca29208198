//! Events of a chat completion, in all forms that vendors send. Borrows from the event where possible.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Usage;

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    pub(super) usage: Option<Counts>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// Moonshot reports the counts here.
    pub(super) usage: Option<Counts>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<Cow<'a, str>>,
    pub(super) reasoning_details: Option<Vec<Value>>,
    pub(super) extra_content: Option<ExtraContent>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

/// Additional fields of Google's models.
#[derive(Deserialize)]
pub(super) struct ExtraContent {
    google: Option<Google>,
}

#[derive(Deserialize)]
struct Google {
    thought_signature: Option<String>,
    #[serde(default)]
    thought: bool,
}

impl ExtraContent {
    /// Returns whether the content is a thought.
    pub(super) fn is_thought(&self) -> bool {
        self.google.as_ref().is_some_and(|google| google.thought)
    }

    /// Returns the signature of the reasoning.
    pub(super) fn thought_signature(&self) -> Option<&str> {
        self.google.as_ref()?.thought_signature.as_deref().filter(|signature| !signature.is_empty())
    }
}

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) function: Option<FunctionDelta<'a>>,
    pub(super) extra_content: Option<ExtraContent>,
}

#[derive(Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<ArgumentsPiece<'a>>,
}

/// A fragment of JSON text; some vendors send the object itself.
pub(super) struct ArgumentsPiece<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for ArgumentsPiece<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrObject;
        impl<'de> Visitor<'de> for TextOrObject {
            type Value = ArgumentsPiece<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("arguments as text or as an object")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(ArgumentsPiece(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(ArgumentsPiece(Cow::Owned(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let object = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(ArgumentsPiece(Cow::Owned(object.to_string())))
            }
        }
        deserializer.deserialize_any(TextOrObject)
    }
}

/// Content: a text, null, or a list of parts.
#[derive(Default)]
pub(super) struct Content<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) thinking: Option<Cow<'a, str>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;
        impl<'de> Visitor<'de> for TextOrParts {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content as text or as a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content { text: Some(Cow::Borrowed(text)), thinking: None })
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content { text: Some(Cow::Owned(text.to_owned())), thinking: None })
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
                let (mut text, mut thinking) = (String::new(), String::new());
                while let Some(part) = parts.next_element::<Value>()? {
                    text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                    for thought in part.get("thinking").and_then(Value::as_array).into_iter().flatten() {
                        thinking.push_str(thought.get("text").and_then(Value::as_str).unwrap_or_default());
                    }
                }
                Ok(Content { text: Some(Cow::Owned(text)), thinking: Some(Cow::Owned(thinking)) })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::default())
            }
        }
        deserializer.deserialize_any(TextOrParts)
    }
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<InputDetails>,
    completion_tokens_details: Option<OutputDetails>,
    /// Tokens read from the cache, as named by `DeepSeek`.
    prompt_cache_hit_tokens: Option<u64>,
    /// Tokens read from the cache, as named by Moonshot.
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl Counts {
    /// Converts the counts. The vendor's input tokens include cached ones, so these are subtracted.
    pub(super) fn counts(&self) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let cache_read = details.and_then(|details| details.cached_tokens);
        let cache_read = cache_read.or(self.prompt_cache_hit_tokens).or(self.cached_tokens).unwrap_or(0);
        let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
        let input = self.prompt_tokens.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write);
        let thinking = self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        Usage {
            input,
            output: self.completion_tokens.unwrap_or(0),
            cache_read,
            cache_write,
            thinking: thinking.unwrap_or(0),
            ..Usage::default()
        }
    }
}
