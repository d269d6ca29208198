//! Text from outside made safe for a terminal: nobody but us sends it commands, or writes in another direction.

/// One line without control characters, at most so many characters long.
pub(crate) fn sanitized(text: &str, longest: usize) -> String {
    let mut line: String =
        text.chars().map(|it| if is_unsafe(it) { ' ' } else { it }).take(longest).collect();
    if text.chars().nth(longest).is_some() {
        line.push('…');
    }
    line
}

/// Text of any number of lines. What a terminal would obey is shown as a mark.
pub(crate) fn sanitized_text(text: &str) -> String {
    let shown = |character| match character {
        '\n' | '\t' => Some(character),
        // line ends of another system
        '\r' => None,
        _ if is_unsafe(character) => Some('\u{fffd}'),
        _ => Some(character),
    };
    text.chars().filter_map(shown).collect()
}

/// Control characters, and those that turn the direction of what follows.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_speak_to_the_terminal() {
        assert_eq!(sanitized("a\u{1b}[31m\nb\u{9b}c", 80), "a [31m b c");
        assert_eq!(sanitized("abcdef", 3), "abc…");
        assert_eq!(sanitized("abc", 3), "abc");
    }

    #[test]
    fn lines_and_tabs_of_a_text_stay() {
        assert_eq!(sanitized_text("a\r\n\tb"), "a\n\tb");
        assert_eq!(sanitized_text("\u{1b}]0;title\u{7}x\u{202e}y"), "\u{fffd}]0;title\u{fffd}x\u{fffd}y");
    }
}
