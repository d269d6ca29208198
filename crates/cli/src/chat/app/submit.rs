//! What a line that was entered means: a command, a shell command, or a prompt.

use super::{Action, App, MAX_QUEUED, Purpose};
use crate::chat::picker::Item;
use crate::chat::slash;
use crate::style::Theme;
use crate::view::text::{Face, Line};

impl App {
    pub(super) fn submit(&mut self) {
        let text = self.editor.expanded();
        let line = text.trim();
        if line.is_empty() {
            return;
        }
        if let Some(command) = line.strip_prefix('/').and_then(own_command) {
            let (name, argument) = command;
            self.history.add(line);
            self.editor.take();
            self.menu = None;
            return self.command(name, &argument);
        }
        if let Some(command) = line.strip_prefix('!') {
            let (command, is_private) = match command.strip_prefix('!') {
                Some(command) => (command, true),
                None => (command, false),
            };
            let command = command.trim().to_owned();
            self.history.add(line);
            self.editor.take();
            if !command.is_empty() {
                self.actions.push(Action::Run(command, !is_private));
            }
            return;
        }
        if self.busy.is_some() {
            if self.queue.len() >= MAX_QUEUED {
                return self.notice("too many prompts wait");
            }
            return self.queue_typed();
        }
        let text = self.editor.take();
        self.history.add(&text);
        self.menu = None;
        self.actions.push(Action::Start(text));
    }

    /// Sends a prompt, after those that wait.
    pub(crate) fn send(&mut self, text: String) {
        if self.busy.is_some() {
            self.queue.push_back(text);
        } else {
            self.actions.push(Action::Start(text));
        }
    }

    fn command(&mut self, name: &'static str, argument: &str) {
        match name {
            "help" => {
                let commands = slash::COMMANDS.iter().flat_map(|it| {
                    let line = Line::new(&format!("  {:<10} ", format!("/{}", it.name)), Face::STRONG)
                        .with(it.about, Face::PLAIN);
                    line.wrapped(self.width, 13)
                });
                let mut lines = vec![Line::new("Commands", Face::STRONG)];
                lines.extend(commands);
                lines.push(Line::default());
                lines.extend(self.keymap.help(self.width));
                self.transcript.block(lines);
                self.transcript.gap();
            }
            "quit" | "exit" => self.actions.push(Action::Quit),
            "vim" => {
                let is_vi = self.editor.mode().is_none();
                self.editor.set_vi(is_vi);
                self.notice(if is_vi { "keys of vi" } else { "keys of Emacs" });
            }
            "theme" if argument.is_empty() => {
                let items =
                    Theme::ALL.iter().map(|(_, name, about)| Item::new(*name, *name, *about)).collect();
                self.pick(Purpose::Theme, "Theme:", items);
            }
            "effort" if argument.is_empty() => {
                let levels = ["off", "low", "medium", "high", "xhigh", "max"];
                let items = levels.into_iter().map(|it| Item::new(it, it, "")).collect();
                self.pick(Purpose::Effort, "Effort:", items);
            }
            "mode" if argument.is_empty() => {
                let items = vec![
                    Item::new(
                        "auto",
                        "auto",
                        "the agent works, and asks for what its autonomy does not cover",
                    ),
                    Item::new("spec", "plan", "the agent plans first, and changes nothing before you agree"),
                ];
                self.pick(Purpose::Mode, "Mode:", items);
            }
            "autonomy" if argument.is_empty() => {
                let items = vec![
                    Item::new(
                        "off",
                        "off",
                        "asks before every change and every command that is not known to be harmless",
                    ),
                    Item::new("low", "low", "edits files without asking"),
                    Item::new("medium", "medium", "also commands that can be undone"),
                    Item::new("high", "high", "everything that is not blocked"),
                ];
                self.pick(Purpose::Autonomy, "Autonomy:", items);
            }
            name if self.busy.is_some() && slash::needs_idle(name) => {
                self.notice(format!("/{name} is possible when the turn has ended; Esc interrupts it"));
            }
            name => self.actions.push(Action::Command(name, argument.to_owned())),
        }
    }
}

/// Returns the command of this program in a line; `None` if it is one of the agent, or a path.
fn own_command(line: &str) -> Option<(&'static str, String)> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = slash::COMMANDS.iter().find(|it| it.name == name)?;
    Some((command.name, argument.trim().to_owned()))
}
