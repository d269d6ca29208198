use super::*;
use crate::style::Style;

fn at_once(text: &str, width: usize) -> Vec<String> {
    let mut markdown = Markdown::default();
    let mut lines = markdown.push(text, width);
    lines.extend(markdown.finish(width));
    lines.iter().map(Line::text).collect()
}

const ALL: &str = "# Title\n\nA paragraph with **strong**, *slanted* and `code` text\nin two lines.\n\n- one\n- two with [a link](https://a.example)\n  - inner\n\n  more of two\n\n1. first\n2. second\n\n> quoted\n> text\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n---\n\nLast.";

#[test]
fn blocks_are_lines_of_a_terminal() {
    let expected = [
        "Title",
        "",
        "A paragraph with strong, slanted and",
        "code text in two lines.",
        "",
        "• one",
        "• two with a link (https://a.example)",
        "  • inner",
        "",
        "  more of two",
        "",
        "1. first",
        "2. second",
        "",
        "│ quoted text",
        "",
        "```rust",
        "fn main() {}",
        "```",
        "",
        "a │ b",
        "──┼──",
        "x │ 1",
        "",
        "────────────────────────────────────────",
        "",
        "Last.",
    ];
    assert_eq!(at_once(ALL, 40), expected);
}

#[test]
fn pieces_of_any_size_give_the_same_lines() {
    let expected = at_once(ALL, 40);
    for size in [1, 2, 3, 7, 50] {
        let mut markdown = Markdown::default();
        let characters: Vec<char> = ALL.chars().collect();
        let mut lines = Vec::new();
        for piece in characters.chunks(size) {
            lines.extend(markdown.push(&piece.iter().collect::<String>(), 40));
            // showing the rest changes nothing
            markdown.rest(40);
        }
        lines.extend(markdown.finish(40));
        assert_eq!(lines.iter().map(Line::text).collect::<Vec<_>>(), expected, "pieces of {size}");
    }
}

#[test]
fn rest_shows_what_is_not_final() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("One.\n\nTwo **is", 40), [Line::plain("One.")]);
    let rest: Vec<_> = markdown.rest(40).iter().map(Line::text).collect();
    assert_eq!(rest, ["", "Two **is"]);
    assert_eq!(markdown.push(" here**\n", 40), []);
    let lines = markdown.finish(40);
    assert_eq!(lines[1], Line::plain("Two ").with("is here", Face::STRONG));
}

#[test]
fn code_is_final_line_by_line_and_is_not_wrapped() {
    let mut markdown = Markdown::default();
    let long = "x".repeat(100);
    let lines = markdown.push(&format!("```\n{long}\n\n# no heading\n"), 20);
    let lines: Vec<_> = lines.iter().map(Line::text).collect();
    assert_eq!(lines, ["```", &long, "", "# no heading"]);
    assert_eq!(markdown.finish(20), [Line::new("```", Face::DIM)]);
}

#[test]
fn table_fits_the_width() {
    let text = "| name | what it is for |\n|---|---|\n| alpha | a rather long explanation of it |\n";
    let lines = at_once(text, 24);
    assert!(lines.iter().all(|line| super::super::text::width(line) <= 24), "{lines:#?}");
    assert_eq!(lines[0], "name  │ what it is for");
    assert!(lines.len() >= 4, "{lines:#?}");
}

#[test]
fn numbers_of_a_list_go_on_after_code_inside_of_it() {
    let lines = at_once("1. run\n\n   ```sh\n   ls\n   ```\n\n   and read it\n\n2. write\n", 40);
    assert_eq!(lines, ["1. run", "", "```sh", "   ls", "```", "", "   and read it", "", "2. write"]);
}

#[test]
fn escape_sequences_are_shown_and_not_obeyed() {
    let mut markdown = Markdown::default();
    let hostile = "a\u{1b}[2J **b\u{9b}31m** `c\u{1b}]0;x\u{7}`\n\n```\n\u{1b}[5m\n```\n[l](https://a.example/\u{202e}x)\n";
    let mut lines = markdown.push(hostile, 60);
    lines.extend(markdown.finish(60));
    let shown =
        lines.iter().map(|line| line.styled(Style::PLAIN).as_str().to_owned()).collect::<Vec<_>>().join("\n");
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}']), "{shown:?}");
    assert!(shown.contains("\\u{1b}[2J") && shown.contains("\\u{9b}31m"), "{shown}");
}

#[test]
fn endless_paragraph_costs_no_more_than_its_length() {
    let mut markdown = Markdown::default();
    let mut lines = 0;
    for _ in 0..50_000 {
        lines += markdown.push("word word word ", 80).len();
        assert!(markdown.pending.len() <= MAX_BLOCK + 100);
    }
    assert!(lines > 5000, "{lines}");
}
