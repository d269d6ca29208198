//! Finds the errors of a JSON schema before it is sent: agents report only that it is invalid.
//!
//! The check knows the keywords of draft 7, which agents accept, and ignores all others. It checks schemas, not values.

use serde_json::Value;

/// The maximum nesting depth, so that other readers of the schema survive it.
const MAX_DEPTH: usize = 100;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Checks a schema. The error says where and why it is invalid.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let Some(fields) = schema.as_object() else { return Err("it is not an object".to_owned()) };
    if let Some(other) = fields.get("type").filter(|kind| *kind != "object" && is_type(kind)) {
        return Err(format!("it asks for {other}, but agents answer with objects only"));
    }
    Check { root: schema }.schema(schema, &mut Vec::new())
}

struct Check<'a> {
    root: &'a Value,
}

impl<'a> Check<'a> {
    fn schema(&self, schema: &'a Value, path: &mut Vec<&'a str>) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let fields = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(fields) => fields,
            _ => return Err(wrong(path, "is not a schema")),
        };
        for (keyword, value) in fields {
            path.push(keyword);
            self.keyword(keyword, value, path)?;
            path.pop();
        }
        Ok(())
    }

    fn keyword(&self, keyword: &str, value: &'a Value, path: &mut Vec<&'a str>) -> Result<(), String> {
        let is_good = match keyword {
            "type" => match value {
                Value::Array(types) => !types.is_empty() && types.iter().all(is_type),
                other => is_type(other),
            },
            "properties" | "patternProperties" | "definitions" | "$defs" => return self.named(value, path),
            "items" if value.is_array() => return self.list(value, path),
            "allOf" | "anyOf" | "oneOf" => {
                if value.as_array().is_none_or(Vec::is_empty) {
                    return Err(wrong(path, "is not a list of schemas"));
                }
                return self.list(value, path);
            }
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else" => return self.schema(value, path),
            "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.is_u64()
            }
            "uniqueItems" => value.is_boolean(),
            "pattern" | "format" | "title" | "description" => value.is_string(),
            "$ref" => value.as_str().is_some_and(|target| self.is_there(target)),
            _ => true,
        };
        if is_good { Ok(()) } else { Err(wrong(path, &format!("cannot be {value}"))) }
    }

    fn named(&self, value: &'a Value, path: &mut Vec<&'a str>) -> Result<(), String> {
        let Some(schemas) = value.as_object() else { return Err(wrong(path, "is not an object of schemas")) };
        for (name, schema) in schemas {
            path.push(name);
            self.schema(schema, path)?;
            path.pop();
        }
        Ok(())
    }

    fn list(&self, value: &'a Value, path: &mut Vec<&'a str>) -> Result<(), String> {
        value.as_array().into_iter().flatten().try_for_each(|schema| self.schema(schema, path))
    }

    /// Returns whether a reference resolves. References to other documents are not checked.
    fn is_there(&self, target: &str) -> bool {
        match target.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                self.root.pointer(pointer).is_some()
            }
            _ => true,
        }
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

fn wrong(path: &[&str], why: &str) -> String {
    format!("`/{}` {why}", path.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn good_schemas_pass() {
        for schema in [
            json!({}),
            json!({"type": "object", "properties": {"a": {"type": ["integer", "null"], "minimum": 0}}, "required": ["a"]}),
            json!({"oneOf": [{"type": "object"}, {"$ref": "#/definitions/A"}], "definitions": {"A": true}}),
            json!({"type": "object", "properties": {"type": {"enum": ["x"]}}, "unknown": 7}),
            json!({"properties": {"a": {"type": "array", "items": [{"const": 1}], "additionalItems": false}}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn invalid_schema_error_names_the_place() {
        for (schema, reason) in [
            (json!("text"), "it is not an object"),
            (json!({"type": "array"}), "it asks for \"array\", but agents answer with objects only"),
            (json!({"type": "objekt"}), "`/type` cannot be \"objekt\""),
            (json!({"properties": {"a": {"type": "int"}}}), "`/properties/a/type` cannot be \"int\""),
            (json!({"properties": []}), "`/properties` is not an object of schemas"),
            (json!({"properties": {"a": 1}}), "`/properties/a` is not a schema"),
            (json!({"required": "a"}), "`/required` cannot be \"a\""),
            (json!({"anyOf": []}), "`/anyOf` is not a list of schemas"),
            (json!({"$ref": "#/definitions/A"}), "`/$ref` cannot be \"#/definitions/A\""),
            (json!({"properties": {"a": {"enum": []}}}), "`/properties/a/enum` cannot be []"),
            (json!({"properties": {"a": {"minLength": -1}}}), "`/properties/a/minLength` cannot be -1"),
        ] {
            assert_eq!(check(&schema), Err(reason.to_owned()), "{schema}");
        }
        let deep = (0..1000).fold(json!({}), |inner, _| json!({"not": inner}));
        assert_eq!(check(&deep), Err("it is nested too deeply".to_owned()));
    }
}
