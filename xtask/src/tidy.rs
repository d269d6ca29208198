//! `cargo xtask tidy`: checks file headers, white space, words, standard terms and documents.
//!
//! It also shows the longest files, for information only.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use fs_err as fs;

/// The page that must name every method and notification of the protocol.
const PROTOCOL_PAGE: &str = "docs/protocol/droid.md";

/// Checks all Rust files, the names in the documents, and the protocol page.
pub(crate) fn run() -> Result<()> {
    let mut files = Vec::new();
    for root in ["crates", "xtask", "fuzz/fuzz_targets"] {
        rust_files(Path::new(root), &mut files)?;
    }
    let mut problems = Vec::new();
    let mut sizes = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file)?;
        problems.extend(blemishes(file, &text));
        sizes.push((text.lines().count(), file));
    }
    problems.extend(crate::prose::problems(&files)?);
    problems.extend(crate::language::problems(files.iter().chain(&crate::prose::pages()?))?);
    problems.extend(crate::terms::problems()?);
    problems.extend(undocumented(&fs::read_to_string(PROTOCOL_PAGE)?));

    sizes.sort_unstable_by(|a, b| b.cmp(a));
    println!("{} files; the longest:", files.len());
    for (lines, file) in sizes.iter().take(5) {
        println!("{lines:>6}  {}", file.display());
    }
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} problems to fix", problems.len());
    }
    Ok(())
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

fn blemishes(file: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_test = file.ends_with("tests.rs");
    if !is_test && !text.starts_with("//!") && !text.starts_with("#!") {
        found.push(format!("{}:1: must start with `//!` and the job of the file", file.display()));
    }
    for (number, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            found.push(format!("{}:{}: trailing white space", file.display(), number + 1));
        }
        for word in ["FIXME", "XXX", "#[ignore"] {
            // the word occurs in this file, and nowhere else
            if line.contains(word) && !file.ends_with("tidy.rs") {
                found.push(format!("{}:{}: {word}", file.display(), number + 1));
            }
        }
    }
    found
}

fn undocumented(page: &str) -> Vec<String> {
    let names = musher_wire::METHODS.iter().chain(musher_wire::SessionNotification::KNOWN);
    let missing = names.filter(|name| !page.contains(&format!("`{name}`")));
    missing.map(|name| format!("{PROTOCOL_PAGE}: does not name `{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_headers_trailing_spaces_and_todo_notes_are_found() {
        let file = Path::new("a/b.rs");
        assert_eq!(blemishes(file, "//! Good.\n"), Vec::<String>::new());
        assert_eq!(blemishes(file, "use x;\n"), ["a/b.rs:1: must start with `//!` and the job of the file"]);
        assert_eq!(blemishes(file, "//! Good.\nlet x; \n"), ["a/b.rs:2: trailing white space"]);
        assert_eq!(blemishes(file, "//! Good.\n// FIXME\n"), ["a/b.rs:2: FIXME"]);
    }

    #[test]
    fn method_missing_in_the_docs_is_found() {
        let all = musher_wire::METHODS.len() + musher_wire::SessionNotification::KNOWN.len();
        assert_eq!(undocumented("").len(), all);
        assert_eq!(undocumented("`droid.ask_user`").len(), all - 1);
    }
}
