//! Sessions that the real droid made: read, found and copied, and droid's files stay as they are.

use anyhow::Result;
use musher::{Agent, Session};
use serde_json::Value;
use testkit::peers::DROID;
use testkit::rehearse::{Reply, Script};
use testkit::{Backend, Sandbox, droid, require_peer};

use super::stage::files_below;

/// Runs the program in the home of the sandbox.
async fn musher(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let launch = sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(arguments);
    let ended = sandbox.output(&launch).await?;
    assert!(ended.status.success(), "{arguments:?}: {} {}", ended.status, ended.stderr);
    Ok(ended.stdout.join("\n"))
}

#[tokio::test]
async fn session_of_the_real_droid_is_read_found_and_copied() -> Result<()> {
    let installed = require_peer!(DROID);
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(Script::new().otherwise(Reply::text("A papaya, of course.")))?;
    let launch = droid::launch(&sandbox, &installed, &model.url(), &backend)?;
    let session = Session::builder()
        .agent(Agent::launch(sandbox.agent(&launch)))
        .cwd(sandbox.workspace())
        .model(droid::CHAT_MODEL)
        .open()
        .await?;
    let id = session.id().to_string();
    session.send("Which fruit do you like?").await?;
    session.close().await?;

    let factory = sandbox.home().join(".factory");
    let before = files_below(&factory);
    let list: Value = serde_json::from_str(&musher(&sandbox, &["sessions", "list", "--json"]).await?)?;
    assert_eq!(
        (&list[0]["id"], &list[0]["of"]),
        (&Value::from(id.as_str()), &Value::from("droid")),
        "{list}"
    );
    let shown = musher(&sandbox, &["sessions", "show", &id[..8]]).await?;
    assert!(shown.contains("> Which fruit do you like?\n\nA papaya, of course."), "{shown}");
    let found = musher(&sandbox, &["sessions", "search", "PAPAYA"]).await?;
    assert!(found.starts_with(&id), "{found}");
    let copy = musher(&sandbox, &["sessions", "fork", &id]).await?;
    let shown = musher(&sandbox, &["sessions", "show", &copy]).await?;
    assert!(shown.contains("A papaya, of course.") && shown.contains(" · musher · "), "{shown}");
    assert_eq!(files_below(&factory), before, "droid's files stay as they are");

    drop((model, backend));
    sandbox.finish().await
}
