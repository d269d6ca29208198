//! Replacements that work, and the reasons when they do not.

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
async fn a_change_is_told_line_by_line() {
    let scene = Scene::with(&[("f", "alpha\nbeta\ngamma\n")]);
    let output = edit(&scene, "beta", "BETA", false).await;
    assert_eq!(scene.read("f"), "alpha\nBETA\ngamma\n");
    // as recorded from droid 0.225.2, to the byte
    let expected = format!(
        "{{\"success\":true,\"file_path\":\"{}\",\"diffLines\":[{{\"type\":\"unchanged\",\"content\":\"alpha\",\"lineNumber\":{{\"old\":1,\"new\":1}}}},{{\"type\":\"removed\",\"content\":\"beta\",\"lineNumber\":{{\"old\":2}}}},{{\"type\":\"added\",\"content\":\"BETA\",\"lineNumber\":{{\"new\":2}}}},{{\"type\":\"unchanged\",\"content\":\"gamma\",\"lineNumber\":{{\"old\":3,\"new\":3}}}}],\"linesAdded\":1,\"linesRemoved\":1}}",
        scene.path("f").display()
    );
    assert_eq!(output.wire_text(), expected);
    assert!(output.model_text().starts_with("File updated successfully"));
    assert_eq!(output.changed, [scene.path("f")]);
}

#[tokio::test]
async fn line_ends_of_other_systems_are_kept() {
    let scene = Scene::with(&[("f", "one\r\ntwo\r\nthree\r\n")]);
    assert!(!edit(&scene, "one\ntwo\n", "1\n2\n", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\nthree\r\n");
    assert!(!edit(&scene, "three", "3\n4", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\n3\r\n4\r\n");
    // a file of both kinds changes nowhere else
    scene.write("f", "a\r\nb\nc\r\n");
    edit(&scene, "b", "B", false).await;
    assert_eq!(scene.read("f"), "a\r\nB\nc\r\n");
}

#[tokio::test]
async fn every_occurrence_or_exactly_one() {
    let scene = Scene::with(&[("f", "x x x")]);
    let refused = edit(&scene, "x", "y", false).await;
    assert_eq!(refused.wire_text(), "Error: Failed to edit file");
    assert!(
        refused.model_text().contains("3 occurrences, but `change_all` is false"),
        "{}",
        refused.model_text()
    );
    assert_eq!(scene.read("f"), "x x x");
    assert!(!edit(&scene, "x", "y", true).await.is_error);
    assert_eq!(scene.read("f"), "y y y");
}

#[tokio::test]
async fn what_cannot_be_edited_stays_and_the_model_learns_why() {
    let scene = Scene::with(&[("f", "text")]);
    for (old, new, reason) in [("absent", "x", "not found"), ("", "x", "empty"), ("text", "text", "the same")]
    {
        let output = edit(&scene, old, new, false).await;
        assert!(output.is_error && output.model_text().contains(reason), "{}", output.model_text());
    }
    assert_eq!(scene.read("f"), "text");
    scene.write("f", b"bin\xffary");
    assert!(edit(&scene, "bin", "x", false).await.model_text().contains("not text in UTF-8"));
}

#[tokio::test]
async fn a_file_must_be_read_first() {
    let scene = Scene::with(&[("f", "text")]);
    let input: Value = json!({"file_path": "f", "old_str": "text", "new_str": "x"});
    assert!(scene.run(&Edit, input.clone()).await.model_text().contains("Read it first"));
    scene.context.seen.add(scene.path("f"));
    assert!(!scene.run(&Edit, input).await.is_error);
    let missing = scene.run(&Edit, json!({"file_path": "gone", "old_str": "a", "new_str": "b"})).await;
    assert!(missing.model_text().contains("ENOENT"), "{}", missing.model_text());
}
