//! `cargo xtask book`: builds the guide as a book, and checks that its search finds what readers look for.
//!
//! mdbook comes from the registry of crates, since no package registry has its binary. It is built once, without optimizing, which
//! takes half of the time, and kept beside the peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use fs_err as fs;
use testkit::peers::cache_dir;

use crate::cargo::cargo;
use crate::ci::succeed;

const VERSION: &str = "0.5.4";
const BOOK: &str = "target/guide";
/// Words that a user would search for, each on another page.
const SEARCHED: [&str; 6] = ["autonomy", "sandbox", "archive", "timeout", "retry", "proxy"];

/// Builds the book; fails if a page is missing in it, or if its search index does not have the words.
pub(crate) fn run() -> Result<()> {
    let mdbook = mdbook()?;
    // pages of an earlier build would hide that one is missing
    if Path::new(BOOK).exists() {
        fs::remove_dir_all(BOOK)?;
    }
    succeed(Command::new(&mdbook).args(["build", "docs"]))?;
    for page in pages(&fs::read_to_string("docs/SUMMARY.md")?) {
        // mdbook names the page of a directory as web servers do
        let page = Path::new(page).with_extension("html");
        let page = if page.ends_with("README.html") { page.with_file_name("index.html") } else { page };
        let built = Path::new(BOOK).join(page);
        if !built.is_file() {
            bail!("the book has no page `{}`", built.display());
        }
    }
    let index = search_index()?;
    let missing: Vec<_> = SEARCHED.into_iter().filter(|word| !index.contains(word)).collect();
    if !missing.is_empty() {
        bail!("the search index does not have {}", missing.join(", "));
    }
    Ok(())
}

/// Returns the pages that the summary links to.
fn pages(summary: &str) -> Vec<&str> {
    let links = summary.lines().filter_map(|line| line.rsplit_once("](")?.1.strip_suffix(')'));
    links.collect()
}

/// Returns the content of the search index.
fn search_index() -> Result<String> {
    for entry in fs::read_dir(BOOK)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("searchindex") && path.extension().is_some_and(|ending| ending == "js") {
            return Ok(fs::read_to_string(path)?);
        }
    }
    bail!("the book has no search index")
}

/// Returns the program, which is built first if this machine does not have this version.
fn mdbook() -> Result<PathBuf> {
    let peers = cache_dir()?;
    let root = peers.parent().unwrap_or(&peers).join(format!("tools/mdbook-{VERSION}"));
    let program = root.join("bin/mdbook");
    if !program.is_file() {
        println!("  building mdbook {VERSION} ...");
        let arguments = ["install", "mdbook", "--version", VERSION, "--locked", "--debug"];
        let mut install = cargo(&arguments);
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&root);
        succeed(&mut install).context("cannot build mdbook")?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_summary_are_its_links() {
        let summary = "# Summary\n\n[The guide](README.md)\n- [A `b`](guide/a.md)\n\ntext\n";
        assert_eq!(pages(summary), ["README.md", "guide/a.md"]);
    }
}
