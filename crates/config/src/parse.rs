//! Settings files as JSON objects: comments and trailing commas are allowed, duplicate keys are not. Pure.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Problem;

/// Parses the object in a file. A returned problem has no file yet.
pub fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    // comments become spaces, so positions are those of the file
    let parsed = serde_json::from_slice(bytes).or_else(|_has_comments| serde_json::from_slice(&plain(bytes)));
    match parsed {
        Ok(Unique(Value::Object(map))) => Ok(map),
        Ok(_) => Err(Problem::new("", "expected an object in braces")),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let place = format!(" at line {line} column {column}");
            let message = message.strip_suffix(&place).unwrap_or(&message);
            Err(Problem { position: Some((line, column)), ..Problem::new("", message) })
        }
    }
}

/// A JSON value without duplicate keys: otherwise the last of two lists would silently win.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Unique(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            let Unique(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Unique(Value::Object(map)))
    }
}

/// Replaces comments and trailing commas with spaces, so that positions stay the same.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = end_of_string(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => find(bytes, at, b"\n").unwrap_or(bytes.len()),
            (b'/', Some(b'*')) => find(bytes, at + 2, b"*/").map_or(bytes.len(), |end| end + 2),
            _ => {
                match byte {
                    b',' => comma = Some(at),
                    b']' | b'}' => {
                        if let Some(comma) = comma.take() {
                            out[comma] = b' ';
                        }
                    }
                    byte if byte.is_ascii_whitespace() => {}
                    _ => comma = None,
                }
                at += 1;
                continue;
            }
        };
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    out
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|window| window == what).map(|at| at + from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_allowed_but_not_inside_strings() {
        let text = b"{ // one\n \"a\": \"// no, \\\" comment\", /* two\n lines */ \"b\": [1, 2,],\n}";
        let map = parse(text).unwrap();
        assert_eq!(map["a"], "// no, \" comment");
        assert_eq!(map["b"], serde_json::json!([1, 2]));
    }

    #[test]
    fn syntax_errors_have_line_and_column_even_behind_comments() {
        for (text, position, message) in [
            (r#"{"commandBlocklist":["curl"] "x":1}"#, (1, 30), "expected `,` or `}`"),
            ("{\n// fine\n\"a\": oops\n}", (3, 6), "expected value"),
            ("{ /* é */ \"a\": }", (1, 17), "expected value"),
            ("{\n\"a\": 1,\n\"b\": }", (3, 6), "expected value"),
            ("{\"a\": [1", (1, 8), "EOF while parsing a list"),
            ("{\n\"a\": {\"b\": 1,\n\"b\": 2}}", (3, 3), "duplicate key `b`"),
        ] {
            let problem = parse(text.as_bytes()).unwrap_err();
            assert_eq!((problem.position, problem.message.as_str()), (Some(position), message), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "[{}\\[\\]\"/*\\\\,:a1 \n-]{0,60}") {
            proptest::prop_assert_eq!(plain(text.as_bytes()).len(), text.len());
            // what is JSON already is read as it is
            if let Ok(Unique(Value::Object(map))) = serde_json::from_str(&text) {
                let same: Value = serde_json::from_str(&text).unwrap();
                proptest::prop_assert_eq!(Some(&map), same.as_object());
                proptest::prop_assert_eq!(parse(text.as_bytes()).ok(), Some(map));
            }
        }
    }

    #[test]
    fn truncated_files_and_garbage_never_panic() {
        for text in ["{\"a", "/*", "{\"a\\", "//", "{,}", "[1,]", "\u{feff}{}"] {
            let cut = plain(text.as_bytes());
            assert_eq!(cut.len(), text.len());
            parse(text.as_bytes()).ok();
        }
    }
}
