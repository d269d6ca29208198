//! Parses command lines that are lists and pipelines of simple commands with literal words.
//!
//! Deliberately smaller than the shell's grammar, because this part can be proven: any other construct makes a line not plain.

use super::word::{Scanner, Word};

/// Words that are grammar where a command starts.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Returns the commands of a plain line, in order. `None` if the line is not plain.
///
/// Allowed redirections are between the two outputs, and from and to `/dev/null`: they change nothing and are skipped.
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
                is_redirected = dev_null_target(&mut scanner)?;
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
                    // a number directly before it is the redirected descriptor
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
            // a redirection without a command, or nothing after `&&`
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
    dev_null_target(scanner)
}

/// Parses the target of a redirection, which must be `/dev/null`.
fn dev_null_target(scanner: &mut Scanner<'_>) -> Option<bool> {
    scanner.skip_blanks();
    let target = scanner.word()?;
    (target.word == Word::Literal("/dev/null".to_owned())).then_some(true)
}
