//! A question of the agent: options by number or arrows, several of them, or an answer in own words. Pure.

use musher::wire::Question;

use super::keys::{Code, Key};
use crate::view::text::{Face, Line};

/// The questions of one request, and the answers so far.
#[derive(Debug)]
pub(crate) struct Questions {
    all: Vec<Question>,
    answers: Vec<String>,
    selected: usize,
    chosen: Vec<usize>,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeyOutcome {
    Nothing,
    /// All questions have their answers.
    Done(Vec<String>),
    /// The next question is to be shown.
    Next,
    /// The answer is to be typed in own words.
    Words,
}

impl Questions {
    pub(crate) fn new(questions: Vec<Question>) -> Self {
        Self { all: questions, answers: Vec::new(), selected: 0, chosen: Vec::new() }
    }

    /// Returns whether nothing was answered or chosen yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.answers.is_empty() && self.chosen.is_empty()
    }

    fn current(&self) -> Option<&Question> {
        self.all.get(self.answers.len())
    }

    fn options(&self) -> &[String] {
        self.current().and_then(|it| it.options.as_deref()).unwrap_or_default()
    }

    fn is_multiple(&self) -> bool {
        self.current().is_some_and(|it| it.multi_select == Some(true))
    }

    /// Returns whether there is nothing to choose, so that the answer is typed.
    pub(crate) fn wants_words(&self) -> bool {
        self.options().is_empty()
    }

    /// Returns the text of the current question.
    pub(crate) fn text(&self) -> String {
        let of = if self.all.len() > 1 {
            format!(" ({} of {})", self.answers.len() + 1, self.all.len())
        } else {
            String::new()
        };
        self.current().map(|it| format!("{}{of}", it.question)).unwrap_or_default()
    }

    pub(crate) fn key(&mut self, key: Key) -> KeyOutcome {
        // one more for an answer in own words
        let last = self.options().len();
        match (key.code, key.ctrl) {
            (Code::Up, _) | (Code::Char('p'), true) => {
                self.selected = self.selected.checked_sub(1).unwrap_or(last);
            }
            (Code::Down | Code::Tab, _) | (Code::Char('n'), true) => {
                self.selected = if self.selected >= last { 0 } else { self.selected + 1 };
            }
            (Code::Char(' '), false) if self.is_multiple() => self.toggle(self.selected),
            (Code::Enter, _) if self.selected == last => return KeyOutcome::Words,
            (Code::Enter, _) => {
                if self.chosen.is_empty() {
                    self.chosen.push(self.selected);
                }
                let options = self.options();
                let chosen =
                    (0..options.len()).filter(|at| self.chosen.contains(at)).map(|at| options[at].clone());
                let answer = chosen.collect::<Vec<_>>().join(", ");
                return self.answer(answer);
            }
            _ => match key.typed() {
                Some('o') => return KeyOutcome::Words,
                Some(digit @ '1'..='9') => {
                    let at = usize::from(digit as u8 - b'1');
                    if at < last && self.is_multiple() {
                        self.toggle(at);
                    } else if at < last {
                        let answer = self.options()[at].clone();
                        return self.answer(answer);
                    }
                }
                _ => {}
            },
        }
        KeyOutcome::Nothing
    }

    fn toggle(&mut self, at: usize) {
        if at >= self.options().len() {
            return;
        }
        match self.chosen.iter().position(|it| *it == at) {
            Some(place) => drop(self.chosen.remove(place)),
            None => self.chosen.push(at),
        }
    }

    /// Answers the current question.
    pub(crate) fn answer(&mut self, text: String) -> KeyOutcome {
        self.answers.push(text);
        (self.selected, self.chosen) = (0, Vec::new());
        if self.answers.len() < self.all.len() {
            return KeyOutcome::Next;
        }
        KeyOutcome::Done(std::mem::take(&mut self.answers))
    }

    /// Returns the lines of the options, and the row of the selected one.
    pub(crate) fn lines(&self, width: usize, is_armed: bool) -> (Vec<Line>, usize) {
        let mut out = Vec::new();
        let mut row = 0;
        let own = "Answer in your own words".to_owned();
        for (index, option) in self.options().iter().chain([&own]).enumerate() {
            let is_own = index == self.options().len();
            let is_selected = is_armed && index == self.selected;
            if is_selected {
                row = out.len();
            }
            let key = if is_own { "o".to_owned() } else { (index + 1).to_string() };
            let check = match (is_own, self.is_multiple(), self.chosen.contains(&index)) {
                (false, true, true) => "☑ ",
                (false, true, false) => "☐ ",
                _ => "",
            };
            let face = match (is_armed, is_selected) {
                (false, _) => Face::DIM,
                (true, true) => Face::STRONG,
                (true, false) => Face::PLAIN,
            };
            let mark = if is_selected { "› " } else { "  " };
            let key_face = if is_armed { Face::NOTABLE } else { Face::DIM };
            let line = Line::new(mark, Face::NOTABLE)
                .with(&format!("{key} "), key_face)
                .with(check, face)
                .with(option, face);
            out.extend(line.wrapped(width, 4));
        }
        if self.is_multiple() {
            out.push(Line::new("  Space marks several; Enter sends them", Face::DIM));
        }
        (out, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn questions(values: &[serde_json::Value]) -> Questions {
        Questions::new(values.iter().map(|it| serde_json::from_value(it.clone()).unwrap()).collect())
    }

    fn press(questions: &mut Questions, keys: &[Code]) -> KeyOutcome {
        keys.iter().map(|code| questions.key(Key::plain(*code))).last().unwrap()
    }

    fn answers(of: &[&str]) -> KeyOutcome {
        KeyOutcome::Done(of.iter().map(|&it| it.to_owned()).collect())
    }

    #[test]
    fn one_option_is_chosen_by_number_or_arrows() {
        let one = json!({"index": 1, "question": "Which?", "options": ["red", "blue"]});
        assert_eq!(press(&mut questions(std::slice::from_ref(&one)), &[Code::Char('2')]), answers(&["blue"]));
        assert_eq!(
            press(&mut questions(std::slice::from_ref(&one)), &[Code::Down, Code::Enter]),
            answers(&["blue"])
        );
        assert_eq!(
            press(&mut questions(std::slice::from_ref(&one)), &[Code::Up, Code::Enter]),
            KeyOutcome::Words
        );
        assert_eq!(
            press(&mut questions(std::slice::from_ref(&one)), &[Code::Char('3')]),
            KeyOutcome::Nothing
        );
    }

    #[test]
    fn several_options_are_marked_and_sent_in_their_order() {
        let many = json!({"index": 1, "question": "Which?", "options": ["a", "b", "c"], "multiSelect": true});
        let keys = [Code::Char('3'), Code::Char('1'), Code::Char('2'), Code::Char('2'), Code::Enter];
        assert_eq!(press(&mut questions(std::slice::from_ref(&many)), &keys), answers(&["a, c"]));
        assert_eq!(
            press(
                &mut questions(std::slice::from_ref(&many)),
                &[Code::Char(' '), Code::Down, Code::Char(' '), Code::Enter]
            ),
            answers(&["a, b"])
        );
    }

    #[test]
    fn questions_are_answered_one_after_the_other() {
        let one = json!({"index": 1, "question": "Which?", "options": ["red"]});
        let two = json!({"index": 2, "question": "Why?"});
        let mut both = questions(&[one, two]);
        assert_eq!(both.text(), "Which? (1 of 2)");
        assert_eq!(press(&mut both, &[Code::Enter]), KeyOutcome::Next);
        assert!(both.wants_words());
        assert_eq!(both.answer("because".to_owned()), answers(&["red", "because"]));
    }
}
