//! Forks, compactions and imports.

use serde_json::{Map, json};

use super::support::{Home, after, call, record, result, said, session_id};
use crate::{Compaction, Store, StoreError, Stored};
use musher_message::{Content, Message, Role, Visibility};

fn ids(session: &Stored) -> Vec<&str> {
    session.messages.iter().map(|message| message.id.as_str()).collect()
}

#[test]
fn fork_has_all_messages_and_is_independent() {
    let home = Home::with_session("s");
    let store = home.store();
    // the original is in use
    let mut log = store.load(&session_id("s")).unwrap().log;
    log.set_title("The old one", true).unwrap();
    let mut settings = Map::new();
    settings.insert("model".to_owned(), json!("m"));
    settings.insert("tokenUsage".to_owned(), json!({"inputTokens": 1}));
    log.save_settings(settings).unwrap();
    store.fork(&session_id("s"), &session_id("f"), Some("A branch"), None).unwrap();

    let mut fork = store.load(&session_id("f")).unwrap();
    assert_eq!(fork.session.messages, store.read(&session_id("s")).unwrap().messages);
    assert_eq!((fork.session.start.title(), fork.session.start.is_title_manual()), ("A branch", true));
    assert_eq!(fork.session.start.parent(), Some("s"));
    assert_eq!(fork.session.start.get("forkedAtMessageId"), Some(&json!("ending")));
    assert_eq!(fork.session.settings.get("model"), Some(&json!("m")));
    assert_eq!(fork.session.settings.get("tokenUsage"), None);
    fork.log.append(&record(after("ending", said("more", Role::User, "More.")))).unwrap();
    assert_eq!(store.read(&session_id("s")).unwrap().messages.len(), 6);
    let error = store.fork(&session_id("s"), &session_id("f"), None, None).unwrap_err();
    assert!(matches!(error, StoreError::Exists(_)), "{error}");
}

#[test]
fn fork_can_end_before_a_message() {
    let home = Home::with_session("s");
    let store = home.store();
    let mut log = store.load(&session_id("s")).unwrap().log;
    log.append(&record(after("ending", said("context-last", Role::User, "Told to the model.")))).unwrap();
    log.append(&record(after("context-last", said("last", Role::User, "One more.")))).unwrap();
    for (before, expected) in [
        ("user-one", vec![]),
        ("user-second", vec!["user-one", "answer-one"]),
        ("last", vec!["user-one", "answer-one", "user-second", "calling", "results", "ending"]),
    ] {
        let id = session_id(&format!("before-{before}"));
        store.fork(&session_id("s"), &id, Some("Back"), Some(before)).unwrap();
        let fork = store.read(&id).unwrap();
        assert_eq!(ids(&fork), expected);
        assert!(fork.damage.is_none(), "{}", fork.damage);
    }
    let error = store.fork(&session_id("s"), &session_id("x"), None, Some("nowhere")).unwrap_err();
    assert!(matches!(error, StoreError::NoMessage { .. }), "{error}");
    assert!(store.find(&session_id("x")).is_none());
}

#[test]
fn fork_omits_inactive_branches_and_keeps_unknown_records() {
    let home = Home::with_session("s");
    let store = home.store();
    let mut log = store.load(&session_id("s")).unwrap().log;
    log.append(&record(after("answer-one", said("other", Role::User, "Rather this.")))).unwrap();
    let file = home.log_file("s");
    let mut content = fs_err::read(&file).unwrap();
    content.extend(b"{\"type\":\"from_the_future\",\"n\":1.50}\n");
    fs_err::write(&file, &content).unwrap();
    store.fork(&session_id("s"), &session_id("f"), None, None).unwrap();
    assert_eq!(ids(&store.read(&session_id("f")).unwrap()), ["user-one", "answer-one", "other"]);
    let copied = fs_err::read_to_string(home.log_file("f")).unwrap();
    assert!(copied.ends_with("{\"type\":\"from_the_future\",\"n\":1.50}\n"), "{copied}");
    assert!(!copied.contains("calling"));
}

#[test]
fn compacted_session_begins_with_the_summary() {
    let home = Home::with_session("s");
    let store = home.store();
    let summary =
        Compaction { id: "c".to_owned(), summary: "Mango.".to_owned(), removed: 5, ..Compaction::default() };
    let kept = [said("ending", Role::Assistant, "There are two.")];
    store.compact(&session_id("s"), &session_id("c"), summary.clone(), &kept).unwrap();
    let session = store.load(&session_id("c")).unwrap().session;
    assert_eq!(session.compaction.as_ref().map(|found| (&found.summary, found.removed)), Some((&summary, 0)));
    assert_eq!(session.messages, kept);
    assert_eq!(session.start.parent(), Some("s"));
    assert_eq!(session.start.title(), "New Session");
}

#[test]
fn import_copies_a_session_without_changing_the_original() {
    let droid = Home::with_session("s");
    let file = droid.log_file("s");
    let attachments = droid.path().join("sessions/s/attachments");
    fs_err::create_dir_all(&attachments).unwrap();
    fs_err::write(attachments.join("1-paper.pdf"), "%PDF").unwrap();
    fs_err::write(droid.path().join("secret"), "secret").unwrap();
    let mut content = fs_err::read_to_string(&file).unwrap();
    for (id, path) in [("paper", attachments.join("1-paper.pdf")), ("theft", droid.path().join("secret"))] {
        let source = json!({"type": "base64", "media_type": "application/pdf", "data": "", "name": "paper.pdf", "path": path});
        let message = json!({"role": "user", "content": [{"type": "document", "source": source}]});
        let line =
            json!({"type": "message", "id": id, "timestamp": "2026-11-15T22:57:05.171Z", "message": message});
        content.push_str(&line.to_string());
        content.push('\n');
    }
    content += "{\"type\":\"message\",\"id\":\"torn\"";
    fs_err::write(&file, &content).unwrap();

    let home = Home::new();
    home.store().import(droid.path(), &session_id("s")).unwrap();
    let session = home.store().load(&session_id("s")).unwrap().session;
    assert!(session.damage.is_none(), "{}", session.damage);
    assert_eq!(session.messages.len(), 8);
    let imported = |id: &str| {
        let message = session.messages.iter().find(|message| message.id == id).unwrap();
        message.content.as_slice()
    };
    let [Content::Document(paper)] = imported("paper") else { panic!("{:?}", imported("paper")) };
    assert_eq!(paper.data, "JVBERg==");
    let [Content::Unknown(theft)] = imported("theft") else { panic!("{:?}", imported("theft")) };
    assert_eq!(theft["source"]["data"], "", "only attachments are read");
    assert_eq!(fs_err::read_to_string(&file).unwrap(), content);
    let error = home.store().import(droid.path(), &session_id("s")).unwrap_err();
    assert!(matches!(error, StoreError::Exists(_)), "{error}");
    Store::open(droid.path()).import(droid.path(), &session_id("s")).unwrap();
}

#[test]
fn open_calls_of_a_fork_are_closed_on_load() {
    let home = Home::new();
    let mut log = home.create("s");
    let mut two = call("a", "t1");
    two.content.extend(call("a", "t2").content);
    for message in [said("u", Role::User, "Go."), after("u", two), after("a", result("r", "t1", "x", "x"))] {
        log.append(&record(message)).unwrap();
    }
    home.store().fork(&session_id("s"), &session_id("f"), None, None).unwrap();
    let fork = home.store().load(&session_id("f")).unwrap().session;
    assert_eq!((fork.damage.interrupted_calls, fork.messages[2].content.len()), (1, 2));
}

/// In droid's logs, hook runs have no children.
#[test]
fn hook_runs_are_not_branches() {
    let home = Home::new();
    let mut log = home.create("s");
    let hook = |id: &str, parent: &str| {
        let mut run = after(parent, Message { content: Vec::new(), ..said(id, Role::System, "") });
        run.visibility = Visibility::UserOnly;
        run.extra.insert("hookEventName".to_owned(), json!("PreToolUse"));
        record(run)
    };
    log.append(&record(said("u", Role::User, "Look."))).unwrap();
    log.append(&record(after("u", call("c", "call_1")))).unwrap();
    log.append(&hook("h1", "c")).unwrap();
    log.append(&record(after("c", result("r", "call_1", "a", "a")))).unwrap();
    log.append(&record(after("r", said("a", Role::Assistant, "Done.")))).unwrap();
    log.append(&hook("h2", "a")).unwrap();
    log.append(&record(after("a", said("u2", Role::User, "Thanks.")))).unwrap();
    log.append(&hook("elsewhere", "missing")).unwrap();
    let read = home.store().read(&session_id("s")).unwrap();
    assert_eq!(ids(&read), ["u", "c", "h1", "r", "a", "h2", "u2", "elsewhere"]);
    assert!(read.damage.is_none(), "{}", read.damage);
    let line = fs_err::read_to_string(home.log_file("s")).unwrap();
    assert!(
        line.contains(r#""role":"user","content":[],"visibility":"user_only","hookEventName":"PreToolUse""#)
    );
    assert_eq!(read.messages[2].role, Role::System, "a hook run has no author");
}
