//! Settings that cannot be understood: no session starts with them, and an open one keeps those it has.

use std::path::Path;
use std::sync::Arc;

use musher_engine::{Autonomy, Command, Error, Event, LoadSession, NewSession, SettingsChange};
use serde_json::json;

use crate::scripted::text;
use crate::stage::Stage;

const BROKEN: &str = r#"{"commandBlocklist":["curl"] "x":1}"#;

fn write(folder: &Path, name: &str, content: impl std::fmt::Display) {
    let path = folder.join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content.to_string()).unwrap();
}

/// What a new session is refused with.
async fn refusal(stage: &mut Stage) -> String {
    let new = NewSession { cwd: stage.work.path().to_owned(), ..NewSession::default() };
    let command_id = stage.submit(Command::Create(Box::new(new)));
    let error = stage.outcome(&command_id).await.unwrap_err();
    assert!(matches!(error, Error::Settings(_)), "{error}");
    error.to_string()
}

#[tokio::test]
async fn invalid_settings_prevent_every_session() {
    let mut stage = Stage::empty([text("Hello.")]);
    let (home, work) = (stage.home.path().to_owned(), stage.work.path().to_owned());
    let touch = |name: &str| format!("touch '{}'", work.join(name).display());
    let hook = json!({"SessionStart": [{"hooks": [{"type": "command", "command": touch("hooked")}]}]});
    write(&home, "hooks.json", hook);
    let server = json!({"command": "sh", "args": ["-c", touch("served")]});
    write(&home, "mcp.json", json!({"mcpServers": {"s": server}}));
    write(&work, ".factory/settings.local.json", BROKEN);

    let file = work.join(".factory/settings.local.json").display().to_string();
    let expected = format!(
        "cannot start with these settings:\n  {file}:1:30: expected `,` or `}}`\n  -> fix it, remove it, or work in another \
         directory; no session starts here until then, because restrictions of a repository apply even if it is not trusted"
    );
    assert_eq!(refusal(&mut stage).await, expected);
    assert!(!work.join("hooked").exists() && !work.join("served").exists());
    assert!(stage.model.requests().is_empty());

    write(&work, ".factory/settings.local.json", "{}");
    stage.create(NewSession::default()).await;
    stage.say("Hi");
    stage.until_idle().await;
    assert!(work.join("hooked").exists(), "the hook runs once the file is fixed");
}

#[tokio::test]
async fn every_restriction_that_cannot_be_understood_is_in_the_refusal() {
    let mut stage = Stage::empty([]);
    let home = stage.home.path().to_owned();
    write(&home, "settings.json", json!({"commandBlocklist": "curl", "maxAutonomyLevel": "lo", "model": 7}));
    let file = home.join("settings.json").display().to_string();
    let expected = format!(
        "cannot start with these settings:\n  {file}: commandBlocklist: invalid type: string \"curl\", expected a sequence\n  \
         {file}: maxAutonomyLevel: unknown variant `lo`, expected one of `off`, `low`, `medium`, `high`\n  \
         -> fix it or remove it; no session starts until then, because it may hide a restriction"
    );
    assert_eq!(refusal(&mut stage).await, expected);
}

#[tokio::test]
async fn session_is_not_resumed_with_invalid_settings() {
    let mut first = Stage::open([text("Noted.")]).await;
    first.say("Remember mango.");
    first.until_idle().await;
    let id = first.session.clone();
    first.agent.stop().unwrap();
    first.until_end().await;

    write(first.home.path(), "settings.json", BROKEN);
    let mut second = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), []);
    let load = || Command::Load(Box::new(LoadSession { id: id.clone(), ..LoadSession::default() }));
    let command_id = second.submit(load());
    let error = second.outcome(&command_id).await.unwrap_err();
    assert!(error.to_string().contains("settings.json:1:30: "), "{error}");

    write(first.home.path(), "settings.json", "{}");
    let command_id = second.submit(load());
    second.outcome(&command_id).await.unwrap();
}

#[tokio::test]
async fn open_session_keeps_restrictions_when_a_file_becomes_invalid() {
    let mut stage = Stage::empty([]);
    let (home, work) = (stage.home.path().to_owned(), stage.work.path().to_owned());
    write(&home, "settings.json", "{}");
    write(&work, ".musher/settings.json", json!({"maxAutonomyLevel": "low"}));
    stage.create(NewSession::default()).await;
    write(&work, ".musher/settings.json", BROKEN);

    let switch = Command::SetSkillDisabled { name: "deploy".to_owned(), disabled: true, level: None };
    let command_id = stage.submit(switch);
    let error = stage.outcome(&command_id).await.unwrap_err();
    assert!(error.to_string().contains(".musher/settings.json:1:30: "), "{error}");
    assert_eq!(fs_err::read_to_string(home.join("settings.json")).unwrap(), "{}", "nothing is written");

    let change = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.submit(Command::ChangeSettings(Box::new(change)));
    let seen = stage.until(|event| matches!(event, Event::Settings { .. })).await;
    let Some(Event::Settings { settings, .. }) = seen.last() else { panic!("no settings") };
    assert_eq!(settings.autonomy, Autonomy::Low);
}

#[tokio::test]
async fn unknown_keys_are_reported_when_a_session_starts_and_survive_a_change() {
    let mut stage = Stage::empty([]);
    let home = stage.home.path().to_owned();
    write(&home, "settings.json", json!({"commandBlockList": ["curl"], "later": {"x": 1}}));
    let new = NewSession { cwd: stage.work.path().to_owned(), ..NewSession::default() };
    stage.submit(Command::Create(Box::new(new)));
    let seen = stage.until(|event| matches!(event, Event::Reply { .. })).await;
    let told: Vec<_> = seen
        .iter()
        .filter_map(|event| match event {
            Event::Problem { message, .. } => Some(message.rsplit_once("settings.json: ")?.1),
            _ => None,
        })
        .collect();
    let expected = ["commandBlockList: unknown key, did you mean `commandBlocklist`?", "later: unknown key"];
    assert_eq!(told, expected);

    let switch = Command::SetSkillDisabled { name: "deploy".to_owned(), disabled: true, level: None };
    let command_id = stage.submit(switch);
    stage.outcome(&command_id).await.unwrap();
    let written: serde_json::Value =
        serde_json::from_slice(&fs_err::read(home.join("settings.json")).unwrap()).unwrap();
    let expected = json!({"commandBlockList": ["curl"], "later": {"x": 1}, "disabledSkills": ["deploy"]});
    assert_eq!(written, expected);
}
