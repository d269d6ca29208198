//! A list to choose from, with a filter that is typed. Pure.

use super::fuzzy;
use super::keys::{Code, Key};
use crate::view::text::{Face, Line};

/// Rows of the list.
const MAX_ROWS: usize = 10;

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What the choice means, such as an id.
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) detail: String,
}

impl Item {
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), detail: detail.into() }
    }
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    Nothing,
    Cancelled,
    Item(Item),
}

/// The list.
#[derive(Debug)]
pub(crate) struct Picker {
    title: String,
    items: Vec<Item>,
    filter: String,
    /// Indices of the items that fit the filter, best first.
    shown: Vec<usize>,
    selected: usize,
}

impl Picker {
    pub(crate) fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        let shown = (0..items.len()).collect();
        Self { title: title.into(), items, filter: String::new(), shown, selected: 0 }
    }

    pub(crate) fn key(&mut self, key: Key) -> Picked {
        let last = self.shown.len().saturating_sub(1);
        match (key.code, key.ctrl) {
            (Code::Escape, _) | (Code::Char('c' | 'g'), true) => return Picked::Cancelled,
            (Code::Enter | Code::Tab, _) => {
                let item = self.shown.get(self.selected).and_then(|at| self.items.get(*at));
                return item.map_or(Picked::Nothing, |item| Picked::Item(item.clone()));
            }
            (Code::Up, _) | (Code::Char('p'), true) => self.selected = self.selected.saturating_sub(1),
            (Code::Down, _) | (Code::Char('n'), true) => self.selected = (self.selected + 1).min(last),
            (Code::PageUp, _) => self.selected = self.selected.saturating_sub(MAX_ROWS),
            (Code::PageDown, _) => self.selected = (self.selected + MAX_ROWS).min(last),
            (Code::Home, _) => self.selected = 0,
            (Code::End, _) => self.selected = last,
            (Code::Backspace, _) | (Code::Char('h'), true) => {
                self.filter.pop();
                self.update();
            }
            (Code::Char('u'), true) => {
                self.filter.clear();
                self.update();
            }
            _ => {
                if let Some(typed) = key.typed() {
                    self.filter.push(typed);
                    self.update();
                }
            }
        }
        Picked::Nothing
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.filter.extend(text.chars().filter(|it| !it.is_control()));
        self.update();
    }

    fn update(&mut self) {
        let texts = self.items.iter().map(|item| format!("{} {}", item.label, item.detail));
        self.shown = fuzzy::ranked(&self.filter, texts);
        self.selected = 0;
    }

    /// Returns the lines of the list; the cursor stands after the filter, in the first one.
    pub(crate) fn lines(&self, width: usize, rows: usize) -> (Vec<Line>, usize) {
        let head = Line::new(&format!("{} ", self.title), Face::STRONG)
            .with(&self.filter, Face::PLAIN)
            .cut(width - 1);
        let column = head.width();
        let mut out = vec![head];
        let room = MAX_ROWS.min(rows.saturating_sub(2)).max(1);
        let first = (self.selected + 1).saturating_sub(room);
        for (row, at) in self.shown.iter().enumerate().skip(first).take(room) {
            let Some(item) = self.items.get(*at) else { continue };
            let is_selected = row == self.selected;
            let mark = if is_selected { "› " } else { "  " };
            let face = if is_selected { Face::STRONG } else { Face::PLAIN };
            let line = Line::new(mark, Face::NOTABLE)
                .with(&item.label, face)
                .with(&format!("  {}", item.detail), Face::DIM);
            out.push(line.cut(width));
        }
        if self.shown.is_empty() {
            out.push(Line::new("  nothing fits", Face::DIM));
        } else if self.shown.len() > room {
            out.push(Line::new(&format!("  {} of {}", self.selected + 1, self.shown.len()), Face::DIM));
        }
        (out, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(count: usize) -> Picker {
        let items = (0..count).map(|at| Item::new(at.to_string(), format!("model-{at}"), "a detail"));
        Picker::new("Model:", items.collect())
    }

    fn press(picker: &mut Picker, codes: &[Code]) -> Picked {
        codes.iter().map(|code| picker.key(Key::plain(*code))).last().unwrap()
    }

    fn picked(value: &str) -> impl Fn(Picked) -> bool {
        move |picked| matches!(picked, Picked::Item(item) if item.value == value)
    }

    fn texts(picker: &Picker, width: usize, rows: usize) -> Vec<String> {
        picker.lines(width, rows).0.iter().map(Line::text).collect()
    }

    #[test]
    fn every_key_moves_as_far_as_it_should_and_stays_in_the_list() {
        use Code::{Down, End, Enter, Home, PageDown, PageUp, Tab, Up};
        for (codes, value) in [
            (&[Enter][..], "0"),
            (&[Tab], "0"),
            (&[Up, Enter], "0"),
            (&[Down, Down, Up, Enter], "1"),
            (&[PageDown, Enter], "10"),
            (&[PageDown, PageDown, PageDown, Enter], "24"),
            (&[PageDown, PageUp, Enter], "0"),
            (&[End, Enter], "24"),
            (&[End, Down, Enter], "24"),
            (&[End, Home, Enter], "0"),
        ] {
            assert!(picked(value)(press(&mut picker(25), codes)), "{codes:?}");
        }
        let mut one = picker(25);
        one.key(Key::ctrl('n'));
        one.key(Key::ctrl('n'));
        one.key(Key::ctrl('p'));
        assert!(picked("1")(press(&mut one, &[Enter])));
    }

    #[test]
    fn filter_is_typed_pasted_and_taken_back() {
        let mut one = picker(25);
        press(&mut one, &[Code::Char('2'), Code::Char('4')]);
        assert!(picked("24")(press(&mut one, &[Code::Enter])));
        press(&mut one, &[Code::Backspace]);
        assert!(texts(&one, 40, 20).len() > 2);
        one.key(Key::ctrl('u'));
        one.paste("mod\u{1b}el-7");
        assert!(picked("7")(press(&mut one, &[Code::Enter])));
        press(&mut one, &[Code::Char('x')]);
        assert_eq!(press(&mut one, &[Code::Enter]), Picked::Nothing);
        assert!(texts(&one, 40, 20).contains(&"  nothing fits".to_owned()));
    }

    #[test]
    fn escape_and_its_like_cancel() {
        for key in [Key::plain(Code::Escape), Key::ctrl('c'), Key::ctrl('g')] {
            assert_eq!(picker(3).key(key), Picked::Cancelled);
        }
        assert_eq!(Picker::new("None:", Vec::new()).key(Key::plain(Code::Enter)), Picked::Nothing);
    }

    #[test]
    fn lines_fit_any_screen_and_show_the_marked_item() {
        let mut one = picker(25);
        one.key(Key::plain(Code::End));
        for (width, rows) in [(10, 4), (20, 8), (80, 24)] {
            let lines = texts(&one, width, rows);
            assert!(lines.len() <= rows.max(3), "{width}x{rows}: {lines:?}");
            assert!(lines.iter().all(|line| crate::style::columns(line) <= width), "{lines:?}");
            assert!(lines.iter().any(|line| line.starts_with("› ")), "{lines:?}");
        }
        assert!(texts(&one, 80, 24).contains(&"  25 of 25".to_owned()));
    }
}
