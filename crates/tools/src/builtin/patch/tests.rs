//! Patches that match, nearly match, and do not match.

use serde_json::json;

use crate::builtin::testing::{Drafts, TestWorkspace};
use crate::{ApplyPatch, Read, Tool, ToolOutput};

async fn patch(scene: &TestWorkspace, body: &str) -> ToolOutput {
    scene.run(&ApplyPatch, json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")})).await
}

#[tokio::test]
async fn files_are_added_changed_moved_and_removed_at_once() {
    let scene = TestWorkspace::with(&[
        ("a.rs", "fn a() {\n    1\n}\n\nfn b() {\n    1\n}\n"),
        ("old.txt", "x\n"),
        ("gone", "g\n"),
    ]);
    let body = "*** Update File: a.rs\n@@ fn b() {\n-    1\n+    2\n }\n*** Add File: sub/new.txt\n+hello\n+\n\
                *** Update File: old.txt\n*** Move to: moved.txt\n@@\n-x\n+y\n*** Delete File: gone";
    let output = patch(&scene, body).await;
    assert_eq!(
        output.model_text(),
        "Patch applied successfully:\nupdated a.rs\nadded sub/new.txt\nmoved moved.txt\ndeleted old.txt\ndeleted gone"
    );
    assert!(output.client_text().starts_with("{\"success\":true,\"files\":[{\"file_path\":\"a.rs\",\"action\":\"updated\",\"linesAdded\":1,\"linesRemoved\":1}"));
    assert_eq!(scene.read("a.rs"), "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n");
    assert_eq!((scene.read("sub/new.txt").as_str(), scene.read("moved.txt").as_str()), ("hello\n\n", "y\n"));
    assert!(!scene.path("gone").exists() && !scene.path("old.txt").exists());
    assert_eq!(output.changed.len(), 5);
}

#[tokio::test]
async fn white_space_at_line_ends_is_ignored_and_line_endings_kept() {
    let scene = TestWorkspace::with(&[("f", "  one  \r\ntwo\r\n")]);
    assert!(!patch(&scene, "*** Update File: f\n@@\n-one\n+1\n two").await.is_error);
    assert_eq!(scene.read("f"), "1\r\ntwo\r\n");
}

#[tokio::test]
async fn additions_go_after_their_anchor_or_to_the_end() {
    let scene = TestWorkspace::with(&[("f", "a\nb\na\n")]);
    patch(&scene, "*** Update File: f\n@@ b\n+after b").await;
    assert_eq!(scene.read("f"), "a\nb\nafter b\na\n");
    patch(&scene, "*** Update File: f\n@@\n+end").await;
    assert_eq!(scene.read("f"), "a\nb\nafter b\na\nend\n");
    scene.write("g", "x\ny\nx\n");
    patch(&scene, "*** Update File: g\n@@\n-x\n+z\n*** End of File").await;
    assert_eq!(scene.read("g"), "x\ny\nz\n");
}

#[tokio::test]
async fn patch_that_does_not_match_changes_nothing() {
    let scene = TestWorkspace::with(&[("a", "a\n"), ("b", "b\n")]);
    let cases = [
        ("*** Update File: a\n-a\n+A\n*** Update File: b\n-absent\n+x", "these lines were not found"),
        ("*** Update File: a\n-a\n+A\n*** Add File: b\n+x", "already exists"),
        ("*** Update File: a\n-a\n+A\n*** Delete File: nothing", "ENOENT"),
        ("*** Update File: a\n@@ nowhere\n-a\n+A", "the line `nowhere` was not found"),
        ("*** Update File: a\n-a\n+A\n*** Update File: ../out\n-a\n+b", "outside the workspace"),
        ("*** Update File: a", "changes nothing"),
        ("*** Update File: a\nodd", "line 3: a line of an update must start with"),
        ("rubbish", "line 2: expected"),
        ("", "the patch is empty"),
    ];
    for (body, reason) in cases {
        let output = patch(&scene, body).await;
        assert!(output.is_error && output.client_text().starts_with("Error: Failed to apply patch: "));
        assert!(output.model_text().contains(reason), "{}", output.model_text());
        assert_eq!((scene.read("a").as_str(), scene.read("b").as_str()), ("a\n", "b\n"));
    }
    assert!(scene.run(&ApplyPatch, json!({"input": "no patch"})).await.is_error);
    assert!(scene.run(&ApplyPatch, json!({"input": "*** Begin Patch\n*** Delete File: a"})).await.is_error);
}

#[tokio::test]
async fn two_changes_of_one_file_see_each_other() {
    let scene = TestWorkspace::with(&[("f", "1\n2\n")]);
    assert!(
        !patch(&scene, "*** Update File: f\n-1\n+one\n*** Update File: f\n one\n-2\n+two").await.is_error
    );
    assert_eq!(scene.read("f"), "one\ntwo\n");
}

#[test]
fn action_lists_all_paths_of_the_patch() {
    let body =
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n-x\n+y\n*** End Patch";
    let input = json!({"input": body}).as_object().unwrap().clone();
    let paths: Vec<String> =
        ApplyPatch.action(&input).unwrap().paths().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(paths, ["a", "b", "c"]);
}

#[tokio::test]
async fn files_open_in_the_editor_are_changed_there_and_others_on_disk() {
    let mut scene = TestWorkspace::with(&[
        ("open.txt", "a\n"),
        ("closed.txt", "a\n"),
        ("gone", "g\n"),
        ("locked.txt", "a\n"),
    ]);
    let drafts = Drafts::open(&mut scene, &[("open.txt", "a\nunsaved\n"), ("locked.txt", "a\n")]);
    let body = "*** Update File: open.txt\n@@\n-unsaved\n+changed\n*** Update File: open.txt\n@@\n-a\n+b\n\
                *** Update File: closed.txt\n@@\n-a\n+b\n*** Add File: new/n.txt\n+n\n*** Delete File: gone";
    let output = patch(&scene, body).await;
    assert!(!output.is_error, "{}", output.model_text());
    // the editor of this test does not save, so nothing else wrote the file
    assert_eq!(
        (drafts.text(&scene.path("open.txt")).as_deref(), scene.read("open.txt").as_str()),
        (Some("b\nchanged\n"), "a\n")
    );
    assert_eq!((drafts.text(&scene.path("closed.txt")), scene.read("closed.txt").as_str()), (None, "b\n"));
    assert_eq!(drafts.text(&scene.path("new/n.txt")).as_deref(), Some("n\n"));
    assert!(!scene.path("gone").exists());
    let output = patch(&scene, "*** Update File: locked.txt\n@@\n-a\n+b").await;
    assert!(
        output.is_error && output.model_text().contains("the editor did not write the file: it is locked")
    );
    assert_eq!(scene.read("locked.txt"), "a\n");
}

#[tokio::test]
async fn file_that_has_changed_since_it_was_read_is_refused() {
    let scene = TestWorkspace::with(&[("a", "one\n")]);
    scene.run(&Read, json!({"file_path": scene.path("a")})).await;
    scene.write("a", "one\ntwo\n");
    let refused = patch(&scene, "*** Update File: a\n-one\n+1").await;
    assert!(
        refused.model_text().contains("has changed on disk since you last saw it"),
        "{}",
        refused.model_text()
    );
    assert_eq!(scene.read("a"), "one\ntwo\n");
}

#[tokio::test]
async fn lines_that_do_not_match_are_answered_with_the_closest_ones() {
    let scene = TestWorkspace::with(&[("a", "let answer = 42;\nlet other = 1;\n")]);
    let output = patch(&scene, "*** Update File: a\n-let answers = 41;\n+x").await;
    assert!(
        output.model_text().contains("The closest text is at line 1:\nlet answer = 42;"),
        "{}",
        output.model_text()
    );
}
