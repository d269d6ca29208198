//! Rewind: restoring files.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::support::{Home, after, record, said, session_id};
use crate::{Log, RewindFiles, SnapshotLimits};
use musher_message::Role;

struct Work {
    home: Home,
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Work {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        Self { home: Home::new(), _folder: folder, root }
    }

    /// Creates a session with three prompts.
    fn session(&self) -> Log {
        let mut log = self.home.create("s");
        log.append(&record(said("one", Role::User, "1"))).unwrap();
        log.append(&record(after("one", said("two", Role::User, "2")))).unwrap();
        log.append(&record(after("two", said("three", Role::User, "3")))).unwrap();
        log
    }

    /// Acts as a tool: takes a snapshot of the file, then changes it.
    fn write(&self, log: &mut Log, message: &str, name: &str, content: &str) {
        let path = self.root.join(name);
        log.snapshot(message, &path).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn names(&self, files: &RewindFiles) -> (Vec<String>, Vec<String>, Vec<String>) {
        let name = |path: &PathBuf| path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned();
        (
            files.available.iter().map(|file| name(&file.path)).collect(),
            files.created.iter().map(name).collect(),
            files.evicted.iter().map(|(path, _)| name(path)).collect(),
        )
    }

    fn rewind(log: &mut Log, message: &str) -> crate::Restored {
        let files = log.rewind_info(message);
        let restore: Vec<_> = files.available.into_iter().map(|file| (file.path, file.hash)).collect();
        log.restore(&restore, &files.created)
    }
}

#[test]
fn files_are_restored_to_their_state_before_a_message() {
    let work = Work::new();
    fs_err::write(work.root.join("old"), "0").unwrap();
    fs_err::set_permissions(work.root.join("old"), std::fs::Permissions::from_mode(0o754)).unwrap();
    let mut log = work.session();
    work.write(&mut log, "one", "old", "1");
    work.write(&mut log, "one", "old", "1 again");
    work.write(&mut log, "two", "new", "2");
    work.write(&mut log, "three", "old", "3");
    work.write(&mut log, "three", "new", "3");
    // works after a restart as well
    drop(log);
    let mut log = work.home.store().load(&session_id("s")).unwrap().log;

    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let at = |log: &mut Log, message: &str| work.names(&log.rewind_info(message));
    assert_eq!(at(&mut log, "three"), (list(&["new", "old"]), vec![], vec![]));
    assert_eq!(at(&mut log, "two"), (list(&["old"]), list(&["new"]), vec![]));
    assert_eq!(at(&mut log, "nowhere"), (vec![], vec![], vec![]));

    let read = |name: &str| fs_err::read_to_string(work.root.join(name)).ok();
    let done = Work::rewind(&mut log, "three");
    assert_eq!(
        (done.restored.len(), read("old").as_deref(), read("new").as_deref()),
        (2, Some("1 again"), Some("2"))
    );
    let done = Work::rewind(&mut log, "one");
    assert_eq!((done.restored.len(), done.deleted.len()), (1, 1));
    assert_eq!((read("old").as_deref(), read("new")), (Some("0"), None));
    let mode = fs_err::metadata(work.root.join("old")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o754);
    assert_eq!(
        at(&mut log, "two"),
        (list(&["old"]), vec![], vec![]),
        "a missing file is not listed for deletion"
    );
}

#[test]
fn deleted_file_is_restored_with_its_directory() {
    let work = Work::new();
    fs_err::create_dir(work.root.join("sub")).unwrap();
    fs_err::write(work.root.join("sub/file"), "kept").unwrap();
    let mut log = work.session();
    log.snapshot("two", &work.root.join("sub/file")).unwrap();
    fs_err::remove_dir_all(work.root.join("sub")).unwrap();
    Work::rewind(&mut log, "one");
    assert_eq!(fs_err::read_to_string(work.root.join("sub/file")).unwrap(), "kept");
}

#[test]
fn files_beyond_the_limits_are_reported_as_evicted() {
    let work = Work::new();
    drop(work.session());
    let limits = SnapshotLimits { file: 10, session: 15 };
    let mut log = work.home.store().snapshot_limits(limits).load(&session_id("s")).unwrap().log;
    for (name, size) in [("large", 11), ("first", 8), ("second", 8)] {
        fs_err::write(work.root.join(name), name[..1].repeat(size)).unwrap();
        work.write(&mut log, "one", name, "changed");
    }
    symlink("second", work.root.join("link")).unwrap();
    log.snapshot("one", &work.root.join("link")).unwrap();
    for is_reopened in [false, true] {
        if is_reopened {
            drop(log);
            log = work.home.store().load(&session_id("s")).unwrap().log;
        }
        let files = log.rewind_info("one");
        let (available, created, evicted) = work.names(&files);
        assert_eq!((available, created.len()), (vec!["second".to_owned()], 0));
        assert_eq!(evicted, ["first", "large", "link"]);
        assert!(files.evicted[1].1.contains("larger than 10 bytes"), "{:?}", files.evicted);
    }
}

#[test]
fn only_files_changed_by_the_session_are_restored_or_deleted() {
    let work = Work::new();
    let mut log = work.session();
    fs_err::write(work.root.join("mine"), "before").unwrap();
    fs_err::write(work.root.join("other"), "other").unwrap();
    work.write(&mut log, "one", "mine", "after");
    let hash = log.rewind_info("one").available[0].hash.clone();
    let other = work.root.join("other");
    let done = log.restore(
        &[
            (other.clone(), hash.clone()),
            (work.root.join("mine"), "0".repeat(64)),
            (work.root.join("mine"), "../../x".to_owned()),
        ],
        &[other.clone(), work.root.join("mine")],
    );
    assert_eq!((done.failed_restores.len(), done.failed_deletes.len()), (3, 2));
    assert_eq!(fs_err::read_to_string(&other).unwrap(), "other");

    // a link created later leads to another file
    fs_err::remove_file(work.root.join("mine")).unwrap();
    symlink("other", work.root.join("mine")).unwrap();
    let done = log.restore(&[(work.root.join("mine"), hash)], &[]);
    assert_eq!(done.failed_restores.len(), 1);
    assert_eq!(fs_err::read_to_string(&other).unwrap(), "other");
}

#[test]
fn fork_can_be_rewound() {
    let work = Work::new();
    let mut log = work.session();
    fs_err::write(work.root.join("file"), "before").unwrap();
    work.write(&mut log, "two", "file", "after");
    work.home.store().fork(&session_id("s"), &session_id("f"), None, Some("three")).unwrap();
    let mut fork = work.home.store().load(&session_id("f")).unwrap().log;
    Work::rewind(&mut fork, "two");
    assert_eq!(fs_err::read_to_string(work.root.join("file")).unwrap(), "before");
    // changes to the journal of a fork do not affect the original
    work.write(&mut fork, "two", "another", "x");
    drop(log);
    let files = work.home.store().load(&session_id("s")).unwrap().log.rewind_info("one");
    assert_eq!(work.names(&files), (vec!["file".to_owned()], vec![], vec![]));
}
