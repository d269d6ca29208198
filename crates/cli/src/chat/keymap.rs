//! The keys of the chat: defaults, and changes in `chat.json` of the home. The help is made from this table. Pure.

use std::collections::HashMap;

use serde_json::Value;

use super::keys::{Code, Key};
use crate::view::text::{Face, Line};

/// What a key does, apart from editing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Does {
    NewLine,
    Editor,
    SearchHistory,
    Thinking,
    NextMode,
    SendNow,
    Redraw,
    Suspend,
    Help,
}

/// Names in the settings, default keys, and what the help says.
const TABLE: [(&str, Does, &[&str], &str); 9] = [
    ("new_line", Does::NewLine, &["alt+enter", "shift+enter", "ctrl+j"], "new line in the prompt"),
    ("editor", Does::Editor, &["ctrl+g"], "write the prompt in $EDITOR"),
    ("search_history", Does::SearchHistory, &["ctrl+r"], "search the prompts of all chats"),
    ("thinking", Does::Thinking, &["ctrl+o"], "show or fold thoughts"),
    ("next_mode", Does::NextMode, &["shift+tab"], "next mode: plan, then autonomy off to high"),
    ("send_now", Does::SendNow, &["alt+s"], "send what waits to the turn that runs, without an interruption"),
    ("redraw", Does::Redraw, &["ctrl+l"], "clear the screen"),
    ("suspend", Does::Suspend, &["ctrl+z"], "suspend"),
    ("help", Does::Help, &["f1"], "this list, also ? in an empty prompt"),
];

/// Keys that cannot be changed.
const FIXED: [(&str, &str); 8] = [
    ("enter", "send, or wait for the end of the turn"),
    ("esc", "interrupt; twice: edit an earlier prompt"),
    ("ctrl+c", "clear the prompt, then interrupt, then quit"),
    ("up, down", "earlier prompts; also prompts that wait"),
    ("tab", "complete /commands and @files"),
    ("!command", "run a command and tell the agent; !! keeps it private"),
    ("ctrl+a e k u w y", "edit as in Emacs; ctrl+_ undoes"),
    ("ctrl+d", "quit, in an empty prompt"),
];

/// The keys in effect.
#[derive(Debug)]
pub(crate) struct Keymap {
    keys: HashMap<Key, Does>,
    /// For the help: the name of the key, and what it does.
    shown: Vec<(String, &'static str)>,
    is_vi: bool,
}

impl Keymap {
    /// Reads the settings, and returns what is wrong with them.
    pub(crate) fn read(settings: &Value) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let changed = settings["keys"].as_object().cloned().unwrap_or_default();
        for name in changed.keys().filter(|name| TABLE.iter().all(|(known, ..)| known != name)) {
            let known: Vec<_> = TABLE.iter().map(|(name, ..)| *name).collect();
            problems.push(format!("unknown action `{name}` in `keys` (known: {})", known.join(", ")));
        }
        let mut keymap = Self { keys: HashMap::new(), shown: Vec::new(), is_vi: false };
        for (name, does, defaults, about) in TABLE {
            let wanted: Vec<String> = match changed.get(name) {
                None => defaults.iter().map(|&it| it.to_owned()).collect(),
                Some(Value::String(one)) => vec![one.clone()],
                Some(Value::Array(several)) => {
                    several.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
                }
                Some(_) => Vec::new(),
            };
            let mut names = Vec::new();
            for wanted in wanted {
                match parse(&wanted) {
                    Some(key) => {
                        keymap.keys.insert(key, does);
                        names.push(wanted);
                    }
                    None => problems.push(format!("unknown key `{wanted}` for `{name}`")),
                }
            }
            if !names.is_empty() {
                keymap.shown.push((names.join(", "), about));
            }
        }
        match settings["editing"].as_str() {
            None | Some("emacs") => {}
            Some("vi" | "vim") => keymap.is_vi = true,
            Some(other) => problems.push(format!("unknown value `{other}` of `editing` (known: emacs, vi)")),
        }
        (keymap, problems)
    }

    pub(crate) fn is_vi(&self) -> bool {
        self.is_vi
    }

    pub(crate) fn does(&self, key: Key) -> Option<Does> {
        self.keys.get(&key).copied()
    }

    /// Returns the keys, for the help.
    pub(crate) fn help(&self, width: usize) -> Vec<Line> {
        let fixed = FIXED.iter().map(|(key, about)| ((*key).to_owned(), *about));
        let mut lines = vec![Line::new("Keys", Face::STRONG)];
        for (key, about) in fixed.chain(self.shown.iter().cloned()) {
            let line = Line::new(&format!("  {key:<20} "), Face::NOTABLE).with(about, Face::PLAIN);
            lines.extend(line.wrapped(width, 4));
        }
        lines
    }
}

/// Reads a key such as `ctrl+x`, `alt+enter` or `f5`.
fn parse(text: &str) -> Option<Key> {
    let mut key = Key::plain(Code::Escape);
    let lower = text.trim().to_ascii_lowercase();
    let mut parts: Vec<&str> = lower.split('+').collect();
    let name = parts.pop()?;
    for part in parts {
        match part {
            "ctrl" => key.ctrl = true,
            "alt" | "meta" => key.alt = true,
            "shift" => key.shift = true,
            _ => return None,
        }
    }
    key.code = match name {
        "enter" | "return" => Code::Enter,
        "tab" => Code::Tab,
        "esc" | "escape" => Code::Escape,
        "backspace" => Code::Backspace,
        "delete" => Code::Delete,
        "insert" => Code::Insert,
        "up" => Code::Up,
        "down" => Code::Down,
        "left" => Code::Left,
        "right" => Code::Right,
        "home" => Code::Home,
        "end" => Code::End,
        "pageup" => Code::PageUp,
        "pagedown" => Code::PageDown,
        "space" => Code::Char(' '),
        name => {
            let number = name.strip_prefix('f').and_then(|number| number.parse().ok());
            if let Some(number @ 1..=12) = number {
                Code::Function(number)
            } else {
                let mut characters = name.chars();
                let only = characters.next().filter(|_| characters.next().is_none())?;
                Code::Char(only)
            }
        }
    };
    // a plain character is text
    let is_text = matches!(key.code, Code::Char(_)) && !key.ctrl && !key.alt;
    (!is_text).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_change_keys_and_mistakes_are_named() {
        let (keymap, problems) = Keymap::read(&json!({
            "editing": "vi",
            "keys": {"editor": "ctrl+x", "send_now": ["f5", "no+key"], "redrawn": "ctrl+y"},
        }));
        assert_eq!(keymap.does(Key::ctrl('x')), Some(Does::Editor));
        assert_eq!(keymap.does(Key::ctrl('g')), None);
        assert_eq!(keymap.does(Key::plain(Code::Function(5))), Some(Does::SendNow));
        assert!(keymap.is_vi());
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("`redrawn`") && problems[1].contains("`no+key`"), "{problems:?}");
    }

    #[test]
    fn every_action_has_a_key_and_stands_in_the_help() {
        let (keymap, problems) = Keymap::read(&Value::Null);
        assert_eq!(problems, Vec::<String>::new());
        let help: Vec<_> = keymap.help(100).iter().map(Line::text).collect();
        for (_, does, keys, about) in TABLE {
            assert_eq!(keymap.does(parse(keys[0]).unwrap()), Some(does));
            assert!(help.iter().any(|line| line.contains(keys[0]) && line.contains(about)), "{help:#?}");
        }
    }
}
