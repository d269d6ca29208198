//! Watching: tokens, context, lists, raw notifications.

use anyhow::Result;
use musher::wire::{ListModelsParams, SetSkillDisabledParams};
use musher::{Autonomy, Event};
use serde_json::json;
use testkit::droid;
use testkit::rehearse::{Reply, Script, Usage};

use crate::Target;
use crate::stage::{on, soon};

pub(crate) async fn tokens_are_counted_for_each_turn_and_live(target: &dyn Target) -> Result<()> {
    let usage = Usage { input: Some(800), cache_read: Some(200), output: Some(50), ..Usage::default() };
    let script = Script::new().reply(Reply::text("Hello.").usage(usage).when(on("Hello", 1)));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    for _ in 0..2 {
        let mut turn = session.send("Hello.").partial().start().await?;
        let mut live = None;
        while let Some(event) = turn.next().await {
            match event? {
                Event::Usage(usage) => live = Some(usage.total.output_tokens),
                Event::Result(result) => {
                    let usage = result.usage.expect("the agent counts");
                    // the first turn has the title, too
                    let (input, output) = (usage.input_tokens, usage.output_tokens);
                    assert!(
                        (800..1600).contains(&input) && (50..100).contains(&output),
                        "of this turn only: {usage:?}"
                    );
                    assert_eq!(usage.cache_read_tokens, Some(200));
                }
                _ => {}
            }
        }
        // if one came in time; it may still be the count of the turn before
        assert!(live.is_none_or(|live| live >= 50), "of the whole session: {live:?}");
    }
    // the counts of the session may come after the turn
    let mut state = session.watch_state();
    let counted =
        state.wait_for(|state| state.usage.as_ref().is_some_and(|usage| usage.output_tokens >= 100));
    drop(soon("the token counts", counted).await??);

    let stats = session.client().get_context_stats().await?;
    assert!(stats.used.get() > 0 && stats.limit.get() > stats.used.get(), "{stats:?}");
    let breakdown = session.client().get_context_breakdown().await?;
    assert!(breakdown.categories.is_some_and(|categories| !categories.is_empty()));
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn skills_models_and_commands_are_listed_and_notifications_can_be_watched(target: &dyn Target) -> Result<()> {
    let script = Script::new().reply(Reply::text("Hello.").when(on("Hello", 1)));
    let stage = target.stage(script)?;
    let factory = stage.sandbox().workspace().join(".factory");
    fs_err::create_dir_all(factory.join("commands"))?;
    fs_err::write(factory.join("commands/greet.md"), "---\ndescription: Greets\n---\nSay hello.\n")?;
    fs_err::create_dir_all(factory.join("skills/juggling"))?;
    let skill = "---\nname: juggling\ndescription: Juggles with three balls\n---\nThrow, then catch.\n";
    fs_err::write(factory.join("skills/juggling/SKILL.md"), skill)?;

    let session = stage.session().open().await?;
    let mut all = session.notifications();
    let mut messages = session.notifications().only("create_message");
    let skills = session.client().list_skills().await?.skills;
    let juggling = skills.iter().find(|skill| skill.name == "juggling").expect("the skill of the project");
    assert_eq!(juggling.description.as_deref(), Some("Juggles with three balls"));
    session.client().set_skill_disabled(SetSkillDisabledParams::new("juggling", true)).await?;
    let skills = session.client().list_skills().await?.skills;
    assert!(skills.iter().any(|skill| skill.name == "juggling" && skill.enabled == Some(false)));

    let models = session.client().list_models(ListModelsParams::default()).await?.models;
    assert!(models.iter().any(|model| model.is_custom == Some(true)), "{models:?}");
    assert!(!session.state().models.is_empty());
    let commands = session.client().list_commands().await?.commands;
    assert!(commands.iter().any(|command| command.name == "greet"), "{commands:?}");
    let raw = session.client().call_raw("droid.list_commands", json!({})).await?;
    assert!(raw.text().contains("greet"));
    assert!(session.client().call_raw("droid.no_such_method", json!({})).await.unwrap_err().is_unsupported());

    session.send("Hello.").await?;
    session.close().await?;
    let (mut count, mut count_messages) = (0, 0);
    while soon("the end", all.next()).await?.is_some() {
        count += 1;
    }
    while let Some(message) = soon("the end", messages.next()).await? {
        assert_eq!(message.session()?.notification.tag(), "create_message");
        count_messages += 1;
    }
    assert!(count > count_messages && count_messages >= 2, "{count} {count_messages}");
    assert_eq!((all.missed(), messages.missed()), (0, 0));
    stage.finish().await
}

pub(crate) async fn files_go_back_to_how_they_were_before_a_message(target: &dyn Target) -> Result<()> {
    use musher::wire::{ExecuteRewindParams, GetRewindInfoParams};
    let script = |file: &str| {
        Script::new()
            .reply(Reply::tool("Create", json!({"file_path": file, "content": "new"})).when(on("Make", 1)))
            .reply(Reply::text("Made.").when(on("Make", 2)))
    };
    let file = std::env::temp_dir().join(format!("musher-rewind-{}.txt", std::process::id()));
    let stage = target.stage(script(&file.to_string_lossy()))?;
    let session = stage.session().autonomy(Autonomy::High).model(droid::CHAT_MODEL).open().await?;
    let result = session.send("Make a file.").message_id("the-message").await?;
    assert_eq!(result.turn_id, "the-message");
    assert!(file.exists());
    let info = session.client().get_rewind_info(GetRewindInfoParams::new(session.id(), "the-message")).await?;
    assert_eq!(info.created_files.len(), 1, "{info:?}");
    let params =
        ExecuteRewindParams::new(session.id(), "the-message", Vec::new(), info.created_files, "Back");
    let rewound = session.client().execute_rewind(params).await?;
    assert_ne!(rewound.new_session_id, session.id());
    assert!(!file.exists(), "it was made after the message");
    session.close().await?;
    stage.finish().await
}
