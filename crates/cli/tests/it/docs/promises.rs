//! All tests that the promises name exist.

use std::path::{Path, PathBuf};

use super::root;

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let page = fs_err::read_to_string(root().join("docs/guide/promises.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|')).skip(2);
    let proofs: Vec<Vec<String>> = rows
        .map(|row| {
            let proof = row.trim_end_matches(['|', ' ']).rsplit_once('|').unwrap().1;
            proof.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        })
        .collect();
    assert!(proofs.len() > 5 && proofs.iter().all(|names| !names.is_empty()), "{proofs:?}");

    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let sources: Vec<String> = files.iter().map(|file| fs_err::read_to_string(file).unwrap()).collect();
    let is_there = |name: &str| {
        let (function, listed) = (format!("fn {name}("), format!(" {name},"));
        sources.iter().any(|source| source.contains(&function) || source.contains(&listed))
    };
    let missing: Vec<_> = proofs.iter().flatten().filter(|name| !is_there(name)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}
