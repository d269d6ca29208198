//! The protocol as TypeScript types, generated from the JSON schema.
//!
//! Supports the part of JSON schema that [`schema`] uses.

use serde_json::{Map, Value};

use super::schema::schema;

const HEAD: &str = "\
// The protocol of `musher bridge` as TypeScript types.
// Written by `musher bridge --types`; do not edit.
";

/// Returns a file of TypeScript types: `FrontEndMessage` for lines of the front end, `BridgeMessage` for lines of the bridge.
///
/// ```
/// assert!(musher_bridge::typescript().contains("export type FrontEndMessage ="));
/// ```
pub fn typescript() -> String {
    let schema = schema();
    let mut text = HEAD.to_owned();
    let definitions = schema["$defs"].as_object();
    for (name, definition) in definitions.into_iter().flatten() {
        text.push('\n');
        comment(&mut text, definition, "");
        let is_object = definition["properties"].is_object() && definition.get("oneOf").is_none();
        let (word, body) = if is_object {
            ("interface", format!(" {}", fields(definition, "")))
        } else {
            let body = expression(definition, "");
            let space = if body.starts_with('\n') { "" } else { " " };
            ("type", format!(" ={space}{body};"))
        };
        text.extend(["export ", word, " ", name, &body, "\n"]);
    }
    text
}

/// Returns the TypeScript type of a schema.
fn expression(schema: &Value, indent: &str) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(ToString::to_string));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[key].as_array() {
            let choices: Vec<_> = choices.iter().map(|choice| expression(choice, indent)).collect();
            if choices.iter().any(|choice| choice.contains('\n')) {
                let lines = choices.iter().map(|choice| choice.replace('\n', "\n  "));
                return lines.fold(String::new(), |all, line| all + "\n  | " + &line);
            }
            return union(choices.into_iter());
        }
    }
    match &schema["type"] {
        Value::Array(types) => {
            union(types.iter().filter_map(Value::as_str).map(|it| named(it, schema, indent)))
        }
        Value::String(name) => named(name, schema, indent),
        _ => "unknown".to_owned(),
    }
}

fn named(name: &str, schema: &Value, indent: &str) -> String {
    match name {
        "string" | "boolean" | "null" => name.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => match schema.get("items").map(|items| expression(items, indent)) {
            Some(items) if items.contains(['|', ' ']) => format!("({items})[]"),
            Some(items) => format!("{items}[]"),
            None => "unknown[]".to_owned(),
        },
        _ if schema["properties"].is_object() => fields(schema, indent),
        _ => match schema.get("additionalProperties") {
            Some(Value::Bool(_)) | None => "Record<string, unknown>".to_owned(),
            Some(values) => format!("Record<string, {}>", expression(values, indent)),
        },
    }
}

fn fields(schema: &Value, indent: &str) -> String {
    let none = Map::new();
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let inner = format!("{indent}  ");
    let mut text = "{\n".to_owned();
    for (name, field) in schema["properties"].as_object().unwrap_or(&none) {
        comment(&mut text, field, &inner);
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let field = expression(field, &inner);
        text.extend([&inner, name.as_str(), mark, ": ", &field, ";\n"]);
    }
    text + indent + "}"
}

fn comment(text: &mut String, schema: &Value, indent: &str) {
    if let Some(description) = schema["description"].as_str() {
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.extend([indent, "/** ", &description, " */\n"]);
    }
}

fn union(choices: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    choices.for_each(|choice| {
        if !all.contains(&choice) {
            all.push(choice);
        }
    });
    all.join(" | ")
}
