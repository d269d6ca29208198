//! Bytes of a terminal as keys: a pure parser of what terminals send for keys, pastes and focus.
//!
//! It understands the sequences of xterm and its relatives, `modifyOtherKeys`, and the kitty keyboard protocol. What it does not know is
//! dropped as a whole, so that no part of an unknown sequence becomes text.

/// Maximum size of an escape sequence; longer ones are not keys.
const MAX_SEQUENCE: usize = 64;
/// Maximum size of a paste that is kept; the rest is dropped.
const MAX_PASTE: usize = 16 * 1024 * 1024;

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What the user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Pressed a key.
    Key(Key),
    /// Pasted a text.
    Paste(String),
    /// The window got or lost the focus.
    Focus(bool),
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

/// A key without modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Function(u8),
}

impl Key {
    pub(crate) const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    pub(crate) const fn ctrl(letter: char) -> Self {
        Self { ctrl: true, ..Self::plain(Code::Char(letter)) }
    }

    pub(crate) const fn alt(code: Code) -> Self {
        Self { alt: true, ..Self::plain(code) }
    }

    /// Returns the character that this key types, if it types one.
    pub(crate) fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(character) if !self.ctrl && !self.alt => Some(character),
            _ => None,
        }
    }
}

/// The parser, with the bytes of an incomplete sequence.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    bytes: Vec<u8>,
    /// The text of a paste that has begun.
    paste: Option<Vec<u8>>,
}

/// What the first bytes are.
enum Parsed {
    /// An input of this many bytes; `None` is to be ignored.
    Input(usize, Option<Input>),
    /// More bytes are needed.
    Incomplete,
}

impl Parser {
    /// Takes bytes, and returns the inputs that are complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.bytes.extend_from_slice(bytes);
        self.parse(false)
    }

    /// Returns whether bytes wait for the rest of their sequence. Escape alone is the beginning of one.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.bytes.is_empty() && self.paste.is_none()
    }

    /// No more bytes came for a while: what waits is complete.
    pub(crate) fn flush(&mut self) -> Vec<Input> {
        self.parse(true)
    }

    fn parse(&mut self, is_all: bool) -> Vec<Input> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            if self.paste.is_some() {
                let Some((used, text)) = self.pasted(at) else {
                    at = self.bytes.len() - self.kept_for_end(at);
                    break;
                };
                out.push(Input::Paste(text));
                at = used;
                continue;
            }
            match parse_one(&self.bytes[at..], is_all) {
                Parsed::Incomplete => break,
                Parsed::Input(used, input) => {
                    if self.bytes[at..].starts_with(PASTE_START) {
                        self.paste = Some(Vec::new());
                    }
                    out.extend(input);
                    at += used;
                }
            }
        }
        self.bytes.drain(..at);
        out
    }

    /// Adds bytes to the paste; returns it with where it ends, if its end is there.
    fn pasted(&mut self, at: usize) -> Option<(usize, String)> {
        let rest = &self.bytes[at..];
        let end = find(rest, PASTE_END);
        let is_complete = end.is_some();
        let until = end.unwrap_or(rest.len() - self.kept_for_end(at));
        let paste = self.paste.get_or_insert_default();
        let room = MAX_PASTE.saturating_sub(paste.len());
        paste.extend_from_slice(&rest[..until.min(room)]);
        if !is_complete {
            return None;
        }
        let text = String::from_utf8_lossy(&self.paste.take().unwrap_or_default()).into_owned();
        Some((at + until + PASTE_END.len(), text.replace("\r\n", "\n").replace('\r', "\n")))
    }

    /// Returns how many of the last bytes may be the beginning of the end of a paste.
    fn kept_for_end(&self, at: usize) -> usize {
        let rest = &self.bytes[at..];
        let longest = rest.len().min(PASTE_END.len() - 1);
        (1..=longest).rev().find(|count| PASTE_END.starts_with(&rest[rest.len() - count..])).unwrap_or(0)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == first) {
        at += next;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn parse_one(bytes: &[u8], is_all: bool) -> Parsed {
    let one = |key: Key| Parsed::Input(1, Some(Input::Key(key)));
    match bytes[0] {
        0x1b => escape(bytes, is_all),
        b'\r' => one(Key::plain(Code::Enter)),
        // what Ctrl-J sends: a new line in the prompt
        b'\n' => one(Key::ctrl('j')),
        b'\t' => one(Key::plain(Code::Tab)),
        0x7f => one(Key::plain(Code::Backspace)),
        0x08 => one(Key::ctrl('h')),
        0 => one(Key::ctrl(' ')),
        byte @ 1..=0x1a => one(Key::ctrl(char::from(byte - 1 + b'a'))),
        byte @ 0x1c..=0x1f => one(Key::ctrl(char::from(byte + 0x40))),
        _ => character(bytes, is_all),
    }
}

fn character(bytes: &[u8], is_all: bool) -> Parsed {
    let length = match bytes[0] {
        byte if byte < 0x80 => 1,
        byte if byte >> 5 == 0b110 => 2,
        byte if byte >> 4 == 0b1110 => 3,
        byte if byte >> 3 == 0b1_1110 => 4,
        _ => return Parsed::Input(1, None),
    };
    let Some(encoded) = bytes.get(..length) else {
        return if is_all { Parsed::Input(bytes.len(), None) } else { Parsed::Incomplete };
    };
    match std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next()) {
        // the control characters of Latin-1
        Some(character) if character.is_control() => Parsed::Input(length, None),
        Some(character) => Parsed::Input(length, Some(Input::Key(Key::plain(Code::Char(character))))),
        None => Parsed::Input(1, None),
    }
}

fn escape(bytes: &[u8], is_all: bool) -> Parsed {
    let alone = || Parsed::Input(1, Some(Input::Key(Key::plain(Code::Escape))));
    match bytes.get(1) {
        None if is_all => alone(),
        None => Parsed::Incomplete,
        Some(b'[') => sequence(bytes, is_all),
        Some(b'O') => match bytes.get(2) {
            Some(byte) => match application_key(*byte) {
                Some(code) => Parsed::Input(3, Some(Input::Key(Key::plain(code)))),
                None => Parsed::Input(3, None),
            },
            None if is_all => Parsed::Input(2, Some(Input::Key(Key::alt(Code::Char('O'))))),
            None => Parsed::Incomplete,
        },
        // answers of the terminal: strings up to their end
        Some(b']' | b'P' | b'_' | b'^') => string(bytes, is_all),
        Some(0x1b) => alone(),
        Some(_) => match parse_one(&bytes[1..], is_all) {
            Parsed::Input(used, Some(Input::Key(key))) => {
                Parsed::Input(used + 1, Some(Input::Key(Key { alt: true, ..key })))
            }
            Parsed::Input(used, other) => Parsed::Input(used + 1, other),
            Parsed::Incomplete => Parsed::Incomplete,
        },
    }
}

fn string(bytes: &[u8], is_all: bool) -> Parsed {
    let end = bytes.iter().position(|byte| *byte == 0x07).map(|at| at + 1);
    let end = end.or_else(|| find(&bytes[2..], b"\x1b\\").map(|at| at + 4));
    match end {
        Some(end) => Parsed::Input(end, None),
        None if is_all || bytes.len() > 4096 => Parsed::Input(bytes.len(), None),
        None => Parsed::Incomplete,
    }
}

fn application_key(byte: u8) -> Option<Code> {
    Some(match byte {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::Function(byte - b'P' + 1),
        _ => return None,
    })
}

/// Returns a sequence that begins with `ESC [`.
fn sequence(bytes: &[u8], is_all: bool) -> Parsed {
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 2);
    let Some(end) = end else {
        if bytes.len() == 2 && is_all {
            return Parsed::Input(2, Some(Input::Key(Key::alt(Code::Char('[')))));
        }
        let is_over = is_all || bytes.len() > MAX_SEQUENCE;
        return if is_over { Parsed::Input(bytes.len(), None) } else { Parsed::Incomplete };
    };
    let parameters = std::str::from_utf8(&bytes[2..end]).unwrap_or("?");
    let used = end + 1;
    match bytes[end] {
        b'I' if parameters.is_empty() => return Parsed::Input(used, Some(Input::Focus(true))),
        b'O' if parameters.is_empty() => return Parsed::Input(used, Some(Input::Focus(false))),
        _ => {}
    }
    // answers of the terminal, and mice
    if parameters.starts_with(['?', '<', '>', '=']) {
        return Parsed::Input(used, None);
    }
    let numbers: Vec<u32> = parameters
        .split(';')
        .map(|part| part.split(':').next().and_then(|it| it.parse().ok()).unwrap_or(1))
        .collect();
    // the kitty protocol reports releases after the modifiers; only presses count
    if parameters.split(';').nth(1).is_some_and(|part| part.ends_with(":3")) {
        return Parsed::Input(used, None);
    }
    let number = |index: usize| numbers.get(index).copied().unwrap_or(1);
    let (code, modifiers) = match bytes[end] {
        b'~' if number(0) == 27 && numbers.len() == 3 => (from_number(number(2)), number(1)),
        b'~' => (from_tilde(number(0)), number(1)),
        b'u' => (from_number(number(0)), number(1)),
        b'Z' => (Some(Code::Tab), 2),
        byte => (application_key(byte), number(1)),
    };
    let key = code.map(|code| with_modifiers(code, modifiers));
    Parsed::Input(used, key.map(Input::Key))
}

fn with_modifiers(code: Code, modifiers: u32) -> Key {
    let bits = modifiers.saturating_sub(1);
    let (shift, alt, ctrl) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
    match code {
        Code::Char(character) if shift && !ctrl => {
            let upper = character.to_uppercase().next().unwrap_or(character);
            Key { code: Code::Char(upper), ctrl, alt, shift: false }
        }
        code => Key { code, ctrl, alt, shift },
    }
}

fn from_tilde(number: u32) -> Option<Code> {
    Some(match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::Function(u8::try_from(number - 10).ok()?),
        17..=21 => Code::Function(u8::try_from(number - 11).ok()?),
        23 | 24 => Code::Function(u8::try_from(number - 12).ok()?),
        _ => return None,
    })
}

/// Returns a key by the number of its character.
fn from_number(number: u32) -> Option<Code> {
    Some(match number {
        9 => Code::Tab,
        13 | 57414 => Code::Enter,
        27 => Code::Escape,
        8 | 127 => Code::Backspace,
        _ => Code::Char(char::from_u32(number).filter(|it| !it.is_control())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Input> {
        let mut parser = Parser::default();
        let mut inputs = parser.feed(bytes);
        inputs.extend(parser.flush());
        inputs
    }

    fn key(bytes: &[u8]) -> Key {
        match keys(bytes).as_slice() {
            [Input::Key(key)] => *key,
            other => panic!("{:?} is {other:?}", String::from_utf8_lossy(bytes)),
        }
    }

    #[test]
    fn keys_of_all_usual_terminals_are_known() {
        let plain = Key::plain;
        for (bytes, expected) in [
            (&b"a"[..], plain(Code::Char('a'))),
            ("日".as_bytes(), plain(Code::Char('日'))),
            (b"\r", plain(Code::Enter)),
            (b"\x7f", plain(Code::Backspace)),
            (b"\x03", Key::ctrl('c')),
            (b"\x1b", plain(Code::Escape)),
            (b"\x1b[A", plain(Code::Up)),
            (b"\x1bOA", plain(Code::Up)),
            (b"\x1b[H", plain(Code::Home)),
            (b"\x1b[4~", plain(Code::End)),
            (b"\x1b[3~", plain(Code::Delete)),
            (b"\x1b[1;5C", Key { ctrl: true, ..plain(Code::Right) }),
            (b"\x1b[Z", Key { shift: true, ..plain(Code::Tab) }),
            (b"\x1bb", Key::alt(Code::Char('b'))),
            (b"\x1b\r", Key::alt(Code::Enter)),
            (b"\x1b\x7f", Key::alt(Code::Backspace)),
            (b"\x1b[13;2u", Key { shift: true, ..plain(Code::Enter) }),
            (b"\x1b[27;2;13~", Key { shift: true, ..plain(Code::Enter) }),
            (b"\x1b[99;5u", Key::ctrl('c')),
            (b"\x1b[97;2u", plain(Code::Char('A'))),
            (b"\x1b[15~", plain(Code::Function(5))),
            (b"\x1b[24~", plain(Code::Function(12))),
            (b"\x1bOP", plain(Code::Function(1))),
        ] {
            assert_eq!(key(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn answers_of_the_terminal_and_unknown_sequences_are_no_text() {
        for bytes in [
            &b"\x1b[?62;1c"[..],
            b"\x1b]11;rgb:0000/0000/0000\x1b\\",
            b"\x1b]11;rgb:0000/0000/0000\x07",
            b"\x1bP>|term\x1b\\",
            b"\x1b[<0;1;1M",
            b"\x1b[97;1:3u",
            b"\x1b[99~",
            b"\xff",
            b"\xc2\x9b",
        ] {
            assert_eq!(keys(bytes), [], "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(keys(b"\x1b[I\x1b[O"), [Input::Focus(true), Input::Focus(false)]);
    }

    #[test]
    fn bytes_may_come_one_by_one() {
        let all = "a\u{1b}[1;5Cü\u{1b}[200~x\r\ny\u{1b}[31mz\u{1b}[201~b".as_bytes();
        let mut parser = Parser::default();
        let mut inputs = Vec::new();
        for byte in all {
            inputs.extend(parser.feed(&[*byte]));
        }
        let typed = |character| Input::Key(Key::plain(Code::Char(character)));
        let expected = [
            typed('a'),
            Input::Key(Key { ctrl: true, ..Key::plain(Code::Right) }),
            typed('ü'),
            Input::Paste("x\ny\u{1b}[31mz".to_owned()),
            typed('b'),
        ];
        assert_eq!(inputs, expected);
        assert_eq!(keys(all), expected);
    }

    #[test]
    fn escape_is_a_key_only_after_a_pause_or_before_another_escape() {
        let mut parser = Parser::default();
        assert_eq!(parser.feed(b"\x1b"), []);
        assert!(parser.is_waiting());
        let escape = Input::Key(Key::plain(Code::Escape));
        assert_eq!(parser.feed(b"\x1b"), std::slice::from_ref(&escape));
        assert_eq!(parser.flush(), [escape]);
        assert!(!parser.is_waiting());
    }

    #[test]
    fn large_paste_is_one_input_whatever_its_pieces() {
        let text = "line of text\n".repeat(80_000);
        let bytes = [PASTE_START, text.as_bytes(), PASTE_END].concat();
        let mut parser = Parser::default();
        let inputs: Vec<_> = bytes.chunks(1000).flat_map(|chunk| parser.feed(chunk)).collect();
        assert_eq!(inputs, [Input::Paste(text)]);
        assert!(!parser.is_waiting());
    }
}
