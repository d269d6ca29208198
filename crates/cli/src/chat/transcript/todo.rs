//! The to-do list of the model, as a block.

use serde_json::Value;

use crate::view::text::{Face, Line};

/// A step of the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    text: String,
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Open,
    Current,
    Done,
}

/// Reads the list: numbered lines with a status, or objects.
pub(super) fn steps(input: &Value) -> Vec<Step> {
    let status = |word: &str| match word {
        "completed" | "done" | "x" => Status::Done,
        "in_progress" => Status::Current,
        _ => Status::Open,
    };
    let line = |line: &str| {
        let text = line
            .trim()
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .trim_start_matches(['.', ')', ' ']);
        let (word, text) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((word, text)) => (word, text),
            None => ("", text),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| Step { text: text.to_owned(), status: status(word) })
    };
    match &input["todos"] {
        Value::String(text) => text.lines().filter_map(line).collect(),
        Value::Array(items) => {
            let item = |item: &Value| {
                let text = item["content"].as_str().or_else(|| item["text"].as_str())?;
                let status = status(item["status"].as_str().unwrap_or_default());
                Some(Step { text: text.to_owned(), status })
            };
            items.iter().filter_map(item).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the block of the list.
pub(super) fn lines(steps: &[Step], width: usize) -> Vec<Line> {
    let done = steps.iter().filter(|step| step.status == Status::Done).count();
    let mut out =
        vec![Line::new("To do", Face::STRONG).with(&format!("  {done}/{}", steps.len()), Face::DIM)];
    for step in steps {
        let (mark, face) = match step.status {
            Status::Done => ("  ☑ ", Face { is_struck: true, ..Face::DIM }),
            Status::Current => ("  ▸ ", Face::NOTABLE),
            Status::Open => ("  ☐ ", Face::PLAIN),
        };
        let line = Line::new(mark, if step.status == Status::Done { Face::GOOD } else { face })
            .with(&step.text, face);
        out.extend(line.wrapped(width, 4));
    }
    out
}
