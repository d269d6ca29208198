//! Pictures and documents with a prompt.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/image_message.jsonl")?.agent();
//! use musher::{Document, Image, Session};
//!
//! # let bytes = b"\x89PNG\r\n\x1a\n";
//! let session = Session::builder().agent(droid).open().await?;
//! let prompt = session.send("Describe this picture.").image(Image::bytes(bytes)?);
//! let result = prompt.document(Document::text("notes.txt", "Taken in May.")).await?;
//! # assert_eq!(result.text, "I see it.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Pictures are PNG, JPEG, GIF or WebP, detected from their first bytes or named with [`Image::base64`](crate::Image::base64); documents are text
//! or [PDF](crate::Document::pdf). Other types are refused before anything is sent.
