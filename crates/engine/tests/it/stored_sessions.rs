//! Sessions of the store, seen through the SDK: it lists and reads what we write as it does with droid's.

use std::path::{Path, PathBuf};

use musher::StoredRecord;
use musher_engine::store::{Log, NewSession, Record, Store};
use musher_engine::{Content, Message, Role, SessionId, Visibility};
use musher_model::ToolUse;
use musher_tools::Part;
use serde_json::Map;

/// A session with a prompt, a call, its result in two texts, an answer, and a message that only users see.
pub(crate) fn write_session(store: &Store, id: &str, cwd: &Path) -> Log {
    let new = NewSession {
        id: SessionId::new(id).unwrap(),
        cwd: cwd.to_owned(),
        title: None,
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: Map::new(),
    };
    let mut log = store.create(new).unwrap();
    let call = ToolUse::new("call_1", "LS", Map::new());
    let result = Content::ToolResult {
        tool_use_id: "call_1".to_owned(),
        for_client: vec![Part::Text("one file".to_owned())],
        for_model: vec![Part::Text("total 1\nmango.txt".to_owned())],
        is_error: false,
    };
    let text = |text: &str| vec![Content::Text(text.to_owned())];
    let mut notice = Message::new("m5", Role::System, text("Only for people."));
    notice.visibility = Visibility::UserOnly;
    let messages = [
        Message::new("m1", Role::User, text("Which files are there?")),
        Message::new("m2", Role::Assistant, vec![Content::ToolUse(call)]),
        Message::new("m3", Role::Tool, vec![result]),
        Message::new("m4", Role::Assistant, text("There is mango.txt.")),
        notice,
    ];
    let mut parent = None;
    for mut message in messages {
        message.parent_id = parent.replace(message.id.clone());
        log.append(&Record::Message(Box::new(message))).unwrap();
    }
    log.append(&Record::TurnOutcome { turn_id: "m1".to_owned(), reason: "completed".to_owned() }).unwrap();
    log
}

#[test]
fn sdk_lists_and_reads_engine_sessions() {
    let home = tempfile::tempdir().unwrap();
    let workspace = tempfile::tempdir().unwrap();
    let store = Store::open(home.path());
    let mut log = write_session(&store, "first", workspace.path());
    log.set_title("Which files are there?", false).unwrap();
    write_session(&store, "second", workspace.path()).archive().unwrap();
    write_session(&store, "third", Path::new("/elsewhere")).set_title("Third", true).unwrap();

    let list = || musher::list_sessions().sessions_dir(store.sessions_folder());
    let here = list().cwd(workspace.path()).blocking().unwrap();
    assert_eq!(here.len(), 1);
    assert_eq!((here[0].id.as_str(), here[0].title.as_str()), ("first", "Which files are there?"));
    assert_eq!((here[0].message_count, here[0].owner.as_str()), (6, "unknown"));
    assert_eq!(here[0].cwd, fs_err::canonicalize(workspace.path()).ok());
    let mut ids: Vec<_> = list().outside_cwd().blocking().unwrap().into_iter().map(|s| s.id).collect();
    ids.sort();
    assert_eq!(ids, ["first", "third"]);

    let read = musher::read_session("first").sessions_dir(store.sessions_folder()).blocking().unwrap();
    assert_eq!(read.damaged_lines, 0);
    let texts: Vec<_> = read.messages().map(|message| (message.role.to_string(), message.text())).collect();
    assert_eq!(texts[0], ("user".to_owned(), "Which files are there?".to_owned()));
    assert_eq!((texts[2].0.as_str(), texts[3].1.as_str()), ("tool", "There is mango.txt."));
    assert!(matches!(read.records.last(), Some(StoredRecord::TurnOutcome { .. })));
}

#[test]
fn our_list_is_that_of_the_sdk() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path());
    for id in ["a", "b", "c"] {
        write_session(&store, id, Path::new("/workspace"));
    }
    let theirs =
        musher::list_sessions().cwd("/workspace").sessions_dir(store.sessions_folder()).blocking().unwrap();
    let ours = store.list(Some(Path::new("/workspace")), 10);
    let theirs: Vec<_> = theirs.into_iter().map(|s| (s.id, s.title, s.modified, s.created, s.cwd)).collect();
    let ours: Vec<(String, String, _, _, Option<PathBuf>)> =
        ours.into_iter().map(|s| (s.id.to_string(), s.title, s.modified, s.created, s.cwd)).collect();
    assert_eq!(ours, theirs);
    assert_eq!(store.list(None, 2).len(), 2);
}
