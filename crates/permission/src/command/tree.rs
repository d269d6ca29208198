//! Finds every simple command of a line with the shell's grammar, also inside loops, substitutions and functions.
//!
//! Reports what the line contains, not what it means. Anything the parser is not sure of is reported, never skipped.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::word::{Word, read_word};

/// Maximum nesting of a line.
const MAX_DEPTH: usize = 100;

/// The parser reports progress every hundred steps; after this many reports it is stopped. Long valid lines need half of it.
const MAX_PROGRESS_REPORTS: usize = 150;

/// One effect of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Runs a command.
    Command {
        words: Vec<Word>,
        /// Whether it may run more than once.
        is_repeated: bool,
    },
    /// Sets a variable, for one command or for all that follow.
    Assign { name: String },
    /// Opens a file.
    Redirect { is_write: bool, target: Word },
    /// Defines a function: its name no longer means the program of that name.
    Function {
        /// Whether it calls itself.
        is_recursive: bool,
    },
    /// Evaluates a text that may run something.
    Evaluate,
    /// Any other construct beyond lists of simple commands.
    Structure,
}

/// Returns the steps of a line. `None` if the parser is not sure of it.
pub(super) fn read_steps(source: &str, home: &str) -> Option<Vec<Step>> {
    if is_deep(source) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    // stop at the first error, because hostile lines can keep the parser busy for long
    let mut looks = 0;
    let mut look = |state: &ParseState| {
        looks += 1;
        if state.has_error() || looks > MAX_PROGRESS_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut look);
    let ascii = in_ascii(source);
    let mut text = |at: usize, _| ascii.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut text, None, Some(options))?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut walk = Walk { source, home, steps: Vec::new() };
    walk.node(root, false, 0)?;
    Some(walk.steps)
}

/// Returns the line for the parser: characters beyond ASCII are replaced by ordinary ones, at the same positions.
///
/// For the shell such characters are always part of words. The parser passes them to functions of the C library that do not accept them,
/// and the process crashes: `{` followed by an emoji is enough.
fn in_ascii(source: &str) -> Vec<u8> {
    source.bytes().map(|byte| if byte.is_ascii() { byte } else { b'%' }).collect()
}

/// Returns whether brackets nest deeper than in any real line, quoted or not. Deep nesting makes the parser slow.
fn is_deep(source: &str) -> bool {
    let mut depth: usize = 0;
    source.bytes().any(|byte| {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

struct Walk<'a> {
    source: &'a str,
    home: &'a str,
    steps: Vec<Step>,
}

impl Walk<'_> {
    fn text(&self, from: usize, to: usize) -> &str {
        self.source.get(from..to).unwrap_or_default()
    }

    /// `None` if the tree is too deep or has missing nodes.
    fn node(&mut self, node: Node<'_>, is_repeated: bool, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || node.is_error() || node.is_missing() {
            return None;
        }
        match node.kind() {
            "program" | "list" | "pipeline" | "redirected_statement" => {
                let mut cursor = node.walk();
                let is_background =
                    node.children(&mut cursor).any(|child| matches!(child.kind(), "&" | "|&"));
                if is_background {
                    self.steps.push(Step::Structure);
                }
                self.children(node, is_repeated, depth)
            }
            "command" => self.command(node, is_repeated, depth),
            // text that the parser has not seen must not determine where another text ends
            "heredoc_start" | "heredoc_end" if !self.text(node.start_byte(), node.end_byte()).is_ascii() => {
                None
            }
            "file_redirect" => self.redirect(node, is_repeated, depth),
            "variable_assignment" => {
                let name = node.child_by_field_name("name");
                let name = name.map(|name| self.text(name.start_byte(), name.end_byte()).to_owned());
                self.steps.push(Step::Assign { name: name.unwrap_or_default() });
                self.children(node, is_repeated, depth)
            }
            "declaration_command" | "unset_command" => {
                let end = node.child(0).map_or(node.end_byte(), |name| name.end_byte());
                let name = self.text(node.start_byte(), end).to_owned();
                self.steps
                    .push(Step::Command { words: vec![Word::Literal(name), Word::Unknown], is_repeated });
                self.children(node, is_repeated, depth)
            }
            "function_definition" => {
                let before = self.steps.len();
                self.children(node, true, depth)?;
                let name = node.child_by_field_name("name");
                let name = name.map(|name| self.text(name.start_byte(), name.end_byte()).to_owned());
                let is_call = |step: &Step| {
                    let Step::Command { words, .. } = step else { return false };
                    words.first().and_then(Word::literal).is_some_and(|first| Some(first) == name.as_deref())
                };
                let is_recursive = self.steps[before..].iter().any(is_call);
                self.steps.push(Step::Function { is_recursive });
                Some(())
            }
            "for_statement" | "c_style_for_statement" | "while_statement" => {
                if let Some(variable) = node.child_by_field_name("variable") {
                    let name = self.text(variable.start_byte(), variable.end_byte()).to_owned();
                    self.steps.push(Step::Assign { name });
                }
                self.steps.push(Step::Structure);
                self.children(node, true, depth)
            }
            // names with an index are evaluated here, also in quotes
            "test_command" | "arithmetic_expansion" | "subscript" => {
                let text = self.text(node.start_byte(), node.end_byte());
                let inside = text.trim_start_matches('[').trim_end_matches(']');
                let is_hidden = node.kind() == "subscript"
                    || inside.contains(['`', '['])
                    || inside.matches("$(").count() > usize::from(inside.starts_with("$(("));
                self.steps.push(if is_hidden { Step::Evaluate } else { Step::Structure });
                self.children(node, is_repeated, depth)
            }
            // words and comments, with their content
            "word"
            | "raw_string"
            | "string"
            | "string_content"
            | "concatenation"
            | "number"
            | "comment"
            | "command_name"
            | "variable_name"
            | "special_variable_name"
            | "file_descriptor" => self.children(node, is_repeated, depth),
            _ => {
                if node.is_named() {
                    self.steps.push(Step::Structure);
                }
                self.children(node, is_repeated, depth)
            }
        }
    }

    fn children(&mut self, node: Node<'_>, is_repeated: bool, depth: usize) -> Option<()> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        children.into_iter().try_for_each(|child| self.node(child, is_repeated, depth + 1))
    }

    fn command(&mut self, node: Node<'_>, is_repeated: bool, depth: usize) -> Option<()> {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut cursor = node.walk();
        let mut is_more = cursor.goto_first_child();
        let mut others = Vec::new();
        while is_more {
            let child = cursor.node();
            if matches!(cursor.field_name(), Some("name" | "argument")) {
                let (from, to) = (child.start_byte(), child.end_byte());
                match spans.last_mut() {
                    // the shell joins adjacent parts to one word; a blank after a backslash belongs to it too
                    Some(last) if is_joined(self.text(last.1, from)) => last.1 = to,
                    _ => spans.push((from, to)),
                }
            }
            others.push(child);
            is_more = cursor.goto_next_sibling();
        }
        let words = spans.iter().map(|(from, to)| read_word(self.text(*from, *to), self.home)).collect();
        self.steps.push(Step::Command { words, is_repeated });
        others.into_iter().try_for_each(|child| self.node(child, is_repeated, depth + 1))
    }

    fn redirect(&mut self, node: Node<'_>, is_repeated: bool, depth: usize) -> Option<()> {
        let target = node.child_by_field_name("destination");
        let mut cursor = node.walk();
        let operator = node.children(&mut cursor).find(|child| !child.is_named()).map(|child| child.kind());
        let operator = operator.unwrap_or_default();
        let from = target.map_or(node.end_byte(), |target| target.start_byte());
        let target = read_word(self.text(from, node.end_byte()), self.home);
        let is_between = operator.ends_with('&')
            && target.literal().is_some_and(|target| {
                target == "-" || target.bytes().all(|byte| byte.is_ascii_digit()) && !target.is_empty()
            });
        let is_closing = operator.ends_with("&-");
        if is_between || is_closing {
            self.steps.push(Step::Structure);
        } else {
            let is_write = operator != "<";
            self.steps.push(Step::Redirect { is_write, target });
        }
        self.children(node, is_repeated, depth)
    }
}

/// Returns whether the text between two words does not separate them.
fn is_joined(gap: &str) -> bool {
    gap.replace("\\\n", "").is_empty() && !gap.contains('\n') || {
        let gap = gap.replace("\\\n", "");
        gap.contains('\\')
    }
}
