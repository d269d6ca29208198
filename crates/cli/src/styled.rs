//! Text that may be written to a terminal: made safe when it is built, with our own styles and nothing else in it.
//!
//! There is deliberately no `Display`: formatting a styled text into a plain one would sanitize it again, and show its styles as text.

use std::ops::Add;

use crate::sanitize::sanitized_text;

/// Text for a terminal. The only escape sequences in it are those of [`Style`](crate::style::Style).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Styled(String);

impl Styled {
    /// Returns the text between the code of a style and the end of all styles.
    pub(crate) fn in_style(code: u8, text: &str) -> Self {
        Self(format!("\u{1b}[{code}m{}\u{1b}[0m", sanitized_text(text)))
    }

    /// Returns the text between the codes of a style and the end of all styles.
    pub(crate) fn in_styles(codes: &[u8], text: &str) -> Self {
        let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
        Self(format!("\u{1b}[{}m{}\u{1b}[0m", codes.join(";"), sanitized_text(text)))
    }

    /// Joins lines.
    #[cfg(test)]
    pub(crate) fn lines(lines: impl IntoIterator<Item = Self>) -> Self {
        let lines: Vec<String> = lines.into_iter().map(|line| line.0).collect();
        Self(lines.join("\n"))
    }

    /// Returns the text as it is written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        Self(sanitized_text(text).into_owned())
    }
}

impl From<String> for Styled {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl<T: Into<Self>> Add<T> for Styled {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self.0.push_str(&more.into().0);
        self
    }
}

#[cfg(test)]
impl PartialEq<&str> for Styled {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}

#[cfg(test)]
impl PartialEq<String> for Styled {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_reach_the_terminal() {
        let forged = "\u{1b}[32m✓\u{1b}[0m\u{9b}2J";
        let safe = "\\u{1b}[32m✓\\u{1b}[0m\\u{9b}2J";
        assert_eq!(Styled::from(forged), safe);
        assert_eq!(Styled::in_style(1, forged), format!("\u{1b}[1m{safe}\u{1b}[0m"));
        let line = Styled::from("a ") + Styled::in_style(2, "b") + forged;
        assert_eq!(line, format!("a \u{1b}[2mb\u{1b}[0m{safe}"));
        assert_eq!(Styled::lines([line.clone(), "c".into()]), format!("{}\nc", line.as_str()));
    }
}
