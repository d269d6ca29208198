//! The same command with the real droid.

use anyhow::Result;
use musher_rehearse::{Reply, Script};
use serde_json::Value;
use testkit::{Backend, Ended, Launch, Sandbox, droid};

use super::stage::{execute, step};

#[tokio::test]
async fn real_droid_is_run_as_the_engine_is() -> Result<()> {
    let installed = testkit::require_peer!(testkit::peers::DROID);
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let script = Script::new()
        .reply(execute("touch made.txt").when(step(1).prompt("Make")))
        .reply(Reply::text("Made.").when(step(2).prompt("Make")))
        .reply(Reply::text("You are welcome.").when(step(1).prompt("Thanks")))
        .otherwise(Reply::text("A title"));
    let model = sandbox.model(script)?;
    droid::configure(&sandbox, &model.url())?;
    let run = |arguments: &[&str]| -> Launch {
        let launch = sandbox.launch(env!("CARGO_BIN_EXE_musher")).arg("run").args(arguments);
        let launch = launch.args(["--agent", "droid", "--model", droid::CHAT_MODEL]);
        droid::with_account(launch, &backend).env("MUSHER_DROID", installed.entry())
    };
    let told = |ended: &Ended| -> String { format!("{:?} {}", ended.stdout, ended.stderr) };

    let refused = sandbox.output(&run(&["Make a file"])).await?;
    assert_eq!(refused.status.code(), Some(3), "{}", told(&refused));
    assert!(
        refused.stderr.contains("denied (not interactive): Execute touch made.txt"),
        "{}",
        told(&refused)
    );
    assert!(!sandbox.workspace().join("made.txt").exists());

    let made = sandbox.output(&run(&["--auto", "high", "--json", "Make a file"])).await?;
    assert_eq!(made.status.code(), Some(0), "{}", told(&made));
    let result: Value = serde_json::from_str(&made.stdout[0])?;
    assert_eq!(result["result"], "Made.", "{result}");
    assert!(sandbox.workspace().join("made.txt").exists());

    let thanked = sandbox.output(&run(&["--continue", "--json", "Thanks"])).await?;
    assert_eq!(thanked.status.code(), Some(0), "{}", told(&thanked));
    let answered: Value = serde_json::from_str(&thanked.stdout[0])?;
    assert_eq!(answered["result"], "You are welcome.", "{answered}");
    assert_eq!(answered["session_id"], result["session_id"]);
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await
}
