//! Jupyter notebooks as text: one block per cell, which the model reads and edits. Pure.
//!
//! A cell is `<cell 3 type="code">`, its source, and `</cell>`. The number names the cell, so an edit can change, move, remove and add
//! cells: a block without a number is a new cell. Everything else in the file (outputs, metadata, unknown fields) stays as it is.

use serde_json::{Map, Value, json};

/// A notebook.
#[derive(Debug, Clone)]
pub(crate) struct Notebook {
    root: Map<String, Value>,
    cells: Vec<Value>,
    indent: usize,
    ends_with_newline: bool,
}

/// The end of a cell.
const END: &str = "</cell>";
/// Maximum number of characters that are shown of the outputs of one cell.
const MAX_OUTPUT_CHARS: usize = 2_000;

impl Notebook {
    /// Parses a notebook. `None` if the text is none, or cannot be shown as cells.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let Value::Object(mut root) = serde_json::from_str(text).ok()? else { return None };
        let Value::Array(cells) = root.get_mut("cells")?.take() else { return None };
        let is_plain = |cell: &Value| cell.is_object() && !source(cell).lines().any(is_mark);
        if !root.contains_key("nbformat") || !cells.iter().all(is_plain) {
            return None;
        }
        let second = text.lines().nth(1).unwrap_or_default();
        let indent = second.len() - second.trim_start_matches(' ').len();
        Some(Self { root, cells, indent, ends_with_newline: text.ends_with('\n') })
    }

    /// Returns the cells as text, without outputs: this is what an edit changes.
    pub(crate) fn text(&self) -> String {
        self.blocks(|_| String::new())
    }

    /// Returns the cells as text, each followed by its outputs.
    pub(crate) fn text_with_outputs(&self) -> String {
        self.blocks(outputs)
    }

    fn blocks(&self, behind: impl Fn(&Value) -> String) -> String {
        let block = |(number, cell): (usize, &Value)| {
            let source = source(cell);
            let line_end = if source.is_empty() || source.ends_with('\n') { "" } else { "\n" };
            format!("<cell {number} type=\"{}\">\n{source}{line_end}{END}\n{}", kind(cell), behind(cell))
        };
        self.cells.iter().enumerate().map(block).collect()
    }

    /// Returns the file after an edit of [`text`](Self::text). The error says what is wrong with the edited text.
    pub(crate) fn with_text(&self, edited: &str) -> Result<String, String> {
        let mut cells = Vec::new();
        let mut used = vec![false; self.cells.len()];
        let mut lines = edited.lines();
        while let Some(line) = lines.next() {
            if line.trim().is_empty() {
                continue;
            }
            let (number, kind) = opening(line).ok_or_else(|| {
                format!("the text `{line}` would be outside of a cell. Put it between `<cell type=\"code\">` and `{END}`")
            })?;
            let mut source: Vec<&str> = Vec::new();
            loop {
                match lines.next() {
                    Some(END) => break,
                    Some(line) if is_mark(line) => {
                        return Err(format!(
                            "the cell before `{line}` would not end. End it with a line `{END}`"
                        ));
                    }
                    Some(line) => source.push(line),
                    None => return Err(format!("the last cell would not end. End it with a line `{END}`")),
                }
            }
            cells.push(self.cell(number, kind, &source.join("\n"), &mut used)?);
        }
        let mut root = self.root.clone();
        root.insert("cells".to_owned(), Value::Array(cells));
        let text = printed(&Value::Object(root), self.indent);
        Ok(if self.ends_with_newline { text + "\n" } else { text })
    }

    /// Returns a cell with this source: the one with the number, changed, or a new one.
    fn cell(
        &self,
        number: Option<usize>,
        kind: &str,
        text: &str,
        used: &mut [bool],
    ) -> Result<Value, String> {
        let Some(number) = number else { return Ok(self.new_cell(kind, text)) };
        let known = self.cells.get(number).zip(used.get_mut(number));
        let (known, is_used) = known.ok_or_else(|| {
            format!("there is no cell {number}. A new cell has no number: `<cell type=\"{kind}\">`")
        })?;
        if std::mem::replace(is_used, true) {
            return Err(format!(
                "cell {number} would be there twice. A new cell has no number: `<cell type=\"{kind}\">`"
            ));
        }
        let mut cell = known.clone();
        if source(known).trim_end_matches('\n') != text.trim_end_matches('\n') {
            cell["source"] = split(text, known["source"].is_string());
        }
        if self::kind(known) != kind {
            cell["cell_type"] = kind.into();
            if let Some(cell) = cell.as_object_mut() {
                fit_to_kind(cell, kind);
            }
        }
        Ok(cell)
    }

    fn new_cell(&self, kind: &str, text: &str) -> Value {
        let mut cell = Map::new();
        cell.insert("cell_type".to_owned(), kind.into());
        let at_least = |key: &str| self.root.get(key).and_then(Value::as_u64).unwrap_or(0);
        // ids are part of the format since 4.5
        if (at_least("nbformat"), at_least("nbformat_minor")) >= (4, 5) {
            let id = uuid::Uuid::new_v4().simple().to_string();
            cell.insert("id".to_owned(), id[..8].into());
        }
        cell.insert("metadata".to_owned(), json!({}));
        cell.insert("source".to_owned(), split(text, false));
        fit_to_kind(&mut cell, kind);
        Value::Object(cell)
    }
}

/// Adds the fields that only code cells must have, or removes them.
fn fit_to_kind(cell: &mut Map<String, Value>, kind: &str) {
    if kind == "code" {
        cell.entry("execution_count").or_insert(Value::Null);
        cell.entry("outputs").or_insert_with(|| json!([]));
    } else {
        cell.shift_remove("execution_count");
        cell.shift_remove("outputs");
    }
}

/// Returns whether a line is the beginning or the end of a cell.
fn is_mark(line: &str) -> bool {
    line == END || opening(line).is_some()
}

/// Reads `<cell 3 type="code">` and `<cell type="code">`.
fn opening(line: &str) -> Option<(Option<usize>, &str)> {
    let within = line.trim_end().strip_prefix("<cell ")?.strip_suffix("\">")?;
    let (number, kind) = within.split_once("type=\"")?;
    let is_kind = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric());
    let number = match number.trim() {
        "" => None,
        number => Some(number.parse().ok()?),
    };
    is_kind.then_some((number, kind))
}

fn kind(cell: &Value) -> &str {
    cell["cell_type"].as_str().unwrap_or("raw")
}

/// Returns the source of a cell: files have one text, or a list of lines.
fn source(cell: &Value) -> String {
    joined(&cell["source"])
}

fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// Returns a source as in the file: one text, or a list of lines with their line endings.
fn split(text: &str, is_one_text: bool) -> Value {
    if is_one_text { text.into() } else { text.split_inclusive('\n').map(Value::from).collect() }
}

/// Returns the outputs of a cell as text. Images and the like are named only.
fn outputs(cell: &Value) -> String {
    let mut text = String::new();
    for output in cell["outputs"].as_array().into_iter().flatten() {
        match output["output_type"].as_str() {
            Some("stream") => text.push_str(&joined(&output["text"])),
            Some("error") => {
                let [name, value] = ["ename", "evalue"].map(|key| output[key].as_str().unwrap_or_default());
                text.extend([name, ": ", value]);
            }
            _ => {
                let data = output["data"].as_object();
                let plain = data.and_then(|data| data.get("text/plain")).map(joined);
                let others = data.into_iter().flat_map(Map::keys).filter(|kind| *kind != "text/plain");
                text.push_str(&plain.unwrap_or_default());
                others.for_each(|kind| text.extend(["\n[", kind, "]"]));
            }
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    if text.trim().is_empty() {
        return String::new();
    }
    if let Some((at, _)) = text.char_indices().nth(MAX_OUTPUT_CHARS) {
        text.truncate(at);
        text.push_str("\n[... longer output ...]\n");
    }
    format!("<output>\n{text}</output>\n")
}

/// Prints JSON with the indentation of the file.
fn printed(value: &Value, indent: usize) -> String {
    use serde::Serialize as _;
    if indent == 0 {
        return value.to_string();
    }
    let spaces = " ".repeat(indent.min(16));
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
    let mut printer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // writing JSON to a vector cannot fail
    value.serialize(&mut printer).ok();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {
    "tags": [
     "keep"
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "42\n"
     ]
    },
    {
     "data": {
      "image/png": "AAAA",
      "text/plain": [
       "<Figure>"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "print(\"42\")"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

    fn notebook() -> Notebook {
        Notebook::parse(FILE).unwrap()
    }

    #[test]
    fn cells_are_shown_with_their_outputs_and_edited_without() {
        let text = "<cell 0 type=\"markdown\">\n# Title\ntext\n</cell>\n<cell 1 type=\"code\">\nprint(\"42\")\n</cell>\n";
        assert_eq!(notebook().text(), text);
        let with_outputs = format!("{text}<output>\n42\n<Figure>\n[image/png]\n</output>\n");
        assert_eq!(notebook().text_with_outputs(), with_outputs);
    }

    #[test]
    fn unchanged_text_gives_the_same_file() {
        assert_eq!(notebook().with_text(&notebook().text()).unwrap(), FILE);
        let compact = serde_json::from_str::<Value>(FILE).unwrap().to_string();
        let again = Notebook::parse(&compact).unwrap();
        assert_eq!(again.with_text(&again.text()).unwrap(), compact);
    }

    #[test]
    fn changed_cell_keeps_everything_but_its_source() {
        let edited = notebook().text().replace("print(\"42\")", "x = 'é'\nprint(x)");
        let expected = FILE.replace("    \"print(\\\"42\\\")\"\n", "    \"x = 'é'\\n\",\n    \"print(x)\"\n");
        assert_eq!(notebook().with_text(&edited).unwrap(), expected);
    }

    #[test]
    fn cells_are_added_moved_and_removed() {
        let edited = "<cell 1 type=\"code\">\nprint(\"42\")\n</cell>\n<cell type=\"code\">\nnew = 1\n</cell>\n<cell type=\"markdown\">\n</cell>\n";
        let file = notebook().with_text(edited).unwrap();
        let value: Value = serde_json::from_str(&file).unwrap();
        let cells = value["cells"].as_array().unwrap();
        let kinds: Vec<_> = cells.iter().map(kind).collect();
        assert_eq!(kinds, ["code", "code", "markdown"]);
        assert_eq!((cells[0]["id"].as_str(), cells[1]["id"].as_str().map(str::len)), (Some("b2"), Some(8)));
        assert_eq!((&cells[1]["source"], &cells[1]["outputs"]), (&json!(["new = 1"]), &json!([])));
        assert!(cells[2].get("outputs").is_none() && cells[2]["source"] == json!([]));
    }

    #[test]
    fn edit_that_breaks_the_cells_is_an_error() {
        let text = notebook().text();
        for (edited, reason) in [
            (text.replacen("</cell>\n", "", 1), "would not end"),
            (text.trim_end().trim_end_matches(END).to_owned(), "the last cell would not end"),
            (format!("loose\n{text}"), "outside of a cell"),
            (format!("{text}{text}"), "cell 0 would be there twice"),
            (text.replace("<cell 1 ", "<cell 7 "), "there is no cell 7"),
        ] {
            let error = notebook().with_text(&edited).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn other_files_and_cells_with_marks_are_not_shown_as_cells() {
        assert!(Notebook::parse("{\"cells\": []}").is_none(), "no format version");
        assert!(Notebook::parse("[1]").is_none());
        assert!(Notebook::parse(&FILE.replace("\"text\"\n", "\"</cell>\"\n")).is_none());
    }
}
