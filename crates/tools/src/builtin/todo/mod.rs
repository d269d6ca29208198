//! `TodoWrite`: the model's plan. Nothing is stored here: the list is in the arguments, and [`Todo::parse`] reads it.

mod spec;
#[cfg(test)]
mod tests;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, Tool, ToolInfo, ToolOutput};

/// Accepts a plan.
#[derive(Debug, Clone, Copy)]
pub struct TodoWrite;

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// The text of the step.
    pub text: String,
    /// The status of the step.
    pub status: TodoStatus,
}

/// The status of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Completed,
}

const MAX_STEPS: usize = 50;
const MAX_STEP_CHARS: usize = 500;

impl Todo {
    /// Reads a plan: numbered lines, or a list of objects, which some models send. Values that are not steps are skipped.
    ///
    /// ```
    /// use musher_tools::{Todo, TodoStatus};
    ///
    /// let plan = Todo::parse(&"1. [completed] Look\n2. [in_progress] Think".into());
    /// assert_eq!(plan[1], Todo { text: "Think".to_owned(), status: TodoStatus::InProgress });
    /// ```
    pub fn parse(todos: &Value) -> Vec<Self> {
        let steps: Vec<Self> = match todos {
            Value::String(text) => text.lines().filter_map(Self::of_line).collect(),
            Value::Array(list) => list.iter().filter_map(Self::of_value).collect(),
            _ => Vec::new(),
        };
        steps.into_iter().take(MAX_STEPS).collect()
    }

    fn of_line(line: &str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['-', '*', ' ']);
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', ' ']);
        let (status, text) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((status, text)) => (TodoStatus::of(status), text),
            None => (TodoStatus::Pending, line),
        };
        Self::new(text, status)
    }

    fn of_value(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match value.as_str() {
            Some(line) => Self::of_line(line),
            None => Self::new(
                text("content").or_else(|| text("text"))?,
                TodoStatus::of(text("status").unwrap_or_default()),
            ),
        }
    }

    fn new(text: &str, status: TodoStatus) -> Option<Self> {
        let text: String = text.trim().chars().take(MAX_STEP_CHARS).collect();
        (!text.is_empty()).then_some(Self { text, status })
    }
}

impl TodoStatus {
    fn of(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "completed" | "done" | "x" => Self::Completed,
            "in_progress" | "in progress" | "active" => Self::InProgress,
            _ => Self::Pending,
        }
    }
}

impl Tool for TodoWrite {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::session())
    }

    fn run<'a>(&'a self, _input: Input, _context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        // any input is accepted: the plan is for the user, and an error about its format would cost a model call
        Box::pin(async { ToolOutput::text("TODO List Updated") })
    }
}
