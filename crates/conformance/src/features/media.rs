//! Pictures and documents.

use anyhow::Result;
use musher::wire::ContentBlock;
use musher::{Document, Event, Image};
use testkit::droid;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::on;

/// One dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(crate) async fn pictures_and_documents_reach_the_model(target: &dyn Target) -> Result<()> {
    let script = Script::new().reply(Reply::text("A dot.").when(on("Describe", 1)));
    let stage = target.stage(script)?;
    // the agent takes other custom models for blind
    let session = stage.session().model(droid::ANTHROPIC_MODEL).open().await?;
    let mut turn = session
        .send("Describe these.")
        .image(Image::base64("image/png", PNG)?)
        .document(Document::text("notes.txt", "The dot is black."))
        .document(Document::pdf("paper.pdf", b"%PDF-1.4 about dots")?)
        .start()
        .await?;
    let mut kinds = Vec::new();
    while let Some(event) = turn.next().await {
        match event? {
            Event::User(message) => {
                kinds = message
                    .content
                    .iter()
                    .map(|block| match block {
                        ContentBlock::Image(_) => "image",
                        ContentBlock::Document(_) => "document",
                        ContentBlock::Text(_) => "text",
                        _ => "other",
                    })
                    .collect();
            }
            Event::Result(result) => assert_eq!(result.text, "A dot."),
            _ => {}
        }
    }
    assert_eq!(kinds, ["image", "document", "document", "text"]);
    let asked = stage.asked();
    // the agent packs pictures again
    assert!(asked[0].contains(r#""media_type":"image/png""#), "the picture is in the request");
    assert!(asked[0].contains("The dot is black."), "and so is the document");
    session.close().await?;
    stage.finish().await
}
