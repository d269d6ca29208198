//! Names in the documents: a function, a type or a file that is written about exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

/// Checks the documents against the sources: one line for each name that does not exist.
pub(crate) fn problems(sources: &[PathBuf]) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"] {
        pages.push(PathBuf::from(page));
    }
    markdown(Path::new("docs"), &mut pages)?;
    let mut words = BTreeSet::new();
    for source in sources {
        words.extend(identifiers(&fs::read_to_string(source)?).map(str::to_owned));
    }
    let mut found = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page)?;
        for (line, span) in code_spans(&text) {
            if let Some(missing) = missing(span, &words, sources) {
                found.push(format!("{}:{line}: `{span}`: {missing}", page.display()));
            }
        }
    }
    Ok(found)
}

fn markdown(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            markdown(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(())
}

/// The words of the code, not of its comments.
fn identifiers(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| c != '_' && !c.is_alphanumeric()))
}

/// What stands between single backticks, with the number of its line. Fenced blocks are tested by being run.
fn code_spans(page: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let mut spans = Vec::new();
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (index + 1, span)));
        }
    }
    spans
}

/// What does not exist of a code span that names something of ours.
fn missing(span: &str, words: &BTreeSet<String>, sources: &[PathBuf]) -> Option<String> {
    if Path::new(span).extension().is_some_and(|extension| extension == "rs")
        && !span.contains(['{', '*', ' ', '<'])
    {
        let is_there = sources.iter().any(|file| file.ends_with(span));
        return (!is_there).then(|| "there is no such file".to_owned());
    }
    let path = span.strip_prefix('.').unwrap_or(span);
    let path = path.split_once('(').map_or(path, |(path, _)| path);
    let path = path.split_once("::<").map_or(path, |(path, _)| path);
    let is_call = span.ends_with(')') && !span.contains(' ');
    let is_path = path.contains("::");
    let is_identifier = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    let mut parts = path.split("::").filter(|part| !part.is_empty());
    if !(is_call || is_path) || !parts.clone().all(is_identifier) {
        return None;
    }
    let unknown = parts.find(|part| !words.contains(*part))?;
    Some(format!("nothing in the sources is called {unknown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_exist_are_found() {
        let words =
            identifiers("// gone()\npub fn run(self) {}\nstruct Session;").map(str::to_owned).collect();
        let sources = [PathBuf::from("crates/sdk/src/run.rs")];
        for fine in
            ["run()", "Session::run", ".run()", "run::<T>()", "sdk/src/run.rs", "run.rs", "run(a b)", "ls"]
        {
            assert_eq!(missing(fine, &words, &sources), None, "{fine}");
        }
        for wrong in ["gone()", "Session::gone", "Gone::run", ".gone()", "gone::<T>()", "acp/src/run.rs"] {
            assert!(missing(wrong, &words, &sources).is_some(), "{wrong}");
        }
    }

    #[test]
    fn code_in_a_fence_is_left_to_its_own_test() {
        let page = "A `b` c `d`.\n```rust\nlet x = `e`;\n```\n`f`";
        assert_eq!(code_spans(page), [(1, "b"), (1, "d"), (5, "f")]);
    }
}
