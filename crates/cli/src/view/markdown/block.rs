//! One block of Markdown as lines: paragraphs, headings, lists, quotes, tables.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::text::{Color, Face, Line};
use super::code::Highlighter;

/// Narrower columns of a table are not useful.
const MIN_COLUMN: usize = 4;

/// Renders a block, wrapped to the width.
pub(super) fn render(text: &str, width: usize) -> Vec<Line> {
    // the block may have been inside of an item that was final before
    let indent = text.len() - text.trim_start_matches(' ').len();
    let dedented;
    let text = if indent == 0 {
        text
    } else {
        let lines = text.lines().map(|line| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            &line[spaces.min(indent)..]
        });
        dedented = lines.collect::<Vec<_>>().join("\n");
        &dedented
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { width: width.saturating_sub(indent), ..Writer::default() };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.end_line();
    if indent == 0 {
        return writer.out;
    }
    let indented = |line: Line| {
        let mut whole = Line::plain(&" ".repeat(indent));
        whole.append(line);
        whole
    };
    writer.out.into_iter().map(indented).collect()
}

#[derive(Default)]
struct Writer {
    width: usize,
    out: Vec<Line>,
    line: Line,
    faces: Vec<Face>,
    /// The open lists: the number of the next item, if they are numbered.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// The mark of an item whose text has not begun.
    marker: Option<String>,
    /// Columns before the text of the open items.
    hangs: Vec<usize>,
    code: Option<Highlighter>,
    link: Option<(String, String)>,
    table: Option<Table>,
    needs_gap: bool,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
}

impl Writer {
    fn face(&self) -> Face {
        self.faces.iter().fold(Face::PLAIN, |face, more| Face {
            is_strong: face.is_strong || more.is_strong,
            is_dim: face.is_dim || more.is_dim,
            is_italic: face.is_italic || more.is_italic,
            is_underlined: face.is_underlined || more.is_underlined,
            is_struck: face.is_struck || more.is_struck,
            color: more.color.or(face.color),
        })
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let face = Face { color: Face::CODE.color, ..self.face() };
                self.line.push(&text, face);
            }
            // HTML is shown as it is
            Event::Html(text) | Event::InlineHtml(text) => {
                for (index, line) in text.trim_end_matches('\n').split('\n').enumerate() {
                    if index > 0 {
                        self.end_line();
                    }
                    self.line.push(line, self.face());
                }
            }
            Event::SoftBreak => self.line.push(" ", self.face()),
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                self.line.push(&"─".repeat(self.width.clamp(3, 40)), Face::DIM);
                self.end_line();
            }
            Event::TaskListMarker(is_done) => {
                self.line.push(if is_done { "☑ " } else { "☐ " }, self.face());
            }
            Event::FootnoteReference(name) => self.line.push(&format!("[{name}]"), Face::DIM),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let is_top = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
                self.faces.push(Face { is_underlined: level == HeadingLevel::H1, ..Face::STRONG });
                if !is_top {
                    self.faces.push(Face::of(Color::Blue));
                }
            }
            Tag::BlockQuote(_) => {
                self.end_line();
                self.quotes += 1;
                self.faces.push(Face::DIM);
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                let language = match &kind {
                    CodeBlockKind::Fenced(language) => language.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some(Highlighter::new(language));
            }
            Tag::List(first) => {
                self.end_line();
                self.needs_gap = false;
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                self.needs_gap = false;
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number += 1;
                        marker
                    }
                    _ => "• ".to_owned(),
                };
                self.hangs.push(super::super::text::width(&marker));
                self.marker = Some(marker);
            }
            Tag::Emphasis => self.faces.push(Face::ITALIC),
            Tag::Strong => self.faces.push(Face::STRONG),
            Tag::Strikethrough => self.faces.push(Face { is_struck: true, ..Face::PLAIN }),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.to_string(), String::new()));
                self.faces.push(Face { is_underlined: true, ..Face::PLAIN });
            }
            Tag::Table(alignments) => {
                self.gap();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.add_row();
                self.faces.push(Face::STRONG);
            }
            Tag::TableRow => self.add_row(),
            _ => {}
        }
    }

    fn add_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.end_line();
                self.needs_gap = true;
            }
            TagEnd::Heading(level) => {
                self.end_line();
                self.faces.pop();
                if !matches!(level, HeadingLevel::H1 | HeadingLevel::H2) {
                    self.faces.pop();
                }
                self.needs_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.quotes = self.quotes.saturating_sub(1);
                self.faces.pop();
                self.needs_gap = true;
            }
            TagEnd::CodeBlock => {
                self.code = None;
                self.needs_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.needs_gap = true;
            }
            TagEnd::Item => {
                self.end_line();
                self.marker = None;
                self.hangs.pop();
                self.needs_gap = false;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableHead => {
                self.faces.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.faces.pop();
                if let Some((target, text)) = self.link.take()
                    && target != text
                    && target.strip_prefix("mailto:") != Some(&text)
                {
                    self.line.push(&format!(" ({target})"), Face::DIM);
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.out.extend(table.lines(self.width));
                }
                self.needs_gap = true;
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, shown)) = &mut self.link {
            shown.push_str(text);
        }
        if let Some(mut highlighter) = self.code.take() {
            for line in text.lines() {
                let mut whole = self.prefix();
                whole.append(highlighter.line(line));
                self.out.push(whole);
            }
            self.code = Some(highlighter);
            return;
        }
        let face = self.face();
        self.line.push(text, face);
    }

    /// A blank line between two blocks.
    fn gap(&mut self) {
        self.end_line();
        if std::mem::take(&mut self.needs_gap) {
            self.out.push(Line::default());
        }
    }

    /// Returns what stands before the text of a line.
    fn prefix(&mut self) -> Line {
        let mut line = Line::new(&"│ ".repeat(self.quotes), Face::DIM);
        let hang: usize = self.hangs.iter().sum();
        match self.marker.take() {
            Some(marker) => {
                let before = hang.saturating_sub(super::super::text::width(&marker));
                line.push(&" ".repeat(before), Face::PLAIN);
                line.push(&marker, Face::of(Color::Blue));
            }
            None => line.push(&" ".repeat(hang), Face::PLAIN),
        }
        line
    }

    fn end_line(&mut self) {
        if self.line.is_empty() && self.marker.is_none() || self.table.is_some() {
            return;
        }
        if self.line.is_empty() && self.marker.is_some() {
            // the text of the item has not begun
            return;
        }
        let text = std::mem::take(&mut self.line);
        let first = self.prefix();
        let used = first.width();
        for (index, part) in text.wrapped(self.width.saturating_sub(used), 0).into_iter().enumerate() {
            let mut line = if index == 0 { first.clone() } else { self.prefix() };
            line.append(part);
            self.out.push(line);
        }
    }
}

impl Table {
    fn lines(self, width: usize) -> Vec<Line> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        if count == 0 {
            return Vec::new();
        }
        let wanted: Vec<usize> = (0..count)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(Line::width).max().unwrap_or(0).max(1)
            })
            .collect();
        let room = width.saturating_sub((count - 1) * 3);
        let widths = fitted(&wanted, room);
        let mut out = Vec::new();
        for (index, row) in self.rows.into_iter().enumerate() {
            let mut cells: Vec<Vec<Line>> = Vec::new();
            for (column, width) in widths.iter().enumerate() {
                cells.push(row.get(column).cloned().unwrap_or_default().wrapped(*width, 0));
            }
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for level in 0..height {
                let mut line = Line::default();
                for (column, cell) in cells.iter().enumerate() {
                    if column > 0 {
                        line.push(" │ ", Face::DIM);
                    }
                    let part = cell.get(level).cloned().unwrap_or_default();
                    let free = widths[column].saturating_sub(part.width());
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => free,
                        Some(Alignment::Center) => free / 2,
                        _ => 0,
                    };
                    line.push(&" ".repeat(before), Face::PLAIN);
                    line.append(part);
                    if column + 1 < count {
                        line.push(&" ".repeat(free - before), Face::PLAIN);
                    }
                }
                out.push(line);
            }
            if index == 0 {
                let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                out.push(Line::new(&rules.join("─┼─"), Face::DIM));
            }
        }
        out
    }
}

/// Makes the widest columns narrower until all fit.
fn fitted(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut widths = wanted.to_vec();
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max() else { break };
        if *widest <= MIN_COLUMN {
            break;
        }
        *widest -= 1;
    }
    widths
}
