//! The style of output: colors and width, from the terminal and the usual variables.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::styled::Styled;

/// Disables colors, whatever its value (<https://no-color.org>).
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// Enables colors without a terminal, unless it is `0`.
pub(crate) const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// Disables colors if it is `0`.
pub(crate) const CLICOLOR: &str = "CLICOLOR";

/// Colors and width of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    is_colored: bool,
    theme: Theme,
    /// The width of the terminal. Into pipes and files lines are as long as they are.
    pub(crate) width: Option<usize>,
}

/// The colors of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// The eight colors of the terminal's palette.
    Palette,
    /// Their bright variants.
    Bright,
    /// Bold, dim, italic and underlined text only.
    Mono,
}

impl Theme {
    /// The themes, with their names and what they are for.
    pub(crate) const ALL: [(Self, &str, &str); 3] = [
        (Self::Palette, "palette", "the colors of the terminal"),
        (Self::Bright, "bright", "their bright variants, for dark backgrounds with low contrast"),
        (Self::Mono, "mono", "bold, dim and underlined text without colors"),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(theme, ..)| *theme)
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(|(_, name, _)| name).join(", ")
    }

    /// Reads the settings of a chat, and returns what is wrong with them.
    pub(crate) fn read(settings: &serde_json::Value) -> (Self, Option<String>) {
        let Some(name) = settings["theme"].as_str() else { return (Self::Palette, None) };
        match Self::named(name) {
            Some(theme) => (theme, None),
            None => (Self::Palette, Some(format!("unknown `theme` `{name}` (known: {})", Self::names()))),
        }
    }

    fn code(self, code: u8) -> Option<u8> {
        match self {
            Self::Bright if (31..=36).contains(&code) => Some(code + 60),
            Self::Mono if (31..=36).contains(&code) => None,
            _ => Some(code),
        }
    }
}

impl Style {
    /// Of stdout.
    pub(crate) fn of_stdout() -> Self {
        Self::of(rustix::stdio::stdout())
    }

    /// Of stderr.
    pub(crate) fn of_stderr() -> Self {
        Self::of(rustix::stdio::stderr())
    }

    fn of(stream: BorrowedFd<'_>) -> Self {
        let is_terminal = rustix::termios::isatty(stream);
        let columns = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
        Self {
            is_colored: is_colored(is_terminal, &|name| std::env::var_os(name)),
            theme: Theme::Palette,
            width: if is_terminal { columns().filter(|columns| *columns >= 20) } else { None },
        }
    }

    /// As it is in files and pipes.
    pub(crate) const PLAIN: Self = Self::plain(None);

    /// Without colours.
    pub(crate) const fn plain(width: Option<usize>) -> Self {
        Self { is_colored: false, theme: Theme::Palette, width }
    }

    /// As it is on a terminal.
    #[cfg(test)]
    pub(crate) const COLORED: Self = Self { is_colored: true, theme: Theme::Palette, width: None };

    pub(crate) fn strong(self, text: &str) -> Styled {
        self.paint(1, text)
    }

    pub(crate) fn dim(self, text: &str) -> Styled {
        self.paint(2, text)
    }

    pub(crate) fn good(self, text: &str) -> Styled {
        self.paint(32, text)
    }

    pub(crate) fn notable(self, text: &str) -> Styled {
        self.paint(33, text)
    }

    pub(crate) fn bad(self, text: &str) -> Styled {
        self.paint(31, text)
    }

    /// Returns the text in a style of several codes.
    pub(crate) fn painted(self, codes: &[u8], text: &str) -> Styled {
        let codes: Vec<u8> = codes.iter().filter_map(|code| self.theme.code(*code)).collect();
        let is_painted = self.is_colored && !text.is_empty() && !codes.is_empty();
        if is_painted { Styled::in_styles(&codes, text) } else { text.into() }
    }

    /// With other colors.
    pub(crate) const fn with_theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    fn paint(self, code: u8, text: &str) -> Styled {
        if self.is_colored && !text.is_empty() { Styled::in_style(code, text) } else { text.into() }
    }

    /// Cuts the text to the rest of the line after `used` columns.
    pub(crate) fn fitted(self, text: &str, used: usize) -> String {
        match self.width {
            Some(width) => cut(text, width.saturating_sub(used).max(8)),
            None => text.to_owned(),
        }
    }
}

/// Returns the width of the text in columns.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts the text to at most this number of columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |character: &char| {
        used += character.width().unwrap_or_default();
        used <= columns
    };
    let mut line: String = text.chars().take_while(fits).collect();
    line.push('…');
    line
}

/// Pads the text with spaces to this number of columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

fn is_colored(is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    if value(NO_COLOR).is_some() {
        return false;
    }
    if value(CLICOLOR_FORCE).is_some_and(|value| value != "0") {
        return true;
    }
    let is_off = value(CLICOLOR).is_some_and(|value| value == "0");
    is_terminal && !is_off && value("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_terminal_and_the_usual_variables() {
        for (is_terminal, variables, expected) in [
            (true, &[][..], true),
            (false, &[], false),
            (true, &[(NO_COLOR, "1")], false),
            (true, &[(NO_COLOR, "")], true),
            (false, &[(CLICOLOR_FORCE, "1")], true),
            (false, &[(CLICOLOR_FORCE, "0")], false),
            (false, &[(CLICOLOR_FORCE, "1"), (NO_COLOR, "1")], false),
            (true, &[(CLICOLOR, "0")], false),
            (true, &[("TERM", "dumb")], false),
            (true, &[("TERM", "xterm")], true),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            assert_eq!(is_colored(is_terminal, &variable), expected, "{is_terminal} {variables:?}");
        }
    }

    #[test]
    fn text_is_cut_and_filled_by_columns_not_by_characters() {
        assert_eq!(cut("mango", 5), "mango");
        assert_eq!(cut("mangos", 5), "mang…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(padded("日本", 6), "日本  ");
    }
}
