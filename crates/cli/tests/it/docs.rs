//! The documents: their shell lines work, their links lead somewhere, their promises have tests.

mod links;
mod promises;
mod run;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All pages: those at the root, and everything below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md"]
        .map(|name| root().join(name))
        .into();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn name(page: &Path) -> String {
    page.strip_prefix(root()).unwrap().display().to_string()
}
