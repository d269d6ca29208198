//! Escapes characters that would make a text look like another one. Affects only what is shown, never what runs.

use std::borrow::Cow;

/// Returns the text with control, direction and invisible characters written as `\u{…}`. Line endings and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains("\r\n") {
        return spelled_out(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split("\r\n").map(spelled_out).collect();
    Cow::Owned(lines.join("\r\n"))
}

/// Returns the same for commands, where a carriage return is not part of a line ending.
pub(super) fn spelled_out(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_deceptive(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a character is invisible, looks like an ordinary space, or changes how its neighbours are displayed.
pub fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{a0}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{1680}'
        | '\u{180e}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{3000}'
        | '\u{3164}'
        // these only select between the forms of an emoji
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceptive_characters_are_escaped_and_others_kept() {
        assert_eq!(visible("ls -la\n\tü 日本"), "ls -la\n\tü 日本");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("a\rb\u{1b}[2K\0"), "a\\u{d}b\\u{1b}[2K\\u{0}");
        assert_eq!(visible("a\r\nb\r"), "a\r\nb\\u{d}");
        assert_eq!(spelled_out("ls\r\n"), "ls\\u{d}\n");
        assert_eq!(visible("rm\u{a0}x\u{200b}"), "rm\\u{a0}x\\u{200b}");
    }
}
