//! Sessions without damage or failures.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::support::{
    Home, after, call, messages, new_session, outcome, record, result, said, session_id, two_turns,
};
use crate::{Compaction, Record, StoreError};
use musher_message::{Content, Role};

#[test]
fn summary_is_replaced_and_everything_else_stays() {
    let home = Home::new();
    let mut log = home.create("s");
    log.append(&record(said("one", Role::User, "1"))).unwrap();
    assert!(!log.set_summary("none yet").unwrap());
    for (id, summary) in [("c1", "old".to_owned()), ("c2", "long ".repeat(1_000_000))] {
        let compaction = Compaction { id: id.to_owned(), summary, ..Compaction::default() };
        log.append(&Record::Compaction(Box::new(compaction))).unwrap();
    }
    log.append(&record(after("one", said("two", Role::User, "2")))).unwrap();
    assert!(log.set_summary("mine").unwrap());
    log.append(&record(after("two", said("three", Role::User, "3")))).unwrap();
    drop(log);
    let stored = home.store().read(&session_id("s")).unwrap();
    let compacted = stored.compaction.unwrap();
    assert_eq!((compacted.summary.id.as_str(), compacted.summary.summary.as_str()), ("c2", "mine"));
    assert_eq!((compacted.removed, stored.messages.len()), (1, 3));
    assert!(stored.damage.is_none());
}

#[test]
fn appended_records_are_loaded() {
    let home = Home::with_session("s");
    let loaded = home.store().load(&session_id("s")).unwrap();
    assert_eq!(loaded.session.messages, messages(two_turns()));
    assert!(loaded.session.damage.is_none(), "{}", loaded.session.damage);
    assert_eq!(loaded.session.start.title(), "New Session");
    assert_eq!(loaded.session.start.cwd().as_deref(), Some(Path::new("/workspace")));
}

#[test]
fn log_has_one_writer_and_any_number_of_readers() {
    let home = Home::new();
    let log = home.create("s");
    let error = home.store().load(&session_id("s")).unwrap_err();
    let holder = Some(std::process::id());
    assert!(matches!(error, StoreError::Locked { holder: found, .. } if found == holder), "{error}");
    assert!(home.store().read(&session_id("s")).is_ok());
    drop(log);
    assert!(home.store().load(&session_id("s")).is_ok());
}

#[test]
fn existing_id_cannot_be_created_again() {
    let home = Home::with_session("s");
    assert!(matches!(home.store().create(new_session("s")), Err(StoreError::Exists(_))));
    let error = home.store().load(&session_id("other")).unwrap_err();
    assert!(matches!(error, StoreError::NotFound(_)), "{error}");
}

#[test]
fn generated_title_does_not_replace_a_title_of_the_user() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    assert!(log.set_title("Made", false).unwrap());
    assert!(log.set_title("Given", true).unwrap());
    assert!(!log.set_title("Made again", false).unwrap());
    log.append(&record(after("ending", said("u3", Role::User, "More.")))).unwrap();
    drop(log);
    let session = home.store().read(&session_id("s")).unwrap();
    assert_eq!((session.start.title(), session.messages.len()), ("Given", 7));
    assert_eq!(home.store().list(None, 9)[0].title, "Given");
}

#[test]
fn title_that_another_program_writes_for_the_user_is_kept() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    let path = log.path();
    let text = fs_err::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(first).unwrap();
    (first["title"], first["isSessionTitleManuallySet"]) = (json!("By the daemon"), json!(true));
    fs_err::write(&path, format!("{first}\n{rest}")).unwrap();
    log.set_title("Made", false).unwrap();
    drop(log);
    assert_eq!(home.store().read(&session_id("s")).unwrap().start.title(), "By the daemon");
}

#[test]
fn settings_and_their_previous_version_are_stored() {
    let home = Home::new();
    let mut log = home.create("s");
    for model in ["one", "two"] {
        let settings: Map<_, _> = [("model".to_owned(), json!(model))].into_iter().collect();
        log.save_settings(settings).unwrap();
    }
    drop(log);
    let path = home.log_file("s").with_extension("settings.json");
    let read = || home.store().read(&session_id("s")).unwrap();
    assert_eq!(read().settings["model"], "two");
    fs_err::write(&path, "{\"model\":").unwrap();
    assert_eq!(read().settings["model"], "one");
    assert!(read().damage.are_settings_lost);
}

#[test]
fn archived_session_is_not_listed() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    assert_eq!(home.store().list(Some(Path::new("/workspace")), 9).len(), 1);
    assert_eq!(home.store().list(Some(Path::new("/elsewhere")), 9).len(), 0);
    log.archive().unwrap();
    assert_eq!(home.store().list(None, 9).len(), 0);
}

#[test]
fn results_of_one_answer_can_be_written_separately() {
    let home = Home::new();
    let mut log = home.create("s");
    let mut two = call("a", "t1");
    two.content.extend(call("a", "t2").content);
    for message in [said("u", Role::User, "Go."), after("u", two)] {
        log.append(&record(message)).unwrap();
    }
    for tool in ["t2", "t1"] {
        log.append(&record(after("a", result("r", tool, tool, "for the model")))).unwrap();
    }
    log.append(&record(after("r", said("b", Role::Assistant, "Done.")))).unwrap();
    drop(log);
    let session = home.store().read(&session_id("s")).unwrap();
    let roles: Vec<_> = session.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(session.messages[2].content.len(), 2);
}

#[test]
fn call_without_a_result_gets_one_in_the_log() {
    let home = Home::new();
    let mut log = home.create("s");
    let mut two = call("a", "t1");
    two.content.extend(call("a", "t2").content);
    for message in [said("u", Role::User, "Go."), after("u", two), after("a", result("r", "t1", "x", "x"))] {
        log.append(&record(message)).unwrap();
    }
    drop(log);
    let first = home.store().load(&session_id("s")).unwrap();
    assert_eq!(first.session.damage.interrupted_calls, 1);
    let Content::ToolResult { tool_use_id, is_error, .. } = &first.session.messages[2].content[1] else {
        panic!("no result")
    };
    assert_eq!((tool_use_id.as_str(), *is_error), ("t2", true));
    drop(first.log);
    let second = home.store().load(&session_id("s")).unwrap();
    assert_eq!(second.session.damage.interrupted_calls, 0);
    assert_eq!(second.session.messages, first.session.messages);
}

#[test]
fn queued_messages_are_loaded() {
    let home = Home::new();
    let mut log = home.create("s");
    let queued = |id: &str| Record::Queued(Box::new(said(id, Role::User, "Later.")));
    log.append(&record(said("u", Role::User, "Now."))).unwrap();
    for id in ["q1", "q2", "q3"] {
        log.append(&queued(id)).unwrap();
    }
    log.append(&record(after("u", said("q1", Role::User, "Later.")))).unwrap();
    log.append(&Record::Discarded { message_id: "q2".to_owned() }).unwrap();
    drop(log);
    let session = home.store().read(&session_id("s")).unwrap();
    let ids =
        |messages: &[musher_message::Message]| messages.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&session.queued), ["q3"]);
    assert_eq!(ids(&session.messages), ["u", "q1"]);
}

#[test]
fn compaction_says_which_messages_it_replaces() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    let summary = |last: Option<&str>| {
        Record::Compaction(Box::new(Compaction {
            id: "c".to_owned(),
            summary: "Mango, two files.".to_owned(),
            removed: 2,
            last_removed: last.map(str::to_owned),
            ..Compaction::default()
        }))
    };
    for (last, expected) in [(Some("answer-one"), 2), (None, 6)] {
        log.append(&summary(last)).unwrap();
        let session = home.store().read(&session_id("s")).unwrap();
        assert_eq!(session.compaction.unwrap().removed, expected);
    }
}

#[test]
fn branch_of_the_last_message_is_loaded() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    log.append(&record(after("answer-one", said("u9", Role::User, "No, rather this.")))).unwrap();
    log.append(&outcome("u9")).unwrap();
    let session = home.store().read(&session_id("s")).unwrap();
    let ids: Vec<_> = session.messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["user-one", "answer-one", "u9"]);
}

#[test]
fn large_record_has_a_side_file_and_is_shortened_without_it() {
    let home = Home::new();
    let mut log = home.create("s");
    let large = said("u", Role::User, &"mango ".repeat(400_000));
    log.append(&record(large.clone())).unwrap();
    drop(log);
    let file = home.log_file("s");
    assert!(fs_err::metadata(&file).unwrap().len() < 8_192);
    assert_eq!(home.store().read(&session_id("s")).unwrap().messages, [large]);
    fs_err::remove_dir_all(file.with_extension("large")).unwrap();
    let session = home.store().read(&session_id("s")).unwrap();
    assert_eq!(session.damage.missing_large_records, 1);
    assert!(session.messages[0].text().starts_with("mango mango"));
}

#[test]
fn all_files_are_private() {
    let home = Home::new();
    let mut log = home.create("s");
    log.append(&record(said("u", Role::User, &"x".repeat(2_000_000)))).unwrap();
    log.set_title("T", true).unwrap();
    log.save_settings(Map::new()).unwrap();
    let mut folders = vec![home.path().join("sessions")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in fs_err::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert_eq!(files, 5, "log, lock, settings, old settings, a large record");
}
