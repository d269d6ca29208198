//! `cargo xtask packages`: checks that every published crate has the fields and files that docs.rs and the registry require, and packages
//! them all in dependency order.
//!
//! The packages are not built, which would take as long as a release; CONTRIBUTING.md has the command that does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::cargo;

/// Each crate has its own copy, because only the directory of the crate is published.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    description: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    license: Option<String>,
    repository: Option<String>,
    readme: Option<PathBuf>,
    manifest_path: PathBuf,
    /// `Some([])` for a crate that is not published.
    publish: Option<Vec<String>>,
}

/// Checks all crates of the workspace.
pub(crate) fn run() -> Result<()> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot parse the output of `cargo metadata`")?;
    let published: Vec<_> =
        metadata.packages.iter().filter(|package| package.publish.as_deref() != Some(&[])).collect();
    let missing: Vec<_> = published.iter().flat_map(|package| missing(package, is_complete)).collect();
    for line in &missing {
        println!("{line}");
    }
    if !missing.is_empty() {
        bail!("cannot publish: {} missing fields or files", missing.len());
    }
    package(&metadata.packages)?;
    println!("{} crates can be published", published.len());
    Ok(())
}

/// Makes the archives, as publishing would: a file or a dependency that the registry could not resolve is an error.
fn package(all: &[Package]) -> Result<()> {
    let ours = all.iter().filter(|package| package.publish.as_deref() == Some(&[]));
    let excluded: Vec<&str> = ours.flat_map(|package| ["--exclude", package.name.as_str()]).collect();
    // the tree is checked as it is, also before a commit
    let flags = ["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"];
    let output = cargo(&[flags.as_slice(), &excluded].concat()).output()?;
    if !output.status.success() {
        bail!("cannot package the crates: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Whether a file is there. A licence must have the text of the one in the root: a link that was copied as a file has not.
fn is_complete(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if !name.starts_with("LICENSE") {
        return path.is_file();
    }
    fs_err::read(path).ok().is_some_and(|text| fs_err::read(name).ok() == Some(text))
}

fn missing(package: &Package, is_file: impl Fn(&Path) -> bool) -> Vec<String> {
    let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
    let fields = [
        ("description", package.description.is_none()),
        // the registry accepts at most five
        ("one to five keywords", !(1..=5).contains(&package.keywords.len())),
        ("categories", package.categories.is_empty()),
        ("license", package.license.is_none()),
        ("repository", package.repository.is_none()),
        ("readme", package.readme.is_none()),
    ];
    let fields = fields.into_iter().filter(|(_, is_missing)| *is_missing).map(|(field, _)| field);
    let files = FILES.into_iter().filter(|file| !is_file(&folder.join(file)));
    fields.chain(files).map(|what| format!("{}: missing {what}", package.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_missing_is_reported() {
        let complete = Package {
            name: "x".to_owned(),
            description: Some("X".to_owned()),
            keywords: vec!["x".to_owned()],
            categories: vec!["x".to_owned()],
            license: Some("MIT".to_owned()),
            repository: Some("x".to_owned()),
            readme: Some("README.md".into()),
            manifest_path: "/x/Cargo.toml".into(),
            publish: None,
        };
        assert_eq!(missing(&complete, |_| true), Vec::<String>::new());
        assert_eq!(missing(&complete, |path| path != Path::new("/x/README.md")), ["x: missing README.md"]);
        let poor = Package { keywords: vec!["x".to_owned(); 6], readme: None, ..complete };
        assert_eq!(missing(&poor, |_| true), ["x: missing one to five keywords", "x: missing readme"]);
    }
}
