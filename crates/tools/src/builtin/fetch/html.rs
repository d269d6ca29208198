//! Converts HTML to plain text, as far as a reader needs it. Pure, linear, and never fails.

/// Returns the text of a page, block by block.
pub(super) fn to_text(html: &str) -> String {
    let mut out = Text::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let is_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        let Some(end) = rest.find('>').filter(|_| is_tag) else {
            out.push("<");
            rest = &rest[1..];
            continue;
        };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        match name.as_str() {
            "script" | "style" | "noscript" | "template" | "svg" | "head"
                if !tag.starts_with('/') && !tag.ends_with('/') =>
            {
                let title = (name == "head").then(|| title(rest)).flatten();
                rest = skip_to_end(rest, &name);
                if let Some(title) = title {
                    out.push(title);
                    out.block();
                }
            }
            "li" if !tag.starts_with('/') => {
                out.line();
                out.push("- ");
            }
            "br" | "tr" => out.line(),
            "td" | "th" => out.push(" "),
            "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside" | "ul"
            | "ol" | "table" | "pre" | "blockquote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr"
            | "form" | "dl" | "dt" | "dd" => {
                out.is_pre = if name == "pre" { !tag.starts_with('/') } else { out.is_pre };
                out.block();
            }
            _ => {}
        }
    }
    out.push(rest);
    out.finish()
}

fn title(head: &str) -> Option<&str> {
    let from = find_ignoring_case(head, "<title")?;
    let text = &head[from..];
    let text = &text[text.find('>')? + 1..];
    Some(&text[..text.find('<')?])
}

fn skip_to_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let Some(at) = find_ignoring_case(rest, &format!("</{name}")) else { return "" };
    let after = &rest[at..];
    after.find('>').map_or("", |end| &after[end + 1..])
}

fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes().windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

#[derive(Default)]
struct Text {
    text: String,
    is_pre: bool,
}

impl Text {
    fn push(&mut self, raw: &str) {
        let decoded = entities(raw);
        if self.is_pre {
            self.text.push_str(&decoded);
            return;
        }
        for c in decoded.chars() {
            if !c.is_whitespace() {
                self.text.push(c);
            } else if !self.text.ends_with([' ', '\n']) && !self.text.is_empty() {
                self.text.push(' ');
            }
        }
    }

    fn line(&mut self) {
        let length = self.text.trim_end_matches(' ').len();
        self.text.truncate(length);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn block(&mut self) {
        self.line();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn finish(self) -> String {
        self.text.trim().to_owned()
    }
}

fn entities(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(end, _)| end);
        if let Some((c, end)) = end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            out.push(c);
            rest = &rest[end + 1..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    let number = |text: &str, radix| u32::from_str_radix(text, radix).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        "mdash" => Some('\u{2014}'),
        "ndash" => Some('\u{2013}'),
        "hellip" => Some('\u{2026}'),
        "copy" => Some('\u{a9}'),
        _ => match name.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => number(&hex[1..], 16),
            decimal => number(decimal, 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn page_becomes_text() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>x{}</style></head><body><!-- c --><h1>Head\n line</h1>\
                    <p>One <b>two</b>&nbsp;&#51; &lt;x&gt;</p><ul><li>a<li>b</ul><script>if (a < b) {}</script><pre>  x\n  y</pre>1 < 2 &odd;";
        assert_eq!(
            to_text(page),
            "A & B\n\nHead line\n\nOne two 3 <x>\n\n- a\n- b\n\n  x\n  y\n\n1 < 2 &odd;"
        );
    }

    #[test]
    fn unclosed_element_ends_with_the_page() {
        assert_eq!(to_text("a<script>b"), "a");
        assert_eq!(to_text("a<!-- b"), "a");
        assert_eq!(to_text("a<b"), "a<b");
    }

    proptest! {
        #[test]
        fn any_text_is_converted_without_panic(text in "[<>/!&;#a-z \\-é\n]{0,200}") {
            to_text(&text);
        }
    }
}
