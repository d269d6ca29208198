//! A session as text for a terminal.

use std::io;

use musher_engine::Role;

use super::{Item, Transcript, call_line, clean_lines};
use crate::exit::Failure;
use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;

/// Maximum number of lines shown of a tool result without `--full`.
const RESULT_LINES: usize = 8;

impl Transcript {
    /// Renders the session for a terminal, line by line.
    pub(in super::super) fn text(
        &self,
        is_full: bool,
        style: Style,
        print: &mut dyn FnMut(Styled) -> io::Result<()>,
    ) -> Result<(), Failure> {
        print(style.strong(&sanitized(self.found.title(), 200)))?;
        print(style.dim(&self.facts().join(" · ")))?;
        let mut is_user = false;
        self.each(&mut |item| {
            let mut out: Vec<Styled> = Vec::new();
            match item {
                Item::Speaker(role) => {
                    is_user = role == Role::User;
                    out.push(Styled::default());
                }
                Item::Text(text) if is_user => {
                    out.extend(clean_lines(text).map(|line| style.strong(format!("> {line}").trim_end())));
                }
                Item::Text(text) => out.extend(clean_lines(text).map(Styled::from)),
                Item::Thinking(text) if is_full => {
                    out.extend(clean_lines(text).map(|line| style.dim(&format!("~ {line}"))));
                }
                Item::Thinking(_) => {}
                Item::Call { call, result } => {
                    let (name, about) = call_line(call);
                    let line = style.fitted(&format!("{name} {about}"), 2);
                    let is_error = result.as_ref().is_some_and(|(_, is_error)| *is_error);
                    let mark = if is_error { style.bad("✗") } else { style.good("•") };
                    out.push(mark + " " + line.trim_end());
                    out.extend(result.iter().flat_map(|(text, _)| result_lines(text, is_full, style)));
                }
                Item::Attachment(described) => out.push(described.into()),
                Item::Compacted(count, summary) => {
                    out.push(Styled::default());
                    let noun = if count == 1 { "message" } else { "messages" };
                    out.push(style.dim(&format!(
                        "--- compacted: the model reads this instead of the {count} {noun} above"
                    )));
                    out.extend(clean_lines(summary).map(|line| style.dim(format!("| {line}").trim_end())));
                }
            }
            Ok(out.into_iter().try_for_each(&mut *print)?)
        })
    }
}

fn result_lines(text: &str, is_full: bool, style: Style) -> Vec<Styled> {
    let lines: Vec<String> = clean_lines(text).collect();
    let shown = if is_full || lines.len() <= RESULT_LINES + 1 { lines.len() } else { RESULT_LINES };
    let dim = |line: &str| style.dim(style.fitted(&format!("    {line}"), 0).trim_end());
    let mut out: Vec<Styled> = lines[..shown].iter().map(|line| dim(line)).collect();
    if shown < lines.len() {
        out.push(dim(&format!("… {} more lines; --full shows all", lines.len() - shown)));
    }
    out
}
