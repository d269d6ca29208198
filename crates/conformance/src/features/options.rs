//! The other options of a session, and the calls of the low-level client that no other test makes.

use anyhow::Result;
use musher::wire::{KillWorkerSessionParams, SessionOrigin, SubmitBugReportParams, Tag};
use musher::{StoppedBy, TurnEnd};
use serde_json::json;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{execute, on};

pub(crate) async fn options_reach_the_agent_and_the_model(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("Aye.").when(on("Hello", 1)))
        .reply(execute("touch made.txt", "medium").when(on("Make", 1)));
    let stage = target.stage(script)?;
    let session = stage
        .session()
        .machine_id("machine-7")
        .session_id("my-own-session")
        .tag(Tag::new("nightly"))
        .origin(SessionOrigin::Sdk)
        .session_source(json!({"platform": "api", "delegationSessionId": "d-1"}))
        .append_system_prompt("Speak like a sailor.")
        .auto_reject_permissions()
        .disable_builtin_skills()
        .api_key("fk-other")
        .open()
        .await?;
    assert_eq!(session.id(), "my-own-session");
    let tags = session.state().settings.tags.unwrap_or_default();
    let names: Vec<_> = tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(names, ["nightly", "sdk"], "ours is added");
    assert!(
        session
            .client()
            .list_skills()
            .await?
            .skills
            .iter()
            .all(|skill| skill.location.as_ref().is_none_or(|at| at.as_str() != "builtin"))
    );
    assert_eq!(session.send("Hello.").await?.text, "Aye.");
    let asked = stage.asked();
    assert!(asked[0].contains("Speak like a sailor."));

    let result = session.send("Make a file.").await?;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied), "the agent itself refuses");
    assert!(!stage.sandbox().workspace().join("made.txt").exists());

    let error =
        session.client().kill_worker_session(KillWorkerSessionParams::new("no-such-worker")).await.unwrap_err();
    assert!(error.is_protocol(), "{error}");
    let report = SubmitBugReportParams::new("It works.");
    if let Some(backend) = stage.backend() {
        backend.answer("/api/bug-reports", json!({"bugReportId": "bug-7"}));
        assert_eq!(session.client().submit_bug_report(report).await?.bug_report_id, "bug-7");
    } else {
        let error = session.client().submit_bug_report(report).await.unwrap_err();
        assert!(error.is_protocol(), "there is no service to report to: {error}");
    }
    session.close().await?;

    let session = stage.session().system_prompt("You are a parrot.").open().await?;
    session.send("Hello.").await?;
    assert!(stage.asked().last().is_some_and(|asked| asked.contains("You are a parrot.")));
    session.close().await?;
    stage.finish().await
}
