//! Checks that the functions, types and files named in the documents exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

/// Compares the documents with the sources; returns one line per missing name.
pub(crate) fn problems(sources: &[PathBuf]) -> Result<Vec<String>> {
    let checked = |page: &Path| !page.starts_with("crates") && page != Path::new("CHANGELOG.md");
    let pages = pages()?.into_iter().filter(|page| checked(page));
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

/// Returns all Markdown pages of the project.
pub(crate) fn pages() -> Result<Vec<PathBuf>> {
    let root = ["AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"];
    let mut pages: Vec<_> = root.map(PathBuf::from).into_iter().filter(|page| page.is_file()).collect();
    for folder in ["crates", "docs"] {
        markdown(Path::new(folder), &mut pages)?;
    }
    Ok(pages)
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

/// Returns the identifiers of the code, without comments.
fn identifiers(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| c != '_' && !c.is_alphanumeric()))
}

/// Returns the text between single backticks, with line numbers. Fenced blocks are tested by running them.
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

/// Returns the paths that a code span with a list in braces names, such as `src/{one,two}.rs`. Lists are not nested.
fn expanded(span: &str) -> Vec<String> {
    let parts = span.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (list, after))) if list.contains(',') => {
            let one = |name: &str| expanded(&format!("{before}{}{after}", name.trim()));
            list.split(',').flat_map(one).collect()
        }
        _ => vec![span.to_owned()],
    }
}

/// Returns what is missing, if a code span names a directory or files of this project that do not exist.
fn missing_path(span: &str, sources: &[PathBuf]) -> Option<String> {
    if span.contains(['*', ' ', '<', '~', '$']) || span.starts_with(['/', '.']) {
        return None;
    }
    for path in expanded(span) {
        if path.contains(['{', '}']) {
            return None;
        }
        let is_there = if let Some(directory) = path.strip_suffix('/') {
            // only with the name of a crate or of its sources: other directories are those of users
            let wanted = Path::new(directory);
            let is_ours = directory.split('/').any(|part| part == "src" || part == "tests");
            !is_ours
                || sources.iter().any(|file| file.ancestors().skip(1).any(|above| above.ends_with(wanted)))
        } else if Path::new(&path).extension().is_some_and(|extension| extension == "rs") {
            sources.iter().any(|file| file.ends_with(&path))
        } else {
            true
        };
        if !is_there {
            let what = if path.ends_with('/') { "directory" } else { "file" };
            return Some(if path == span {
                format!("the {what} does not exist")
            } else {
                format!("the {what} {path} does not exist")
            });
        }
    }
    None
}

/// Returns what is missing, if a code span names a path or an item of this project that does not exist.
fn missing(span: &str, words: &BTreeSet<String>, sources: &[PathBuf]) -> Option<String> {
    if let Some(problem) = missing_path(span, sources) {
        return Some(problem);
    }
    if Path::new(span).extension().is_some_and(|extension| extension == "rs")
        && !span.contains(['{', '*', ' ', '<'])
    {
        return None;
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
    Some(format!("no item in the sources is named {unknown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_exist_are_found() {
        let words =
            identifiers("// gone()\npub fn run(self) {}\nstruct Session;").map(str::to_owned).collect();
        let sources = [PathBuf::from("crates/sdk/src/run.rs")];
        for fine in [
            "run()",
            "Session::run",
            ".run()",
            "run::<T>()",
            "sdk/src/run.rs",
            "run.rs",
            "run(a b)",
            "ls",
            "sdk/src/",
            "src/",
            "node_modules/",
            "sdk/{src,lib}",
            "sdk/src/{run}.rs",
            "sdk/src/<name>/",
        ] {
            assert_eq!(missing(fine, &words, &sources), None, "{fine}");
        }
        for wrong in [
            "gone()",
            "Session::gone",
            "Gone::run",
            ".gone()",
            "gone::<T>()",
            "acp/src/run.rs",
            "sdk/src/run/",
            "acp/src/",
            "sdk/src/{run,gone}.rs",
            "sdk/{src,tests}/",
        ] {
            assert!(missing(wrong, &words, &sources).is_some(), "{wrong}");
        }
    }

    #[test]
    fn code_in_a_fence_is_left_to_its_own_test() {
        let page = "A `b` c `d`.\n```rust\nlet x = `e`;\n```\n`f`";
        assert_eq!(code_spans(page), [(1, "b"), (1, "d"), (5, "f")]);
    }
}
