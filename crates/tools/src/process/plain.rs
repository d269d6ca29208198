//! What a terminal shows, as plain text: without colours and moves, and of lines that were written over only the last words. Pure.

/// The plain text of a terminal's output.
pub(super) fn plain(output: &str) -> String {
    let text = without_sequences(output);
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        plain.push_str(line.rsplit('\r').next().unwrap_or(line));
        plain.push_str(end);
    }
    plain
}

fn without_sequences(output: &str) -> String {
    let mut text = String::with_capacity(output.len());
    let mut rest = output.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            text.push(c);
            continue;
        }
        match rest.next() {
            // parameters, then one letter
            Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // a text that ends with a bell, or with ESC and a backslash
            Some(']') => {
                while let Some(c) = rest.next() {
                    if c == '\u{7}' || c == '\u{1b}' && rest.next_if_eq(&'\\').is_some() {
                        break;
                    }
                }
            }
            // which set of characters: one more
            Some('(' | ')') => drop(rest.next()),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_read_is_left() {
        for (shown, expected) in [
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("\u{1b}[1;31mred\u{1b}[0m\n", "red\n"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;y\u{1b}\\z", "xz"),
            ("10%\r50%\r100%\r\ndone", "100%\ndone"),
            ("\u{1b}(Bplain\u{1b}", "plain"),
            ("a\u{1b}[", "a"),
            ("", ""),
        ] {
            assert_eq!(plain(shown), expected, "{shown:?}");
        }
    }
}
