//! Searches in small directory trees.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::Grep;
use crate::builtin::testing::Scene;

fn scene() -> Scene {
    let scene = Scene::with(&[
        ("a.rs", "fn one() {}\nlet x = 1;\nfn two() {}\n"),
        ("b.txt", "nothing\nFN three\n"),
        ("node_modules/m.js", "fn four"),
        (".hidden/h.rs", "fn five"),
        ("ignored/i.rs", "fn six"),
        (".git/HEAD", "fn seven"),
        (".gitignore", "ignored\n"),
    ]);
    scene.write("binary", b"fn \0 eight");
    scene
}

async fn search(input: Value) -> String {
    scene().run(&Grep, input).await.client_text()
}

#[tokio::test]
async fn files_are_found_hidden_ones_too_but_not_ignored_or_binary_ones() {
    assert_eq!(search(json!({"pattern": "^fn "})).await, "./.hidden/h.rs\n./a.rs\n./node_modules/m.js");
}

#[tokio::test]
async fn lines_are_shown_with_or_without_numbers() {
    let lines =
        search(json!({"pattern": "fn \\w+", "output_mode": "content", "path": ".", "glob_pattern": "a.*"}))
            .await;
    assert_eq!(lines, "./a.rs:fn one() {}\n./a.rs:fn two() {}");
    let numbered =
        json!({"pattern": "x", "output_mode": "content", "line_numbers": true, "type": "rust", "context": 1});
    assert_eq!(search(numbered).await, "./a.rs-1-fn one() {}\n./a.rs:2:let x = 1;\n./a.rs-3-fn two() {}");
    let single = scene();
    let input = json!({"pattern": "fn", "output_mode": "content", "path": single.path("a.rs")});
    assert_eq!(single.run(&Grep, input).await.client_text(), "fn one() {}\nfn two() {}");
}

#[tokio::test]
async fn case_fixed_string_and_multiline_are_respected() {
    assert_eq!(search(json!({"pattern": "fn three", "case_insensitive": true})).await, "./b.txt");
    assert_eq!(search(json!({"pattern": "one()", "fixed_string": true})).await, "./a.rs");
    let input =
        json!({"pattern": "one.*two", "multiline": true, "output_mode": "content", "line_numbers": true});
    assert_eq!(search(input).await, "./a.rs:1:fn one() {}\n./a.rs:2:let x = 1;\n./a.rs:3:fn two() {}");
}

#[tokio::test]
async fn files_are_named_as_seen_from_the_folder_that_is_searched() {
    let scene = Scene::with(&[("sub/deep/f", "hit\n")]);
    for (path, expected) in [(".", "./sub/deep/f"), ("sub", "./deep/f")] {
        let found = scene.run(&Grep, json!({"pattern": "hit", "path": path})).await;
        assert_eq!(found.client_text(), expected);
    }
}

#[tokio::test]
async fn groups_are_split() {
    let text: String = (1..=20)
        .map(|number| if number % 10 == 0 { "hit\n".to_owned() } else { format!("{number}\n") })
        .collect();
    let scene = Scene::with(&[("f", &text)]);
    let input = json!({"pattern": "hit", "output_mode": "content", "context_before": 1, "path": "f"});
    assert_eq!(scene.run(&Grep, input).await.client_text(), "9\nhit\n--\n19\nhit");
}

#[tokio::test]
async fn matches_are_limited_with_a_note_for_the_model() {
    let scene = Scene::with(&[("f", &"hit\n".repeat(1542))]);
    let output = scene.run(&Grep, json!({"pattern": "hit", "output_mode": "content"})).await;
    assert_eq!(output.client_text().lines().count(), 500);
    assert!(
        output.model_text().ends_with("[... stopped after 500 matches; use a narrower pattern or path ...]")
    );
    let output = scene.run(&Grep, json!({"pattern": "hit", "output_mode": "content", "head_limit": 3})).await;
    assert_eq!(output.client_text().lines().count(), 3);
}

#[tokio::test]
async fn invalid_arguments_are_errors() {
    assert_eq!(search(json!({"pattern": "nowhere to be found"})).await, "No matching files found");
    let scene = scene();
    let bad = scene.run(&Grep, json!({"pattern": "("})).await;
    assert_eq!((bad.client_text().as_str(), bad.is_error), ("Error: Failed to search files", true));
    assert!(bad.model_text().contains("unclosed group"), "{}", bad.model_text());
    assert!(scene.run(&Grep, json!({"pattern": "x", "path": "nowhere"})).await.is_error);
    assert!(scene.run(&Grep, json!({"pattern": "x", "type": "klingon"})).await.is_error);
    assert!(scene.run(&Grep, json!({"pattern": "x", "path": "/etc"})).await.is_error, "outside");
}

#[tokio::test]
async fn links_out_are_not_searched_and_long_lines_are_cut() {
    let scene = Scene::with(&[("wide", &format!("needle{}", "x".repeat(100_000)))]);
    fs_err::write(scene.outside().join("secret"), "needle").unwrap();
    symlink(scene.outside().join("secret"), scene.path("link")).unwrap();
    let output = scene.run(&Grep, json!({"pattern": "needle", "output_mode": "content"})).await;
    assert!(output.client_text().len() < 3000);
    assert!(
        output.client_text().starts_with("./wide:needle")
            && output.client_text().ends_with("[... long line ...]")
    );
}
