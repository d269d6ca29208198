//! A session as Markdown.

use std::io::Write;

use musher_engine::Role;

use super::{Item, Transcript, call_line, clean_lines};
use crate::exit::Failure;
use crate::sanitize::sanitized;

/// Maximum number of lines of a tool result without `--full`.
const RESULT_LINES: usize = 20;

impl Transcript {
    /// Renders the session for documents and issues.
    pub(in super::super) fn markdown(&self, is_full: bool, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "# {}\n\n{}", sanitized(self.found.title(), 200), self.facts().join(" · "))?;
        self.each(&mut |item| {
            let mut added = Vec::new();
            let mut add = |text: String| added.push(text);
            match item {
                Item::Speaker(role) => add(format!("## {}", speaker(role))),
                Item::Text(text) => add(clean_lines(text).collect::<Vec<_>>().join("\n")),
                Item::Thinking(text) if is_full => {
                    add(clean_lines(text).map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"));
                }
                Item::Thinking(_) => {}
                Item::Call { call, result } => {
                    let (name, about) = call_line(call);
                    let about = if about.is_empty() { about } else { format!(" {}", code(&about)) };
                    let failed =
                        if result.as_ref().is_some_and(|(_, is_error)| *is_error) { " (failed)" } else { "" };
                    add(format!("**{name}**{about}{failed}"));
                    if let Some((text, _)) = result.filter(|(text, _)| !text.trim().is_empty()) {
                        add(block(&text, if is_full { usize::MAX } else { RESULT_LINES }));
                    }
                }
                Item::Attachment(described) => add(described),
                Item::Compacted(count, summary) => {
                    add(format!("---\n\n*The model reads this instead of the {count} messages above:*"));
                    add(clean_lines(summary).map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"));
                }
            }
            Ok(added.iter().try_for_each(|text| writeln!(out, "\n{text}"))?)
        })
    }
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "User",
        Role::Assistant => "Agent",
        Role::Tool => "Tool",
        Role::System => "System",
    }
}

/// Returns inline code with more backticks than the text contains.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// Returns a fenced block whose fence is longer than any in its content.
fn block(text: &str, max_lines: usize) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let lines: Vec<String> = clean_lines(text).collect();
    let mut shown: Vec<String> = lines.iter().take(max_lines).cloned().collect();
    if shown.len() < lines.len() {
        shown.push(format!("… {} more lines", lines.len() - shown.len()));
    }
    format!("{fence}text\n{}\n{fence}", shown.join("\n"))
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}
