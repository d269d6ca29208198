//! A permission request as a panel: what can be answered with which key. Pure.
//!
//! What the request is about is printed above, whole; the panel is only the choices. Keys typed before the panel could be read are not
//! answers: it is armed later.

use musher::wire::{PermissionDetails, ToolConfirmationOutcome as Outcome};
use musher::{PermissionRequest, SessionGrant};

use super::keys::{Code, Key};
use crate::view::text::{Face, Line};

/// Maximum length of a label.
const MAX_LABEL: usize = 300;

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Answers with what the agent offers.
    Decide(Outcome),
    /// Allows this call and later ones like it, in this session.
    Grant(SessionGrant),
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
    /// Returns the choices of a request.
    pub(crate) fn new(request: &PermissionRequest, grant: Option<SessionGrant>) -> Self {
        let mut choices: Vec<Choice> = Vec::new();
        let mut spare = "123456789".chars();
        let mut add = |wanted: Option<char>, label: &str, act: Act| {
            let is_taken = |key: char| choices.iter().any(|it| it.key == key);
            let key = wanted.filter(|key| !is_taken(*key)).or_else(|| spare.next()).unwrap_or('?');
            let label = label.chars().take(MAX_LABEL).collect();
            choices.push(Choice { key, label, act });
        };
        let is_plan = request.plan().is_some();
        for option in request.choices() {
            let key = match &option.outcome {
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
            add(key, &option.label, Act::Decide(option.outcome));
        }
        if let Some(grant) = grant {
            let key = if grant.is_directory() { 'f' } else { 'p' };
            add(Some(key), &grant.label(), Act::Grant(grant));
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

    /// Returns the lines of the choices, and the row of the selected one.
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

/// Returns whether the user can change what runs: one command, one change of a file, or a plan.
fn is_editable(request: &PermissionRequest) -> bool {
    let [one] = request.tool_uses.as_slice() else { return false };
    match &one.details {
        PermissionDetails::Exec(_) | PermissionDetails::ExitSpecMode(_) => true,
        PermissionDetails::Create(_) => one.tool_use.name == "Create",
        PermissionDetails::Edit(_) => one.tool_use.name == "Edit",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use musher::wire::RequestPermissionParams;
    use serde_json::{Value, json};

    use super::*;

    /// Returns a request for one call of this tool with these details, with the options that agents offer.
    fn request(tool: &str, details: &Value, options: &[&str]) -> PermissionRequest {
        let options: Vec<_> = options
            .iter()
            .map(|value| json!({"value": value, "label": format!("Label of {value}")}))
            .collect();
        let params: RequestPermissionParams = serde_json::from_value(json!({
            "toolUses": [{
                "toolUse": {"type": "tool_use", "id": "call", "name": tool, "input": {"command": details["fullCommand"]}},
                "confirmationType": details["type"], "details": details,
            }],
            "options": options,
        }))
        .unwrap();
        PermissionRequest::new(params.tool_uses, params.options)
    }

    fn keys(panel: &Panel) -> String {
        panel.choices.iter().map(|choice| choice.key).collect()
    }

    const ALL: [&str; 9] = [
        "proceed_once",
        "proceed_always",
        "proceed_always_tools",
        "proceed_always_server",
        "proceed_auto_run_low",
        "proceed_auto_run_medium",
        "proceed_auto_run_high",
        "proceed_edit",
        "cancel",
    ];

    #[test]
    fn every_option_has_its_own_key_and_does_what_its_label_says() {
        let command = request(
            "Execute",
            &json!({"type": "exec", "fullCommand": "cargo test", "impactLevel": "low"}),
            &ALL,
        );
        let grant = SessionGrant::suggested(&command).unwrap();
        let mut panel = Panel::new(&command, Some(grant.clone()));
        assert_eq!(keys(&panel), "yatslmhpndev");
        for (key, act) in [
            ('y', Act::Decide(Outcome::ProceedOnce)),
            ('a', Act::Decide(Outcome::ProceedAlways)),
            ('t', Act::Decide(Outcome::ProceedAlwaysTools)),
            ('s', Act::Decide(Outcome::ProceedAlwaysServer)),
            ('l', Act::Decide(Outcome::ProceedAutoRunLow)),
            ('m', Act::Decide(Outcome::ProceedAutoRunMedium)),
            ('h', Act::Decide(Outcome::ProceedAutoRunHigh)),
            ('p', Act::Grant(grant)),
            ('n', Act::Reason),
            ('d', Act::Deny),
            ('e', Act::Edit),
            ('v', Act::View),
        ] {
            assert_eq!(panel.key(Key::plain(Code::Char(key))), Some(act.clone()), "{key}");
            assert_eq!(panel.key(Key::plain(Code::Char(key.to_ascii_uppercase()))), Some(act), "{key}");
        }
        for key in ['x', 'c', '1', ' '] {
            assert_eq!(panel.key(Key::plain(Code::Char(key))), None, "{key}");
        }
        assert_eq!(panel.key(Key::ctrl('y')), None);
    }

    #[test]
    fn unknown_options_get_numbers_and_repeated_ones_are_left_out() {
        let asked = request(
            "Execute",
            &json!({"type": "exec", "fullCommand": "ls"}),
            &["proceed_once", "proceed_once", "proceed_somehow"],
        );
        let mut panel = Panel::new(&asked, None);
        assert_eq!(keys(&panel), "y1ndev");
        assert_eq!(
            panel.key(Key::plain(Code::Char('1'))),
            Some(Act::Decide(Outcome::from("proceed_somehow")))
        );
    }

    #[test]
    fn plan_can_be_commented_and_what_cannot_be_changed_has_no_edit() {
        let plan = request(
            "ExitSpecMode",
            &json!({"type": "exit_spec_mode", "plan": "# Do it"}),
            &["proceed_once", "cancel"],
        );
        let panel = Panel::new(&plan, None);
        assert_eq!(keys(&panel), "yndecv");
        assert!(panel.choices.iter().any(|choice| choice.label == "No, keep planning"));
        let patch =
            request("ApplyPatch", &json!({"type": "apply_patch", "filePath": "/a"}), &["proceed_once"]);
        assert_eq!(keys(&Panel::new(&patch, None)), "yndv");
    }

    #[test]
    fn arrows_wrap_around_and_enter_takes_the_marked_choice() {
        let asked = request("Execute", &json!({"type": "exec", "fullCommand": "ls"}), &["proceed_once"]);
        let mut panel = Panel::new(&asked, None);
        let last = panel.choices.len() - 1;
        assert_eq!(panel.key(Key::plain(Code::Up)), None);
        assert_eq!(panel.selected, last);
        assert_eq!(panel.key(Key::plain(Code::Enter)), Some(Act::View));
        panel.key(Key::plain(Code::Down));
        assert_eq!(panel.key(Key::plain(Code::Enter)), Some(Act::Decide(Outcome::ProceedOnce)));
        panel.key(Key::ctrl('n'));
        panel.key(Key::ctrl('n'));
        panel.key(Key::ctrl('p'));
        assert_eq!(panel.key(Key::plain(Code::Enter)), Some(Act::Reason));
    }

    #[test]
    fn lines_fit_any_width_and_show_the_mark_only_when_keys_count() {
        let asked = request("Execute", &json!({"type": "exec", "fullCommand": "ls"}), &ALL);
        let mut panel = Panel::new(&asked, None);
        panel.selected = 2;
        for width in [10, 20, 40, 80] {
            let (lines, row) = panel.lines(width, true);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}");
            assert!(lines[row].text().starts_with("› t "), "{width}");
            let (lines, _) = panel.lines(width, false);
            assert!(lines.iter().all(|line| !line.text().contains('›')), "{width}");
        }
    }
}
