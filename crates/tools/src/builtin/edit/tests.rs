//! Edits that succeed, and the reasons of those that fail.

use serde_json::{Value, json};

use crate::builtin::testing::Scene;
use crate::{Edit, ToolOutput};

async fn edit(scene: &Scene, old: &str, new: &str, change_all: bool) -> ToolOutput {
    scene.context.seen.add(scene.path("f"));
    let input =
        json!({"file_path": scene.path("f"), "old_str": old, "new_str": new, "change_all": change_all});
    scene.run(&Edit, input).await
}

#[tokio::test]
async fn change_is_reported_line_by_line() {
    let scene = Scene::with(&[("f", "alpha\nbeta\ngamma\n")]);
    let output = edit(&scene, "beta", "BETA", false).await;
    assert_eq!(scene.read("f"), "alpha\nBETA\ngamma\n");
    // byte for byte as droid 0.225.2 sent it
    let expected = format!(
        "{{\"success\":true,\"file_path\":\"{}\",\"diffLines\":[{{\"type\":\"unchanged\",\"content\":\"alpha\",\"lineNumber\":{{\"old\":1,\"new\":1}}}},{{\"type\":\"removed\",\"content\":\"beta\",\"lineNumber\":{{\"old\":2}}}},{{\"type\":\"added\",\"content\":\"BETA\",\"lineNumber\":{{\"new\":2}}}},{{\"type\":\"unchanged\",\"content\":\"gamma\",\"lineNumber\":{{\"old\":3,\"new\":3}}}}],\"linesAdded\":1,\"linesRemoved\":1}}",
        scene.path("f").display()
    );
    assert_eq!(output.client_text(), expected);
    assert!(output.model_text().starts_with("File updated successfully"));
    assert_eq!(output.changed, [scene.path("f")]);
}

#[tokio::test]
async fn crlf_line_endings_are_kept() {
    let scene = Scene::with(&[("f", "one\r\ntwo\r\nthree\r\n")]);
    assert!(!edit(&scene, "one\ntwo\n", "1\n2\n", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\nthree\r\n");
    assert!(!edit(&scene, "three", "3\n4", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\n3\r\n4\r\n");
    // in a file with both line endings, the rest is unchanged
    scene.write("f", "a\r\nb\nc\r\n");
    edit(&scene, "b", "B", false).await;
    assert_eq!(scene.read("f"), "a\r\nB\nc\r\n");
}

#[tokio::test]
async fn old_str_must_be_unique_unless_change_all_is_set() {
    let scene = Scene::with(&[("f", "x x x")]);
    let refused = edit(&scene, "x", "y", false).await;
    assert_eq!(refused.client_text(), "Error: Failed to edit file");
    assert!(
        refused.model_text().contains("occurs 3 times, but `change_all` is false"),
        "{}",
        refused.model_text()
    );
    assert_eq!(scene.read("f"), "x x x");
    assert!(!edit(&scene, "x", "y", true).await.is_error);
    assert_eq!(scene.read("f"), "y y y");
}

#[tokio::test]
async fn failed_edit_changes_nothing_and_gives_the_reason() {
    let scene = Scene::with(&[("f", "text")]);
    for (old, new, reason) in [("absent", "x", "not found"), ("", "x", "empty"), ("text", "text", "equal")] {
        let output = edit(&scene, old, new, false).await;
        assert!(output.is_error && output.model_text().contains(reason), "{}", output.model_text());
    }
    assert_eq!(scene.read("f"), "text");
    scene.write("f", b"bin\xffary");
    assert!(edit(&scene, "bin", "x", false).await.model_text().contains("not UTF-8 text"));
}

#[tokio::test]
async fn file_must_be_read_first() {
    let scene = Scene::with(&[("f", "text")]);
    let input: Value = json!({"file_path": "f", "old_str": "text", "new_str": "x"});
    assert!(scene.run(&Edit, input.clone()).await.model_text().contains("Call Read on it first"));
    scene.context.seen.add(scene.path("f"));
    assert!(!scene.run(&Edit, input).await.is_error);
    let missing = scene.run(&Edit, json!({"file_path": "gone", "old_str": "a", "new_str": "b"})).await;
    assert!(missing.model_text().contains("ENOENT"), "{}", missing.model_text());
}
