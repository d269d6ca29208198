//! Whole files, parts of files, unusual files.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::builtin::testing::TestWorkspace;
use crate::pdf::tests::{HELVETICA, pdf};
use crate::{Access, Part, Read, ToolOutput};

async fn read(scene: &TestWorkspace, name: &str) -> ToolOutput {
    scene.run(&Read, json!({"file_path": scene.path(name)})).await
}

#[tokio::test]
async fn file_is_returned_whole_and_marked_as_seen() {
    let scene = TestWorkspace::with(&[("a.txt", "one\ntwo\n")]);
    let output = read(&scene, "a.txt").await;
    assert_eq!((output.client_text().as_str(), output.model_text().as_str()), ("one\ntwo", "one\ntwo\n"));
    assert!(!output.is_error && scene.context.seen.contains(&scene.path("a.txt")));
}

#[tokio::test]
async fn crlf_becomes_lf_and_invalid_utf8_is_read_as_latin1() {
    let scene = TestWorkspace::with(&[("crlf", "a\r\nb\r\n")]);
    scene.write("latin", b"caf\xe9");
    scene.write("bom", "\u{feff}x");
    assert_eq!(read(&scene, "crlf").await.model_text(), "a\nb\n");
    assert_eq!(read(&scene, "latin").await.model_text(), "café");
    assert_eq!(read(&scene, "bom").await.model_text(), "x");
}

#[tokio::test]
async fn part_of_a_file_is_returned_with_a_note_for_the_model() {
    let lines: Vec<String> = (1..=3000).map(|number| number.to_string()).collect();
    let scene = TestWorkspace::with(&[("long", &(lines.join("\n") + "\n"))]);
    let output = read(&scene, "long").await;
    assert!(output.client_text().ends_with("\n2400"));
    assert!(
        output
            .model_text()
            .contains("Showing lines 1-2400 of 3001 total lines. To read on, use `offset` 2401.")
    );
    let input = json!({"file_path": scene.path("long"), "offset": 11, "limit": "2"});
    assert_eq!(scene.run(&Read, input).await.client_text(), "11\n12");
    let output = scene.run(&Read, json!({"file_path": scene.path("long"), "offset": 5000})).await;
    assert_eq!((output.client_text().as_str(), output.is_error), ("", false));
}

#[tokio::test]
async fn binary_file_is_refused_with_its_type() {
    let scene = TestWorkspace::new();
    scene.write("b", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0].repeat(200));
    let output = read(&scene, "b").await;
    assert!(output.is_error && output.model_text().len() < 400, "{}", output.model_text());
    assert!(
        output.model_text().contains("it is a binary file (application/gzip, 1.6 KB)"),
        "{}",
        output.model_text()
    );
    assert_eq!(output.client_text(), output.model_text(), "the user sees the reason, too");
    assert!(!scene.context.seen.contains(&scene.path("b")));
}

#[tokio::test]
async fn pdf_is_a_document_if_the_model_reads_documents_else_text() {
    let mut scene = TestWorkspace::new();
    scene.write("p.pdf", pdf(&["BT /F1 12 Tf 9 9 Td (Hello) Tj ET"], HELVETICA, &[]));
    let text = read(&scene, "p.pdf").await.model_text();
    assert!(
        text.starts_with("--- Page 1 of 1 ---\nHello\n")
            && text.contains("This is the text of a PDF with 1 pages"),
        "{text}"
    );
    scene.context.accepts_documents = true;
    let output = read(&scene, "p.pdf").await;
    assert!(output.client_text().starts_with("PDF file: p.pdf (1 page, "), "{}", output.client_text());
    assert_eq!(output.for_client.len(), 1, "clients get the description only");
    assert!(
        matches!(&output.for_model[1], Part::Document(media) if media.media_type == "application/pdf" && media.name.as_deref() == Some("p.pdf"))
    );
    let part = scene.run(&Read, json!({"file_path": scene.path("p.pdf"), "offset": 2, "limit": 1})).await;
    assert_eq!(part.client_text(), "Hello");
}

#[tokio::test]
async fn pdf_that_cannot_be_read_is_refused_and_a_long_one_is_text() {
    let mut scene = TestWorkspace::new();
    scene.context.accepts_documents = true;
    scene.write("bad.pdf", b"%PDF-1.4 nothing");
    let output = read(&scene, "bad.pdf").await;
    assert!(
        output.is_error && output.model_text().contains("the PDF cannot be read"),
        "{}",
        output.model_text()
    );
    scene.write("scan.pdf", pdf(&["0 0 1 1 re f"; 21], HELVETICA, &[]));
    let output = read(&scene, "scan.pdf").await;
    assert!(
        output.is_error && output.model_text().contains("21 pages and no text"),
        "{}",
        output.model_text()
    );
    scene.write("long.pdf", pdf(&["BT /F1 12 Tf (word) Tj ET"; 21], HELVETICA, &[]));
    assert!(read(&scene, "long.pdf").await.client_text().ends_with("--- Page 21 of 21 ---\nword"));
}

#[tokio::test]
async fn read_error_has_a_short_and_a_full_reason() {
    let scene = TestWorkspace::with(&[("sub/a", "")]);
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
    let mut scene = TestWorkspace::new();
    fs_err::write(scene.outside().join("secret"), "s").unwrap();
    symlink(scene.outside().join("secret"), scene.path("link")).unwrap();
    assert!(read(&scene, "link").await.model_text().contains("is outside the workspace"));
    scene.context.access = Access::Anywhere;
    assert_eq!(read(&scene, "link").await.client_text(), "s");
}

#[tokio::test]
async fn special_and_huge_files_are_rejected_at_once() {
    let mut scene = TestWorkspace::new();
    scene.context.access = Access::Anywhere;
    let endless = scene.run(&Read, json!({"file_path": "/dev/zero"})).await;
    assert!(endless.model_text().contains("pipe, socket or device"), "{}", endless.model_text());
    let file = fs_err::File::create(scene.path("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(read(&scene, "huge").await.model_text().contains("the maximum is 64 MB"));
}

#[tokio::test]
async fn image_is_returned_as_an_image() {
    let scene = TestWorkspace::new();
    scene.write("p.png", b"\x89PNG");
    let output = read(&scene, "p.png").await;
    assert_eq!(output.client_text(), "Image file: p.png (original size: 0.0 KB). Image quality: default");
    let image = Part::Image { media_type: "image/png".to_owned(), data: "iVBORw==".to_owned() };
    assert_eq!(output.for_model[1], image);
}
