//! Titles that the model makes: what is paid for is kept.

use std::time::Duration;

use anyhow::Result;
use testkit::rehearse::{Reply, Script, when};

use super::client::Stage;

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn title_that_the_model_is_making_when_the_client_leaves_is_stored() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("Hello.").when(when().with_tools()))
        .reply(Reply::text("A paid title").delay_ms(300, 0).when(when().without_tools()));
    let stage = Stage::new(script)?;
    let mut client = stage.opened().await?;
    client.say("hello").await?;
    assert_eq!(client.completed().await?, "completed");
    // the title is asked for a moment after the turn
    stage.model.wait_for_calls(2, DEADLINE).await?;
    let ended = client.program.end().await?;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let list = stage.sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(["sessions", "--json"]);
    let list = stage.sandbox.output(&list).await?.stdout.join("\n");
    assert!(list.contains("A paid title"), "{list}");
    assert_eq!(stage.model.calls().len(), 2);
    stage.finish().await
}
