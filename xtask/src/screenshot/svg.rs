//! Lines of a terminal as an SVG picture. Pure.

use std::fmt::Write as _;

use super::terminal::{Cell, Style};

const FONT_SIZE: usize = 14;
const LINE_HEIGHT: usize = 20;
const MARGIN: usize = 16;
/// Tenths of a pixel.
const CHARACTER_WIDTH: usize = 84;

/// Renders lines as they look in a dark terminal that is as wide as the longest of them.
pub(super) fn render(lines: &[Vec<Cell>], title: &str) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = columns * CHARACTER_WIDTH / 10 + 2 * MARGIN;
    let height = lines.len() * LINE_HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <!-- written by `cargo xtask screenshot` -->\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace\" \
         font-size=\"{FONT_SIZE}\" fill=\"#e6edf3\" xml:space=\"preserve\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + row * LINE_HEIGHT + FONT_SIZE;
        if let Some(spans) = spans(line) {
            // writing to a string cannot fail
            writeln!(svg, "<text y=\"{y}\">{spans}</text>").ok();
        }
    }
    svg + "</g>\n</svg>\n"
}

/// The runs of one style, each at its own place, so that columns stay aligned in every font.
fn spans(line: &[Cell]) -> Option<String> {
    let mut spans = String::new();
    let mut column = 0;
    for run in line.chunk_by(|one, other| one.style == other.style) {
        let text: String = run.iter().map(|cell| cell.character).collect();
        let start = column + text.chars().take_while(|character| *character == ' ').count();
        column += run.len();
        if !text.trim().is_empty() {
            let x = MARGIN * 10 + start * CHARACTER_WIDTH;
            let (look, text) = (attributes(run[0].style), escaped(text.trim()));
            write!(spans, "<tspan x=\"{}.{}\"{look}>{text}</tspan>", x / 10, x % 10).ok();
        }
    }
    (!spans.is_empty()).then_some(spans)
}

fn attributes(style: Style) -> String {
    let colour = style.colour.map_or("", |code| match code {
        31 | 91 => " fill=\"#ff7b72\"",
        32 | 92 => " fill=\"#7ee787\"",
        33 | 93 => " fill=\"#e3b341\"",
        34 | 94 => " fill=\"#79c0ff\"",
        35 | 95 => " fill=\"#d2a8ff\"",
        36 | 96 => " fill=\"#76e3ea\"",
        _ => "",
    });
    let weight = if style.is_bold { " font-weight=\"bold\"" } else { "" };
    let opacity = if style.is_dim { " fill-opacity=\"0.65\"" } else { "" };
    format!("{colour}{weight}{opacity}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::terminal;
    use super::*;

    #[test]
    fn text_is_escaped_and_runs_are_placed_by_column() {
        let lines = terminal::lines("  \u{1b}[32ma\u{1b}[0m < b\r\n\r\n", 80);
        let svg = render(&lines, "title");
        assert!(
            svg.contains("<tspan x=\"32.8\" fill=\"#7ee787\">a</tspan><tspan x=\"49.6\">&lt; b</tspan>"),
            "{svg}"
        );
        assert_eq!(svg.matches("<text").count(), 1);
    }
}
