//! New files, existing files, and paths that cannot be files.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::builtin::testing::TestWorkspace;
use crate::{Access, Create};

#[tokio::test]
async fn file_is_created_with_its_directories_and_reported_as_json() {
    let scene = TestWorkspace::new();
    let output = scene.run(&Create, json!({"file_path": "x/y.txt", "content": "hi\n"})).await;
    let path = scene.path("x/y.txt");
    assert_eq!(output.client_text(), format!("{{\"success\":true,\"file_path\":\"{}\"}}", path.display()));
    assert_eq!(output.model_text(), format!("File created successfully: {}", path.display()));
    assert_eq!((scene.read("x/y.txt").as_str(), output.changed), ("hi\n", vec![path.clone()]));
    assert!(scene.context.seen.contains(&path));
}

#[tokio::test]
async fn existing_file_is_replaced() {
    let scene = TestWorkspace::with(&[("a", "a long old content")]);
    scene.run(&Create, json!({"file_path": scene.path("a"), "content": "new"})).await;
    assert_eq!(scene.read("a"), "new");
}

#[tokio::test]
async fn folder_cannot_become_a_file() {
    let scene = TestWorkspace::with(&[("sub/a", "")]);
    for path in ["sub", "", "sub/a/b"] {
        let output = scene.run(&Create, json!({"file_path": path, "content": ""})).await;
        assert!(
            output.is_error && output.client_text().starts_with("Error: Error: Cannot create file at "),
            "{path}"
        );
    }
}

#[tokio::test]
async fn link_out_is_followed_only_with_access_and_stays_a_link() {
    let mut scene = TestWorkspace::new();
    let outside = scene.outside().join("target");
    symlink(&outside, scene.path("link")).unwrap();
    let input = json!({"file_path": "link", "content": "x"});
    assert!(scene.run(&Create, input.clone()).await.is_error);
    assert!(!outside.exists());
    scene.context.access = Access::Anywhere;
    assert!(!scene.run(&Create, input).await.is_error);
    assert_eq!(fs_err::read_to_string(outside).unwrap(), "x");
    assert!(scene.path("link").is_symlink());
}
