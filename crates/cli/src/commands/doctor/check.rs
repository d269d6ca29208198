//! A check, and the report of all checks. Pure.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;

/// Maximum length of a text in a check; some of it comes from outside.
const MAX_LENGTH: usize = 1000;

/// A check and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) area: &'static str,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) text: String,
    /// What the user can do.
    pub(super) advice: Option<String>,
}

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ok,
    /// It works, but something is missing or misconfigured.
    Warning,
    /// It does not work.
    Error,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    fn painted(self, style: Style) -> Styled {
        let name = padded(self.name(), 7);
        match self {
            Self::Ok => style.good(&name),
            Self::Warning => style.notable(&name),
            Self::Error => style.bad(&name),
        }
    }
}

impl Check {
    pub(super) fn ok(area: &'static str, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { area, name: name.into(), state: State::Ok, text: text.into(), advice: None }
    }

    pub(super) fn warning(area: &'static str, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { state: State::Warning, ..Self::ok(area, name, text) }
    }

    pub(super) fn error(area: &'static str, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { state: State::Error, ..Self::ok(area, name, text) }
    }

    pub(super) fn advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "area": self.area, "name": self.name, "state": self.state.name(), "text": self.text, "advice": self.advice,
        })
    }
}

/// Renders all checks by area, with totals at the end.
pub(super) fn report(checks: &[Check], style: Style) -> Vec<Styled> {
    let mut out = Vec::new();
    let mut area = "";
    let names = checks.iter().map(|check| check.name.width()).filter(|width| *width <= 24).max().unwrap_or(0);
    for check in checks {
        if check.area != area {
            area = check.area;
            if !out.is_empty() {
                out.push(Styled::default());
            }
            out.push(style.strong(area));
        }
        let state = check.state.painted(style);
        let name = padded(&sanitized(&check.name, MAX_LENGTH), names);
        let text = format!("  {name}  {}", sanitized(&check.text, MAX_LENGTH));
        out.push(Styled::from("  ") + state + text);
        if let Some(advice) = &check.advice {
            out.push(format!("{}-> {}", " ".repeat(11), sanitized(advice, MAX_LENGTH)).into());
        }
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let noun = |count, noun| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    out.push(Styled::default());
    let (errors, warnings) = (count(State::Error), count(State::Warning));
    out.push(format!("{}, {}", noun(errors, "error"), noun(warnings, "warning")).into());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_areas_states_and_what_to_do() {
        let checks = [
            Check::ok("agents", "engine", "built in"),
            Check::warning("agents", "droid", "not\u{1b} there").advice("install it"),
            Check::error("models", "custom:big", "no key"),
        ];
        let expected = "\
agents
  ok       engine      built in
  warning  droid       not  there
           -> install it

models
  error    custom:big  no key

1 error, 1 warning";
        assert_eq!(Styled::lines(report(&checks, Style::PLAIN)), expected);
    }
}
