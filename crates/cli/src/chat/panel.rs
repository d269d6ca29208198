//! A permission request as a panel: what can be answered with which key. Pure.
//!
//! What the request is about is printed above, whole; the panel is only the choices. Keys typed before the panel could be read are not
//! answers: it is armed later.

use musher::PermissionRequest;
use musher::wire::{PermissionDetails, ToolConfirmationOutcome as Outcome};

use super::grant::Grant;
use super::keys::{Code, Key};
use crate::view::text::{Face, Line};

/// Maximum length of a label.
const MAX_LABEL: usize = 300;

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Answers with what the agent offers.
    Decide(Outcome),
    /// Allows this call and later ones like it, in this chat.
    Grant(Grant),
    /// Denies it with a reason; the turn continues.
    Reason,
    /// Denies it and ends the turn.
    Deny,
    /// Changes what would run.
    Edit,
    /// Adds comments to a plan.
    Comment,
    /// Shows all of it in a pager.
    View,
}

/// A line of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) key: char,
    pub(crate) label: String,
    pub(crate) act: Act,
}

/// The panel.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) choices: Vec<Choice>,
    pub(crate) selected: usize,
}

impl Panel {
    /// The choices of a request.
    pub(crate) fn new(request: &PermissionRequest, grants: Vec<Grant>) -> Self {
        let mut choices: Vec<Choice> = Vec::new();
        let mut spare = "123456789".chars();
        let mut add = |wanted: Option<char>, label: &str, act: Act| {
            let is_taken = |key: char| choices.iter().any(|it| it.key == key);
            let key = wanted.filter(|key| !is_taken(*key)).or_else(|| spare.next()).unwrap_or('?');
            let label = label.chars().take(MAX_LABEL).collect();
            choices.push(Choice { key, label, act });
        };
        let is_plan = request.plan().is_some();
        for option in &request.options {
            let key = match &option.value {
                Outcome::Cancel | Outcome::ProceedEdit => continue,
                Outcome::ProceedOnce => Some('y'),
                Outcome::ProceedAlways => Some('a'),
                Outcome::ProceedAlwaysTools => Some('t'),
                Outcome::ProceedAlwaysServer => Some('s'),
                Outcome::ProceedAutoRunLow => Some('l'),
                Outcome::ProceedAutoRunMedium => Some('m'),
                Outcome::ProceedAutoRunHigh => Some('h'),
                _ => None,
            };
            add(key, &option.label, Act::Decide(option.value.clone()));
        }
        for grant in grants {
            let (key, label) = (grant.key(), grant.label());
            add(Some(key), &label, Act::Grant(grant));
        }
        let no =
            if is_plan { "No, and say what to change" } else { "No, and tell the agent why; it continues" };
        add(Some('n'), no, Act::Reason);
        add(Some('d'), if is_plan { "No, keep planning" } else { "No, and stop" }, Act::Deny);
        if is_editable(request) {
            add(Some('e'), if is_plan { "Edit the plan" } else { "Edit it before it runs" }, Act::Edit);
        }
        if is_plan {
            add(Some('c'), "Comment on its lines", Act::Comment);
        }
        add(Some('v'), "View all of it", Act::View);
        Self { choices, selected: 0 }
    }

    /// Handles a key; returns the choice that was made.
    pub(crate) fn key(&mut self, key: Key) -> Option<Act> {
        let last = self.choices.len().saturating_sub(1);
        match (key.code, key.ctrl) {
            (Code::Up, _) | (Code::Char('p'), true) => {
                self.selected = self.selected.checked_sub(1).unwrap_or(last);
            }
            (Code::Down | Code::Tab, _) | (Code::Char('n'), true) => {
                self.selected = if self.selected == last { 0 } else { self.selected + 1 };
            }
            (Code::Enter, _) => return self.choices.get(self.selected).map(|choice| choice.act.clone()),
            _ => {
                let typed = key.typed()?.to_ascii_lowercase();
                return self
                    .choices
                    .iter()
                    .find(|choice| choice.key == typed)
                    .map(|choice| choice.act.clone());
            }
        }
        None
    }

    /// The lines of the choices, and the row of the selected one.
    pub(crate) fn lines(&self, width: usize, is_armed: bool) -> (Vec<Line>, usize) {
        let mut out = Vec::new();
        let mut row = 0;
        for (index, choice) in self.choices.iter().enumerate() {
            let is_selected = is_armed && index == self.selected;
            if is_selected {
                row = out.len();
            }
            let mark = if is_selected { "› " } else { "  " };
            let key = if is_armed { Face::NOTABLE } else { Face::DIM };
            let face = match (is_armed, is_selected) {
                (false, _) => Face::DIM,
                (true, true) => Face::STRONG,
                (true, false) => Face::PLAIN,
            };
            let line = Line::new(mark, Face::NOTABLE)
                .with(&format!("{} ", choice.key), key)
                .with(&choice.label, face);
            out.extend(line.wrapped(width, 4));
        }
        (out, row)
    }
}

/// Whether the user can change what runs: one command, one change of a file, or a plan.
fn is_editable(request: &PermissionRequest) -> bool {
    let [one] = request.tool_uses.as_slice() else { return false };
    match &one.details {
        PermissionDetails::Exec(_) | PermissionDetails::ExitSpecMode(_) => true,
        PermissionDetails::Create(_) => one.tool_use.name == "Create",
        PermissionDetails::Edit(_) => one.tool_use.name == "Edit",
        _ => false,
    }
}
