//! Whole files, parts of files, unusual files.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::builtin::testing::Scene;
use crate::{Access, Part, Read, ToolOutput};

async fn read(scene: &Scene, name: &str) -> ToolOutput {
    scene.run(&Read, json!({"file_path": scene.path(name)})).await
}

#[tokio::test]
async fn file_is_returned_whole_and_marked_as_seen() {
    let scene = Scene::with(&[("a.txt", "one\ntwo\n")]);
    let output = read(&scene, "a.txt").await;
    assert_eq!((output.client_text().as_str(), output.model_text().as_str()), ("one\ntwo", "one\ntwo\n"));
    assert!(!output.is_error && scene.context.seen.contains(&scene.path("a.txt")));
}

#[tokio::test]
async fn crlf_becomes_lf_and_invalid_utf8_is_read_as_latin1() {
    let scene = Scene::with(&[("crlf", "a\r\nb\r\n")]);
    scene.write("latin", b"caf\xe9");
    scene.write("bom", "\u{feff}x");
    assert_eq!(read(&scene, "crlf").await.model_text(), "a\nb\n");
    assert_eq!(read(&scene, "latin").await.model_text(), "café");
    assert_eq!(read(&scene, "bom").await.model_text(), "x");
}

#[tokio::test]
async fn long_file_is_returned_in_parts_with_a_note() {
    let lines: Vec<String> = (1..=3000).map(|number| number.to_string()).collect();
    let lines = lines.join("\n") + "\n";
    let scene = Scene::with(&[("long", &lines)]);
    let output = read(&scene, "long").await;
    assert!(output.client_text().ends_with("\n2400"));
    assert!(
        output
            .model_text()
            .ends_with("2400\n\n<system-reminder>Showing lines 1-2400 of 3001 total lines</system-reminder>")
    );

    let input = json!({"file_path": scene.path("long"), "offset": 11, "limit": "2"});
    let output = scene.run(&Read, input).await;
    assert_eq!(output.client_text(), "11\n12");
    assert!(output.model_text().contains("Showing lines 11-12 of 3001"));

    let output = scene.run(&Read, json!({"file_path": scene.path("long"), "offset": 5000})).await;
    assert_eq!((output.client_text().as_str(), output.is_error), ("", false));
    assert_eq!(
        output.model_text(),
        "<system-reminder>Showing lines 5000-4999 of 3001 total lines</system-reminder>"
    );
}

#[tokio::test]
async fn very_long_lines_are_cut() {
    let scene = Scene::with(&[("wide", &"ä".repeat(70_000))]);
    let output = read(&scene, "wide").await;
    assert_eq!(output.client_text().chars().count(), 60_000);
    assert!(output.model_text().contains(", truncated to 60k characters"));
}

#[tokio::test]
async fn read_error_has_a_short_and_a_full_reason() {
    let scene = Scene::with(&[("sub/a", "")]);
    let missing = read(&scene, "missing").await;
    assert_eq!((missing.client_text().as_str(), missing.is_error), ("Error: Failed to read file", true));
    assert!(
        missing.model_text().starts_with("Error: Error reading file: ENOENT"),
        "{}",
        missing.model_text()
    );
    assert!(read(&scene, "sub").await.model_text().contains("is a directory"));
    let relative = scene.run(&Read, json!({"file_path": "sub/a"})).await;
    assert_eq!(relative.client_text(), "Error: File path must be absolute");
    assert!(scene.run(&Read, json!({})).await.model_text().contains("missing field `file_path`"));
    assert!(scene.run(&Read, json!({"file_path": 7})).await.is_error);
}

#[tokio::test]
async fn path_outside_the_workspace_needs_access() {
    let mut scene = Scene::new();
    fs_err::write(scene.outside().join("secret"), "s").unwrap();
    symlink(scene.outside().join("secret"), scene.path("link")).unwrap();
    assert!(read(&scene, "link").await.model_text().contains("is outside the workspace"));
    scene.context.access = Access::Anywhere;
    assert_eq!(read(&scene, "link").await.client_text(), "s");
}

#[tokio::test]
async fn special_and_huge_files_are_rejected_at_once() {
    let mut scene = Scene::new();
    scene.context.access = Access::Anywhere;
    let endless = scene.run(&Read, json!({"file_path": "/dev/zero"})).await;
    assert!(endless.model_text().contains("pipe, socket or device"), "{}", endless.model_text());
    let file = fs_err::File::create(scene.path("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(read(&scene, "huge").await.model_text().contains("the maximum is 64 MB"));
}

#[tokio::test]
async fn image_is_returned_as_an_image() {
    let scene = Scene::new();
    scene.write("p.png", b"\x89PNG");
    let output = read(&scene, "p.png").await;
    assert_eq!(output.client_text(), "Image file: p.png (original size: 0.0 KB). Image quality: default");
    let image = Part::Image { media_type: "image/png".to_owned(), data: "iVBORw==".to_owned() };
    assert_eq!(output.for_model[1], image);
}
