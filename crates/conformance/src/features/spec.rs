//! Spec mode: plans first, and every way out of it.

use std::sync::{Arc, Mutex};

use anyhow::Result;
use musher::wire::{InteractionMode, ReasoningEffort, ToolConfirmationOutcome as Outcome};
use musher::{Autonomy, Decision, StoppedBy, TurnEnd};
use serde_json::json;
use testkit::droid;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{on, soon};

pub(crate) async fn plans_are_refused_accepted_edited_and_handed_over(target: &dyn Target) -> Result<()> {
    let ways = ["refused", "once", "low", "medium", "high", "edited", "fresh"];
    let script = ways.iter().fold(Script::new(), |script, way| {
        let plan = json!({"plan": format!("1. Do it, {way}."), "title": "The plan"});
        script
            .reply(Reply::tool("ExitSpecMode", plan).when(on(&format!("Plan {way}"), 1)))
            .reply(Reply::text(format!("Did it, {way}.")).when(on(&format!("Plan {way}"), 2)))
    });
    // the session that takes over gets the plan as its prompt
    let script = script.reply(Reply::text("Did it again.").when(on("Do it, fresh", 1)));
    let script = script.reply(Reply::text("That.").when(on("What did you do", 1)));
    let stage = target.stage(script)?;
    let plans = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&plans);
    let session = stage
        .session()
        .spec_mode()
        .spec_mode_model(droid::RESPONSES_MODEL)
        .on_permission_sync(move |asked| {
            let plan = asked.plan().unwrap_or_default().to_owned();
            seen.lock().unwrap().push(plan.clone());
            match plan.as_str() {
                "1. Do it, once." => Decision::allow_once(),
                "1. Do it, low." => Outcome::ProceedAutoRunLow.into(),
                "1. Do it, medium." => Outcome::ProceedAutoRunMedium.into(),
                "1. Do it, high." => Outcome::ProceedAutoRunHigh.into(),
                "1. Do it, edited." => Decision::edit_plan("1. Do it better."),
                "1. Do it, fresh." => Outcome::ProceedNewSession.into(),
                _ => Decision::deny(),
            }
        })
        .open()
        .await?;
    let mode = || session.state().settings.interaction_mode;
    let level = || session.state().settings.autonomy_level;
    assert_eq!(mode(), Some(InteractionMode::Spec), "it begins there");
    assert_eq!(session.state().settings.spec_mode_model_id.as_deref(), Some(droid::RESPONSES_MODEL));

    let state = session.leave_spec_mode().await?;
    assert_eq!(state.settings.interaction_mode, Some(InteractionMode::Auto));
    let state =
        session.enter_spec_mode().model(droid::CHAT_MODEL).reasoning_effort(ReasoningEffort::None).await?;
    assert_eq!(state.settings.interaction_mode, Some(InteractionMode::Spec));
    assert_eq!(state.settings.spec_mode_model_id.as_deref(), Some(droid::CHAT_MODEL));

    let result = session.send("Plan refused.").await?;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    assert_eq!(mode(), Some(InteractionMode::Spec), "a denial keeps it there");

    for (way, expected) in [
        ("once", Autonomy::Off),
        ("low", Autonomy::Low),
        ("medium", Autonomy::Medium),
        ("high", Autonomy::High),
    ] {
        let result = session.send(format!("Plan {way}.")).await?;
        assert_eq!((&result.end, result.text), (&TurnEnd::Completed, format!("Did it, {way}.")));
        assert_eq!((mode(), level()), (Some(InteractionMode::Auto), Some(expected)), "{way}");
        session.enter_spec_mode().await?;
    }

    let result = session.send("Plan edited.").await?;
    assert_eq!((&result.end, result.text.as_str()), (&TurnEnd::Completed, "Did it, edited."));
    let specs = fs_err::read_dir(stage.agent_home().join("specs"))?;
    let specs: Result<Vec<_>, _> = specs.map(|spec| fs_err::read_to_string(spec?.path())).collect();
    assert!(specs?.iter().any(|spec| spec == "1. Do it better."), "the edited plan is the one that is kept");

    session.enter_spec_mode().await?;
    let before = session.id();
    let result = soon("the other session", session.send("Plan fresh.").into_future()).await??;
    assert_eq!(result.end, TurnEnd::HandedOver);
    assert_ne!(result.session_id, before);
    assert_eq!(session.id(), result.session_id, "the session continues there");
    assert_eq!(result.text, "Did it again.");
    let result = session.send("What did you do?").await?;
    assert_eq!((result.session_id.as_str(), result.text.as_str()), (session.id().as_str(), "That."));
    assert_eq!(plans.lock().unwrap().len(), ways.len());
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn a_plan_is_handed_over_at_every_level(target: &dyn Target) -> Result<()> {
    let levels = [
        ("low", Outcome::ProceedNewSessionLow, Autonomy::Low),
        ("medium", Outcome::ProceedNewSessionMedium, Autonomy::Medium),
        ("high", Outcome::ProceedNewSessionHigh, Autonomy::High),
    ];
    let script = levels.iter().fold(Script::new(), |script, (way, ..)| {
        let plan = json!({"plan": format!("1. Go {way}."), "title": "The plan"});
        script
            .reply(Reply::tool("ExitSpecMode", plan).when(on(&format!("Plan {way}"), 1)))
            .reply(Reply::text(format!("Went {way}.")).when(on(&format!("1. Go {way}"), 1)))
    });
    let stage = target.stage(script)?;
    let outcomes = levels.clone();
    let session = stage
        .session()
        .spec_mode()
        .on_permission_sync(move |asked| {
            let plan = asked.plan().unwrap_or_default();
            match outcomes.iter().find(|(way, ..)| plan.contains(way)) {
                Some((_, outcome, _)) => outcome.clone().into(),
                None => Decision::deny(),
            }
        })
        .open()
        .await?;
    for (way, _, expected) in levels {
        let before = session.id();
        let result = soon("the other session", session.send(format!("Plan {way}.")).into_future()).await??;
        assert_eq!((&result.end, result.text), (&TurnEnd::HandedOver, format!("Went {way}.")));
        assert_ne!(session.id(), before, "{way}");
        let settings = session.state().settings;
        assert_eq!(settings.autonomy_level, Some(expected), "{way}");
        assert_eq!(settings.interaction_mode, Some(InteractionMode::Auto), "{way}");
        session.enter_spec_mode().await?;
    }
    session.close().await?;
    stage.finish().await
}
