//! Autonomy, tools, models: at the start of a session and between turns.

use anyhow::Result;
use musher::wire::{ListToolsParams, ReasoningEffort, UpdateSessionSettingsParams as Settings};
use musher::{Autonomy, Session, StoppedBy, TurnEnd};
use testkit::droid;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{execute, on};

async fn allowed(session: &Session, id: &str) -> Result<Option<bool>> {
    let tools = session.client().list_tools(ListToolsParams::default()).await?.tools;
    Ok(tools.into_iter().find(|tool| tool.id == id).and_then(|tool| tool.currently_allowed))
}

pub(crate) async fn autonomy_decides_what_runs_without_asking(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(execute("touch one.txt", "medium").when(on("Make one", 1)))
        .reply(Reply::text("Made.").when(on("Make one", 2)))
        .reply(execute("rm -f none.txt; touch two.txt", "medium").when(on("Make two", 1)))
        .reply(execute("touch three.txt", "high").when(on("Make three", 1)))
        .reply(Reply::text("Made.").when(on("Make three", 2)));
    let stage = target.stage(script)?;
    let made = |name: &str| stage.sandbox().workspace().join(name).exists();
    let session = stage.session().autonomy(Autonomy::Medium).open().await?;
    assert_eq!(session.state().settings.autonomy_level, Some(Autonomy::Medium));
    assert_eq!(session.send("Make one.").await?.end, TurnEnd::Completed);
    assert!(made("one.txt"));

    for level in [Autonomy::Off, Autonomy::Low] {
        let settings = Settings { autonomy_level: Some(level.clone()), ..Settings::default() };
        assert_eq!(session.update_settings(settings).await?.settings.autonomy_level, Some(level));
    }
    assert_eq!(session.send("Make two.").await?.end, TurnEnd::Interrupted(StoppedBy::Denied));
    assert!(!made("two.txt"));

    let settings = Settings { autonomy_level: Some(Autonomy::High), ..Settings::default() };
    session.update_settings(settings).await?;
    assert_eq!(session.send("Make three.").await?.end, TurnEnd::Completed);
    assert!(made("three.txt"));
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn tools_are_switched_off_and_on_and_listed(target: &dyn Target) -> Result<()> {
    let stage = target.stage(Script::new().reply(Reply::text("Hello.").when(on("Hello", 1))))?;
    let session = stage.session().disabled_tools(["execute-cli"]).open().await?;
    assert_eq!(session.state().settings.disabled_tool_ids, Some(vec!["execute-cli".to_owned()]));
    assert_eq!(allowed(&session, "read-cli").await?, Some(true));
    assert_eq!(allowed(&session, "execute-cli").await?, Some(false));
    session.send("Hello.").await?;
    let offered = |tool: &str| {
        let calls = stage.model.calls();
        let call =
            calls.iter().rev().filter_map(|call| call.call.as_ref()).find(|call| !call.tools.is_empty());
        call.is_some_and(|call| call.tools.iter().any(|name| name == tool))
    };
    assert!(offered("Read") && !offered("Execute"));

    let settings = Settings { disabled_tool_ids: Some(vec!["read-cli".to_owned()]), ..Settings::default() };
    session.update_settings(settings).await?;
    session.send("Hello.").await?;
    assert!(!offered("Read") && offered("Execute"));
    session.close().await?;

    let session = stage.session().enabled_tools(["create-cli"]).restrict_tools(["ls-cli"]).open().await?;
    assert_eq!(session.state().settings.enabled_tool_ids, Some(vec!["create-cli".to_owned()]));
    session.send("Hello.").await?;
    assert!(offered("LS") && !offered("Read"));
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn model_and_effort_are_chosen_at_the_beginning_and_in_between(target: &dyn Target) -> Result<()> {
    let script = Script::new().reply(Reply::text("Hello.").when(on("Hello", 1)));
    let stage = target.stage(script)?;
    let session =
        stage.session().model(droid::ANTHROPIC_MODEL).reasoning_effort(ReasoningEffort::High).open().await?;
    let settings = session.state().settings;
    assert_eq!(settings.model_id.as_deref(), Some(droid::ANTHROPIC_MODEL));
    session.send("Hello.").await?;
    let settings = Settings {
        model_id: Some(droid::RESPONSES_MODEL.to_owned()),
        reasoning_effort: Some(ReasoningEffort::Low),
        ..Settings::default()
    };
    let state = session.update_settings(settings).await?;
    assert_eq!(state.settings.model_id.as_deref(), Some(droid::RESPONSES_MODEL));
    session.send("Hello.").await?;
    let models: Vec<_> = stage.model.calls().iter().filter_map(|call| call.call.clone()).collect();
    let models: Vec<_> =
        models.iter().filter(|call| !call.tools.is_empty()).map(|call| call.model.as_str()).collect();
    assert_eq!(models, ["rehearsal-anthropic", "rehearsal-responses"]);

    // these models cannot think, so the agent keeps no effort for them; there are others, as long as they are not asked
    let efforts = [ReasoningEffort::High, ReasoningEffort::Low];
    let models = session.state().models;
    let thinker = models.iter().find(|model| {
        let supported = model.supported_reasoning_efforts.as_deref().unwrap_or_default();
        efforts.iter().all(|effort| supported.contains(effort))
    });
    let thinker = thinker.expect("there is one").id.clone();
    session.close().await?;
    let session = stage.session().model(&thinker).reasoning_effort(ReasoningEffort::High).open().await?;
    let settings = session.state().settings;
    assert_eq!(settings.model_id.as_deref(), Some(thinker.as_str()));
    assert_eq!(settings.reasoning_effort, Some(ReasoningEffort::High));
    let settings = Settings { reasoning_effort: Some(ReasoningEffort::Low), ..Settings::default() };
    let state = session.update_settings(settings).await?;
    assert_eq!(state.settings.reasoning_effort, Some(ReasoningEffort::Low));
    session.close().await?;
    stage.finish().await
}
