//! Reads command lines that are no more than lists and pipelines of simple commands with literal words.
//!
//! This is what can be proven. It knows less than the shell's grammar on purpose: whatever it does not know is not plain.

use super::word::{Scanner, Word};

/// Words that are part of the grammar where a command begins.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// The commands of a plain line, in order. Nothing if the line is not plain.
///
/// The only redirections are between the two outputs, and from and to `/dev/null`: they change nothing and are left out.
pub(crate) fn read_plain(source: &str, home: &str) -> Option<Vec<Vec<Word>>> {
    let mut scanner = Scanner::new(source, home);
    let mut commands = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let (mut is_redirected, mut is_open) = (false, false);
    loop {
        scanner.skip_blanks();
        let end = match scanner.peek() {
            Some('#') => {
                scanner.rest = scanner.rest.find('\n').map_or("", |end| &scanner.rest[end..]);
                continue;
            }
            None => None,
            Some('\n') => {
                scanner.eat("\n");
                if words.is_empty() && !is_redirected {
                    continue;
                }
                Some(false)
            }
            Some(';') => {
                scanner.eat(";");
                if words.is_empty() || matches!(scanner.peek(), Some(';' | '&')) {
                    return None;
                }
                Some(false)
            }
            Some('|') => {
                let is_plain = scanner.eat("||") || (scanner.eat("|") && scanner.peek() != Some('&'));
                if !is_plain || words.is_empty() {
                    return None;
                }
                Some(true)
            }
            Some('&') if scanner.eat("&&") => {
                if words.is_empty() {
                    return None;
                }
                Some(true)
            }
            Some('&') if scanner.eat("&>") => {
                scanner.eat(">");
                is_redirected = to_nothing(&mut scanner)?;
                continue;
            }
            Some('<' | '>') => {
                is_redirected = redirection(&mut scanner)?;
                continue;
            }
            Some(_) => {
                let scanned = scanner.word()?;
                if scanned.raw.is_empty() {
                    return None;
                }
                if matches!(scanner.peek(), Some('<' | '>')) {
                    // a number right before it says what is redirected
                    if scanned.has_brace {
                        return None;
                    }
                    if scanned.raw.bytes().all(|byte| byte.is_ascii_digit()) {
                        if !["0", "1", "2"].contains(&scanned.raw) {
                            return None;
                        }
                        is_redirected = redirection(&mut scanner)?;
                        continue;
                    }
                }
                let is_grammar = RESERVED.contains(&scanned.raw) || scanned.raw.starts_with('[');
                if words.is_empty() && (scanned.has_equals || is_grammar) {
                    return None;
                }
                words.push(scanned.word);
                is_open = false;
                continue;
            }
        };
        if words.is_empty() {
            // nothing but a redirection, or nothing behind `&&`
            let is_done = end.is_none() && !is_redirected && !is_open;
            return is_done.then_some(commands).filter(|commands| !commands.is_empty());
        }
        commands.push(std::mem::take(&mut words));
        is_redirected = false;
        match end {
            None => return Some(commands),
            Some(is_continued) => is_open = is_continued,
        }
    }
}

fn redirection(scanner: &mut Scanner<'_>) -> Option<bool> {
    if scanner.eat(">&") {
        let is_output = scanner.eat("1") || scanner.eat("2");
        let is_end = scanner.peek().is_none_or(|next| " \t\n|&;".contains(next));
        return (is_output && is_end).then_some(true);
    }
    if !(scanner.eat(">>") || scanner.eat(">") || scanner.eat("<")) {
        return None;
    }
    to_nothing(scanner)
}

/// Reads the target of a redirection, which must be `/dev/null`.
fn to_nothing(scanner: &mut Scanner<'_>) -> Option<bool> {
    scanner.skip_blanks();
    let target = scanner.word()?;
    (target.word == Word::Literal("/dev/null".to_owned())).then_some(true)
}
