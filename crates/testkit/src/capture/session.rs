//! Records a capture: an agent in a sandbox, the scripted model, the scenario, and the sanitising of messages.

use anyhow::{Result, bail, ensure};
use musher_rehearse::{Script, Server, Source};

use super::{Record, Scenario, play, replacements, sanitise};
use crate::peers::Installed;
use crate::{Backend, Sandbox, claude, droid};

/// Plays a scenario with a real agent, whose model follows the script; returns the sanitised messages.
///
/// Fails if the agent sends a model request that the script has no reply for, exits with an error, or leaves anything running.
pub async fn record(agent: &Installed, script: Script, scenario: &Scenario) -> Result<Vec<Record>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(script)?;
    let launch = match agent.peer.name {
        "droid" => droid::launch(&sandbox, agent, &model.url(), &backend)?,
        "claude" => claude::launch(&sandbox, agent, &model.url()),
        other => bail!("{other} is not an agent"),
    };

    let (workspace, home, temp) = (sandbox.workspace(), sandbox.home(), sandbox.temp());
    let (workspace_text, home_text) = (workspace.to_string_lossy(), home.to_string_lossy());
    let variables = [("$WORKSPACE", &*workspace_text), ("$HOME", &*home_text), ("$MODEL", droid::CHAT_MODEL)];
    let program = sandbox.spawn(&launch.args(&scenario.args))?;
    let said = play(program, scenario, &variables).await?;
    all_calls_were_scripted(&model)?;

    let replacements = replacements(
        &[(&workspace, "/workspace"), (&home, "/home/user"), (&temp, "/tmp")],
        &[
            (&model.url(), "http://127.0.0.1:1"),
            (&backend.url(), "http://127.0.0.1:2"),
            (droid::DUMMY_KEY, "<key>"),
            (claude::DUMMY_KEY, "<key>"),
        ],
    );
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await?;
    let clean = |record: Record| Record { msg: sanitise(record.msg, &replacements), ..record };
    Ok(said.into_iter().map(clean).collect())
}

/// A call without a reply in the script gets an error, which would end up in the capture.
fn all_calls_were_scripted(model: &Server) -> Result<()> {
    let nothing = Source::Unmatched.to_string();
    let unmatched = model.calls().iter().filter(|call| call.reply.as_ref() == Some(&nothing)).count();
    ensure!(unmatched == 0, "{unmatched} calls of the agent have no reply in the script");
    Ok(())
}
