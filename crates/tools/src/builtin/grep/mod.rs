//! Grep: finds matching lines or files, in this process, with the crates of ripgrep.

mod lines;
mod spec;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::advice::with_advice;
use crate::limits::{MAX_COUNTED_MATCHES, MAX_GREP_BYTES, MAX_GREP_MATCHES};
use crate::long_result::List;
use crate::{Action, Context, FileKind, Input, Part, Resolved, Run, Tool, ToolInfo, ToolOutput, input};
use lines::{Lines, Style};

/// Searches files.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob_pattern: Option<String>,
    output_mode: Option<String>,
    #[serde(default)]
    case_insensitive: Option<bool>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "input::count")]
    context_before: Option<u64>,
    #[serde(default, deserialize_with = "input::count")]
    context_after: Option<u64>,
    #[serde(default, deserialize_with = "input::count")]
    context: Option<u64>,
    line_numbers: Option<bool>,
    #[serde(default, deserialize_with = "input::count")]
    head_limit: Option<u64>,
    multiline: Option<bool>,
    fixed_string: Option<bool>,
}

impl Tool for Grep {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::Read { path: input::path_or_workspace(input, "path"), is_recursive: true })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |cancel| run(&arguments, &context, cancel)).await,
                Err(output) => output,
            }
        })
    }
}

fn run(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    let failed =
        |reason: String| ToolOutput::error("Failed to search files", &format!("Search failed: {reason}"));
    let matcher = match matcher(arguments) {
        Ok(matcher) => matcher,
        Err(error) => {
            return failed(format!(
                "invalid pattern: {error}. Correct it, or set `fixed_string` to search for plain text."
            ));
        }
    };
    let path = arguments.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
    let resolved = match context.workspace.reach(path, &context.access) {
        Ok(resolved) => resolved,
        Err(error) => return failed(with_advice(&error)),
    };
    let mut search =
        Search { matcher, searcher: searcher(arguments), arguments, context, found: Found::new(arguments) };
    match resolved.kind {
        FileKind::Missing => {
            return failed(format!("`{path}` does not exist. Use LS or Glob to find the path."));
        }
        FileKind::Special => {
            return failed(format!(
                "`{path}` is a pipe, socket or device and cannot be searched. Use LS to find a file."
            ));
        }
        FileKind::File => search.file(&resolved.path, None),
        FileKind::Folder => {
            if let Err(error) = search.folder(&resolved.path, cancel) {
                return failed(with_advice(&std::io::Error::other(error)));
            }
        }
    }
    search.found.output(context)
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, grep_regex::Error> {
    let is_multiline = arguments.multiline.unwrap_or(false);
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(arguments.case_insensitive.unwrap_or(false))
        .fixed_strings(arguments.fixed_string.unwrap_or(false))
        .multi_line(true)
        .dot_matches_new_line(is_multiline)
        .size_limit(64 << 20)
        .dfa_size_limit(64 << 20);
    if !is_multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&arguments.pattern)
}

fn searcher(arguments: &Arguments) -> Searcher {
    let around = |own: Option<u64>| {
        let lines = own.or(arguments.context).unwrap_or(0).min(MAX_GREP_MATCHES as u64);
        usize::try_from(lines).unwrap_or(0)
    };
    SearcherBuilder::new()
        .multi_line(arguments.multiline.unwrap_or(false))
        .line_number(true)
        .before_context(around(arguments.context_before))
        .after_context(around(arguments.context_after))
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(64 << 20))
        .build()
}

struct Search<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    arguments: &'a Arguments,
    context: &'a Context,
    found: Found,
}

impl Search<'_> {
    fn folder(&mut self, root: &Path, cancel: &CancellationToken) -> Result<(), ignore::Error> {
        let mut overrides = OverrideBuilder::new(root);
        if let Some(glob) = self.arguments.glob_pattern.as_deref().filter(|glob| !glob.is_empty()) {
            overrides.add(glob)?;
        }
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false)
            .overrides(overrides.build()?)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(|entry| entry.file_name() != ".git");
        // the table of file types is large, so it is built only if the call names a type
        if let Some(kind) = self.arguments.kind.as_deref().filter(|kind| !kind.is_empty()) {
            walk.types(TypesBuilder::new().add_defaults().select(kind).build()?);
        }
        for entry in walk.build() {
            if cancel.is_cancelled() || self.found.is_full() {
                break;
            }
            // entries that cannot be read are skipped, as ripgrep skips them
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                // permission to search a directory is none to read its secrets
                if self.context.secrets.holds(entry.path()) {
                    self.found.secret = self.found.secret.take().or_else(|| Some(entry.into_path()));
                    self.found.secrets += 1;
                    continue;
                }
                self.file(entry.path(), Some(root));
            }
        }
        Ok(())
    }

    /// Searches one file. Its displayed name is relative to `below`, the directory that is searched.
    fn file(&mut self, path: &Path, below: Option<&Path>) {
        // an entry that has meanwhile become a link or a pipe is not opened
        let Ok(file) = Resolved::found(path).open() else { return };
        let name = below.and_then(|root| path.strip_prefix(root).ok());
        let name = name.unwrap_or_else(|| self.context.workspace.shown(path));
        let name = format!("./{}", name.display());
        let style = Style {
            prefix: below.map(|_| name.as_str()),
            is_numbered: self.arguments.line_numbers.unwrap_or(false),
            wants_text: self.found.wants_lines,
        };
        let mut lines = Lines::new(style, &self.matcher, self.found.left());
        // an error in one file does not prevent results from the others
        if self.searcher.search_file(&self.matcher, &file, &mut lines).is_err() && lines.matches == 0 {
            return;
        }
        if lines.matches > 0 {
            // a name alone shows nothing of the content
            if self.found.wants_lines
                && let Ok(metadata) = file.metadata()
            {
                self.context.seen.add_found(path, &metadata);
            }
            self.found.add(&name, lines);
        }
    }
}

struct Found {
    wants_lines: bool,
    text: Vec<String>,
    bytes: usize,
    matches: usize,
    files: usize,
    /// The number of matches to find.
    limit: usize,
    /// The number of lines up to the last match that is shown, once it is found.
    shown_lines: Option<usize>,
    is_cut: bool,
    /// The number of files that were left out because they may hold credentials, and the first of them.
    secrets: usize,
    secret: Option<PathBuf>,
}

impl Found {
    fn new(arguments: &Arguments) -> Self {
        let limit = arguments.head_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Self {
            wants_lines: arguments.output_mode.as_deref() == Some("content"),
            text: Vec::new(),
            bytes: 0,
            matches: 0,
            files: 0,
            limit: limit.unwrap_or(MAX_COUNTED_MATCHES).min(MAX_COUNTED_MATCHES),
            shown_lines: None,
            is_cut: false,
            secrets: 0,
            secret: None,
        }
    }

    fn left(&self) -> usize {
        if self.bytes > MAX_GREP_BYTES { 0 } else { self.limit.saturating_sub(self.matches) }
    }

    fn is_full(&self) -> bool {
        self.left() == 0
    }

    fn add(&mut self, name: &str, lines: Lines<'_>) {
        self.files += 1;
        if !self.wants_lines {
            self.text.push(name.to_owned());
            self.matches += 1;
            return;
        }
        if !self.text.is_empty() && lines.has_context {
            self.text.push("--".to_owned());
        }
        let last_shown = MAX_GREP_MATCHES.saturating_sub(self.matches + 1);
        if let Some(end) = lines.match_ends.get(last_shown).filter(|_| self.shown_lines.is_none()) {
            self.shown_lines = Some(self.text.len() + end);
        }
        self.matches += lines.matches;
        self.is_cut |= lines.is_cut;
        self.bytes += lines.bytes;
        self.text.extend(lines.text);
    }

    fn output(self, context: &Context) -> ToolOutput {
        let left_out = self.secret.as_deref().map(|first| {
            let first = context.workspace.shown(first).display().to_string();
            format!(
                "{} not searched because they may hold credentials, such as `{first}`. To search one, name it as `path`; the user is asked.",
                if self.secrets == 1 { "1 file was".to_owned() } else { format!("{} files were", self.secrets) }
            )
        });
        if self.text.is_empty() {
            let text = "No matching files found";
            return ToolOutput::text(left_out.map_or(text.to_owned(), |note| format!("{text}. {note}")));
        }
        let more = if self.is_cut || self.is_full() { "at least " } else { "" };
        let total = if self.wants_lines {
            format!("{more}{} matches in {} files", self.matches, self.files)
        } else {
            format!("{more}{} files", self.files)
        };
        let list = List {
            lines: self.text,
            max_lines: self.shown_lines.unwrap_or(usize::MAX),
            total,
            hint: "For a shorter result, use a narrower `pattern`, `path`, `glob_pattern` or `type`, or `output_mode` file_paths.",
        };
        let mut output = list.output(&context.scratch);
        if let Some(note) = left_out {
            output.for_model.push(Part::Text(note));
        }
        output
    }
}
