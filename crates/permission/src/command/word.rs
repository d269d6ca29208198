//! Parses shell words exactly as bash does, as far as they are literal. Other words are reported as unknown, never guessed.
//!
//! Substitutions and `$'…'` are unknown, and so are expansions, except that `~`, `~/…` and `$HOME` become the given home directory.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// Literal text, as the program receives it.
    Literal(String),
    /// File names: the text has `*`, `?` or `[` that the shell expands, the first of them after `prefix` bytes.
    Pattern { text: String, prefix: usize },
    /// Known only at run time.
    Unknown,
}

impl Word {
    /// Returns the text of a literal word.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Pattern { .. } | Self::Unknown => None,
        }
    }
}

/// Parses a text that is one word.
pub(crate) fn read_word(source: &str, home: &str) -> Word {
    let source = source.trim_start_matches("\\\n");
    // the shell would read nothing, or a comment
    if source.is_empty() || source.starts_with('#') {
        return Word::Unknown;
    }
    let mut scanner = Scanner::new(source, home);
    match scanner.word() {
        Some(scanned) if scanner.rest.is_empty() => scanned.word,
        _ => Word::Unknown,
    }
}

/// A word with what the grammar needs to know about it.
pub(super) struct Scanned<'a> {
    pub(super) word: Word,
    /// The source text.
    pub(super) raw: &'a str,
    /// Whether an unquoted `=` occurs.
    pub(super) has_equals: bool,
    /// Whether an unquoted `{` or `}` occurs.
    pub(super) has_brace: bool,
}

/// A position in a text.
pub(super) struct Scanner<'a> {
    pub(super) rest: &'a str,
    home: &'a str,
}

/// The characters that end an unquoted word.
const ENDS: [char; 10] = [' ', '\t', '\n', '|', '&', ';', '(', ')', '<', '>'];

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a str, home: &'a str) -> Self {
        Self { rest: source, home }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Skips a text if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips spaces, tabs and line continuations.
    pub(super) fn skip_blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
    }

    /// Parses up to the end of a word. `None` if the word is not literal.
    pub(super) fn word(&mut self) -> Option<Scanned<'a>> {
        let start = self.rest;
        let mut text = String::new();
        let mut first_pattern = None;
        let (mut has_equals, mut has_brace) = (false, false);
        // the last unquoted character
        let mut before = None;
        while let Some(next) = self.peek().filter(|next| !ENDS.contains(next)) {
            if self.eat("\\\n") {
                continue;
            }
            let is_first = before.is_none() && text.is_empty() && self.rest.len() == start.len();
            self.take();
            match next {
                '\\' => text.push(self.take().filter(|escaped| is_plain(*escaped))?),
                '\'' => {
                    let end = self.rest.find('\'')?;
                    text.push_str(&self.rest[..end]);
                    self.rest = &self.rest[end + 1..];
                }
                '"' => self.quoted(&mut text)?,
                // at the end of a word it is literal
                '$' if self.peek().is_none_or(|after| ENDS.contains(&after) && after != '(') => {
                    text.push('$');
                }
                // unquoted, it would be split and expanded again
                '$' if !self.home.contains([' ', '\t', '\n', '*', '?', '[', '\\']) => {
                    self.home_variable(&mut text)?;
                }
                '$' | '`' => return None,
                '*' | '?' | '[' => {
                    first_pattern.get_or_insert(text.len());
                    text.push(next);
                }
                '~' if is_first => {
                    let is_home = self.peek().is_none_or(|after| after == '/' || ENDS.contains(&after));
                    if !is_home || self.home.is_empty() {
                        return None;
                    }
                    text.push_str(self.home);
                }
                '~' if matches!(before, Some('=' | ':')) => return None,
                _ if !is_plain(next) => return None,
                _ => {
                    has_equals |= next == '=';
                    has_brace |= next == '{' || next == '}';
                    text.push(next);
                }
            }
            before = Some(if matches!(next, '\\' | '\'' | '"') { '"' } else { next });
        }
        let raw = &start[..start.len() - self.rest.len()];
        // braces expand only around a comma or two dots
        if has_brace && (raw.contains(',') || raw.contains("..")) {
            return None;
        }
        let word = match first_pattern {
            Some(prefix) => Word::Pattern { text, prefix },
            None => Word::Literal(text),
        };
        Some(Scanned { word, raw, has_equals, has_brace })
    }

    /// Parses the rest of `$HOME` or `${HOME}` after the dollar sign.
    fn home_variable(&mut self, text: &mut String) -> Option<()> {
        let is_it = self.eat("{HOME}") || self.eat("HOME") && !self.peek().is_some_and(is_of_name);
        text.push_str(self.home);
        (is_it && !self.home.is_empty()).then_some(())
    }

    /// Parses up to the closing quotation mark.
    fn quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.take()? {
                '"' => return Some(()),
                '`' => return None,
                '$' => match self.peek()? {
                    '"' | ' ' | '|' | '/' | ')' | '.' | ',' => text.push('$'),
                    _ => self.home_variable(text)?,
                },
                '\\' => match self.take()? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => text.push(escaped),
                    other => text.extend(['\\', other]),
                },
                other => text.push(other),
            }
        }
    }
}

/// Returns whether a character continues a name, or may continue it after a line continuation.
fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '\\' | '[')
}

/// Returns whether an unquoted character is safe: old shells treat some bytes of multi-byte characters as blanks.
fn is_plain(character: char) -> bool {
    character.is_ascii() && !character.is_ascii_control()
}
