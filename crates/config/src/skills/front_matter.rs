//! The front matter of a Markdown file: YAML between two lines of dashes, and the text below it.
//!
//! People write front matter by hand, and not always as valid YAML. Invalid YAML is read line by line instead.

use serde_json::{Map, Value};

/// The fields of the front matter, and the text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Document<'a> {
    fields: Map<String, Value>,
    /// Whether the front matter is valid YAML, and was not read line by line.
    is_yaml: bool,
    /// Whether the front matter never ends, so that its fields are unknown.
    is_unended: bool,
    pub(super) body: &'a str,
}

/// An invalid field.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) field: &'static str,
    pub(super) message: String,
}

impl<'a> Document<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some((head, body)) = split(text) else {
            let is_unended = text.lines().next() == Some("---");
            return Self { body: text, is_unended, ..Self::default() };
        };
        let parsed = serde_saphyr::from_str::<Map<String, Value>>(head).ok();
        let is_yaml = parsed.is_some();
        let fields = parsed.unwrap_or_else(|| by_lines(head));
        Self { fields, is_yaml, is_unended: false, body: body.trim_start_matches(['\r', '\n']) }
    }

    /// Returns a text, trimmed; `None` if the field is missing or empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = match self.fields.get(name)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            // `[a file]` is a list to YAML and a hint to people
            Value::Array(list) => {
                format!("[{}]", list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// Returns a flag; `None` if the field is missing.
    ///
    /// # Errors
    ///
    /// Returns a message if the value is neither true nor false.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        let parsed = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Bool(flag)) => Some(*flag),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        parsed.map(Some).ok_or_else(|| "expected true or false".to_owned())
    }

    /// Returns a list of words, written as a list or in one line with commas; `None` if the field is missing.
    ///
    /// # Errors
    ///
    /// Returns a message if the value is not a list of words.
    pub(super) fn words(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let split = |text: &str| -> Vec<String> {
            let words =
                text.trim_matches(['[', ']']).split(',').map(|word| word.trim().trim_matches(['"', '\'']));
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        if self.is_unended {
            return Err("the line `---` behind the fields is missing".to_owned());
        }
        let words: Option<Vec<String>> = match self.fields.get(name) {
            None | Some(Value::Null) if !self.is_lost(name) => return Ok(None),
            Some(Value::String(text)) if !self.is_lost(name) => Some(split(text)),
            Some(Value::Array(list)) => {
                list.iter().map(|word| Some(word.as_str()?.trim().to_owned())).collect()
            }
            _ => None,
        };
        words.map(Some).ok_or_else(|| "expected a list of names".to_owned())
    }

    /// Returns whether a list stands in lines below its name, in invalid YAML: those lines were not read.
    fn is_lost(&self, name: &str) -> bool {
        !self.is_yaml && self.fields.get(name).is_some_and(|value| value.as_str() == Some(""))
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..start], &rest[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

fn by_lines(head: &str) -> Map<String, Value> {
    let lines = head.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-']));
    let fields = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        let bare = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        Some((name.trim().to_owned(), Value::String(bare.unwrap_or(value).to_owned())))
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_and_text_are_split() {
        let document = Document::read(
            "---\nname: demo\nuser-invocable: false\ntools: [Read, 'Grep']\n---\n\nDo it.\n---\n",
        );
        assert_eq!(document.text("name").as_deref(), Some("demo"));
        assert_eq!(document.flag("user-invocable"), Ok(Some(false)));
        assert_eq!(document.words("tools"), Ok(Some(vec!["Read".to_owned(), "Grep".to_owned()])));
        assert_eq!((document.body, document.text("none")), ("Do it.\n---\n", None));
        for text in ["no head", "---\nnever ends", "", "----\na: b\n---\n"] {
            let is_unended = text.starts_with("---\n");
            assert_eq!(Document::read(text), Document { body: text, is_unended, ..Document::default() });
        }
        let folded = Document::read("---\r\ndescription: >\r\n  one\r\n  two\r\n---\r\nx");
        assert_eq!((folded.text("description").as_deref(), folded.body), (Some("one two"), "x"));
    }

    #[test]
    fn lists_and_flags_of_another_type_are_errors() {
        for tools in ["{Read: true}", "5", "[Read, 5]", "[[Read]]", "true"] {
            assert!(
                Document::read(&format!("---\ntools: {tools}\n---\n")).words("tools").is_err(),
                "{tools}"
            );
        }
        let lost = Document::read("---\ndescription: a: b: {c\ntools:\n  - Read\n---\n");
        assert!(!lost.is_yaml && lost.words("tools").is_err());
        assert_eq!(Document::read("---\ntools:\n---\n").words("tools"), Ok(None));
        assert!(Document::read("---\ntools: read-only\n").words("tools").is_err());
        assert!(Document::read("---\nx: maybe\n---\n").flag("x").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(head in "[a-c:\\[\\]{}&*!|>'\"#, \n\t-]{0,80}", body in ".{0,20}") {
            let text = format!("---\n{head}\n---\n{body}");
            let document = Document::read(&text);
            for name in ["a", "b", "c"] {
                proptest::prop_assert!(document.text(name).is_none_or(|text| !text.is_empty()));
                document.words(name).ok();
                document.flag(name).ok();
            }
        }
    }

    #[test]
    fn invalid_yaml_is_read_line_by_line() {
        let document = Document::read(
            "---\nname: a\ndescription: Use when: things break, e.g. {x\ntools: \"A\", B\n---\n",
        );
        assert_eq!(document.text("description").as_deref(), Some("Use when: things break, e.g. {x"));
        assert_eq!(document.words("tools"), Ok(Some(vec!["A".to_owned(), "B".to_owned()])));
        let hint = Document::read("---\nargument-hint: [file] [line]\n---\n");
        assert_eq!(hint.text("argument-hint").as_deref(), Some("[file] [line]"));
        let hint = Document::read("---\nargument-hint: [file]\n---\n");
        assert_eq!(hint.text("argument-hint").as_deref(), Some("[file]"));
    }
}
