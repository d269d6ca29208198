//! Converts terminal output to plain text: removes escape sequences, and keeps only the final text of overwritten lines. Pure.

/// Returns the plain text of a terminal's output.
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
            // CSI: parameters, then one letter
            Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // OSC: a text that ends with BEL, or with ESC and a backslash
            Some(']') => {
                while let Some(c) = rest.next() {
                    if c == '\u{7}' || c == '\u{1b}' && rest.next_if_eq(&'\\').is_some() {
                        break;
                    }
                }
            }
            // selects a character set: one more character
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
    fn escape_sequences_and_overwritten_text_are_removed() {
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
