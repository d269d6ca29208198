//! Conversion of messages to and from their form on disk. Pure.
//!
//! As in droid's logs, tool results and system messages have the role `user` on disk. The original role, the model's form of a
//! result if it differs, and parts of reasoning for which droid has no form, are in the object `musher`. Its unknown fields survive in
//! [`Message::extra`], under the same name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use musher_message::{Content, Media, Message, Part, Proof, Role, Thinking, ToolUse, Visibility};
use serde_json::{Map, Value, json};

use super::record::{milliseconds, timestamp};

/// A field of the record, not of the message in it.
const SUMMARY: &str = "compactionSummaryId";

/// The object with the fields of musher.
const MUSHER: &str = "musher";
/// Parts of reasoning (`Proof::Details`), by the index of their block.
const DETAILS: &str = "reasoningDetails";

/// Converts a message to a record.
pub(super) fn write(message: &Message) -> Map<String, Value> {
    let mut inner = Map::new();
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    inner.insert("role".to_owned(), role.into());
    inner.insert("content".to_owned(), message.content.iter().map(part_json).collect());
    if message.visibility != Visibility::Both {
        inner.insert("visibility".to_owned(), message.visibility.name().into());
    }
    for (key, value) in &message.extra {
        if key != SUMMARY && key != MUSHER {
            inner.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    for (key, value) in [("modelId", &message.model_id), ("reasoningEffort", &message.reasoning_effort)] {
        if let Some(value) = value {
            inner.insert(key.to_owned(), value.clone().into());
        }
    }
    if message.updated_at_ms != message.created_at_ms {
        inner.insert("updatedAt".to_owned(), message.updated_at_ms.into());
    }
    let fields = musher_fields(message);
    if !fields.is_empty() {
        inner.insert(MUSHER.to_owned(), fields.into());
    }

    let mut record = Map::new();
    record.insert("type".to_owned(), "message".into());
    record.insert("id".to_owned(), message.id.clone().into());
    if let Some(parent) = &message.parent_id {
        record.insert("parentId".to_owned(), parent.clone().into());
    }
    record.insert("timestamp".to_owned(), timestamp(message.created_at_ms).into());
    record.insert("message".to_owned(), inner.into());
    if let Some(summary) = message.extra.get(SUMMARY) {
        record.insert(SUMMARY.to_owned(), summary.clone());
    }
    record
}

/// Converts a part to its form on disk. Of a tool result, only the form for clients.
fn part_json(part: &Content) -> Value {
    match part {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Thinking(thinking) => thinking_json(thinking),
        Content::ToolUse(call) => {
            let mut part = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input});
            if let Some(signature) = &call.signature {
                part["thoughtSignature"] = signature.clone().into();
            }
            part
        }
        Content::ToolResult { tool_use_id, for_client, is_error, .. } => {
            let mut fields = Map::new();
            fields.insert("type".to_owned(), "tool_result".into());
            fields.insert("tool_use_id".to_owned(), tool_use_id.clone().into());
            fields.insert("is_error".to_owned(), (*is_error).into());
            fields.insert("content".to_owned(), parts_json(for_client));
            Value::Object(fields)
        }
        Content::Image(media) => json!({"type": "image", "source": base64_source(media)}),
        Content::Document(media) => json!({"type": "document", "source": document_source(media)}),
        Content::Unknown(value) => value.clone(),
    }
}

/// Converts the output of a tool: a single text to a string, anything else to a list.
fn parts_json(parts: &[Part]) -> Value {
    match parts {
        [Part::Text(text)] => text.clone().into(),
        parts => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Image { media_type, data } => {
                    let media = Media { media_type: media_type.clone(), data: data.clone(), name: None };
                    json!({"type": "image", "source": base64_source(&media)})
                }
                Part::Document(media) => json!({"type": "document", "source": document_source(media)}),
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
        Some(Proof::Details { .. }) | None => json!({"type": "thinking", "signature": "", "thinking": text}),
    }
}

fn base64_source(media: &Media) -> Value {
    let mut source = Map::new();
    source.insert("type".to_owned(), "base64".into());
    source.insert("data".to_owned(), media.data.clone().into());
    source.insert("media_type".to_owned(), media.media_type.clone().into());
    if let Some(name) = &media.name {
        source.insert("name".to_owned(), name.clone().into());
    }
    Value::Object(source)
}

/// Returns the source of a document: plain text as text, anything else as base64.
fn document_source(media: &Media) -> Value {
    let mut source = base64_source(media);
    if let Some(text) = media.plain_text() {
        source["type"] = "text".into();
        source["data"] = text.into();
    }
    source
}

/// Returns the fields that droid's form cannot represent.
fn musher_fields(message: &Message) -> Map<String, Value> {
    let mut fields = match message.extra.get(MUSHER) {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    };
    let details = message.content.iter().enumerate().filter_map(|(index, part)| match part {
        Content::Thinking(Thinking { proof: Some(Proof::Details { details }), .. }) => {
            Some((index.to_string(), details.clone().into()))
        }
        _ => None,
    });
    let details: Map<String, Value> = details.collect();
    if !details.is_empty() {
        fields.insert(DETAILS.to_owned(), details.into());
    }
    let is_result = |part: &Content| matches!(part, Content::ToolResult { .. });
    let is_plain = match message.role {
        Role::System => message.is_hook_run(),
        Role::Tool => message.content.iter().any(is_result),
        Role::User => !message.content.iter().any(is_result),
        Role::Assistant => true,
    };
    if !is_plain {
        fields.insert("role".to_owned(), message.role.name().into());
    }
    let texts = message.content.iter().filter_map(|part| match part {
        Content::ToolResult { tool_use_id, for_client, for_model, .. } if for_client != for_model => {
            Some((tool_use_id.clone(), parts_json(for_model)))
        }
        _ => None,
    });
    let texts: Map<String, Value> = texts.collect();
    if !texts.is_empty() {
        fields.insert("modelContent".to_owned(), texts.into());
    }
    fields
}

/// Reads the record of a message; `None` if it is damaged.
pub(super) fn read(mut record: Map<String, Value>) -> Option<Message> {
    let string = |value: Option<Value>| match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let Value::Object(mut inner) = record.remove("message")? else { return None };
    let id = string(record.remove("id"))?;
    let created = record.get("timestamp").and_then(Value::as_str).and_then(milliseconds);
    let created = created.or_else(|| inner.get("createdAt")?.as_i64()).unwrap_or_default();
    inner.shift_remove("createdAt");
    let updated = inner.shift_remove("updatedAt").and_then(|at| at.as_i64()).unwrap_or(created);
    let mut fields = match inner.shift_remove(MUSHER) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut texts = match fields.remove("modelContent") {
        Some(Value::Object(texts)) => texts,
        _ => Map::new(),
    };
    let mut details = match fields.remove(DETAILS) {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    let mut content = match inner.shift_remove("content")? {
        Value::String(text) => vec![Content::Text(text)],
        Value::Array(parts) => parts.into_iter().map(|part| read_part(part, &mut texts)).collect(),
        _ => return None,
    };
    for (index, part) in content.iter_mut().enumerate() {
        if let Content::Thinking(thinking) = part
            && let Some(Value::Array(details)) = details.shift_remove(&index.to_string())
        {
            thinking.proof = Some(Proof::Details { details });
        }
    }
    let has_results = content.iter().any(|part| matches!(part, Content::ToolResult { .. }));
    let said = string(fields.remove("role"));
    let role = match said.as_deref().or(inner.get("role").and_then(Value::as_str))? {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        "user" if said.is_none() && has_results => Role::Tool,
        // a hook run has no author
        "user" if content.is_empty() && inner.contains_key("hookEventName") => Role::System,
        "user" => Role::User,
        _ => return None,
    };
    inner.shift_remove("role");
    let visibility = match string(inner.shift_remove("visibility")).as_deref() {
        Some("llm_only") => Visibility::LlmOnly,
        Some("user_only") => Visibility::UserOnly,
        _ => Visibility::Both,
    };
    let model_id = string(inner.shift_remove("modelId"));
    let reasoning_effort = string(inner.shift_remove("reasoningEffort"));
    let mut extra = inner;
    if !fields.is_empty() {
        extra.insert(MUSHER.to_owned(), fields.into());
    }
    if let Some(summary) = record.remove(SUMMARY) {
        extra.insert(SUMMARY.to_owned(), summary);
    }
    Some(Message {
        id,
        role,
        content,
        created_at_ms: created,
        updated_at_ms: updated,
        parent_id: string(record.remove("parentId")),
        visibility,
        model_id,
        reasoning_effort,
        extra,
    })
}

fn read_part(mut part: Value, texts: &mut Map<String, Value>) -> Content {
    known_part(&mut part, texts).unwrap_or(Content::Unknown(part))
}

/// Reads a part of a known kind. Moves large fields out of the value, but only after all checks have passed.
fn known_part(part: &mut Value, texts: &mut Map<String, Value>) -> Option<Content> {
    let text = |key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(match part.get("type")?.as_str()? {
        "text" => match part.get_mut("text")? {
            Value::String(text) => Content::Text(std::mem::take(text)),
            _ => return None,
        },
        "thinking" => Content::Thinking(Thinking { text: text("thinking")?, proof: proof(part) }),
        "redacted_thinking" => Content::Thinking(Thinking {
            text: String::new(),
            proof: Some(Proof::Redacted { data: text("data")? }),
        }),
        "tool_use" => Content::ToolUse(ToolUse {
            id: text("id")?,
            name: text("name")?,
            signature: text("thoughtSignature"),
            input: std::mem::take(part.get_mut("input")?.as_object_mut()?),
        }),
        "tool_result" => {
            let tool_use_id = text("tool_use_id").or_else(|| text("toolUseId"))?;
            let is_error = part.get("is_error").or(part.get("isError")).and_then(Value::as_bool);
            let for_client = read_parts(part.get_mut("content").map(Value::take));
            let for_model = match texts.shift_remove(&tool_use_id) {
                Some(own) => read_parts(Some(own)),
                None => for_client.clone(),
            };
            Content::ToolResult { tool_use_id, for_client, for_model, is_error: is_error.unwrap_or_default() }
        }
        "image" => Content::Image(media(part.get("source")?)?),
        "document" => Content::Document(media(part.get("source")?)?),
        _ => return None,
    })
}

/// Reads the output of a tool. Parts of an unknown kind become their JSON text.
fn read_parts(content: Option<Value>) -> Vec<Part> {
    let read = |part: &Value| match part["type"].as_str() {
        Some("text") => part["text"].as_str().map(|text| Part::Text(text.to_owned())),
        Some("image") => {
            media(&part["source"]).map(|media| Part::Image { media_type: media.media_type, data: media.data })
        }
        Some("document") => media(&part["source"]).map(Part::Document),
        _ => None,
    };
    match content {
        Some(Value::String(text)) => vec![Part::Text(text)],
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| read(part).unwrap_or_else(|| Part::Text(part.to_string()))).collect()
        }
        _ => Vec::new(),
    }
}

fn media(source: &Value) -> Option<Media> {
    let data = source["data"].as_str()?;
    let data = match source["type"].as_str()? {
        // the data is in another file
        "base64" if data.is_empty() && source.get("path").is_some() => return None,
        "base64" => data.to_owned(),
        "text" => STANDARD.encode(data),
        _ => return None,
    };
    let media_type = source.get("media_type").or(source.get("mediaType"))?.as_str()?.to_owned();
    Some(Media { media_type, data, name: source.get("name").and_then(Value::as_str).map(str::to_owned) })
}

/// Reads the proof of reasoning. The name of the vendor determines its form.
fn proof(part: &Value) -> Option<Proof> {
    let signature = part["signature"].as_str().filter(|signature| !signature.is_empty())?;
    match part["signatureProvider"].as_str() {
        None | Some("anthropic") => Some(Proof::Signature { signature: signature.to_owned() }),
        Some("openai") => {
            let item: Value = serde_json::from_str(signature).ok()?;
            let text = |key: &str| item[key].as_str().map(str::to_owned);
            Some(Proof::Encrypted { id: text("id")?, content: text("encrypted_content")? })
        }
        Some("generic-chat-completion-api") => Some(Proof::Plain),
        Some(_) => None,
    }
}

/// Shortens the large parts of a message, for readers without support for side files.
pub(super) fn shortened(value: &mut Value, max_text: usize) {
    match value {
        Value::String(text) if text.len() > max_text => {
            let end = text.floor_char_boundary(max_text);
            text.truncate(end);
            text.push_str(" [cut]");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shortened(item, max_text)),
        Value::Object(fields) => {
            let is_media = matches!(fields.get("type").and_then(Value::as_str), Some("image" | "document"))
                && fields.get("source").is_some();
            if is_media {
                *value = json!({"type": "text", "text": "[kept aside]"});
            } else {
                fields.values_mut().for_each(|item| shortened(item, max_text));
            }
        }
        _ => {}
    }
}
