//! Archived, unarchived and deleted sessions.

use super::support::{Home, session_id};
use crate::StoreError;

#[test]
fn archived_session_can_be_listed_and_unarchived() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    log.archive().unwrap();
    let all = home.store().list_with_archived(None, 9);
    assert_eq!(all.iter().map(|session| session.is_archived).collect::<Vec<_>>(), [true]);
    log.unarchive().unwrap();
    assert_eq!(
        home.store().list(None, 9).iter().map(|session| session.is_archived).collect::<Vec<_>>(),
        [false]
    );
}

#[test]
fn delete_removes_all_files_of_the_session_only() {
    let home = Home::with_session("s");
    drop(home.create("s-2"));
    let log = home.log_file("s");
    let folder = log.parent().unwrap();
    for directory in ["s.large", "s.snapshots"] {
        fs_err::create_dir(folder.join(directory)).unwrap();
        fs_err::write(folder.join(directory).join("content"), "x").unwrap();
    }
    fs_err::write(folder.join("s.17.damaged"), "x").unwrap();
    home.store().delete(&session_id("s")).unwrap();
    let names =
        fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<_> = names.filter(|name| !name.starts_with("s-2.")).collect();
    assert_eq!(names, Vec::<String>::new());
    assert!(home.store().read(&session_id("s-2")).is_ok());
    let again = home.store().delete(&session_id("s")).unwrap_err();
    assert!(matches!(again, StoreError::NotFound(_)), "{again}");
}

#[test]
fn session_in_use_is_not_deleted() {
    let home = Home::with_session("s");
    let loaded = home.store().load(&session_id("s")).unwrap();
    let error = home.store().delete(&session_id("s")).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    drop(loaded);
    home.store().delete(&session_id("s")).unwrap();
}

#[test]
fn new_title_replaces_the_name_given_by_droid() {
    let home = Home::with_session("s");
    let log = home.log_file("s");
    let text = fs_err::read_to_string(&log).unwrap().replacen(
        "\"title\"",
        "\"sessionTitle\":\"Droids\",\"title\"",
        1,
    );
    fs_err::write(&log, text).unwrap();
    let listed = || home.store().list(None, 9).remove(0);
    assert_eq!(listed().session_title.as_deref(), Some("Droids"));
    home.store().load(&session_id("s")).unwrap().log.set_title("Mine", true).unwrap();
    assert_eq!((listed().session_title, listed().title), (None, "Mine".to_owned()));
}
