//! The head of a Markdown file: YAML between two lines of dashes, and the text below it.
//!
//! People write these by hand, and not always as YAML would have it. What is no YAML is read line by line instead.

use serde_json::{Map, Value};

/// The fields of the head, and the text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Document<'a> {
    fields: Map<String, Value>,
    pub(super) body: &'a str,
}

impl<'a> Document<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some((head, body)) = split(text) else { return Self { fields: Map::new(), body: text } };
        let fields =
            serde_saphyr::from_str::<Map<String, Value>>(head).unwrap_or_else(|_not_yaml| by_lines(head));
        Self { fields, body: body.trim_start_matches(['\r', '\n']) }
    }

    /// A text, trimmed; `None` if it is not there or empty.
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

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.fields.get(name)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A list of words, however it is written: as a list, or in one line with commas.
    pub(super) fn words(&self, name: &str) -> Option<Vec<String>> {
        let split = |text: &str| -> Vec<String> {
            let words =
                text.trim_matches(['[', ']']).split(',').map(|word| word.trim().trim_matches(['"', '\'']));
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        match self.fields.get(name)? {
            Value::String(text) => Some(split(text)),
            Value::Array(list) => {
                Some(list.iter().filter_map(Value::as_str).map(|word| word.trim().to_owned()).collect())
            }
            _ => None,
        }
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
    fn head_and_text_are_told_apart() {
        let document = Document::read(
            "---\nname: demo\nuser-invocable: false\ntools: [Read, 'Grep']\n---\n\nDo it.\n---\n",
        );
        assert_eq!(document.text("name").as_deref(), Some("demo"));
        assert_eq!(document.flag("user-invocable"), Some(false));
        assert_eq!(document.words("tools"), Some(vec!["Read".to_owned(), "Grep".to_owned()]));
        assert_eq!((document.body, document.text("none")), ("Do it.\n---\n", None));
        for text in ["no head", "---\nnever ends", "", "----\na: b\n---\n"] {
            assert_eq!(Document::read(text), Document { fields: Map::new(), body: text });
        }
        let folded = Document::read("---\r\ndescription: >\r\n  one\r\n  two\r\n---\r\nx");
        assert_eq!((folded.text("description").as_deref(), folded.body), (Some("one two"), "x"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(head in "[a-c:\\[\\]{}&*!|>'\"#, \n\t-]{0,80}", body in ".{0,20}") {
            let text = format!("---\n{head}\n---\n{body}");
            let document = Document::read(&text);
            for name in ["a", "b", "c"] {
                proptest::prop_assert!(document.text(name).is_none_or(|text| !text.is_empty()));
                document.words(name);
                document.flag(name);
            }
        }
    }

    #[test]
    fn what_is_no_yaml_is_read_line_by_line() {
        let document = Document::read(
            "---\nname: a\ndescription: Use when: things break, e.g. {x\ntools: \"A\", B\n---\n",
        );
        assert_eq!(document.text("description").as_deref(), Some("Use when: things break, e.g. {x"));
        assert_eq!(document.words("tools"), Some(vec!["A".to_owned(), "B".to_owned()]));
        let hint = Document::read("---\nargument-hint: [file] [line]\n---\n");
        assert_eq!(hint.text("argument-hint").as_deref(), Some("[file] [line]"));
        let hint = Document::read("---\nargument-hint: [file]\n---\n");
        assert_eq!(hint.text("argument-hint").as_deref(), Some("[file]"));
    }
}
