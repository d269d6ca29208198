//! What calls cost that did not end well: interrupted, repeated, or of no use.

use musher_engine::{Command, Event, Ledger, NewSession, SettingsChange, TurnCompleted};
use musher_model::{ErrorClass, ModelError, ModelEvent, Usage};
use serde_json::{Value, json};

use crate::scripted::{Reply, USAGE, calls, endless, text};
use crate::stage::{Stage, is_idle};

/// The ledger of the session on disk.
fn ledger(stage: &Stage) -> Ledger {
    let sessions = fs_err::read_dir(stage.home.path().join("sessions")).unwrap().flatten();
    let name = format!("{}.settings.json", stage.session);
    let files = sessions.flat_map(|folder| fs_err::read_dir(folder.path()).unwrap().flatten());
    let file =
        files.map(|entry| entry.path()).find(|path| path.file_name().is_some_and(|file| *file == *name));
    let settings: Value = serde_json::from_slice(&fs_err::read(file.unwrap()).unwrap()).unwrap();
    Ledger::of_settings(settings.as_object().unwrap())
}

fn completed(events: &[Event]) -> &TurnCompleted {
    let mut ends = events.iter().filter_map(|event| match event {
        Event::TurnCompleted(completed) => Some(completed.as_ref()),
        _ => None,
    });
    ends.next().unwrap()
}

fn busy() -> ModelError {
    ModelError::new(ErrorClass::Overloaded, "busy")
}

#[tokio::test]
async fn interrupted_call_counts_with_an_estimate() {
    let mut stage = Stage::open([endless("some words that were paid for")]).await;
    stage.say("Go.");
    stage.until(|event| matches!(event, Event::TextDelta { text, .. } if text == "for")).await;
    stage.submit(Command::Interrupt);
    let events = stage.until(is_idle).await;
    let total = ledger(&stage).total();
    assert_eq!((total.calls, total.usage.output), (1, 8));
    assert!(total.usage.input > 1000, "the prompt was read: {total:?}");
    assert_eq!(total.estimated_tokens, total.usage.input + total.usage.output);
    let completed = completed(&events);
    assert_eq!((completed.usage, completed.cumulative), (total.usage, total.usage));
}

#[tokio::test]
async fn attempt_that_was_cut_counts_as_the_vendor_has_reported_it() {
    let reported = Usage { input: 70, cache_read: 30, output: 2, ..Usage::default() };
    let cut = Reply::Fail(vec![ModelEvent::Usage(reported), ModelEvent::TextDelta("Hm".to_owned())], busy());
    let refused = Reply::Fail(Vec::new(), busy());
    let mut stage = Stage::open([cut, refused, text("Fine.")]).await;
    stage.say("Go.");
    let events = stage.until(is_idle).await;
    let total = ledger(&stage).total();
    assert_eq!((total.calls, total.estimated_tokens), (2, 0), "a refused attempt costs nothing");
    assert_eq!(total.usage.input, USAGE.input + 70);
    assert_eq!(completed(&events).usage, total.usage);
}

#[tokio::test]
async fn failed_summary_counts() {
    let settings = SettingsChange { compaction_token_limit: Some(USAGE.input), ..SettingsChange::default() };
    let new = NewSession { settings, ..NewSession::default() };
    let failed = Reply::Fail(
        vec![ModelEvent::TextDelta("The".to_owned())],
        ModelError::new(ErrorClass::Invalid, "no"),
    );
    let mut stage = Stage::open_with([calls("", &[("LS", json!({}))]), failed, text("Done.")], new).await;
    stage.say("Look.");
    stage.until(is_idle).await;
    let total = ledger(&stage).total();
    assert_eq!(total.calls, 3);
    assert!(total.estimated_tokens > 100 && total.usage.input > 2 * USAGE.input, "{total:?}");
}
