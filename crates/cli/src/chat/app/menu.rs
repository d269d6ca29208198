//! Completion while typing: commands after `/`, files after `@`.

use super::{Action, App};
use crate::chat::attachments::mention;
use crate::chat::fuzzy;
use crate::chat::keys::{Code, Key};
use crate::chat::slash;
use crate::view::text::{Face, Line};

/// Rows of the menu.
const MAX_ROWS: usize = 6;
/// Maximum number of items that are ranked.
const MAX_ITEMS: usize = 200;

/// The open completion.
#[derive(Debug)]
pub(super) struct Menu {
    /// The part of the text that is replaced.
    range: std::ops::Range<usize>,
    items: Vec<(String, String)>,
    selected: usize,
}

impl Menu {
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let first = (self.selected + 1).saturating_sub(MAX_ROWS);
        let shown = self.items.iter().enumerate().skip(first).take(MAX_ROWS);
        let line = |(index, (text, detail)): (usize, &(String, String))| {
            let is_selected = index == self.selected;
            let face = if is_selected { Face::STRONG } else { Face::PLAIN };
            let mark = if is_selected { "› " } else { "  " };
            Line::new(mark, Face::NOTABLE).with(text, face).with(&format!("  {detail}"), Face::DIM).cut(width)
        };
        shown.map(line).collect()
    }
}

impl App {
    /// Handles a key of the menu; returns whether it was one.
    pub(super) fn menu_key(&mut self, key: Key) -> bool {
        let Some(menu) = &mut self.menu else { return false };
        let last = menu.items.len().saturating_sub(1);
        match (key.code, key.ctrl) {
            (Code::Up, _) | (Code::Char('p'), true) => {
                menu.selected = menu.selected.checked_sub(1).unwrap_or(last);
            }
            (Code::Down, _) | (Code::Char('n'), true) => {
                menu.selected = if menu.selected == last { 0 } else { menu.selected + 1 };
            }
            (Code::Tab, _) => self.complete(),
            (Code::Enter, _) if !key.alt && !key.shift => {
                let is_command = menu.range.start == 0 && self.editor.text().starts_with('/');
                let is_whole =
                    menu.items.get(menu.selected).is_some_and(|(text, _)| text == self.editor.text());
                if is_command && is_whole {
                    self.menu = None;
                    return false;
                }
                self.complete();
                if is_command {
                    self.submit();
                }
            }
            _ => return false,
        }
        true
    }

    fn complete(&mut self) {
        let Some(menu) = self.menu.take() else { return };
        let Some((text, _)) = menu.items.get(menu.selected) else { return };
        let text = if text.starts_with('/') { text.clone() } else { format!("{text} ") };
        self.editor.replace(menu.range, &text);
    }

    /// Opens, updates or closes the menu after the text has changed.
    pub(super) fn update_menu(&mut self) {
        self.menu = None;
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        if let Some(typed) =
            text[..cursor].strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace))
        {
            let own = slash::COMMANDS.iter().map(|it| (format!("/{}", it.name), it.about.to_owned()));
            let theirs = self.commands.iter().map(|(name, about)| (format!("/{name}"), about.clone()));
            let all: Vec<_> = own.chain(theirs).collect();
            let order = fuzzy::ranked(typed, all.iter().map(|(name, _)| name.clone()));
            let mut items: Vec<_> = order.into_iter().filter_map(|at| all.get(at).cloned()).collect();
            // a whole name is what is meant, then the beginning of one
            items.sort_by_key(|(name, _)| (name[1..] != *typed, !name[1..].starts_with(typed)));
            return self.open_menu(0..cursor, items);
        }
        let before = &text[..cursor];
        let Some(at) = before.rfind('@') else { return };
        let is_start = before[..at].chars().next_back().is_none_or(char::is_whitespace);
        let typed = &before[at + 1..];
        if !is_start || typed.contains(char::is_whitespace) {
            return;
        }
        let Some(files) = &self.files else {
            if !std::mem::replace(&mut self.reads_files, true) {
                self.actions.push(Action::ListFiles);
            }
            return;
        };
        let order = fuzzy::ranked(typed, files.iter().cloned());
        let items = order
            .into_iter()
            .take(MAX_ITEMS)
            .filter_map(|index| Some((mention(files.get(index)?), String::new())));
        let items = items.collect();
        self.open_menu(at..cursor, items);
    }

    fn open_menu(&mut self, range: std::ops::Range<usize>, items: Vec<(String, String)>) {
        if !items.is_empty() {
            self.menu = Some(Menu { range, items, selected: 0 });
        }
    }
}
