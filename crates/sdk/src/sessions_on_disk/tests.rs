//! Folders of sessions in every state, listed and read.

use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const WHOLE: &str = r#"{"type":"session_start","id":"a","title":"First words","sessionTitle":"Named","owner":"me","version":2,"cwd":"/w"}
{"type":"message","id":"context-1","timestamp":"2026-11-15T21:20:58.769Z","message":{"role":"user","content":[]}}
{"type":"message","id":"1","timestamp":"2026-11-15T21:20:58.784Z","message":{"role":"user","content":[{"type":"text","text":"Hëllo."}]}}

{"type":"message","id":"2","timestamp":"2026-11-15T21:20:58.922Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":false,"content":"fine"}]}}
{"type":"todo_state","id":"3","timestamp":"2026-11-15T21:20:59.000Z","todos":{"todos":[]},"messageIndex":1}
{"type":"compaction_state","id":"4","summaryText":"It was short.","removedCount":3}
{"type":"agent_turn_outcome","turnId":"1","reason":"completed","resultKind":"text"}
{"type":"later_invention","x":1}
"#;

/// A folder of sessions, in which later files are newer.
struct Disk(TempDir, Duration);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), Duration::ZERO)
    }

    fn put(&mut self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        self.1 += Duration::from_mins(1);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + self.1;
        fs_err::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    fn list(&self, cwd: &str) -> Vec<StoredSession> {
        list_sessions().cwd(cwd).sessions_dir(self.0.path()).blocking().unwrap()
    }

    fn ids(&self, cwd: &str) -> Vec<String> {
        self.list(cwd).into_iter().map(|session| session.id).collect()
    }
}

fn start(title: &str, cwd: &str) -> String {
    format!("{}\n", serde_json::json!({"type": "session_start", "title": title, "cwd": cwd}))
}

#[test]
fn what_is_known_about_a_session_comes_from_its_first_line_and_its_file() {
    let mut disk = Disk::new();
    disk.put("-w/a.jsonl", WHOLE);
    disk.put(".favorites", r#"["a", 7]"#);
    let sessions = disk.list("/w");
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((session.id.as_str(), session.title.as_str()), ("a", "First words"));
    assert_eq!(session.session_title.as_deref(), Some("Named"));
    assert_eq!((session.owner.as_str(), session.message_count), ("me", 7));
    assert_eq!(session.cwd.as_deref(), Some(Path::new("/w")));
    assert!(session.is_favorite);
    assert_eq!(session.modified, SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_060));
}

#[test]
fn newest_come_first_and_of_two_with_one_id_only_the_newest() {
    let mut disk = Disk::new();
    disk.put("-w/one.jsonl", start("one", "/w"));
    disk.put("-w/two.jsonl", start("old two", "/w"));
    disk.put("-w/three.jsonl", start("three", "/w"));
    disk.put("two.jsonl", start("new two", "/w"));
    let titles: Vec<_> = disk.list("/w").into_iter().map(|session| session.title).collect();
    assert_eq!(titles, ["new two", "three", "one"]);
    let two = list_sessions().cwd("/w").limit(2).sessions_dir(disk.0.path()).blocking().unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!(list_sessions().limit(0).sessions_dir(disk.0.path()).blocking().unwrap(), []);
}

#[test]
fn only_sessions_of_the_directory_are_listed_unless_all_are_wanted() {
    let mut disk = Disk::new();
    disk.put("-w/mine.jsonl", start("mine", "/w"));
    disk.put("-w-sub/other.jsonl", start("other", "/w/sub"));
    disk.put("old-mine.jsonl", start("old mine", "/w"));
    disk.put("old-other.jsonl", start("old other", "/elsewhere"));
    disk.put("nested/no.jsonl", start("not a folder of sessions", "/w"));
    assert_eq!(disk.ids("/w"), ["old-mine", "mine"]);
    assert_eq!(disk.ids("/w/"), ["old-mine", "mine"]);
    assert_eq!(disk.ids("/w/sub"), ["other"]);
    let all = list_sessions().outside_cwd().sessions_dir(disk.0.path()).blocking().unwrap();
    assert_eq!(all.len(), 4);
}

#[cfg(unix)]
#[test]
fn links_in_the_path_of_the_directory_are_followed() {
    let mut disk = Disk::new();
    let work = tempfile::tempdir().unwrap();
    let real = fs_err::canonicalize(work.path()).unwrap().join("real");
    fs_err::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, work.path().join("link")).unwrap();
    let folder = real.to_string_lossy().replace('/', "-");
    disk.put(&format!("{folder}/a.jsonl"), start("a", &real.to_string_lossy()));
    assert_eq!(disk.ids(&work.path().join("link").to_string_lossy()), ["a"]);
}

#[test]
fn archived_sessions_are_not_listed_and_unreadable_settings_hide_nothing() {
    let mut disk = Disk::new();
    for (id, settings) in [
        ("archived", r#"{"archivedAt":"2026-01-01"}"#),
        ("not-yet", r#"{"archivedAt":null}"#),
        ("broken", "{oops"),
        ("odd", "[1]"),
    ] {
        disk.put(&format!("-w/{id}.jsonl"), start(id, "/w"));
        disk.put(&format!("-w/{id}.settings.json"), settings);
    }
    assert_eq!(disk.ids("/w"), ["odd", "broken", "not-yet"]);
}

#[test]
fn files_that_are_not_sessions_are_skipped() {
    let mut disk = Disk::new();
    disk.put("-w/good.jsonl", start("good", "/w"));
    disk.put("-w/empty.jsonl", "");
    disk.put("-w/blank.jsonl", "\n\n");
    disk.put("-w/noise.jsonl", [0xff, 0xfe, 0, b'\n']);
    disk.put("-w/other.jsonl", r#"{"type":"message"}"#);
    disk.put("-w/untitled.jsonl", r#"{"type":"session_start","title":7}"#);
    disk.put("-w/torn.jsonl", r#"{"type":"session_start","title":"to"#);
    disk.put("-w/deep.jsonl", "[".repeat(100_000));
    disk.put("-w/endless.jsonl", "x".repeat(3 << 20));
    disk.put("-w/notes.txt", "not even the name");
    disk.put(".favorites", "not json");
    fs_err::create_dir(disk.0.path().join("-w/folder.jsonl")).unwrap();
    #[cfg(unix)]
    {
        let folder = disk.0.path().join("-w");
        std::os::unix::fs::symlink(folder.join("loop.jsonl"), folder.join("loop.jsonl")).unwrap();
        std::os::unix::fs::symlink(&folder, disk.0.path().join("-loop")).unwrap();
    }
    assert_eq!(disk.ids("/w"), ["good"]);
    let all = list_sessions().outside_cwd().sessions_dir(disk.0.path()).blocking().unwrap();
    assert_eq!(all.len(), 1);
}

#[test]
fn torn_tail_counts_as_a_line_and_invalid_text_is_replaced() {
    let mut disk = Disk::new();
    let mut text = b"{\"type\":\"session_start\",\"title\":\"\xff\"}\n{\"type\":\"mes".to_vec();
    disk.put("-w/a.jsonl", &text);
    let session = disk.list("/w").remove(0);
    assert_eq!((session.title.as_str(), session.message_count), ("\u{fffd}", 1));
    // lines longer than what is read at once
    text.extend(std::iter::repeat_n(b'x', 200_000));
    text.extend(b"\n   \r\n\t\nlast");
    disk.put("-w/a.jsonl", &text);
    assert_eq!(disk.list("/w").remove(0).message_count, 2);
}

#[test]
fn no_folder_is_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = list_sessions().sessions_dir(folder.path().join("missing")).blocking().unwrap();
    assert_eq!(sessions, []);
}

#[test]
fn folders_are_named_by_the_path_of_the_directory() {
    for (cwd, name) in [
        ("/workspace", "-workspace"),
        ("/home/user/my proj/", "-home-user-my proj"),
        ("/", "-"),
        ("/a\\b", "-a-b"),
    ] {
        assert_eq!(musher_store::slug(Path::new(cwd)), name);
    }
}

#[tokio::test]
async fn conversation_is_read_record_by_record() {
    let mut disk = Disk::new();
    disk.put("-w/a.jsonl", WHOLE);
    let stored = read_session("a").sessions_dir(disk.0.path()).await.unwrap();
    assert_eq!(stored.damaged_lines, 0);
    assert_eq!(stored.start.as_ref().unwrap().to_value().unwrap()["sessionTitle"], "Named");
    let roles: Vec<_> = stored.messages().map(|message| message.role.as_str().to_owned()).collect();
    assert_eq!(roles, ["user", "user", "tool"]);
    assert_eq!(stored.messages().nth(1).unwrap().text(), "Hëllo.");
    let rest = &stored.records[3..];
    assert!(matches!(&rest[0], StoredRecord::Todos(_)));
    assert!(
        matches!(&rest[1], StoredRecord::Compaction { summary, removed_messages: 3 } if summary == "It was short.")
    );
    assert!(matches!(&rest[2], StoredRecord::TurnOutcome { reason, .. } if reason == "completed"));
    assert!(matches!(&rest[3], StoredRecord::Other { kind, .. } if kind == "later_invention"));
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let mut disk = Disk::new();
    let text = format!("\0\0\0\n{WHOLE}{{\"type\":\"message\"}}\nnoise\n\n{{\"torn");
    disk.put("-w/a.jsonl", text);
    let stored = read_session("a").sessions_dir(disk.0.path()).blocking().unwrap();
    assert_eq!((stored.messages().count(), stored.damaged_lines), (3, 4));
}

#[test]
fn id_is_never_a_path() {
    let disk = Disk::new();
    for id in ["", "../a", "a/b", "a.b", "ä", &"x".repeat(65)] {
        let error = read_session(id).sessions_dir(disk.0.path()).blocking().unwrap_err();
        assert!(error.is_invalid_input(), "{id}: {error}");
    }
    let error = read_session("missing").sessions_dir(disk.0.path()).blocking().unwrap_err();
    assert!(error.is_session_not_found(), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_beginning_of_a_session_can_be_listed_and_read(length in 0..WHOLE.len()) {
        let mut disk = Disk::new();
        disk.put("-w/a.jsonl", &WHOLE.as_bytes()[..length]);
        let first_line = WHOLE.find('\n').unwrap();
        prop_assert_eq!(disk.list("/w").len(), usize::from(length >= first_line));
        let stored = read_session("a").sessions_dir(disk.0.path()).blocking().unwrap();
        prop_assert!(stored.damaged_lines <= 1);
    }

    #[test]
    fn flipped_bytes_cost_at_most_the_lines_they_are_in(flips in prop::collection::vec((0..WHOLE.len(), any::<u8>()), 1..4)) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for (at, with) in &flips {
            // a new or a lost line end would make other lines of it
            if bytes[*at] != b'\n' && *with != b'\n' {
                bytes[*at] = *with;
            }
        }
        let mut disk = Disk::new();
        disk.put("-w/a.jsonl", bytes);
        disk.list("/w");
        let stored = read_session("a").sessions_dir(disk.0.path()).blocking().unwrap();
        prop_assert!(stored.damaged_lines <= flips.len());
        prop_assert!(stored.records.len() + usize::from(stored.start.is_some()) + flips.len() >= 8);
    }
}
