//! Code in color: comments, strings, numbers and keywords of common languages, line by line.
//!
//! A small scanner instead of a grammar for each language: full grammars would be larger than the rest of the program. What it gets
//! wrong is only a color.

use super::super::text::{Color, Face, Line};

const COMMENT: Face = Face { is_italic: true, ..Face::DIM };
const STRING: Face = Face::of(Color::Green);
const NUMBER: Face = Face::of(Color::Cyan);
const KEYWORD: Face = Face::of(Color::Magenta);
const NAME: Face = Face::of(Color::Blue);

/// What the scanner knows of a language.
#[derive(Debug, Clone, Copy)]
struct Language {
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    keywords: &'static str,
}

const C_KEYWORDS: &str = "auto bool break case catch char class const constexpr continue default delete do double else enum explicit \
    extern false final float for friend goto if inline int interface long namespace new null nullptr operator override package private \
    protected public return short signed sizeof static struct super switch template this throw throws true try typedef typename union \
    unsigned using var virtual void volatile while import extends implements instanceof abstract synchronized record string func";
const RUST: &str = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut \
    pub ref return self Self static struct super trait true type unsafe use where while yield";
const PYTHON: &str = "and as assert async await break class continue def del elif else except False finally for from global if import in \
    is lambda match case None nonlocal not or pass raise return True try while with yield";
const SCRIPT: &str = "async await break case catch class const continue debugger default delete do else enum export extends false finally \
    for from function get if implements import in instanceof interface let new null of private protected public readonly return set \
    static super switch this throw true try type typeof undefined var void while with yield";
const GO: &str = "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil \
    package range return select struct switch true type var";
const SHELL: &str =
    "case do done elif else esac export fi for function if in local return set then until while unset exit";
const SQL: &str = "ADD ALTER AND AS BY CREATE DELETE DISTINCT DROP FROM GROUP HAVING IN INDEX INNER INSERT INTO JOIN LEFT LIMIT NOT NULL ON \
    OR ORDER OUTER PRIMARY KEY RIGHT SELECT SET TABLE UNION UPDATE VALUES VIEW WHERE WITH add alter and as by create delete distinct \
    drop from group having in index inner insert into join left limit not null on or order outer primary key right select set table \
    union update values view where with";
const RUBY: &str = "alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo \
    require rescue retry return self super then true undef unless until when while yield";

fn language(name: &str) -> Option<Language> {
    let c_like = |keywords| Language {
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: "\"'",
        keywords,
    };
    let hash = |keywords| Language { line_comments: &["#"], block_comment: None, quotes: "\"'", keywords };
    Some(match name.to_ascii_lowercase().as_str() {
        // `'` also begins lifetimes
        "rust" | "rs" => Language { quotes: "\"", ..c_like(RUST) },
        "c" | "h" | "cpp" | "c++" | "cc" | "cs" | "csharp" | "java" | "kotlin" | "kt" | "swift" | "php"
        | "scala" | "dart" | "zig" => c_like(C_KEYWORDS),
        "js" | "javascript" | "jsx" | "ts" | "typescript" | "tsx" | "mjs" => {
            Language { quotes: "\"'`", ..c_like(SCRIPT) }
        }
        "go" | "golang" => Language { quotes: "\"'`", ..c_like(GO) },
        "py" | "python" => hash(PYTHON),
        "rb" | "ruby" => hash(RUBY),
        "sh" | "bash" | "zsh" | "shell" | "console" | "fish" | "dockerfile" | "makefile" | "make" => {
            hash(SHELL)
        }
        "yaml" | "yml" | "toml" | "ini" | "conf" => hash("true false null yes no on off"),
        "json" | "jsonc" | "json5" => c_like("true false null"),
        "sql" => Language {
            line_comments: &["--"],
            block_comment: Some(("/*", "*/")),
            quotes: "'\"",
            keywords: SQL,
        },
        "lua" => Language { line_comments: &["--"], block_comment: None, quotes: "\"'", keywords: RUBY },
        "css" | "scss" => {
            Language { line_comments: &[], block_comment: Some(("/*", "*/")), quotes: "\"'", keywords: "" }
        }
        "html" | "xml" | "svg" => {
            Language { line_comments: &[], block_comment: Some(("<!--", "-->")), quotes: "\"", keywords: "" }
        }
        _ => return None,
    })
}

/// Colors the lines of one code block, in order.
#[derive(Debug, Clone)]
pub(super) struct Highlighter {
    language: Option<Language>,
    is_diff: bool,
    /// Whether a comment of several lines is open.
    is_in_comment: bool,
}

impl Highlighter {
    pub(super) fn new(name: &str) -> Self {
        let is_diff = matches!(name, "diff" | "patch");
        Self { language: language(name), is_diff, is_in_comment: false }
    }

    /// Returns the next line.
    pub(super) fn line(&mut self, text: &str) -> Line {
        if self.is_diff {
            let face = match text.as_bytes().first() {
                Some(b'+') => Face::GOOD,
                Some(b'-') => Face::BAD,
                Some(b'@') => Face::of(Color::Cyan),
                _ => Face::PLAIN,
            };
            return Line::new(text, face);
        }
        let Some(language) = self.language else { return Line::plain(text) };
        let mut line = Line::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (length, face) = self.token(&language, rest);
            let (token, after) = rest.split_at(length);
            line.push(token, face);
            rest = after;
        }
        line
    }

    /// Returns the length of the next token, and its face.
    fn token(&mut self, language: &Language, text: &str) -> (usize, Face) {
        if let Some((open, close)) = language.block_comment {
            let skipped = if self.is_in_comment { 0 } else { open.len() };
            if self.is_in_comment || text.starts_with(open) {
                let end = text[skipped..].find(close).map(|at| skipped + at + close.len());
                self.is_in_comment = end.is_none();
                return (end.unwrap_or(text.len()), COMMENT);
            }
        }
        if language.line_comments.iter().any(|mark| text.starts_with(mark)) {
            return (text.len(), COMMENT);
        }
        let Some(first) = text.chars().next() else { return (0, Face::PLAIN) };
        if language.quotes.contains(first) {
            return (string(text, first), STRING);
        }
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        if !is_word(first) {
            let end = text.find(|it| {
                is_word(it)
                    || language.quotes.contains(it)
                    || it == '/'
                    || it == '#'
                    || it == '-'
                    || it == '<'
            });
            return (end.filter(|end| *end > 0).unwrap_or(first.len_utf8()), Face::PLAIN);
        }
        let end = text.find(|it| !is_word(it)).unwrap_or(text.len());
        let word = &text[..end];
        let face = match first {
            _ if language.keywords.split_whitespace().any(|it| it == word) => KEYWORD,
            '0'..='9' => NUMBER,
            _ if text[end..].starts_with('(') => NAME,
            _ => Face::PLAIN,
        };
        (end, face)
    }
}

/// Returns the length of a string that may end at the end of the line.
fn string(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_strings_numbers_and_comments_have_colors() {
        let mut rust = Highlighter::new("rust");
        let expected = Line::new("let", KEYWORD)
            .with(" x = ", Face::PLAIN)
            .with("call", NAME)
            .with("(", Face::PLAIN)
            .with("\"a // b\"", STRING)
            .with(", ", Face::PLAIN)
            .with("12", NUMBER)
            .with("); ", Face::PLAIN)
            .with("// end", COMMENT);
        assert_eq!(rust.line("let x = call(\"a // b\", 12); // end"), expected);
        assert_eq!(rust.line("/* one"), Line::new("/* one", COMMENT));
        assert_eq!(
            rust.line("two */ fn"),
            Line::new("two */", COMMENT).with(" ", Face::PLAIN).with("fn", KEYWORD)
        );
    }

    #[test]
    fn every_line_keeps_its_text() {
        let lines = ["", "  a < b", "\"open", "ü = '日本' # x", "x\\", "a--b", "/", "<!-- a", "'", "`"];
        for name in ["rust", "py", "js", "sql", "html", "css", "diff", "sh", "unknown", ""] {
            let mut highlighter = Highlighter::new(name);
            for line in lines {
                assert_eq!(highlighter.line(line).text(), line, "{name}");
            }
        }
    }
}
