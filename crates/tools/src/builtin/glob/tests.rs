//! Patterns in a directory tree.

use serde_json::{Value, json};

use crate::Glob;
use crate::builtin::testing::TestWorkspace;

fn scene() -> TestWorkspace {
    let files = ["src/main.rs", "src/deep/lib.rs", "README.md", ".hidden.rs", ".git/config", "target/out.rs"];
    let scene = TestWorkspace::with(&files.map(|name| (name, "")));
    scene.write(".gitignore", "target\n");
    scene
}

async fn find(input: Value) -> String {
    scene().run(&Glob, input).await.client_text()
}

#[tokio::test]
async fn pattern_matches_in_every_directory_and_finds_ignored_files() {
    let found = find(json!({"patterns": "*.rs"})).await;
    assert_eq!(found, "./.hidden.rs\n./src/deep/lib.rs\n./src/main.rs\n./target/out.rs");
    assert_eq!(find(json!({"patterns": ["README*", ".git/*"]})).await, "./.git/config\n./README.md");
    assert_eq!(find(json!({"patterns": "src/*.rs"})).await, "./src/main.rs");
    assert_eq!(find(json!({"patterns": "**/deep/**"})).await, "./src/deep/lib.rs");
}

#[tokio::test]
async fn exclude_patterns_are_applied() {
    let found =
        find(json!({"patterns": "*.rs", "excludePatterns": ["target/**", "deep"], "folder": "."})).await;
    assert_eq!(found, "./.hidden.rs\n./src/main.rs");
}

#[tokio::test]
async fn empty_result_is_not_an_error_but_an_invalid_directory_is() {
    assert_eq!(find(json!({"patterns": "*.zig"})).await, "No matching files found");
    let scene = scene();
    let wrong = scene.run(&Glob, json!({"patterns": "*", "folder": "nowhere"})).await;
    assert_eq!(wrong.client_text(), "Error: The specified directory 'nowhere' does not exist");
    assert!(wrong.is_error);
    assert!(scene.run(&Glob, json!({"patterns": "*", "folder": "/"})).await.is_error, "outside");
    assert!(scene.run(&Glob, json!({"patterns": "a{"})).await.is_error);
}

#[tokio::test]
async fn long_list_is_shortened_and_a_file_has_all_of_it() {
    let scene = TestWorkspace::new();
    for number in 0..3000 {
        scene.write(&format!("f{number:05}"), "");
    }
    let text = scene.run(&Glob, json!({"patterns": "f*"})).await.model_text();
    assert!(text.starts_with("./f00000\n") && text.len() < 21_000, "{}", text.len());
    assert!(
        text.contains("[Found 3000 files. Shown: lines 1-2222 of 3000."),
        "{}",
        &text[text.len() - 400..]
    );
    let path = text.split_once("All lines are in ").unwrap().1.split_once(':').unwrap().0;
    assert!(fs_err::read_to_string(path).unwrap().ends_with("./f02999"));
}
