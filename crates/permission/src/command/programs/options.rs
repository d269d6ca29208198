//! Parses options as GNU programs do, from a list of known options. An unlisted option makes the parse fail.

use crate::command::Word;

/// The known options of a program.
///
/// `short`: letters. A letter followed by `:` takes a value, by `?` a value in the same word, by `!` a value in the next word and never in
/// the same; `#` stands for numbers such as `-5`.
/// `long`: names. A name that ends in `=` takes a value, in `=?` an optional value after an equals sign, in `==` a value after an equals
/// sign and never in the next word. Abbreviated names are rejected,
/// because another version of the program may read them as another option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    short: &'static str,
    long: &'static str,
}

/// How an option takes its value.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// No value, or a value in the same word.
    NoNextWord,
    /// The next word, if the value is not in the same one.
    NextWord,
}

#[cfg(test)]
impl Options {
    /// Returns every option as it is written, with how it takes its value.
    pub(crate) fn all(&self) -> Vec<(String, Takes)> {
        let takes = |mark: Option<char>| match mark {
            Some(':' | '!') => Takes::NextWord,
            _ => Takes::NoNextWord,
        };
        let letters = self.short.char_indices().filter(|(_, letter)| letter.is_ascii_alphanumeric());
        let short =
            letters.map(|(at, letter)| (format!("-{letter}"), takes(self.short[at + 1..].chars().next())));
        let long = self.long.split_whitespace().map(|name| match name.strip_suffix("==") {
            Some(name) => (format!("--{name}=short"), Takes::NoNextWord),
            None if name.ends_with('=') => (format!("--{}", name.trim_end_matches('=')), Takes::NextWord),
            None => (format!("--{}", name.trim_end_matches("=?")), Takes::NoNextWord),
        });
        short.chain(long).collect()
    }
}

/// The parsed arguments of a command.
#[derive(Debug, Default)]
pub(super) struct ParsedArguments<'a> {
    /// Options in their listed form, with their values: `-n`, `--name`.
    pub(super) options: Vec<(String, Option<String>)>,
    /// The other words.
    pub(super) operands: Vec<&'a Word>,
}

impl ParsedArguments<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Returns the values of options.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &str> {
        let given = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.as_deref())
    }
}

impl Options {
    pub(super) const fn new(short: &'static str, long: &'static str) -> Self {
        Self { short, long }
    }

    /// Parses options and operands in any order. `None` if an option is unknown, or a word may be an option.
    pub(super) fn read<'a>(&self, words: &'a [Word]) -> Option<ParsedArguments<'a>> {
        self.read_until(words, false).map(|(given, _)| given)
    }

    /// Parses options up to the first operand, and returns the remaining words.
    pub(super) fn read_front<'a>(&self, words: &'a [Word]) -> Option<(ParsedArguments<'a>, &'a [Word])> {
        self.read_until(words, true)
    }

    fn read_until<'a>(&self, words: &'a [Word], is_front: bool) -> Option<(ParsedArguments<'a>, &'a [Word])> {
        let mut given = ParsedArguments::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = match word {
                Word::Literal(text) => text.as_str(),
                // only a pattern that starts with another character is certainly not an option
                Word::Pattern { text, prefix } if *prefix > 0 && !text.starts_with('-') => "",
                Word::Pattern { .. } | Word::Unknown => return None,
            };
            if text == "--" {
                at += 1;
                if !is_front {
                    given.operands.extend(&words[at..]);
                }
                return Some((given, &words[at..]));
            }
            if !text.starts_with('-') || text == "-" {
                if is_front {
                    return Some((given, &words[at..]));
                }
                given.operands.push(word);
                at += 1;
                continue;
            }
            at += 1;
            let next = words.get(at).and_then(Word::literal);
            let took_next = match text.strip_prefix("--") {
                Some(long) => self.long(long, next, &mut given)?,
                None => self.short(&text[1..], next, &mut given)?,
            };
            at += usize::from(took_next);
        }
        Some((given, &[]))
    }

    fn long(&self, text: &str, next: Option<&str>, given: &mut ParsedArguments<'_>) -> Option<bool> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let known = self.long.split_whitespace().find(|known| known.trim_end_matches(['=', '?']) == name)?;
        let is_attached = known.ends_with("==");
        let needs_value = known.ends_with('=');
        let may_have_value = known.ends_with('?');
        let (value, took_next) = match value {
            Some(_) if !needs_value && !may_have_value => return None,
            None if is_attached => return None,
            None if needs_value => (Some(next?.to_owned()), true),
            value => (value, false),
        };
        given.options.push((format!("--{name}"), value));
        Some(took_next)
    }

    fn short(&self, text: &str, next: Option<&str>, given: &mut ParsedArguments<'_>) -> Option<bool> {
        if self.short.contains('#') && text.bytes().all(|byte| byte.is_ascii_digit()) {
            given.options.push(("-#".to_owned(), Some(text.to_owned())));
            return Some(false);
        }
        let mut rest = text.chars();
        while let Some(letter) = rest.next() {
            if !letter.is_ascii_alphanumeric() {
                return None;
            }
            let at = self.short.find(letter)?;
            let name = format!("-{letter}");
            match self.short[at + 1..].chars().next() {
                Some(':') => {
                    let is_attached = !rest.as_str().is_empty();
                    let value = if is_attached { rest.as_str() } else { next? };
                    given.options.push((name, Some(value.to_owned())));
                    return Some(!is_attached);
                }
                Some('!') => {
                    // in a cluster, the following letters would be options themselves
                    if !rest.as_str().is_empty() {
                        return None;
                    }
                    given.options.push((name, Some(next?.to_owned())));
                    return Some(true);
                }
                Some('?') => {
                    given.options.push((name, Some(rest.as_str().to_owned())));
                    return Some(false);
                }
                _ => given.options.push((name, None)),
            }
        }
        Some(false)
    }
}
