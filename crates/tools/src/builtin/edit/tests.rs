//! Edits that succeed, and the reasons of those that fail.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::builtin::testing::TestWorkspace;
use crate::{Edit, Execute, Grep, Read, Tool, ToolOutput};

async fn edit(scene: &TestWorkspace, old: &str, new: &str, change_all: bool) -> ToolOutput {
    let input =
        json!({"file_path": scene.path("f"), "old_str": old, "new_str": new, "change_all": change_all});
    scene.run(&Edit, input).await
}

#[tokio::test]
async fn change_is_reported_line_by_line() {
    let scene = TestWorkspace::with(&[("f", "alpha\nbeta\ngamma\n")]);
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
    let scene = TestWorkspace::with(&[("f", "one\r\ntwo\r\nthree\r\n")]);
    assert!(!edit(&scene, "one\ntwo\n", "1\n2\n", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\nthree\r\n");
    assert!(!edit(&scene, "three", "3\n4", false).await.is_error);
    assert_eq!(scene.read("f"), "1\r\n2\r\n3\r\n4\r\n");
    // in a file with both line endings, the rest is unchanged
    let scene = TestWorkspace::with(&[("f", "a\r\nb\nc\r\n")]);
    edit(&scene, "b", "B", false).await;
    assert_eq!(scene.read("f"), "a\r\nB\nc\r\n");
}

#[tokio::test]
async fn old_str_must_be_unique_unless_change_all_is_set() {
    let scene = TestWorkspace::with(&[("f", "x x x")]);
    let refused = edit(&scene, "x", "y", false).await;
    assert!(refused.client_text().starts_with("Error: Failed to edit file: `old_str` occurs 3 times"));
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
    let scene = TestWorkspace::with(&[("f", "text")]);
    for (old, new, reason) in [("absent", "x", "not found"), ("", "x", "empty"), ("text", "text", "equal")] {
        let output = edit(&scene, old, new, false).await;
        assert!(output.is_error && output.model_text().contains(reason), "{}", output.model_text());
    }
    assert_eq!(scene.read("f"), "text");
    scene.write("f", b"bin\xffary");
    assert!(edit(&scene, "bin", "x", false).await.model_text().contains("not UTF-8 text"));
}

#[tokio::test]
async fn file_that_was_never_read_can_be_edited_and_a_missing_one_not() {
    let scene = TestWorkspace::with(&[("f", "text")]);
    let input: Value = json!({"file_path": "f", "old_str": "text", "new_str": "x"});
    assert!(!scene.run(&Edit, input).await.is_error);
    let missing = scene.run(&Edit, json!({"file_path": "gone", "old_str": "a", "new_str": "b"})).await;
    assert!(missing.model_text().contains("ENOENT"), "{}", missing.model_text());
}

#[tokio::test]
async fn file_that_was_changed_since_it_was_read_is_refused_until_it_is_read_again() {
    let scene = TestWorkspace::with(&[("f", "one\ntwo\n")]);
    let read = json!({"file_path": scene.path("f")});
    scene.run(&Read, read.clone()).await;
    scene.write("f", "one\ntwo\nthree\n");
    let refused = edit(&scene, "one", "1", false).await;
    assert!(
        refused
            .model_text()
            .contains("has changed on disk since you last saw it. Nothing was changed. Call Read"),
        "{}",
        refused.model_text()
    );
    assert!(refused.client_text().contains("has changed on disk"));
    assert_eq!(scene.read("f"), "one\ntwo\nthree\n");
    scene.run(&Read, read).await;
    assert!(!edit(&scene, "one", "1", false).await.is_error);
    assert!(!edit(&scene, "two", "2", false).await.is_error, "an own edit is not such a change");
}

#[tokio::test]
async fn command_or_search_that_shows_a_changed_file_counts_as_reading_it() {
    let run = |command: &str| json!({"command": command, "summary": "Look at it", "riskLevel": "low", "riskLevelReason": "reads"});
    for (tool, input) in [
        (&Execute as &dyn Tool, run("cat f.txt")),
        (&Execute, run("sed -n 2p f.txt")),
        (&Grep, json!({"pattern": "second", "output_mode": "content"})),
    ] {
        let scene = TestWorkspace::with(&[("f.txt", "first line\n")]);
        scene.run(&Read, json!({"file_path": scene.path("f.txt")})).await;
        scene.write("f.txt", "first line\nsecond line\n");
        let change = json!({"file_path": "f.txt", "old_str": "second", "new_str": "2nd"});
        scene.run(&Execute, run("true f.txt")).await;
        assert!(scene.run(&Edit, change.clone()).await.is_error, "a command that shows nothing");
        scene.run(tool, input).await;
        let output = scene.run(&Edit, change).await;
        assert!(!output.is_error, "{}", output.model_text());
    }
}

#[tokio::test]
async fn near_miss_shows_the_closest_text() {
    let scene = TestWorkspace::with(&[("f", "a {\n\tdeep();\n}\n")]);
    let output = edit(&scene, "a {\n    deep();", "x", false).await;
    let text = output.model_text();
    assert!(
        text.contains("was not found in") && text.ends_with("Copy it exactly:\na {\n\tdeep();"),
        "{text}"
    );
    assert_eq!(output.client_text().lines().count(), 1);
}

#[tokio::test]
async fn dry_run_shows_the_change_or_the_reason_and_changes_nothing() {
    let scene = TestWorkspace::with(&[("f", "one\n")]);
    let call =
        |old: &str| json!({"file_path": "f", "old_str": old, "new_str": "1"}).as_object().unwrap().clone();
    let context = scene.context.clone();
    let (good, bad) = (call("one"), call("two"));
    let work = move || {
        let cancel = CancellationToken::new();
        (Edit.dry_run(&good, &context, &cancel), Edit.dry_run(&bad, &context, &cancel))
    };
    let (good, bad) = tokio::task::spawn_blocking(work).await.unwrap();
    let change = good.unwrap().remove(0);
    assert_eq!((change.old.as_deref(), change.new.as_deref()), (Some("one\n"), Some("1\n")));
    assert!(bad.unwrap_err().model_text().contains("was not found"));
    assert_eq!(scene.read("f"), "one\n");
}

#[tokio::test]
async fn notebook_is_edited_by_its_cells() {
    let file = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": [\n    \"a = \\\"x\\\"\\n\",\n    \"b = 2\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
    let scene = TestWorkspace::with(&[("n.ipynb", file)]);
    let change =
        |old: &str, new: &str| json!({"file_path": scene.path("n.ipynb"), "old_str": old, "new_str": new});
    let read = scene.run(&Read, json!({"file_path": scene.path("n.ipynb")})).await;
    assert!(
        read.client_text().starts_with("<cell 0 type=\"code\">\na = \"x\"\nb = 2\n</cell>"),
        "{}",
        read.client_text()
    );
    assert!(!scene.run(&Edit, change("a = \"x\"\nb = 2", "a = \"y\"\nb = 2")).await.is_error);
    assert_eq!(scene.read("n.ipynb"), file.replace("\\\"x\\\"", "\\\"y\\\""));
    assert!(!scene.run(&Edit, change("\"nbformat\": 4", "\"nbformat\": 5")).await.is_error);
    let broken = scene.run(&Edit, change("\"nbformat\": 5", "nonsense")).await;
    assert!(broken.model_text().contains("would not be a valid notebook"), "{}", broken.model_text());
}
