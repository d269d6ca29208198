//! Text from outside made safe for a terminal: no escape sequences, no changes of text direction, no hidden characters. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns one line without control characters, of at most `max` characters of the text.
pub(crate) fn sanitized(text: &str, max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(max));
    for (index, (character, is_safe)) in judged(text).enumerate() {
        match character {
            _ if index == max => {
                line.push('…');
                break;
            }
            _ if is_safe && !character.is_control() => line.push(character),
            _ if character.is_control() => line.push(' '),
            _ => line.extend(character.escape_unicode()),
        }
    }
    line
}

/// Returns text of any number of lines, with unsafe characters spelled out as `\u{…}`. Line ends and tabs stay.
pub(crate) fn sanitized_text(text: &str) -> Cow<'_, str> {
    if judged(text).all(|(_, is_safe)| is_safe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for (character, is_safe) in judged(text) {
        match character {
            // of line ends of other systems; pieces of a stream may be cut between the two characters
            '\r' => {}
            _ if is_safe => safe.push(character),
            _ => safe.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(safe)
}

/// Returns JSON of the same meaning with unsafe characters as `\u` escapes.
pub(crate) fn sanitized_json(json: &str) -> Cow<'_, str> {
    let is_safe = |character: char| !is_unsafe(character) && !is_joiner(character);
    if json.chars().all(is_safe) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            // in JSON it can only be white space between values
            '\r' => safe.push(' '),
            _ if is_safe(character) => safe.push(character),
            // anything else that is unsafe can only be inside a string
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // writing to a string cannot fail
                    let _written = write!(safe, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(safe)
}

/// Returns the characters of a text, each with whether it is safe where it is.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = None;
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let character = rest.next()?;
        // joiners belong to emoji and to scripts such as Persian, which the pieces of a stream may cut; elsewhere they only hide
        let joins = |character: Option<char>| {
            character.is_none_or(|it| !it.is_ascii() && !is_joiner(it) && !is_unsafe(it))
        };
        let is_safe = if is_joiner(character) {
            joins(before) && joins(rest.clone().next())
        } else {
            !is_unsafe(character)
        };
        before = Some(character);
        Some((character, is_safe))
    })
}

fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Returns whether a terminal may obey the character, or shows nothing for it. Joiners are judged apart.
fn is_unsafe(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // invisible letters and marks
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' |
        '\u{3164}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}' |
        // direction, zero width, separators of lines
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' |
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' |
        // variations, except the two that choose between text and emoji
        '\u{fe00}'..='\u{fe0d}' |
        // tags, and more variations
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One character of each kind that must not reach a terminal.
    const UNSAFE: [char; 21] = [
        '\0',
        '\u{7}',
        '\u{8}',
        '\u{b}',
        '\u{c}',
        '\u{1b}',
        '\u{7f}',
        '\u{80}',
        '\u{9b}',
        '\u{9d}',
        '\u{ad}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{2028}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{fe01}',
        '\u{e0041}',
        '\u{e0100}',
    ];

    #[test]
    fn line_has_no_controls_and_is_cut() {
        assert_eq!(sanitized("a\u{1b}[31m\nb\u{9b}c", 80), "a [31m b c");
        assert_eq!(sanitized("a\u{202e}b\u{200b}", 80), "a\\u{202e}b\\u{200b}");
        assert_eq!(sanitized("abcdef", 3), "abc…");
        assert_eq!(sanitized("abc", 3), "abc");
    }

    #[test]
    fn unsafe_characters_are_spelled_out_and_lines_and_tabs_stay() {
        assert_eq!(sanitized_text("a\r\n\tb"), "a\n\tb");
        assert_eq!(sanitized_text("\u{1b}]0;title\u{7}x\u{202e}y"), "\\u{1b}]0;title\\u{7}x\\u{202e}y");
        for character in UNSAFE {
            let expected = format!("a{}b", character.escape_unicode());
            assert_eq!(sanitized_text(&format!("a{character}b")), expected);
        }
    }

    #[test]
    fn text_of_all_scripts_stays_as_it_is() {
        for text in
            ["ü 日本\u{3000}語 שלום سلام", "a\u{a0}b\u{202f}!", "👩\u{200d}💻 ❤\u{fe0f}", "می\u{200c}خواهم"]
        {
            assert!(matches!(sanitized_text(text), Cow::Borrowed(same) if same == text), "{text}");
            assert_eq!(sanitized(text, 80), text);
        }
        for piece in ["👩\u{200d}", "\u{200d}💻", "\u{200d}"] {
            assert_eq!(sanitized_text(piece), piece);
        }
        assert_eq!(sanitized_text("é\u{200d}\u{200d}é"), "é\\u{200d}\\u{200d}é");
        assert_eq!(sanitized_text("rm\u{200d}"), "rm\\u{200d}");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let unsafe_text: String = UNSAFE.iter().collect();
        let value = serde_json::json!({ (unsafe_text.as_str()): [unsafe_text, "日本 👩\u{200d}💻"] });
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let safe = sanitized_json(&text.replace('\n', "\r\n")).into_owned();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
            assert!(!safe.chars().any(|it| is_unsafe(it) || is_joiner(it)), "{safe}");
            assert!(safe.contains("日本") && safe.contains("\\udb40\\udc41"), "{safe}");
        }
        assert!(matches!(sanitized_json(r#"{"a": "ü"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn no_character_is_unsafe_afterwards() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            for safe in [sanitized(&text, 40), sanitized_text(&text).into_owned()] {
                assert!(judged(&safe).all(|(_, is_safe)| is_safe), "{}", safe.escape_unicode());
            }
            let json = serde_json::Value::from(text);
            let safe = sanitized_json(&json.to_string()).into_owned();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), json);
        }
    }
}
