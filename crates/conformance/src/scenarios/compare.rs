//! The differences of two transcripts: messages that only one has, and fields that differ in messages that both have.

use std::fmt;

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::normalise::{Line, UNORDERED};

/// A difference. Without a place, it is the whole message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    pub(crate) kind: String,
    /// A JSON pointer into the message; empty for the message itself.
    pub(crate) at: String,
    pub(crate) droid: Option<Value>,
    pub(crate) musher: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |side: &Option<Value>| match side {
            None => "nothing".to_owned(),
            Some(value) => {
                let text = value.to_string();
                if text.chars().count() > 400 {
                    text.chars().take(400).chain("...".chars()).collect()
                } else {
                    text
                }
            }
        };
        writeln!(f, "{} {}", self.kind, self.at)?;
        writeln!(f, "    droid:  {}", show(&self.droid))?;
        writeln!(f, "    musher: {}", show(&self.musher))
    }
}

/// Returns all differences, in the order of the transcripts.
pub(crate) fn compare(droid: &[Line], musher: &[Line]) -> Vec<Difference> {
    let kinds = |lines: &[Line]| lines.iter().map(|line| line.kind.clone()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for step in capture_diff_slices(Algorithm::Myers, &kinds(droid), &kinds(musher)) {
        let (theirs, ours) = (&droid[step.old_range()], &musher[step.new_range()]);
        if let DiffOp::Equal { .. } = step {
            for (theirs, ours) in theirs.iter().zip(ours) {
                let mut in_line = Vec::new();
                fields(&theirs.kind, "", Some(&theirs.body), Some(&ours.body), &mut in_line);
                found.extend(in_line);
            }
            continue;
        }
        let whole = |line: &Line, droid, musher| Difference {
            kind: line.kind.clone(),
            at: String::new(),
            droid,
            musher,
        };
        let is_ordered = |line: &&Line| !UNORDERED.contains(&line.kind.as_str());
        found.extend(theirs.iter().filter(is_ordered).map(|line| whole(line, Some(line.body.clone()), None)));
        found.extend(ours.iter().filter(is_ordered).map(|line| whole(line, None, Some(line.body.clone()))));
    }
    found
}

fn fields(kind: &str, at: &str, droid: Option<&Value>, musher: Option<&Value>, found: &mut Vec<Difference>) {
    match (droid, musher) {
        (Some(Value::Object(theirs)), Some(Value::Object(ours))) => {
            let only_ours = ours.keys().filter(|name| !theirs.contains_key(*name));
            for name in theirs.keys().chain(only_ours) {
                fields(kind, &format!("{at}/{name}"), theirs.get(name), ours.get(name), found);
            }
        }
        (Some(Value::Array(theirs)), Some(Value::Array(ours))) => {
            for n in 0..theirs.len().max(ours.len()) {
                fields(kind, &format!("{at}/{n}"), theirs.get(n), ours.get(n), found);
            }
        }
        _ if droid == musher => {}
        _ => found.push(Difference {
            kind: kind.to_owned(),
            at: at.to_owned(),
            droid: droid.cloned(),
            musher: musher.cloned(),
        }),
    }
}
