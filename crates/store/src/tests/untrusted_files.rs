//! Malicious files in a session: no file outside the session is read, changed or removed because of them.

use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::{Home, record, said, session_id};
use crate::hash::ContentHash;
use crate::paths::{JOURNAL, Paths};
use crate::scan::MAX_LOG;
use crate::side::Sides;
use crate::snapshots::MAX_JOURNAL;
use crate::{Log, Store, StoreError};
use musher_message::{Message, Role};

/// A home directory with a session, and a file outside of it that must survive.
struct Fixture {
    home: Home,
    work: tempfile::TempDir,
    canary: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let home = Home::new();
        home.create("s").append(&record(said("one", Role::User, "1"))).unwrap();
        let work = tempfile::tempdir().unwrap();
        let canary = fs_err::canonicalize(home.path()).unwrap().join("canary");
        fs_err::write(&canary, "alive").unwrap();
        Self { home, work, canary }
    }

    fn paths(&self) -> Paths {
        let folder = self.home.log_file("s").parent().unwrap().to_owned();
        Paths::new(folder, session_id("s"))
    }

    fn journal(&self) -> PathBuf {
        self.paths().snapshots().join(JOURNAL)
    }

    /// Writes a journal, and contents under their hashes.
    fn write_journal(&self, entries: &[Value], contents: &[&str]) {
        let folder = self.paths().snapshots();
        fs_err::create_dir_all(&folder).unwrap();
        let lines: Vec<String> = entries.iter().map(|entry| format!("{entry}\n")).collect();
        fs_err::write(self.journal(), lines.concat()).unwrap();
        for content in contents {
            fs_err::write(folder.join(hash_of(content)), content).unwrap();
        }
    }

    fn load(&self) -> Log {
        self.home.store().load(&session_id("s")).unwrap().log
    }

    /// Creates a file of the user.
    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = fs_err::canonicalize(self.work.path()).unwrap().join(name);
        fs_err::write(&path, content).unwrap();
        path
    }

    fn is_canary_alive(&self) -> bool {
        fs_err::read_to_string(&self.canary).is_ok_and(|content| content == "alive")
    }
}

fn hash_of(content: &str) -> String {
    ContentHash::of(content.as_bytes()).as_str().to_owned()
}

fn before(path: &Path, hash: &str, size: u64, mode: u32) -> Value {
    json!({"type": "before", "messageId": "one", "path": path, "hash": hash, "size": size, "mode": mode})
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn is_too_large<T: std::fmt::Debug>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::FileTooLarge)
}

/// The entry is the oldest and the largest, so its content is the first one to be evicted.
#[test]
fn hash_that_is_a_path_removes_no_file() {
    let fixture = Fixture::new();
    let hashes =
        [fixture.canary.to_str().unwrap(), "../../../canary", "../../../../canary", "..", ".", "", "a/b"];
    for hash in hashes {
        let file = fixture.file("file", "before");
        fixture.write_journal(
            &[before(&file, hash, u64::MAX, 0o644), before(&file, hash, u64::MAX, 0o644)],
            &[],
        );
        let mut log = fixture.load();
        log.snapshot("one", &file).unwrap();
        assert!(fixture.is_canary_alive(), "{hash}");
        let done = log.restore(&[(file.clone(), hash.to_owned())], &[]);
        assert_eq!(done.failed_restores.len(), 1, "{hash}");
        // the invalid line is ignored, so the snapshot is taken
        assert_eq!(log.rewind_info("one").available[0].hash, hash_of("before"), "{hash}");
    }
}

#[test]
fn evicted_hash_that_is_a_path_is_ignored() {
    let fixture = Fixture::new();
    let file = fixture.file("file", "before");
    let evicted = json!({"type": "evicted", "hash": fixture.canary});
    fixture.write_journal(&[evicted, before(&file, &hash_of("before"), 6, 0o644)], &["before"]);
    let mut log = fixture.load();
    assert_eq!(log.rewind_info("one").available.len(), 1);
    assert!(fixture.is_canary_alive());
}

#[test]
fn excessive_sizes_in_a_journal_are_handled() {
    let fixture = Fixture::new();
    let kept = fixture.file("kept", "kept");
    let entries = ["a", "b", "c"].map(|content| before(&fixture.canary, &hash_of(content), u64::MAX, 0o644));
    fixture.write_journal(&entries, &["a", "b", "c"]);
    let mut log = fixture.load();
    log.snapshot("one", &kept).unwrap();
    let contents = names(&fixture.paths().snapshots());
    assert_eq!(contents, [hash_of("kept").as_str(), JOURNAL], "contents with excessive sizes are evicted");
    assert!(fixture.is_canary_alive());
}

#[test]
fn path_that_is_not_plain_is_ignored() {
    let fixture = Fixture::new();
    let folder = fixture.canary.parent().unwrap();
    let paths =
        [folder.join("sessions/../canary"), PathBuf::from("canary"), PathBuf::from("/"), PathBuf::new()];
    for path in &paths {
        let absent = json!({"type": "absent", "messageId": "one", "path": path});
        fixture.write_journal(&[absent, before(path, &hash_of("evil"), 4, 0o644)], &["evil"]);
        let mut log = fixture.load();
        assert_eq!(log.rewind_info("one"), crate::RewindFiles::default(), "{}", path.display());
        let done = log.restore(&[(path.clone(), hash_of("evil"))], std::slice::from_ref(path));
        assert_eq!((done.failed_restores.len(), done.failed_deletes.len()), (1, 1));
        assert!(fixture.is_canary_alive(), "{}", path.display());
    }
}

#[test]
fn restored_file_has_no_set_uid_set_gid_or_sticky_bit() {
    let fixture = Fixture::new();
    let file = fixture.file("tool", "changed");
    let hash = hash_of("before");
    fixture.write_journal(&[before(&file, &hash, 6, 0o107_755)], &["before"]);
    let done = fixture.load().restore(&[(file.clone(), hash)], &[]);
    assert_eq!(done.restored.len(), 1, "{done:?}");
    let mode = fs_err::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn snapshot_of_a_set_uid_file_keeps_only_its_permissions() {
    let fixture = Fixture::new();
    let file = fixture.file("tool", "before");
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o4755)).unwrap();
    fixture.load().snapshot("one", &file).unwrap();
    let journal = fs_err::read_to_string(fixture.journal()).unwrap();
    let entry: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    assert_eq!(entry["mode"], 0o755);
}

#[test]
fn journal_that_is_too_large_is_neither_read_nor_extended() {
    let fixture = Fixture::new();
    let file = fixture.file("file", "before");
    fixture.write_journal(&[before(&file, &hash_of("before"), 6, 0o644)], &["before"]);
    let journal = std::fs::OpenOptions::new().write(true).open(fixture.journal()).unwrap();
    // a sparse file
    journal.set_len(MAX_JOURNAL + 1).unwrap();
    let mut log = fixture.load();
    assert!(log.rewind_info("one").available.is_empty());
    assert!(is_too_large(log.snapshot("one", &fixture.file("other", "other"))));
    assert_eq!(journal.metadata().unwrap().len(), MAX_JOURNAL + 1);
    assert_eq!(names(&fixture.paths().snapshots()), [hash_of("before").as_str(), JOURNAL]);
    // a fork omits the journal
    fixture.home.store().fork(&session_id("s"), &session_id("f"), None, None).unwrap();
    assert!(names(&fixture.home.log_file("f").with_extension("snapshots")) == [hash_of("before")]);
}

#[test]
fn full_journal_stores_no_content_without_an_entry() {
    let fixture = Fixture::new();
    fixture.write_journal(&[], &[]);
    fs_err::write(fixture.journal(), "\n".repeat(usize::try_from(MAX_JOURNAL).unwrap() - 10)).unwrap();
    let mut log = fixture.load();
    for content in ["one", "two"] {
        assert!(is_too_large(log.snapshot("one", &fixture.file("file", content))), "{content}");
    }
    assert_eq!(names(&fixture.paths().snapshots()), [JOURNAL]);
}

#[test]
fn log_that_is_too_large_is_rejected() {
    let fixture = Fixture::new();
    let (store, id) = (fixture.home.store(), session_id("s"));
    let log = std::fs::OpenOptions::new().write(true).open(fixture.home.log_file("s")).unwrap();
    log.set_len(MAX_LOG + 1).unwrap();
    assert!(is_too_large(store.read(&id)));
    assert!(is_too_large(store.load(&id)));
    // what reads record by record still works
    let texts = |store: &Store, id: &str| -> Vec<Message> {
        store.read_messages(&session_id(id)).unwrap().messages().map(Result::unwrap).collect()
    };
    let messages = texts(&store, "s");
    assert!(!messages.is_empty());
    store.fork(&id, &session_id("f"), None, None).unwrap();
    assert_eq!(texts(&store, "f"), messages);
    assert_eq!(store.read(&session_id("f")).unwrap().messages, messages);
    store.delete(&session_id("f")).unwrap();
    let other = Home::new();
    other.store().import(fixture.home.path(), &id).unwrap();
    assert_eq!(other.store().read(&id).unwrap().messages, messages);
    store.load_log(&id).unwrap().set_title("Large", true).unwrap();
    assert_eq!(texts(&store, "s"), messages);
    assert_eq!(store.list(None, 9).len(), 1);
    store.delete(&id).unwrap();
}

#[test]
fn large_records_of_a_log_are_read_up_to_a_limit() {
    let fixture = Fixture::new();
    fixture.load().append(&record(said("two", Role::User, &"x".repeat(2_000_000)))).unwrap();
    let paths = fixture.paths();
    let name = names(&paths.sides()).remove(0);
    let hash = name.strip_suffix(".json").unwrap();
    let sides = Sides::new(&paths, 5_000_000);
    let found = [(); 3].map(|()| sides.read_record(hash).is_some());
    assert_eq!(found, [true, true, false]);
    assert_eq!(Sides::new(&paths, u64::MAX).read_record("../../../canary"), None);
}

#[test]
fn link_instead_of_a_session_directory_is_not_followed() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    let hash = hash_of("old");
    let file = fixture.file("file", "before");
    let journal = format!("{}\n", before(&file, &hash, u64::MAX, 0o644));
    fs_err::write(outside.path().join(&hash), "old").unwrap();
    fs_err::write(outside.path().join(JOURNAL), &journal).unwrap();
    symlink(outside.path(), fixture.paths().snapshots()).unwrap();
    symlink(outside.path(), fixture.paths().sides()).unwrap();

    let mut log = fixture.load();
    assert!(log.snapshot("one", &file).is_err());
    assert!(log.append(&record(said("two", Role::User, &"x".repeat(2_000_000)))).is_err());
    assert_eq!(names(outside.path()), [hash.as_str(), JOURNAL]);
    assert_eq!(fs_err::read_to_string(outside.path().join(JOURNAL)).unwrap(), journal);
    fixture.home.store().fork(&session_id("s"), &session_id("f"), None, None).unwrap();
    assert!(!fixture.home.log_file("f").with_extension("snapshots").exists());
}

#[test]
fn import_copies_only_files_with_valid_names_and_makes_them_private() {
    let fixture = Fixture::new();
    let file = fixture.file("file", "before");
    fixture.write_journal(&[before(&file, &hash_of("before"), 6, 0o644)], &["before", "linked"]);
    let folder = fixture.paths().snapshots();
    fs_err::write(folder.join("authorized_keys"), "evil").unwrap();
    fs_err::write(folder.join("evil.jsonl"), "evil").unwrap();
    fs_err::remove_file(folder.join(hash_of("linked"))).unwrap();
    symlink(&fixture.canary, folder.join(hash_of("linked"))).unwrap();
    fs_err::set_permissions(folder.join(hash_of("before")), std::fs::Permissions::from_mode(0o4755)).unwrap();

    let other = Home::new();
    other.store().import(fixture.home.path(), &session_id("s")).unwrap();
    let copied = other.log_file("s").with_extension("snapshots");
    assert_eq!(names(&copied), [hash_of("before").as_str(), JOURNAL]);
    for name in names(&copied) {
        let mode = fs_err::metadata(copied.join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{name}");
    }
    let files = other.store().load(&session_id("s")).unwrap().log.rewind_info("one");
    assert_eq!(files.available.len(), 1);
}

#[test]
fn attachments_behind_a_link_are_not_imported() {
    let fixture = Fixture::new();
    let (theirs, outside) = (fixture.home.path(), tempfile::tempdir().unwrap());
    fs_err::write(outside.path().join("secret"), "secret").unwrap();
    let folder = theirs.join("sessions/s");
    fs_err::create_dir(&folder).unwrap();
    symlink(outside.path(), folder.join("attachments")).unwrap();
    let mut log = fs_err::read_to_string(fixture.home.log_file("s")).unwrap();
    let source = json!({"type": "base64", "media_type": "text/plain", "data": "",
        "path": folder.join("attachments/secret")});
    let theft = json!({"type": "message", "id": "theft", "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "document", "source": source}]}});
    log += &theft.to_string();
    log.push('\n');
    fs_err::write(fixture.home.log_file("s"), log).unwrap();

    let other = Home::new();
    other.store().import(theirs, &session_id("s")).unwrap();
    let copy = fs_err::read_to_string(other.log_file("s")).unwrap();
    let line: Value = serde_json::from_str(copy.lines().last().unwrap()).unwrap();
    assert_eq!(line["message"]["content"][0]["source"]["data"], "");
}
