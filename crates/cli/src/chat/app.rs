//! The state of a chat: keys, events and the time in, lines and actions out. Pure, except that grants look at the file system.

mod answers; // permission requests and questions
mod compose; // the live lines
mod menu; // completion of commands and files
mod submit; // what a line that was entered means

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use musher::wire::SessionNotification;
use musher::{Event, PendingPermission, PendingQuestion, PendingRequest, SessionGrants};

use super::editor::Editor;
use super::history::History;
use super::keymap::{Does, Keymap};
use super::keys::{Code, Input, Key};
use super::panel::Panel;
use super::picker::{Item, Picked, Picker};
use super::question::Questions;
use super::transcript::Transcript;
use crate::view::text::{Face, Line};
use answers::Arming;
use menu::Menu;

/// Two presses of a key within this time belong together.
const DOUBLE_PRESS_TIMEOUT: Duration = Duration::from_millis(1500);
/// Maximum number of prompts that wait.
const MAX_QUEUED: usize = 50;
/// Maximum number of ids of printed prompts that are kept.
const MAX_PRINTED: usize = 100;

/// What the shell has to do.
#[derive(Debug)]
pub(crate) enum Action {
    /// Send this prompt.
    Start(String),
    /// Send this prompt to the turn that runs.
    Join(String),
    /// Interrupt the turn.
    Interrupt,
    /// End the command that runs for the user, with its processes.
    CancelJob,
    Quit,
    /// Stop the program, as Ctrl-Z does.
    Suspend,
    /// Erase the screen.
    ClearScreen,
    /// Open the user's editor.
    Edit(Edited, String),
    /// Show this in a pager.
    Page(Vec<Line>),
    /// Run a command of the user in a shell; whether the model gets to know.
    Run(String, bool),
    /// Report when no key is left that was typed before.
    Arm,
    /// A command that needs the session.
    Command(&'static str, String),
    /// The user has chosen from a list.
    Chosen(Purpose, Item),
    /// Read the names of the files.
    ListFiles,
    /// Tell a user who looks elsewhere.
    Notify(String),
}

/// What the user's editor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    Prompt,
    /// What a permission request would run.
    Call,
    /// A plan, to comment on its lines.
    Comments,
}

/// What a choice from a list is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Model,
    Effort,
    Mode,
    Autonomy,
    Session,
    Rewind,
    RewindFiles,
    History,
    Theme,
}

/// What takes the keys instead of the prompt.
#[derive(Debug)]
enum Overlay {
    Permission { pending: PendingPermission, panel: Panel },
    Question { pending: PendingQuestion, questions: Questions },
    Picker { picker: Picker, purpose: Purpose },
}

/// The turn that runs.
#[derive(Debug)]
struct Busy {
    since: Instant,
    is_stopping: bool,
    /// Whether prompts in its events are of others: another client began it, or the one of this chat has come.
    has_other_prompts: bool,
}

/// What the status line shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) model: String,
    pub(crate) effort: String,
    pub(crate) mode: String,
    pub(crate) autonomy: String,
    /// The used part of the context, in percent.
    pub(crate) context: Option<u64>,
    pub(crate) cost: f64,
    pub(crate) folder: String,
    pub(crate) title: String,
}

/// The chat.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) transcript: Transcript,
    pub(crate) status: Status,
    pub(crate) history: History,
    editor: Editor,
    /// An answer in words, or a reason: the prompt stays as it is meanwhile.
    words: Option<Editor>,
    keymap: Keymap,
    queue: VecDeque<String>,
    /// Prompts that were sent to the turn that runs, and are not in the conversation yet: their ids and texts.
    joining: Vec<(String, String)>,
    /// The ids of the prompts that are printed.
    printed: VecDeque<String>,
    overlay: Option<Overlay>,
    arming: Arming,
    waiting: VecDeque<PendingRequest>,
    /// The place of the open request among those that wait.
    open_at: usize,
    /// What the user has allowed for the rest of the session.
    grants: SessionGrants,
    /// A call that the user has rewritten: its id and what is expected to be asked again.
    rewritten: Option<(String, serde_json::Value)>,
    menu: Option<Menu>,
    files: Option<Vec<String>>,
    /// Whether the names of the files are being read.
    reads_files: bool,
    /// The commands of the agent: name and description.
    commands: Vec<(String, String)>,
    busy: Option<Busy>,
    /// The job that runs for the user, and since when.
    working: Option<(String, Instant)>,
    notice: Option<(String, Instant)>,
    last_escape: Option<Instant>,
    last_ctrl_c: Option<Instant>,
    last_key: Option<Instant>,
    has_focus: bool,
    shows_help: bool,
    now: Instant,
    width: usize,
    /// Output of the user's commands, for the next prompt.
    told: Vec<String>,
    actions: Vec<Action>,
}

impl App {
    pub(crate) fn new(
        transcript: Transcript,
        history: History,
        keymap: Keymap,
        now: Instant,
        width: usize,
    ) -> Self {
        Self {
            transcript,
            status: Status::default(),
            history,
            editor: Editor::new(keymap.is_vi()),
            words: None,
            keymap,
            queue: VecDeque::new(),
            joining: Vec::new(),
            printed: VecDeque::new(),
            overlay: None,
            arming: Arming::default(),
            waiting: VecDeque::new(),
            open_at: 0,
            grants: SessionGrants::default(),
            rewritten: None,
            menu: None,
            files: None,
            reads_files: false,
            commands: Vec::new(),
            busy: None,
            working: None,
            notice: None,
            last_escape: None,
            last_ctrl_c: None,
            last_key: None,
            has_focus: true,
            shows_help: false,
            now,
            width,
            told: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Takes what the shell has to do.
    pub(crate) fn actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Sets the time, and does what is due.
    pub(crate) fn at(&mut self, now: Instant) {
        self.now = now;
        self.arm_when_quiet();
        if self.notice.as_ref().is_some_and(|(_, since)| now - *since > DOUBLE_PRESS_TIMEOUT * 2) {
            self.notice = None;
        }
    }

    pub(crate) fn resized(&mut self, width: usize) {
        self.width = width;
    }

    /// Returns whether something on the screen moves by itself.
    pub(crate) fn is_animated(&self) -> bool {
        self.busy.is_some() || self.working.is_some() || self.notice.is_some() || self.arming.is_pending()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Returns whether keys and pastes go to the prompt.
    pub(crate) fn is_writing(&self) -> bool {
        self.words.is_none() && !matches!(self.overlay, Some(Overlay::Picker { .. }))
    }

    /// Returns the text that was typed and not sent.
    pub(crate) fn draft(&self) -> String {
        self.editor.expanded()
    }

    pub(crate) fn set_draft(&mut self, text: &str) {
        self.editor.set(text);
    }

    pub(crate) fn set_commands(&mut self, commands: Vec<(String, String)>) {
        self.commands = commands;
    }

    pub(crate) fn set_files(&mut self, files: Vec<String>) {
        self.files = Some(files);
        self.reads_files = false;
        self.update_menu();
    }

    pub(crate) fn note(&mut self, text: &str) {
        let line = Line::new(text, Face::DIM);
        line.wrapped(self.width, 0).into_iter().for_each(|line| self.transcript.note(line));
    }

    /// Shows something short for a moment.
    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        self.notice = Some((text.into(), self.now));
    }

    pub(crate) fn set_working(&mut self, what: Option<&str>) {
        if self.working.as_ref().map(|(what, _)| what.as_str()) != what {
            self.working = what.map(|what| (what.to_owned(), self.now));
        }
    }

    /// Opens a list.
    pub(crate) fn pick(&mut self, purpose: Purpose, title: &str, items: Vec<Item>) {
        if self.is_asking() {
            return self.notice("answer the request first");
        }
        self.overlay = Some(Overlay::Picker { picker: Picker::new(title, items), purpose });
    }

    /// Something that the model gets to know with the next prompt.
    pub(crate) fn tell_later(&mut self, text: String) {
        self.told.push(text);
    }

    /// Returns the prompt, with what the model gets to know. That comes last: a command of the agent begins its prompt.
    pub(crate) fn with_told(&mut self, prompt: &str) -> String {
        let told = std::mem::take(&mut self.told);
        let parts = std::iter::once(prompt.to_owned()).chain(told);
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// A turn has begun.
    pub(crate) fn begun(&mut self, prompt: &str) {
        self.busy = Some(Busy { since: self.now, is_stopping: false, has_other_prompts: false });
        self.transcript.prompt(prompt, self.width);
    }

    /// A turn that runs already is shown from now on.
    pub(crate) fn followed(&mut self) {
        self.busy = Some(Busy { since: self.now, is_stopping: false, has_other_prompts: true });
    }

    /// The prompt with this id is printed.
    pub(crate) fn own_prompt(&mut self, id: &str) {
        self.printed.push_back(id.to_owned());
        while self.printed.len() > MAX_PRINTED {
            self.printed.pop_front();
        }
    }

    /// A prompt in the events of a turn. Old agents give the one of this chat an id of their own.
    fn user_message(&mut self, id: &str, text: &str) {
        let is_printed = self.printed.iter().any(|printed| printed == id);
        let joins = self.joining.iter().any(|(joining, _)| joining == id);
        match &mut self.busy {
            Some(busy) if is_printed => busy.has_other_prompts = true,
            Some(busy) if joins || busy.has_other_prompts => self.prompted(id, text),
            _ => {}
        }
    }

    /// A prompt is in the conversation: one that was to join the turn, or one of another client.
    pub(crate) fn prompted(&mut self, id: &str, text: &str) {
        if self.printed.iter().any(|printed| printed == id) {
            return;
        }
        self.own_prompt(id);
        // what the user typed, without what the model gets to know with it
        let typed = self.joining.iter().position(|(joining, _)| joining == id);
        let typed = typed.map(|at| self.joining.remove(at).1);
        self.transcript.prompt(typed.as_deref().unwrap_or(text), self.width);
    }

    /// A prompt is on its way to the turn that runs.
    pub(crate) fn joins(&mut self, id: String, text: String) {
        self.joining.push((id, text));
    }

    /// The agent did not take a prompt for the turn: it waits again.
    pub(crate) fn not_joined(&mut self, id: &str) {
        if let Some(at) = self.joining.iter().position(|(joining, _)| joining == id) {
            let (_, text) = self.joining.remove(at);
            if self.busy.is_some() {
                self.queue.push_front(text);
            } else {
                self.editor.set(&text);
            }
        }
    }

    /// A turn is over, or could not begin.
    pub(crate) fn ended(&mut self) {
        self.busy = None;
        self.rewritten = None;
        // the agent may have made new ones
        self.files = None;
        self.forget_settled();
        if let Some(next) = self.queue.pop_front() {
            self.actions.push(Action::Start(next));
        } else if !self.has_focus {
            self.actions.push(Action::Notify("the agent has finished".to_owned()));
        }
    }

    /// Takes an event of the turn.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Permission(pending) => self.requested(PendingRequest::Permission(pending.clone())),
            Event::Question(pending) => self.requested(PendingRequest::Question(pending.clone())),
            Event::PermissionResolved(_) => self.forget_settled(),
            Event::User(message) => self.user_message(&message.id, &message.text()),
            Event::Other(other) if matches!(&**other, SessionNotification::QueuedMessagesDiscarded(_)) => {
                // to be sent again, or not: the user decides
                let texts: Vec<_> = self.joining.drain(..).map(|(_, text)| text).collect();
                for text in &texts {
                    self.history.add(text);
                }
                if self.editor.is_empty() && !texts.is_empty() {
                    self.editor.set(&texts.join("\n"));
                }
            }
            Event::Result(result) => {
                self.status.cost += result.cost.map_or(0.0, |cost| cost.usd);
                self.transcript.event(event, self.now, self.width);
            }
            event => self.transcript.event(event, self.now, self.width),
        }
    }

    /// Takes what the user did.
    pub(crate) fn input(&mut self, input: Input) {
        match input {
            Input::Focus(has_focus) => self.has_focus = has_focus,
            Input::Paste(text) => self.paste(&text),
            Input::Key(key) => {
                self.key(key);
                self.last_key = Some(self.now);
            }
        }
    }

    fn paste(&mut self, text: &str) {
        self.disarm();
        if let Some(Overlay::Picker { picker, .. }) = &mut self.overlay {
            return picker.paste(text);
        }
        if let Some(words) = &mut self.words {
            return words.paste(text);
        }
        self.editor.paste(text);
        self.update_menu();
    }

    fn key(&mut self, key: Key) {
        self.shows_help = false;
        if key == Key::ctrl('c') {
            return self.ctrl_c();
        }
        match self.keymap.does(key) {
            Some(Does::Redraw) => return self.actions.push(Action::ClearScreen),
            Some(Does::Suspend) => return self.actions.push(Action::Suspend),
            _ => {}
        }
        if let Some(Overlay::Picker { picker, purpose }) = &mut self.overlay {
            let purpose = *purpose;
            match picker.key(key) {
                Picked::Nothing => {}
                Picked::Cancelled => self.overlay = None,
                Picked::Item(item) => {
                    self.overlay = None;
                    self.chosen(purpose, item);
                }
            }
            return;
        }
        // also with an open request: in a daemon it waits there for another client
        let is_empty = self.editor.is_empty() && self.words.as_ref().is_none_or(Editor::is_empty);
        if key == Key::ctrl('d') && is_empty {
            return self.actions.push(Action::Quit);
        }
        if self.words.is_some() {
            return self.words_key(key);
        }
        if self.is_asking() {
            if self.arming.is_armed() {
                return self.answer_key(key);
            }
            // typed ahead: it belongs to the prompt
            self.disarm();
        }
        if key.code == Code::Escape {
            return self.escape(key);
        }
        if self.menu_key(key) {
            return;
        }
        if self.keymap_key(key) {
            return;
        }
        if key == Key::plain(Code::Enter) && !self.editor.text()[..self.editor.cursor()].ends_with('\\') {
            return self.submit();
        }
        if key == Key::plain(Code::Enter) {
            // a backslash before Enter is a new line
            let cursor = self.editor.cursor();
            self.editor.replace(cursor - 1..cursor, "\n");
            return;
        }
        if key == Key::plain(Code::Char('?')) && self.editor.is_empty() {
            self.shows_help = true;
            return;
        }
        let is_handled = self.editor.key(key);
        if !is_handled {
            match key.code {
                Code::Up | Code::Char('p') => self.earlier(),
                Code::Down | Code::Char('n') => {
                    if let Some(prompt) = self.history.next() {
                        self.editor.set(&prompt);
                    }
                }
                _ => {}
            }
        }
        self.update_menu();
    }

    /// The prompt before: one that waits, or one of the history.
    fn earlier(&mut self) {
        if self.editor.is_empty()
            && let Some(queued) = self.queue.pop_back()
        {
            return self.editor.set(&queued);
        }
        if let Some(prompt) = self.history.previous(&self.editor.expanded()) {
            self.editor.set(&prompt);
        }
    }

    fn keymap_key(&mut self, key: Key) -> bool {
        let Some(does) = self.keymap.does(key) else { return false };
        match does {
            Does::Redraw | Does::Suspend => {}
            Does::NewLine => drop(self.editor.key(Key::ctrl('j'))),
            Does::Editor => self.actions.push(Action::Edit(Edited::Prompt, self.editor.expanded())),
            Does::SearchHistory => {
                let prompts = self.history.newest_first();
                let items = prompts.into_iter().map(|it| Item::new(it.clone(), it.replace('\n', " ⏎ "), ""));
                self.pick(Purpose::History, "History:", items.collect());
            }
            Does::Thinking => {
                let shows = !self.transcript.shows_thinking();
                self.transcript.show_thinking(shows);
                let thought = self.transcript.last_thought().trim().to_owned();
                if shows && !thought.is_empty() {
                    let face = Face { is_italic: true, ..Face::DIM };
                    let lines = thought.lines().flat_map(|line| Line::new(line, face).wrapped(self.width, 0));
                    self.transcript.block(lines.collect::<Vec<_>>());
                }
                self.notice(if shows { "thoughts are shown" } else { "thoughts are folded" });
            }
            Does::NextMode => self.actions.push(Action::Command("mode", "next".to_owned())),
            Does::SendNow if self.busy.is_some() => {
                self.queue_typed();
                self.actions.extend(self.queue.drain(..).map(Action::Join));
            }
            Does::SendNow => self.submit(),
            Does::Help => self.shows_help = true,
        }
        true
    }

    /// Clears what was typed, else interrupts, else quits.
    fn ctrl_c(&mut self) {
        if self.words.take().is_some() {
            return;
        }
        if matches!(self.overlay, Some(Overlay::Picker { .. })) {
            self.overlay = None;
            return;
        }
        if !self.editor.is_empty() && !self.is_asking() {
            let text = self.editor.take();
            self.history.add(&text);
            self.menu = None;
            return;
        }
        let is_second = self.last_ctrl_c.is_some_and(|at| self.now - at < DOUBLE_PRESS_TIMEOUT);
        self.last_ctrl_c = Some(self.now);
        match &self.busy {
            Some(busy) if !busy.is_stopping => self.interrupt(),
            None if self.working.is_some() => self.actions.push(Action::CancelJob),
            _ if is_second => self.actions.push(Action::Quit),
            _ => self.notice("press Ctrl-C again to quit"),
        }
    }

    fn escape(&mut self, key: Key) {
        if self.menu.take().is_some() {
            return;
        }
        if self.editor.wants_escape() && !self.editor.is_empty() {
            self.editor.key(key);
            return;
        }
        if self.busy.is_some() {
            return self.interrupt();
        }
        if self.working.is_some() {
            return self.actions.push(Action::CancelJob);
        }
        if self.editor.key(key) {
            return;
        }
        if self.last_escape.take().is_some_and(|at| self.now - at < DOUBLE_PRESS_TIMEOUT) {
            return self.actions.push(Action::Command("rewind", String::new()));
        }
        self.last_escape = Some(self.now);
        self.notice("press Esc again to edit an earlier prompt");
    }

    /// Interrupts the turn. What waits for an answer is denied by that.
    fn interrupt(&mut self) {
        let Some(busy) = &mut self.busy else { return };
        busy.is_stopping = true;
        self.overlay = None;
        self.words = None;
        self.waiting.clear();
        self.actions.push(Action::Interrupt);
    }

    fn queue_typed(&mut self) {
        let text = self.editor.take();
        if !text.trim().is_empty() && self.queue.len() < MAX_QUEUED {
            self.history.add(&text);
            self.queue.push_back(text);
        }
    }

    fn chosen(&mut self, purpose: Purpose, item: Item) {
        match purpose {
            Purpose::History => self.editor.set(&item.value),
            purpose => self.actions.push(Action::Chosen(purpose, item)),
        }
    }

    /// The user has closed the editor with this text.
    pub(crate) fn edited(&mut self, what: Edited, text: &str) {
        let text = text.trim_end_matches('\n');
        match what {
            Edited::Prompt => self.editor.set(text),
            Edited::Call => self.call_edited(text),
            Edited::Comments => self.commented(text),
        }
    }
}

#[cfg(test)]
mod tests;
