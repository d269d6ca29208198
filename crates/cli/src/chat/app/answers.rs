//! Permission requests and questions: which one is open, whether keys are answers yet, and what an answer does.

use std::time::{Duration, Instant};

use musher::wire::{PermissionDetails, ToolConfirmationOutcome};
use musher::{
    Answers, Decision, PendingPermission, PendingQuestion, PendingRequest, SessionGrant, SessionGrants,
};

use super::{Action, App, Edited, Overlay};
use crate::chat::editor::Editor;
use crate::chat::keys::{Code, Key};
use crate::chat::panel::{Act, Panel};
use crate::chat::question::{KeyOutcome, Questions};
use crate::view;
use crate::view::markdown::Markdown;
use crate::view::text::{Face, Line};

/// How long no key may have been pressed before keys are answers.
const QUIET_TIME: Duration = Duration::from_millis(400);
/// Requests in the list of those that wait.
const MAX_LISTED: usize = 5;
/// The line in an editor below which comments stand.
const COMMENT_MARK: &str = "%%";

/// Whether keys are answers to the open request. They are once the user can have read it: no key came for a while, and the keyboard has
/// reported all keys that were typed before.
#[derive(Debug, Default)]
pub(super) struct Arming {
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Off,
    /// A request is open since then.
    Quiet(Instant),
    /// The keyboard was asked.
    Asked,
    Armed,
}

impl Arming {
    pub(super) fn is_armed(&self) -> bool {
        self.state == State::Armed
    }

    pub(super) fn is_pending(&self) -> bool {
        matches!(self.state, State::Quiet(_) | State::Asked)
    }
}

impl App {
    pub(crate) fn is_asking(&self) -> bool {
        matches!(self.overlay, Some(Overlay::Permission { .. } | Overlay::Question { .. }))
    }

    /// Starts to wait for a pause again: a key came.
    pub(super) fn disarm(&mut self) {
        if self.is_asking() && self.words.is_none() {
            self.arming.state = State::Quiet(self.now);
        }
    }

    pub(super) fn arm_when_quiet(&mut self) {
        if let State::Quiet(since) = self.arming.state
            && self.now - since >= QUIET_TIME
        {
            self.arming.state = State::Asked;
            self.actions.push(Action::Arm);
        }
    }

    /// The keyboard has no key left that was typed before it was asked.
    pub(crate) fn nothing_left(&mut self) {
        if self.arming.state != State::Asked {
            return;
        }
        self.arming.state = State::Armed;
        let wants_words =
            matches!(&self.overlay, Some(Overlay::Question { questions, .. }) if questions.wants_words());
        if wants_words && self.words.is_none() {
            self.words = Some(Editor::new(false));
        }
    }

    /// The agent asks.
    pub(crate) fn requested(&mut self, request: PendingRequest) {
        if matches!(self.overlay, Some(Overlay::Picker { .. })) {
            self.overlay = None;
        }
        if self.is_asking() {
            self.waiting.push_back(request);
            return;
        }
        self.ask(request);
    }

    /// Forgets what was allowed for the session that the chat has left.
    pub(crate) fn forget_grants(&mut self) {
        self.grants = SessionGrants::default();
    }

    /// Returns how many requests wait behind the open one.
    pub(super) fn waiting_requests(&self) -> usize {
        self.waiting.len()
    }

    fn ask(&mut self, request: PendingRequest) {
        match request {
            PendingRequest::Permission(pending) => {
                if self.is_rewritten(&pending) {
                    self.note("  running what you wrote");
                    return pending.allow_once();
                }
                if self.grants.cover(pending.request()) {
                    self.note("  you have allowed this for the rest of the session");
                    return pending.allow_once();
                }
                let lines = details(&pending, self.width);
                self.transcript.block(lines);
                let panel = Panel::new(pending.request(), SessionGrant::suggested(pending.request()));
                self.overlay = Some(Overlay::Permission { pending, panel });
            }
            PendingRequest::Question(pending) => {
                let questions = Questions::new(pending.request().questions.clone());
                self.overlay = Some(Overlay::Question { pending, questions });
                self.show_question();
            }
        }
        self.arming.state = State::Quiet(self.now);
        if !self.has_focus {
            self.actions.push(Action::Notify("the agent asks for permission".to_owned()));
        }
    }

    fn is_rewritten(&mut self, pending: &PendingPermission) -> bool {
        let [one] = pending.request().tool_uses.as_slice() else { return false };
        let is_same = self.rewritten.as_ref().is_some_and(|(id, input)| {
            *id == one.tool_use.id && one.tool_use.input.to_value().is_ok_and(|asked| asked == *input)
        });
        if is_same {
            self.rewritten = None;
        }
        is_same
    }

    fn show_question(&mut self) {
        let Some(Overlay::Question { questions, .. }) = &self.overlay else { return };
        let text = questions.text();
        let lines = text.lines().flat_map(|line| Line::new(line, Face::STRONG).wrapped(self.width, 0));
        self.transcript.block(lines.collect::<Vec<_>>());
        // a key that was pressed twice does not answer two questions
        self.arming.state = State::Quiet(self.now);
    }

    pub(super) fn answer_key(&mut self, key: Key) {
        if key.code == Code::Escape {
            return if self.busy.is_some() { self.interrupt() } else { self.deny_open() };
        }
        if self.switch_key(key) {
            return;
        }
        match &mut self.overlay {
            Some(Overlay::Permission { panel, .. }) => {
                if let Some(act) = panel.key(key) {
                    self.act(act);
                }
            }
            Some(Overlay::Question { questions, .. }) => {
                let asked = questions.key(key);
                self.asked(asked);
            }
            _ => {}
        }
    }

    /// A request outside of a turn is denied by Escape.
    fn deny_open(&mut self) {
        self.overlay = None;
        self.next_request();
    }

    fn asked(&mut self, asked: KeyOutcome) {
        match asked {
            KeyOutcome::Nothing => {}
            KeyOutcome::Words => self.words = Some(Editor::new(false)),
            KeyOutcome::Next => self.show_question(),
            KeyOutcome::Done(answers) => {
                if let Some(Overlay::Question { pending, .. }) = self.overlay.take() {
                    for answer in &answers {
                        self.note(&format!("  {answer}"));
                    }
                    pending.answer(Answers::Given(answers));
                }
                self.next_request();
            }
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Decide(outcome) => self.decide(outcome.into(), ""),
            Act::Deny => self.decide(Decision::deny(), "  denied"),
            Act::Grant(grant) => {
                self.grants.add(grant);
                self.decide(Decision::allow_once(), "");
            }
            Act::Reason => self.words = Some(Editor::new(false)),
            Act::Edit => {
                let text = self.open_permission().map(editable).unwrap_or_default();
                self.actions.push(Action::Edit(Edited::Call, text));
            }
            Act::Comment => {
                let plan = self.open_permission().and_then(|it| it.request().plan()).unwrap_or_default();
                let text = format!(
                    "{plan}\n\n{COMMENT_MARK} Write your comments on lines that begin with {COMMENT_MARK}, below the line they are about.\n"
                );
                self.actions.push(Action::Edit(Edited::Comments, text));
            }
            Act::View => {
                let lines = self.open_permission().map(|it| details(it, usize::MAX)).unwrap_or_default();
                self.actions.push(Action::Page(lines));
            }
        }
    }

    fn open_permission(&self) -> Option<&PendingPermission> {
        match &self.overlay {
            Some(Overlay::Permission { pending, .. }) => Some(pending),
            _ => None,
        }
    }

    fn decide(&mut self, decision: Decision, note: &str) {
        if let Some(Overlay::Permission { pending, .. }) = self.overlay.take() {
            let denies = *decision.outcome() == ToolConfirmationOutcome::Cancel;
            if !denies {
                pending.request().tool_uses.iter().for_each(|it| self.transcript.has_shown(&it.tool_use.id));
            }
            pending.decide(decision);
        }
        if !note.is_empty() {
            self.note(note);
        }
        self.next_request();
    }

    fn next_request(&mut self) {
        self.arming.state = State::Off;
        while self.overlay.is_none() && !self.waiting.is_empty() {
            if self.open_at >= self.waiting.len() {
                self.open_at = 0;
            }
            if let Some(next) = self.waiting.remove(self.open_at) {
                self.ask(next);
            }
        }
    }

    /// Handles a key that goes to another request; returns whether it was one.
    fn switch_key(&mut self, key: Key) -> bool {
        let count = self.waiting.len() + 1;
        if count == 1 {
            return false;
        }
        let to = match (key.code, &self.overlay) {
            (Code::Tab, _) if key.shift => (self.open_at + count - 1) % count,
            (Code::Tab, _) => (self.open_at + 1) % count,
            // the digits of a question are its options
            (Code::Char(digit @ '1'..='9'), Some(Overlay::Permission { panel, .. }))
                if panel.choices.iter().all(|choice| choice.key != digit) =>
            {
                usize::from(digit as u8 - b'1')
            }
            _ => return false,
        };
        if to == self.open_at || to >= count {
            return true;
        }
        let open = match self.overlay.take() {
            Some(Overlay::Permission { pending, .. }) => PendingRequest::Permission(pending),
            Some(Overlay::Question { pending, questions }) if questions.is_untouched() => {
                PendingRequest::Question(pending)
            }
            other => {
                self.overlay = other;
                self.notice("answer the other questions first");
                return true;
            }
        };
        self.waiting.insert(self.open_at.min(self.waiting.len()), open);
        self.open_at = to;
        self.next_request();
        true
    }

    /// Returns the requests that wait, if there are several.
    pub(super) fn request_list(&self, columns: usize) -> Vec<Line> {
        let open = match &self.overlay {
            Some(Overlay::Permission { pending, .. }) => permission_subject(pending),
            Some(Overlay::Question { pending, .. }) => question_subject(pending),
            _ => return Vec::new(),
        };
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let mut subjects: Vec<String> = self
            .waiting
            .iter()
            .map(|request| match request {
                PendingRequest::Permission(pending) => permission_subject(pending),
                PendingRequest::Question(pending) => question_subject(pending),
            })
            .collect();
        let open_at = self.open_at.min(subjects.len());
        subjects.insert(open_at, open);
        let text = format!("{} requests wait for you; Tab or a number shows another one", subjects.len());
        let mut out = vec![Line::new(&text, Face::NOTABLE).cut(columns)];
        let first = (open_at + 1).saturating_sub(MAX_LISTED);
        for (index, subject) in subjects.iter().enumerate().skip(first).take(MAX_LISTED) {
            let (mark, face) = if index == open_at { ("› ", Face::STRONG) } else { ("  ", Face::DIM) };
            let line = Line::new(mark, Face::NOTABLE).with(&format!("{} {subject}", index + 1), face);
            out.push(line.cut(columns));
        }
        out
    }

    /// Closes requests that were settled by something else.
    pub(super) fn forget_settled(&mut self) {
        self.waiting.retain(|it| match it {
            PendingRequest::Permission(pending) => !pending.is_settled(),
            PendingRequest::Question(pending) => !pending.is_settled(),
        });
        let is_settled = match &self.overlay {
            Some(Overlay::Permission { pending, .. }) => pending.is_settled(),
            Some(Overlay::Question { pending, .. }) => pending.is_settled(),
            _ => false,
        };
        if is_settled {
            self.overlay = None;
            self.words = None;
            self.next_request();
        }
    }

    /// Keys of an answer in words.
    pub(super) fn words_key(&mut self, key: Key) {
        let Some(words) = &mut self.words else { return };
        if key.code == Code::Escape {
            let can_choose = !matches!(&self.overlay, Some(Overlay::Question { questions, .. }) if questions.wants_words());
            self.words = None;
            if !can_choose {
                self.interrupt();
            }
            return;
        }
        if key != Key::plain(Code::Enter) {
            words.key(key);
            return;
        }
        let text = words.take();
        if text.trim().is_empty() {
            return;
        }
        self.words = None;
        match &mut self.overlay {
            Some(Overlay::Permission { .. }) => {
                self.decide(Decision::deny_and_continue(text.trim()), &format!("  denied: {}", text.trim()));
            }
            Some(Overlay::Question { questions, .. }) => {
                let asked = questions.answer(text.trim().to_owned());
                self.asked(asked);
            }
            _ => {}
        }
    }

    /// The user has changed what would run.
    pub(super) fn call_edited(&mut self, text: &str) {
        let Some(pending) = self.open_permission() else { return };
        if text == editable(pending).trim_end_matches('\n') {
            return self.notice("nothing was changed");
        }
        if pending.request().plan().is_some() {
            return self.decide(Decision::edit_plan(text), "  approved with your changes");
        }
        let [one] = pending.request().tool_uses.as_slice() else { return };
        let Ok(mut input) = one.tool_use.input.to_value() else { return };
        let field = match &one.details {
            PermissionDetails::Exec(_) => "command",
            PermissionDetails::Create(_) => "content",
            _ => "new_str",
        };
        input[field] = text.into();
        let id = one.tool_use.id.clone();
        self.transcript.rewritten(&id, input.clone());
        self.rewritten = Some((id, input.clone()));
        let shown =
            if field == "command" { format!("  changed to: {text}") } else { "  changed by you".to_owned() };
        self.decide(Decision::rewrite(input), &shown);
    }

    /// The user has commented on a plan.
    pub(super) fn commented(&mut self, text: &str) {
        let comments = comments(text);
        if comments.is_empty() {
            return self.notice("there are no comments");
        }
        let text = format!("The user commented on the plan:\n{}", comments.join("\n"));
        let note = format!(
            "  {} sent",
            if comments.len() == 1 { "1 comment".to_owned() } else { format!("{} comments", comments.len()) }
        );
        self.decide(Decision::deny_and_continue(text), &note);
    }
}

fn permission_subject(pending: &PendingPermission) -> String {
    view::reason(pending.request())
}

fn question_subject(pending: &PendingQuestion) -> String {
    pending.request().questions.first().map(|it| it.question.clone()).unwrap_or_default()
}

/// Returns what an editor gets of a request.
fn editable(pending: &PendingPermission) -> String {
    let request = pending.request();
    if let Some(plan) = request.plan() {
        return plan.to_owned();
    }
    let [one] = request.tool_uses.as_slice() else { return String::new() };
    let input = view::input(&one.tool_use.input);
    let field = match &one.details {
        PermissionDetails::Exec(_) => "command",
        PermissionDetails::Create(_) => "content",
        _ => "new_str",
    };
    input[field].as_str().unwrap_or_default().to_owned()
}

/// Returns the comments in an edited plan, each with the line that it is about.
fn comments(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut about = "";
    for line in text.lines() {
        match line.trim_start().strip_prefix(COMMENT_MARK) {
            Some(comment) if comment.trim().starts_with("Write your comments on lines") => {}
            Some(comment) if about.is_empty() => out.push(format!("- {}", comment.trim())),
            Some(comment) => out.push(format!("- On `{}`: {}", about.trim(), comment.trim())),
            None if line.trim().is_empty() => {}
            None => about = line,
        }
    }
    out
}

/// Returns what a request is about, whole.
fn details(pending: &PendingPermission, width: usize) -> Vec<Line> {
    let request = pending.request();
    let mut out = Vec::new();
    for asked in &request.tool_uses {
        if let PermissionDetails::ExitSpecMode(plan) = &asked.details {
            out.push(Line::new("Carry out this plan?", Face::STRONG));
            let mut markdown = Markdown::default();
            out.extend(markdown.push(&plan.plan, width));
            out.extend(markdown.finish(width));
            out.extend(view::mismatch_lines(asked));
        } else {
            out.extend(view::request_lines(asked));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn comments_name_the_line_they_are_about() {
        let text = "# Plan\n1. Do it\n%% not like this\n\n%% really\n%% Write your comments on lines that begin with %%, below\n";
        assert_eq!(super::comments(text), ["- On `1. Do it`: not like this", "- On `1. Do it`: really"]);
        assert!(super::comments("1. Do it").is_empty());
    }
}
