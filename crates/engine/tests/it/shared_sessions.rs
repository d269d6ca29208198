//! A session that several agents have open: one owns it while its turn runs.

use musher_engine::store::{SessionId, Store};
use musher_engine::{
    Command, Error, Event, LoadSession, Loaded, Mode, NewSession, Prompt, Reply, SettingsChange,
};
use std::sync::Arc;

use crate::scripted::{self, endless, text};
use crate::stage::{Stage, is_idle};

/// Another agent, as of another process, with the same session open.
async fn beside(stage: &Stage, replies: impl IntoIterator<Item = scripted::Reply>) -> (Stage, Box<Loaded>) {
    let mut other = Stage::at(Arc::clone(&stage.home), Arc::clone(&stage.work), replies);
    let loaded = load(&mut other, &stage.session).await;
    (other, loaded)
}

async fn load(stage: &mut Stage, session: &str) -> Box<Loaded> {
    let command = Command::Load(Box::new(LoadSession { id: session.to_owned(), ..LoadSession::default() }));
    let id = stage.submit(command);
    let Reply::Loaded(loaded) = stage.reply(&id).await else { panic!("not loaded") };
    loaded
}

fn texts(stage: &Stage) -> Vec<String> {
    let session = Store::open(stage.home.path()).read(&SessionId::new(&stage.session).unwrap()).unwrap();
    let shown = session.messages.iter().filter(|message| !message.id.starts_with("context-"));
    shown.map(musher_engine::Message::text).collect()
}

#[tokio::test]
async fn idle_session_is_open_in_two_agents_and_each_continues_what_the_other_wrote() {
    let mut one = Stage::open([text("One."), text("Three.")]).await;
    one.say("first");
    one.until_idle().await;
    let (mut two, loaded) = beside(&one, [text("Two.")]).await;
    assert!(loaded.messages.iter().any(|message| message.text() == "One."));

    two.say("second");
    two.until_idle().await;
    one.say("third");
    one.until_idle().await;

    assert_eq!(texts(&one), ["first", "One.", "second", "Two.", "third", "Three."]);
    let asked = format!("{:?}", one.model.requests().last().unwrap().messages);
    assert!(asked.contains("second") && asked.contains("Two."), "{asked}");
    let again = load(&mut two, &one.session).await;
    assert!(
        again.messages.iter().any(|message| message.text() == "Three."),
        "loading reads what others wrote"
    );
}

#[tokio::test]
async fn settings_and_title_that_another_agent_sets_are_used_and_announced() {
    let mut one = Stage::open([text("One."), text("Two.")]).await;
    one.say("first");
    one.until_idle().await;
    let (mut two, _) = beside(&one, []).await;
    let change = SettingsChange { mode: Some(Mode::Spec), ..SettingsChange::default() };
    let id = two.submit(Command::ChangeSettings(Box::new(change)));
    two.reply(&id).await;
    let id = two.submit(Command::Rename { title: "Theirs".to_owned() });
    two.reply(&id).await;

    one.say("second");
    let events = one.until(is_idle).await;
    let mode = events.iter().find_map(|event| match event {
        Event::Settings { settings, .. } => Some(settings.mode),
        _ => None,
    });
    assert_eq!(mode, Some(Mode::Spec));
    let title = |event: &Event| matches!(event, Event::Title { title, .. } if title == "Theirs");
    assert!(events.iter().any(title));
    let asked = format!("{:?}", one.model.requests().last().unwrap().messages);
    assert!(asked.contains("Spec mode is on"), "{asked}");
}

#[tokio::test]
async fn prompt_during_the_turn_of_another_agent_is_refused_or_waits_if_asked_to() {
    let mut one = Stage::open([endless("One.")]).await;
    one.say("first");
    one.until(|event| matches!(event, Event::Message { .. })).await;
    let (mut two, loaded) = beside(&one, [text("Two.")]).await;
    assert!(loaded.messages.iter().any(|message| message.text() == "first"), "it can be read");

    let refused = two.say("second");
    let error = two.outcome(&refused).await.unwrap_err();
    let expected = format!("session {} is running in process {}", one.session, std::process::id());
    assert!(matches!(&error, Error::Running(_)) && error.to_string() == expected, "{error}");
    let rename = two.submit(Command::Rename { title: "Mine".to_owned() });
    assert!(matches!(two.outcome(&rename).await, Err(Error::Running(_))));

    let prompt = Prompt { text: "second".to_owned(), waits_for_session: true, ..Prompt::default() };
    let held = two.submit(Command::Prompt(Box::new(prompt.clone())));
    let discarded = two.submit(Command::Interrupt);
    assert!(two.outcome(&held).await.unwrap_err().to_string().contains("interrupted"));
    two.reply(&discarded).await;
    let held = two.submit(Command::Prompt(Box::new(prompt)));
    one.submit(Command::Interrupt);
    one.until_idle().await;
    two.reply(&held).await;
    two.until_idle().await;
    let texts = texts(&one);
    assert_eq!((texts[0].as_str(), texts[texts.len() - 2].as_str()), ("first", "second"));
    assert_eq!(texts.last().unwrap(), "Two.");
}

#[tokio::test]
async fn settings_changed_during_the_turn_of_another_agent_are_saved_with_the_next_turn() {
    let mut one = Stage::open([endless("One.")]).await;
    one.say("first");
    one.until(|event| matches!(event, Event::Message { .. })).await;
    let (mut two, _) = beside(&one, [text("Two.")]).await;
    let change = SettingsChange { compaction_token_limit: Some(4321), ..SettingsChange::default() };
    let id = two.submit(Command::ChangeSettings(Box::new(change)));
    two.reply(&id).await;
    one.submit(Command::Interrupt);
    one.until_idle().await;
    two.say("second");
    two.until_idle().await;
    let stored = Store::open(one.home.path()).read(&SessionId::new(&one.session).unwrap()).unwrap();
    assert_eq!(stored.settings["compactionTokenLimit"], 4321);
    assert!(stored.settings["tokenUsage"]["inputTokens"].as_u64() > Some(0), "{:?}", stored.settings);
}

#[tokio::test]
async fn session_without_a_prompt_is_loaded_by_another_agent_and_its_id_can_be_used_again() {
    let mut one = Stage::open([]).await;
    let id = one.session.clone();
    let (mut two, loaded) = beside(&one, [text("Hello.")]).await;
    assert!(loaded.messages.is_empty());
    let close = one.submit(Command::Close { reason: None });
    one.reply(&close).await;
    two.create(NewSession { id: Some(id.clone()), ..NewSession::default() }).await;
    assert_eq!(two.session, id);
    two.say("hi");
    two.until_idle().await;
    let store = Store::open(one.home.path());
    assert_eq!(store.list(None, 9).len(), 1);
    two.create(NewSession::default()).await;
    assert_eq!(store.list_used(None, 9).len(), 1, "a session without messages is not offered");
    assert_eq!(store.list(None, 9).len(), 2);
}
