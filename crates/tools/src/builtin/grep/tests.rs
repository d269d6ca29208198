//! Searches in small directory trees.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::Grep;
use crate::builtin::testing::TestWorkspace;

fn scene() -> TestWorkspace {
    let scene = TestWorkspace::with(&[
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
    let scene = TestWorkspace::with(&[("sub/deep/f", "hit\n")]);
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
    let scene = TestWorkspace::with(&[("f", &text)]);
    let input = json!({"pattern": "hit", "output_mode": "content", "context_before": 1, "path": "f"});
    assert_eq!(scene.run(&Grep, input).await.client_text(), "9\nhit\n--\n19\nhit");
}

#[tokio::test]
async fn first_matches_are_shown_and_a_file_has_all_of_them() {
    let scene = TestWorkspace::with(&[("f", &"hit\n".repeat(1542))]);
    let output = scene.run(&Grep, json!({"pattern": "hit", "output_mode": "content"})).await;
    assert_eq!(output.client_text().lines().count(), 500);
    let text = output.model_text();
    assert!(
        text.contains("[Found 1542 matches in 1 files. Shown: lines 1-500 of 1542. All lines are in "),
        "{text}"
    );
    let path = text.split_once("All lines are in ").unwrap().1.split_once(':').unwrap().0;
    assert_eq!(fs_err::read_to_string(path).unwrap().lines().count(), 1542);
    let output = scene.run(&Grep, json!({"pattern": "hit", "output_mode": "content", "head_limit": 3})).await;
    assert_eq!(output.model_text().lines().count(), 3);
}

#[tokio::test]
async fn result_with_long_lines_is_bounded_and_each_line_shows_its_match() {
    let line = format!("{}needle{}\n", "x".repeat(2000), "y".repeat(700));
    let scene = TestWorkspace::with(&[("f", &line.repeat(600))]);
    let text = scene.run(&Grep, json!({"pattern": "needle", "output_mode": "content"})).await.model_text();
    assert!(text.len() < 21_000, "{}", text.len());
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("./f:[...] xxx")
            && first.contains("needleyyy")
            && first.ends_with("[... long line ...]"),
        "{first}"
    );
    assert!(text.contains("[Found 600 matches in 1 files."));
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
    let scene = TestWorkspace::with(&[("wide", &format!("needle{}", "x".repeat(100_000)))]);
    fs_err::write(scene.outside().join("secret"), "needle").unwrap();
    symlink(scene.outside().join("secret"), scene.path("link")).unwrap();
    let output = scene.run(&Grep, json!({"pattern": "needle", "output_mode": "content"})).await;
    assert!(output.client_text().len() < 3000);
    assert!(
        output.client_text().starts_with("./wide:needle")
            && output.client_text().ends_with("[... long line ...]")
    );
}

#[tokio::test]
async fn secrets_are_left_out_unless_they_are_named() {
    let scene = TestWorkspace::with(&[("a.txt", "KEY=1\n"), (".env", "KEY=2\n"), ("certs/x.pem", "KEY=3\n")]);
    for input in
        [json!({"pattern": "KEY"}), json!({"pattern": "KEY", "glob_pattern": "*", "output_mode": "content"})]
    {
        let output = scene.run(&Grep, input).await;
        let text = output.model_text();
        assert!(text.contains("a.txt") && text.contains("2 files were not searched"), "{text}");
        assert!(!text.contains("KEY=2") && !text.contains("KEY=3") && text.contains("`.env`"), "{text}");
    }
    let only = scene.run(&Grep, json!({"pattern": "KEY", "glob_pattern": ".env"})).await.model_text();
    assert!(only.contains("No matching files found. 1 file was not searched"), "{only}");
    let named = json!({"pattern": "KEY", "path": ".env", "output_mode": "content"});
    assert_eq!(scene.run(&Grep, named).await.client_text(), "KEY=2");
}
