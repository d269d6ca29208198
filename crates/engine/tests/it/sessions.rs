//! Sessions: kept, loaded, named, and changed while they are open.

use std::sync::Arc;

use musher_engine::{
    Attach, Autonomy, Choice, Command, Error, LoadSession, Loaded, NewSession, Reply, Role, SettingsChange,
    WorkingState,
};
use serde_json::json;

use crate::scripted::{calls, endless, text};
use crate::stage::{Stage, line};

async fn load(stage: &mut Stage, id: &str) -> Result<Loaded, Error> {
    let load = LoadSession { id: id.to_owned(), ..LoadSession::default() };
    let command_id = stage.submit(Command::Load(Box::new(load)));
    match stage.outcome(&command_id).await {
        Ok(Reply::Loaded(loaded)) => Ok(*loaded),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    }
}

fn said(loaded: &Loaded) -> Vec<(Role, String)> {
    loaded.messages.iter().skip(1).map(|message| (message.role, message.text())).collect()
}

/// `load_session`.
#[tokio::test]
async fn session_is_resumed_by_another_process() {
    let mut first = Stage::open([text("Noted.")]).await;
    first.say("Remember mango.");
    first.until_idle().await;
    let id = first.session.clone();
    first.agent.stop().unwrap();
    first.until_end().await;

    let mut second = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), [text("Mango.")]);
    let loaded = load(&mut second, &id).await.unwrap();
    let expected = [(Role::User, "Remember mango.".to_owned()), (Role::Assistant, "Noted.".to_owned())];
    assert_eq!(said(&loaded), expected);
    assert_eq!(loaded.title.as_deref(), Some("Remember mango."));
    assert_eq!((loaded.state, loaded.usage.input), (WorkingState::Idle, 800));

    second.say("What did I say?");
    let seen = second.until_idle().await;
    assert!(!seen.contains(&"hidden user".to_owned()), "{seen:?}");
    let asked = &second.model.requests()[0].messages;
    assert_eq!(asked.len(), 4, "context, first message, answer, new message");
    assert_eq!(load(&mut second, &id).await.unwrap().messages.len(), 5);
}

#[tokio::test]
async fn missing_session_is_not_found() {
    let mut stage = Stage::open([]).await;
    for id in ["00000000-0000-4000-8000-000000000000", "../..", ""] {
        let error = load(&mut stage, id).await.unwrap_err();
        assert!(matches!(error, Error::SessionNotFound), "{id}: {error}");
    }
}

#[tokio::test]
async fn session_without_prompts_is_on_disk_when_it_is_created() {
    let stage = Stage::open([]).await;
    let store = musher_engine::store::Store::open(stage.home.path());
    let id = musher_engine::SessionId::new(&stage.session).unwrap();
    assert!(store.read(&id).unwrap().messages.is_empty());
}

#[tokio::test]
async fn additional_directories_are_kept_and_changes_reach_the_model() {
    let more = tempfile::tempdir().unwrap();
    let folder = fs_err::canonicalize(more.path()).unwrap();
    let attach = |folders: &[&std::path::PathBuf]| Attach {
        directories: Some(folders.iter().map(|folder| (*folder).clone()).collect()),
        ..Attach::default()
    };
    let new = NewSession { attach: attach(&[&folder]), ..NewSession::default() };
    let mut first = Stage::open_with([text("Hello.")], new).await;
    first.say("Hello.");
    first.until_idle().await;
    let (name, id) = (folder.display().to_string(), first.session.clone());
    assert!(format!("{:?}", first.model.requests()[0].messages).contains(&name));
    first.agent.stop().unwrap();
    first.until_end().await;
    // who says nothing gets those it had, and who says something those
    for (given, expected) in [
        (Attach::default(), None),
        (attach(&[]), Some("no longer has additional")),
        (attach(&[&folder]), Some("now includes")),
    ] {
        let mut stage = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), [text("Hello again.")]);
        let load = LoadSession { id: id.clone(), attach: given, ..LoadSession::default() };
        let command_id = stage.submit(Command::Load(Box::new(load)));
        stage.outcome(&command_id).await.unwrap();
        stage.say("And now?");
        stage.until_idle().await;
        let heard = format!("{:?}", stage.model.requests()[0].messages.last());
        for words in ["no longer has additional", "now includes"] {
            assert_eq!(heard.contains(words), expected == Some(words), "{words} in {heard}");
        }
        stage.agent.stop().unwrap();
        stage.until_end().await;
    }
}

/// `load_session_pending_permission`.
#[tokio::test]
async fn running_session_is_loaded_with_its_pending_request() {
    let input = json!({"command": "touch x", "riskLevel": "medium", "riskLevelReason": "a test"});
    let mut stage = Stage::open([calls("", &[("Execute", input)]), text("done")]).await;
    stage.say("Run.");
    let (_, request) = stage.until_question().await;
    let id = stage.session.clone();
    let loaded = load(&mut stage, &id).await.unwrap();
    assert_eq!((loaded.state, loaded.requests.len()), (WorkingState::Waiting, 1));
    let response = musher_engine::UserResponse::Decision(Choice::ProceedOnce.into());
    stage.agent.respond(request, response).unwrap();
    assert!(stage.until_idle().await.contains(&"turn Completed".to_owned()));
}

/// `close_session`.
#[tokio::test]
async fn session_is_renamed_and_closed() {
    let mut stage = Stage::open([text("x")]).await;
    stage.say("Hi.");
    stage.until_idle().await;
    stage.next().await;
    stage.submit(Command::Rename { title: "Renamed".to_owned() });
    assert_eq!(line(&stage.next().await.event), "title \"Renamed\" Manual");
    assert_eq!(line(&stage.next().await.event), "reply 3");
    stage.submit(Command::Close { reason: None });
    assert_eq!(stage.until_end().await, ["reply 4", "closed"]);
}

/// `settings_update`.
#[tokio::test]
async fn settings_change_also_while_a_turn_runs_and_are_kept() {
    let mut stage = Stage::open([endless("one")]).await;
    stage.say("Go.");
    stage.until(|event| line(event) == "text 0 \"one\"").await;
    let change = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.submit(Command::ChangeSettings(Box::new(change)));
    for expected in ["settings Auto High", "settings for 3 Auto High", "reply 3"] {
        assert_eq!(line(&stage.next().await.event), expected);
    }
    let id = stage.session.clone();
    stage.agent.stop().unwrap();
    stage.until_end().await;
    let mut again = Stage::at(Arc::clone(&stage.home), Arc::clone(&stage.work), []);
    let loaded = load(&mut again, &id).await.unwrap();
    assert_eq!(loaded.settings.autonomy, Autonomy::Off, "an autonomy level does not outlive its process");
}

#[tokio::test]
async fn stored_settings_neither_raise_the_autonomy_nor_end_spec_mode() {
    let settings = SettingsChange { mode: Some(musher_engine::Mode::Spec), ..SettingsChange::default() };
    let mut first = Stage::open_with([], NewSession { settings, ..NewSession::default() }).await;
    let id = first.session.clone();
    first.agent.stop().unwrap();
    first.until_end().await;
    let mut again = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), []);
    assert_eq!(load(&mut again, &id).await.unwrap().settings.mode, musher_engine::Mode::Spec);
    again.agent.stop().unwrap();
    again.until_end().await;
    // planted settings of the session
    let stored = settings_file(first.home.path(), &id);
    let planted = fs_err::read_to_string(&stored).unwrap().replace("\"off\"", "\"high\"");
    fs_err::write(&stored, planted.replace("\"spec\"", "\"auto\"")).unwrap();
    fs_err::write(
        first.home.path().join("settings.json"),
        r#"{"sessionDefaultSettings": {"interactionMode": "spec", "autonomyLevel": "low"}}"#,
    )
    .unwrap();
    let mut third = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), []);
    let loaded = load(&mut third, &id).await.unwrap().settings;
    assert_eq!((loaded.mode, loaded.autonomy), (musher_engine::Mode::Spec, Autonomy::Low));
}

/// The file with the settings of a session.
fn settings_file(folder: &std::path::Path, id: &str) -> std::path::PathBuf {
    let name = format!("{id}.settings.json");
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|found| found == name.as_str()) {
                return path;
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    panic!("no {name}")
}

#[tokio::test]
async fn session_id_in_use_is_rejected() {
    let mut stage =
        Stage::open_with([text("x")], NewSession { id: Some("mine".to_owned()), ..NewSession::default() })
            .await;
    stage.say("Hi");
    stage.until_idle().await;
    let new = NewSession {
        id: Some("mine".to_owned()),
        cwd: stage.work.path().to_owned(),
        ..NewSession::default()
    };
    let command_id = stage.submit(Command::Create(Box::new(new)));
    let error = stage.outcome(&command_id).await.unwrap_err();
    assert_eq!(error.to_string(), "session mine already exists");
}

#[tokio::test]
async fn missing_directory_is_rejected() {
    let mut stage = Stage::empty([]);
    let new = NewSession { cwd: "/no/such/folder".into(), ..NewSession::default() };
    let command_id = stage.submit(Command::Create(Box::new(new)));
    let error = stage.outcome(&command_id).await.unwrap_err();
    assert_eq!(error.to_string(), "Working directory does not exist: /no/such/folder");
}

/// `fork`.
#[tokio::test]
async fn fork_is_complete_and_the_agent_keeps_its_session() {
    let mut stage = Stage::open([text("Noted."), text("Still old."), text("Fork reply.")]).await;
    stage.say("Remember banana.");
    stage.until_idle().await;
    let tag = musher_engine::Tag { name: "t1".to_owned(), metadata: None };
    let command_id =
        stage.submit(Command::Fork { title: Some("My fork".to_owned()), tags: Some(vec![tag.clone()]) });
    let Reply::Forked { session } = stage.reply(&command_id).await else { panic!("no fork") };
    stage.say("After the fork.");
    stage.until_idle().await;
    let loaded = load(&mut stage, session.as_str()).await.unwrap();
    assert_eq!((loaded.title.as_deref(), loaded.messages.len()), (Some("My fork"), 3));
    assert_eq!((loaded.settings.tags, loaded.usage.input), (Some(vec![tag]), 0));
    stage.say("In the fork.");
    stage.until_idle().await;
    assert_eq!(load(&mut stage, session.as_str()).await.unwrap().messages.len(), 5);
}

/// `rewind`.
#[tokio::test]
async fn files_and_conversation_go_back_before_a_message() {
    let folder = Stage::empty([]);
    let path = |name: &str| folder.work.path().canonicalize().unwrap().join(name);
    let create = |name: &str, content: &str| {
        calls("", &[("Create", json!({"file_path": path(name), "content": content}))])
    };
    let script = [
        create("rw.txt", "v1\n"),
        text("Made."),
        create("rw.txt", "v2\n"),
        create("rw2.txt", "new\n"),
        text("Changed."),
    ];
    let mut stage = Stage::at(Arc::clone(&folder.home), Arc::clone(&folder.work), script);
    let settings = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.create(NewSession { settings, ..NewSession::default() }).await;
    stage.say("First.");
    stage.until_idle().await;
    let second =
        musher_engine::Prompt { message_id: Some("second".to_owned()), ..musher_engine::Prompt::default() };
    stage.submit(Command::Prompt(Box::new(second)));
    stage.until_idle().await;
    let session = stage.session.clone();
    let info = Command::RewindInfo { session: session.clone(), message: "second".to_owned() };
    let command_id = stage.submit(info);
    let Reply::RewindInfo(info) = stage.reply(&command_id).await else { panic!("no info") };
    assert_eq!(info.available.iter().map(|(path, ..)| path.clone()).collect::<Vec<_>>(), [path("rw.txt")]);
    assert_eq!(info.created, [path("rw2.txt")]);

    let rewind = musher_engine::Rewind {
        session,
        message: "second".to_owned(),
        restore: info.available.iter().map(|(path, hash, _)| (path.clone(), hash.clone())).collect(),
        delete: info.created.clone(),
        title: "Back".to_owned(),
    };
    let command_id = stage.submit(Command::Rewind(Box::new(rewind)));
    let Reply::Rewound { session, restored, deleted, .. } = stage.reply(&command_id).await else {
        panic!("not rewound")
    };
    assert_eq!((restored, deleted), (1, 1));
    assert_eq!(fs_err::read_to_string(path("rw.txt")).unwrap(), "v1\n");
    assert!(!path("rw2.txt").exists());
    let loaded = load(&mut stage, session.as_str()).await.unwrap();
    assert_eq!(said(&loaded).first().unwrap().1, "First.");
    assert!(!loaded.messages.iter().any(|message| message.id == "second"));
}
