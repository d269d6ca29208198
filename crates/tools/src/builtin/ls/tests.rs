//! Directories, files, and missing paths.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Ls;
use crate::builtin::testing::TestWorkspace;

#[tokio::test]
async fn folder_is_listed_with_hidden_entries_and_links() {
    let scene = TestWorkspace::with(&[("b.txt", "hello"), (".hidden", ""), ("sub/x", "")]);
    symlink("b.txt", scene.path("link")).unwrap();
    let text = scene.run(&Ls, json!({})).await.client_text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("total "));
    let names: Vec<&str> =
        lines[1..].iter().map(|line| line.split_once(':').unwrap().1[3..].trim()).collect();
    assert_eq!(names, [".", "..", ".hidden", "b.txt", "link -> b.txt", "sub"]);
    assert!(lines[4].starts_with("-rw") && lines[4].contains(" 5 "), "{}", lines[4]);
    assert!(lines[5].starts_with("lrwxrwxrwx") && lines[6].starts_with("drwx"));
}

#[tokio::test]
async fn patterns_leave_out_names() {
    let scene = TestWorkspace::with(&[("a.rs", ""), ("a.txt", ""), ("target/x", "")]);
    let text = scene.run(&Ls, json!({"ignorePatterns": ["*.txt", "target/"]})).await.client_text();
    assert!(text.contains("a.rs") && !text.contains("a.txt") && !text.contains("target"), "{text}");
}

#[tokio::test]
async fn empty_directory_missing_path_and_single_file() {
    let scene = TestWorkspace::with(&[("sub/x", "")]);
    fs_err::create_dir(scene.path("empty")).unwrap();
    assert_eq!(scene.run(&Ls, json!({"directory_path": "empty"})).await.client_text(), "Empty directory");
    let missing = scene.run(&Ls, json!({"directory_path": "nowhere"})).await;
    assert_eq!((missing.client_text().as_str(), missing.is_error), ("Error: Failed to list directory", true));
    assert!(missing.model_text().contains("no such file or directory"));
    let single = scene.run(&Ls, json!({"directory_path": scene.path("sub/x")})).await;
    assert!(single.client_text().ends_with("/sub/x"), "{}", single.client_text());
    assert!(scene.run(&Ls, json!({"directory_path": "/"})).await.is_error, "outside");
}

#[tokio::test]
async fn name_with_a_newline_stays_on_its_line() {
    let scene = TestWorkspace::with(&[("a\nb", "")]);
    assert!(scene.run(&Ls, json!({})).await.client_text().ends_with("a?b"));
}

#[tokio::test]
async fn long_listing_is_shortened_and_a_file_has_all_of_it() {
    let scene = TestWorkspace::new();
    for number in 0..3000 {
        scene.write(&format!("f{number:05}"), "");
    }
    let text = scene.run(&Ls, json!({})).await.model_text();
    assert!(text.starts_with("total ") && text.len() < 21_000, "{}", text.len());
    assert!(text.contains("[Found 3000 entries. Shown: lines 1-"), "{}", &text[text.len() - 400..]);
    let path = text.split_once("All lines are in ").unwrap().1.split_once(':').unwrap().0;
    assert_eq!(fs_err::read_to_string(path).unwrap().lines().count(), 3003);
}
