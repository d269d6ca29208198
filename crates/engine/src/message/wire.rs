//! A message as clients see it: the field names of the protocol. The text for the model is not in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use musher_model::{Media, Proof, Thinking};
use musher_tools::Part;
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{Content, Message, Role, Visibility};

/// Fields of a stored message that are nobody's business but the store's.
const OF_THE_STORE: [&str; 2] = ["compactionSummaryId", "musher"];

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.wire().serialize(serializer)
    }
}

impl Message {
    /// The message as clients see it.
    pub fn wire(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("id", self.id.clone().into());
        put("role", self.role.name().into());
        match self.extra.get("hookEventName").and_then(Value::as_str).filter(|_| self.is_hook_run()) {
            None => put("content", self.content.iter().map(|part| part.json(&Names::WIRE)).collect()),
            // people are shown something
            Some(event) => {
                put("content", json!([{"type": "text", "text": format!("Hook execution started: {event}")}]))
            }
        };
        put("createdAt", self.created_at_ms.into());
        put("updatedAt", self.updated_at_ms.into());
        put("parentId", self.parent_id.as_deref().unwrap_or("root").into());
        if self.visibility != Visibility::Both {
            put("visibility", self.visibility.name().into());
        }
        if let Some(model) = &self.model_id {
            put("modelId", model.clone().into());
        }
        if let Some(effort) = &self.reasoning_effort {
            put("reasoningEffort", effort.clone().into());
        }
        let extra = self.extra.iter().filter(|(key, _)| !OF_THE_STORE.contains(&key.as_str()));
        for (key, value) in extra {
            fields.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(fields)
    }
}

/// The names that differ between the wire and the disk.
#[derive(Debug)]
pub(crate) struct Names {
    tool_use_id: &'static str,
    is_error: &'static str,
    media_type: &'static str,
}

impl Names {
    pub(crate) const WIRE: Self =
        Self { tool_use_id: "toolUseId", is_error: "isError", media_type: "mediaType" };
    pub(crate) const DISK: Self =
        Self { tool_use_id: "tool_use_id", is_error: "is_error", media_type: "media_type" };
}

impl Content {
    /// The part with these names. Of the result of a tool only what clients see.
    pub(crate) fn json(&self, names: &Names) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Thinking(thinking) => thinking_json(thinking),
            Self::ToolUse(call) => {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
            }
            Self::ToolResult { tool_use_id, for_client, is_error, .. } => {
                let mut fields = Map::new();
                fields.insert("type".to_owned(), "tool_result".into());
                fields.insert(names.tool_use_id.to_owned(), tool_use_id.clone().into());
                fields.insert(names.is_error.to_owned(), (*is_error).into());
                fields.insert("content".to_owned(), parts_json(for_client, names));
                Value::Object(fields)
            }
            Self::Image(media) => json!({"type": "image", "source": base64_source(media, names)}),
            Self::Document(media) => json!({"type": "document", "source": document_source(media, names)}),
            Self::Unknown(value) => value.clone(),
        }
    }
}

/// What a tool said: one text is a string, anything else a list.
pub(crate) fn parts_json(parts: &[Part], names: &Names) -> Value {
    match parts {
        [Part::Text(text)] => text.clone().into(),
        parts => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(json!({"type": "text", "text": text})),
                Part::Image { media_type, data } => {
                    let media = Media { media_type: media_type.clone(), data: data.clone(), name: None };
                    Some(json!({"type": "image", "source": base64_source(&media, names)}))
                }
                _ => None,
            })
            .collect(),
    }
}

fn thinking_json(thinking: &Thinking) -> Value {
    let text = &thinking.text;
    let signed = |signature: &str, by: &str| json!({"type": "thinking", "signature": signature, "signatureProvider": by, "thinking": text});
    match &thinking.proof {
        Some(Proof::Signature { signature }) => signed(signature, "anthropic"),
        Some(Proof::Redacted { data }) => json!({"type": "redacted_thinking", "data": data}),
        Some(Proof::Encrypted { id, content }) => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            let item =
                json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": content});
            signed(&item.to_string(), "openai")
        }
        Some(Proof::Plain) => signed("reasoning_content", "generic-chat-completion-api"),
        _ => json!({"type": "thinking", "signature": "", "thinking": text}),
    }
}

fn base64_source(media: &Media, names: &Names) -> Value {
    let mut source = Map::new();
    source.insert("type".to_owned(), "base64".into());
    source.insert("data".to_owned(), media.data.clone().into());
    source.insert(names.media_type.to_owned(), media.media_type.clone().into());
    if let Some(name) = &media.name {
        source.insert("name".to_owned(), name.clone().into());
    }
    Value::Object(source)
}

/// The text of a document that is nothing but text.
pub fn plain_text(media: &Media) -> Option<String> {
    let bytes = STANDARD.decode(&media.data).ok().filter(|_| media.media_type == "text/plain")?;
    String::from_utf8(bytes).ok()
}

/// Plain text goes as it is, anything else as base64.
fn document_source(media: &Media, names: &Names) -> Value {
    let mut source = base64_source(media, names);
    if let Some(text) = plain_text(media) {
        source["type"] = "text".into();
        source["data"] = text.into();
    }
    source
}

impl Role {
    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }
}

impl Visibility {
    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::LlmOnly => "llm_only",
            Self::UserOnly => "user_only",
        }
    }
}

#[cfg(test)]
mod tests {
    use musher_model::ToolUse;

    use super::*;

    #[test]
    fn a_message_has_the_names_of_the_protocol() {
        let mut message = Message::new(
            "m",
            Role::Tool,
            vec![Content::ToolResult {
                tool_use_id: "t".to_owned(),
                for_client: vec![
                    Part::Text("a dot".to_owned()),
                    Part::Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() },
                ],
                for_model: vec![Part::Text("secret".to_owned())],
                is_error: false,
            }],
        );
        (message.created_at_ms, message.updated_at_ms) = (1, 2);
        message.visibility = Visibility::LlmOnly;
        message.extra.insert("interactionMode".to_owned(), "auto".into());
        message.extra.insert("compactionSummaryId".to_owned(), "c".into());
        let expected = r#"{"id":"m","role":"tool","content":[{"type":"tool_result","toolUseId":"t","isError":false,"content":[{"type":"text","text":"a dot"},{"type":"image","source":{"type":"base64","data":"AA==","mediaType":"image/png"}}]}],"createdAt":1,"updatedAt":2,"parentId":"root","visibility":"llm_only","interactionMode":"auto"}"#;
        assert_eq!(serde_json::to_string(&message).unwrap(), expected);
    }

    #[test]
    fn parts_are_those_of_the_protocol() {
        let media = |media_type: &str, data: &str| Media {
            media_type: media_type.to_owned(),
            data: data.to_owned(),
            name: Some("n".to_owned()),
        };
        let call = ToolUse { id: "t".to_owned(), name: "LS".to_owned(), input: Map::new() };
        let thinking = |proof| Content::Thinking(Thinking { text: "hm".to_owned(), proof });
        for (part, expected) in [
            (Content::ToolUse(call), r#"{"type":"tool_use","id":"t","name":"LS","input":{}}"#),
            (
                Content::Document(media("text/plain", "aGk=")),
                r#"{"type":"document","source":{"type":"text","data":"hi","mediaType":"text/plain","name":"n"}}"#,
            ),
            (
                Content::Document(media("application/pdf", "aGk=")),
                r#"{"type":"document","source":{"type":"base64","data":"aGk=","mediaType":"application/pdf","name":"n"}}"#,
            ),
            (thinking(None), r#"{"type":"thinking","signature":"","thinking":"hm"}"#),
            (
                thinking(Some(Proof::Signature { signature: "s".to_owned() })),
                r#"{"type":"thinking","signature":"s","signatureProvider":"anthropic","thinking":"hm"}"#,
            ),
            (
                thinking(Some(Proof::Redacted { data: "d".to_owned() })),
                r#"{"type":"redacted_thinking","data":"d"}"#,
            ),
        ] {
            assert_eq!(part.json(&Names::WIRE).to_string(), expected);
        }
    }
}
