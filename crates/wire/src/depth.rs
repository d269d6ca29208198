//! The nesting limit of messages, checked before any code recurses into a value.
//!
//! The JSON parser skips raw values without recursion, so its own limit does not apply inside them. This limit does.

/// Maximum nesting depth of a message.
pub const MAX_DEPTH: usize = 128;

/// Returns whether `text` is nested deeper than [`MAX_DEPTH`]. Meaningful only if `text` is valid JSON.
pub(crate) fn is_too_deep(text: &str) -> bool {
    // Few brackets cannot nest deep. Counting them is vectorized and decides nearly every message.
    opening_brackets(text.as_bytes()) > MAX_DEPTH && deepest(text.as_bytes()) > MAX_DEPTH
}

/// Returns whether `text`, as a member of an object, has enough brackets to nest too deep. Cheap: `true` may be wrong, `false` never is.
pub(crate) fn may_be_too_deep(text: &str) -> bool {
    opening_brackets(text.as_bytes()) >= MAX_DEPTH
}

fn opening_brackets(text: &[u8]) -> usize {
    // `[` and `{` differ in one bit; counts of 255 bytes fit into one byte, which suits vector code best
    let in_part = |part: &[u8]| part.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    text.chunks(255).map(|part| usize::from(in_part(part))).sum()
}

fn deepest(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(text, at + 1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// Returns the position of the quote that ends the string whose text begins at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        if text[at] == b'"' {
            return at;
        }
        at += 2; // the backslash and what it escapes
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_too_deep_uses_the_exact_limit_and_ignores_brackets_in_strings() {
        let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(!is_too_deep(&nested(MAX_DEPTH)));
        assert!(is_too_deep(&nested(MAX_DEPTH + 1)));
        assert!(!is_too_deep(&format!("[\"{}\"]", "[".repeat(1000))));
        assert!(!is_too_deep(&format!(r#"["\"{}"]"#, "[".repeat(1000))));
        assert!(!is_too_deep(&format!("[{}[]]", "[],".repeat(1000))));
        assert!(is_too_deep(&format!(r#"["\\",{}]"#, nested(MAX_DEPTH))));
    }
}
