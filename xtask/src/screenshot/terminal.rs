//! What a terminal shows after a program has written to it: lines of styled characters. Pure.
//!
//! Knows what `musher` uses: colours, bold, dim, carriage return and clearing a line. Other sequences are skipped.

/// How a character looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    pub(super) is_bold: bool,
    pub(super) is_dim: bool,
    /// The code that sets it, such as 31 for red.
    pub(super) colour: Option<u8>,
}

/// One character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) character: char,
    pub(super) style: Style,
}

/// The text of a line.
pub(super) fn text(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.character).collect::<String>().trim_end().to_owned()
}

/// The lines that a terminal with this many columns shows.
pub(super) fn lines(output: &str, columns: usize) -> Vec<Vec<Cell>> {
    let mut lines = vec![Vec::new()];
    let (mut style, mut column) = (Style::default(), 0);
    let mut rest = output.chars();
    while let Some(character) = rest.next() {
        match character {
            '\n' => lines.push(Vec::new()),
            '\r' => column = 0,
            '\u{1b}' => {
                let sequence: String = sequence(&mut rest);
                match sequence.chars().last() {
                    Some('m') => style = restyled(style, &sequence[..sequence.len() - 1]),
                    Some('K') if sequence == "2K" => last(&mut lines).clear(),
                    Some('K') => last(&mut lines).truncate(column),
                    _ => {}
                }
            }
            _ if character.is_control() => {}
            _ => {
                if column == columns {
                    lines.push(Vec::new());
                    column = 0;
                }
                put(last(&mut lines), column, Cell { character, style });
                column += 1;
            }
        }
    }
    lines
}

fn last(lines: &mut Vec<Vec<Cell>>) -> &mut Vec<Cell> {
    if lines.is_empty() {
        lines.push(Vec::new());
    }
    let at = lines.len() - 1;
    &mut lines[at]
}

fn put(line: &mut Vec<Cell>, column: usize, cell: Cell) {
    let blank = Cell { character: ' ', style: Style::default() };
    if line.len() <= column {
        line.resize(column + 1, blank);
    }
    line[column] = cell;
}

/// The rest of a sequence such as `ESC [ 2 K`, without the bracket.
fn sequence(rest: &mut std::str::Chars<'_>) -> String {
    let mut found = String::new();
    if rest.next() != Some('[') {
        return found;
    }
    for character in rest {
        found.push(character);
        if character.is_ascii_alphabetic() {
            break;
        }
    }
    found
}

fn restyled(style: Style, codes: &str) -> Style {
    codes.split(';').fold(style, |style, code| match code.parse().unwrap_or(0) {
        0 => Style::default(),
        1 => Style { is_bold: true, ..style },
        2 => Style { is_dim: true, ..style },
        22 => Style { is_bold: false, is_dim: false, ..style },
        39 => Style { colour: None, ..style },
        colour @ (30..=37 | 90..=97) => Style { colour: Some(colour), ..style },
        _ => style,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(output: &str, columns: usize) -> Vec<String> {
        lines(output, columns).iter().map(|line| text(line)).collect()
    }

    #[test]
    fn cleared_and_overwritten_text_is_gone() {
        assert_eq!(
            texts("\r\u{1b}[2K\u{1b}[2m⠙ waiting\u{1b}[0m\r\u{1b}[2Kdone\r\nnext", 80),
            ["done", "next"]
        );
        assert_eq!(texts("12345\rab\u{1b}[K", 80), ["ab"]);
    }

    #[test]
    fn long_lines_wrap() {
        assert_eq!(texts("abcdef", 4), ["abcd", "ef"]);
    }

    #[test]
    fn styles_last_until_reset() {
        let shown = lines("\u{1b}[1;31ma\u{1b}[0mb\u{1b}]0;title\u{7}", 80);
        assert_eq!(shown[0][0].style, Style { is_bold: true, is_dim: false, colour: Some(31) });
        assert_eq!(shown[0][1].style, Style::default());
    }
}
