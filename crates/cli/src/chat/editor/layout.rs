//! The text of the editor on rows of a screen.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::sanitize::sanitized_text;
use crate::view::text::width;

/// Rows of text, and where the cursor is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) rows: Vec<String>,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// Lays out a text with the cursor at this byte.
pub(crate) fn layout(text: &str, cursor: usize, columns: usize) -> Layout {
    let columns = columns.max(2);
    let mut out = Layout { rows: vec![String::new()], row: 0, column: 0 };
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        if at == cursor {
            (out.row, out.column) = (out.rows.len() - 1, used);
        }
        if matches!(cluster, "\n" | "\r\n") {
            out.rows.push(String::new());
            used = 0;
            continue;
        }
        let shown = if cluster == "\t" { "    ".into() } else { sanitized_text(cluster) };
        let wide = width(&shown);
        if used + wide > columns {
            out.rows.push(String::new());
            if at == cursor {
                (out.row, out.column) = (out.rows.len() - 1, 0);
            }
            used = 0;
        }
        if let Some(row) = out.rows.last_mut() {
            row.push_str(&shown);
        }
        used += wide;
    }
    if cursor >= text.len() {
        if used >= columns {
            out.rows.push(String::new());
            used = 0;
        }
        (out.row, out.column) = (out.rows.len() - 1, used);
    }
    out
}
