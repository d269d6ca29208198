//! Splits a command line into its simple commands, or refuses to: a line is understood only if every character of it is.
//!
//! This is an allowlist, not a parser of a shell's grammar. It knows blanks, words of harmless characters, quotes and the operators
//! `&&`, `||`, `;` and `|`; a line with anything else is not understood. Callers allow only commands that they recognise, so a refused line
//! causes a permission request and never runs unseen.

/// A command of a command line: a program and its arguments, all literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    words: Vec<String>,
}

impl SimpleCommand {
    /// Returns the program as it is written: `cargo`, `./build.sh`, `/usr/bin/git`.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns the arguments, without their quotes.
    pub fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Returns whether the command begins with these words, compared word by word.
    ///
    /// `cargo test --workspace` begins with `["cargo", "test"]`; `cargo tester` and `cargo -q test` do not.
    pub fn starts_with(&self, words: &[&str]) -> bool {
        self.words.len() >= words.len() && self.words.iter().zip(words).all(|(ours, wanted)| ours == wanted)
    }
}

/// Words with which a shell begins something other than a simple command.
const RESERVED: [&str; 21] = [
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "nocorrect",
    "repeat",
    "select",
    "then",
    "time",
    "until",
    "while",
];

/// Characters of a word outside of quotes, besides letters and digits of ASCII.
const PLAIN: &str = "_-./:,+@=%";

/// Returns the simple commands of a line, or `None` if the line is not understood.
pub(super) fn split(line: &str) -> Option<Vec<SimpleCommand>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(first) = rest.chars().next() else { break };
        if matches!(first, ';' | '|' | '&') {
            let length = operator(rest)?;
            commands.push(command(std::mem::take(&mut words))?);
            rest = &rest[length..];
            if first == ';' && rest.trim_matches([' ', '\t']).is_empty() {
                return Some(commands);
            }
            continue;
        }
        let (word, after) = word(rest, words.is_empty())?;
        words.push(word);
        rest = after;
    }
    // nothing at all, or nothing behind an operator
    commands.push(command(words)?);
    Some(commands)
}

/// Returns the length of the operator at the beginning of `text`.
fn operator(text: &str) -> Option<usize> {
    if text.starts_with("&&") || text.starts_with("||") {
        return Some(2);
    }
    // `&` runs in the background, `|&` and `;&` are bash's own
    let is_single = text.starts_with(['|', ';']) && !text[1..].starts_with(['&', ';', '|']);
    is_single.then_some(1)
}

fn command(words: Vec<String>) -> Option<SimpleCommand> {
    (!words.is_empty()).then_some(SimpleCommand { words })
}

/// Reads the word at the beginning of `text`; also returns what follows it.
fn word(text: &str, is_program: bool) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    let mut is_quoted = false;
    while let Some(next) = rest.chars().next() {
        match next {
            ' ' | '\t' | ';' | '|' | '&' => break,
            '\'' => {
                let (quoted, after) = rest[1..].split_once('\'')?;
                // a command line with a line break does not look like one to the user
                if quoted.contains(char::is_control) {
                    return None;
                }
                word.push_str(quoted);
                (rest, is_quoted) = (after, true);
            }
            '"' => {
                let (quoted, after) = rest[1..].split_once('"')?;
                // `!` is the history of interactive shells
                if quoted.contains(['$', '`', '\\', '!']) || quoted.contains(char::is_control) {
                    return None;
                }
                word.push_str(quoted);
                (rest, is_quoted) = (after, true);
            }
            _ if next.is_ascii_alphanumeric() || PLAIN.contains(next) => {
                word.push(next);
                rest = &rest[1..];
            }
            _ => return None,
        }
    }
    let is_known = if is_program { is_program_name(&word, is_quoted) } else { !word.starts_with('=') };
    is_known.then_some((word, rest))
}

/// Returns whether a word names a program wherever it stands first: no assignment, no job, no keyword.
fn is_program_name(word: &str, is_quoted: bool) -> bool {
    let is_plain = !word.is_empty() && !word.contains('=') && !word.starts_with(['%', '-', '+']);
    is_plain && (is_quoted || !RESERVED.contains(&word))
}

#[cfg(test)]
mod tests;
