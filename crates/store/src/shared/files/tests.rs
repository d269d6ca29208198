//! The files keep the promises of the shared state, also if they are damaged or the disk is full.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::shared::conformance;

/// A disk that writes half of what it should while it is full.
#[derive(Debug, Default)]
struct FullDisk(AtomicBool);

impl Disk for FullDisk {
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        if !self.0.load(Ordering::Relaxed) {
            return RealDisk.write(file, bytes);
        }
        if bytes.len() > 1 {
            return RealDisk.write(file, &bytes[..bytes.len() / 2]);
        }
        Err(rustix::io::Errno::NOSPC.into())
    }
}

#[test]
fn files_keep_the_promises_of_the_shared_state() {
    let home = tempfile::tempdir().unwrap();
    conformance::check(|| DaemonFiles::open(home.path())).unwrap();
    // with segments of a few events each, of which the oldest are not yet deleted
    let home = tempfile::tempdir().unwrap();
    conformance::events(|| DaemonFiles::on(home.path(), Arc::new(RealDisk), 600)).unwrap();
}

#[test]
fn oldest_events_are_deleted_and_reading_begins_after_them() {
    let home = tempfile::tempdir().unwrap();
    let session = SessionId::random();
    let files = DaemonFiles::on(home.path(), Arc::new(RealDisk), 100);
    let log = files.open_events(&session).unwrap();
    for _ in 0..200 {
        log.append(&["{\"some\":\"event of a session\"}"]).unwrap();
    }
    let first = log.first();
    assert!(first > 100 && first < 200, "{first}");
    assert_eq!(log.read(0, 1).unwrap()[0].sequence, first);
    assert_eq!(log.read(first, 1).unwrap()[0].sequence, first + 1);
    let again = files.open_events(&session).unwrap();
    assert_eq!((again.first(), again.last()), (first, 200));
}

#[test]
fn torn_event_is_removed_and_its_sequence_used_again() {
    let home = tempfile::tempdir().unwrap();
    let session = SessionId::random();
    let files = DaemonFiles::open(home.path());
    files.open_events(&session).unwrap().append(&["{}", "{}"]).unwrap();
    let path = files.events_folder(&session).join(format!("{:020}.log", 1));
    let mut text = fs_err::read(&path).unwrap();
    text.extend_from_slice(b"3 {\"half");
    fs_err::write(&path, text).unwrap();
    let log = files.open_events(&session).unwrap();
    assert_eq!(log.last(), 2);
    assert_eq!(log.append(&["{\"new\":1}"]).unwrap(), 3);
    let events = files.open_events(&session).unwrap().read(2, 1000).unwrap();
    assert_eq!(events, [super::super::Event { sequence: 3, payload: "{\"new\":1}".to_owned() }]);
}

#[test]
fn full_disk_refuses_and_leaves_nothing_torn() {
    let home = tempfile::tempdir().unwrap();
    let session = SessionId::random();
    let disk = Arc::new(FullDisk::default());
    let files = DaemonFiles::on(home.path(), Arc::<FullDisk>::clone(&disk), SEGMENT);
    let log = files.open_events(&session).unwrap();
    log.append(&["{\"n\":1}"]).unwrap();
    let prompt = QueuedPrompt { message_id: "m".to_owned(), request: "{}".to_owned() };
    let item = InboxItem { request_id: "r".to_owned(), session: session.clone(), body: "{}".to_owned() };

    disk.0.store(true, Ordering::Relaxed);
    assert!(log.append(&["{\"n\":2}"]).unwrap_err().is_disk_full());
    assert_eq!(log.last(), 1);
    assert!(files.accept(&session, &prompt).unwrap_err().is_disk_full());
    assert!(files.put(&item).unwrap_err().is_disk_full());
    assert!(files.waiting(&session).unwrap().is_empty() && files.open_items().unwrap().is_empty());

    disk.0.store(false, Ordering::Relaxed);
    assert_eq!(log.append(&["{\"n\":3}"]).unwrap(), 2);
    assert_eq!(files.accept(&session, &prompt).unwrap(), Receipt::New);
    files.put(&item).unwrap();
    let again = DaemonFiles::open(home.path());
    let events = again.open_events(&session).unwrap().read(0, 1000).unwrap();
    assert_eq!(
        events.iter().map(|event| event.payload.as_str()).collect::<Vec<_>>(),
        ["{\"n\":1}", "{\"n\":3}"]
    );
    assert_eq!((again.waiting(&session).unwrap(), again.open_items().unwrap()), (vec![prompt], vec![item]));
}

#[test]
fn second_daemon_of_a_home_is_refused_until_the_first_ends() {
    let home = tempfile::tempdir().unwrap();
    let files = DaemonFiles::open(home.path());
    let lock = files.lock().unwrap();
    let refused = DaemonFiles::open(home.path()).lock().unwrap_err();
    assert!(
        matches!(refused, StoreError::DaemonRuns { pid: Some(pid) } if pid == std::process::id()),
        "{refused}"
    );
    drop(lock);
    DaemonFiles::open(home.path()).lock().unwrap();
    assert_eq!(files.host_id().unwrap(), DaemonFiles::open(home.path()).host_id().unwrap());
}

#[test]
fn large_files_of_closed_requests_and_delivered_prompts_are_written_again() {
    let home = tempfile::tempdir().unwrap();
    let session = SessionId::random();
    let files = DaemonFiles::open(home.path());
    let big = format!("{{\"text\":\"{}\"}}", "x".repeat(200_000));
    for number in 0..20 {
        let id = number.to_string();
        let item = InboxItem { request_id: id.clone(), session: session.clone(), body: big.clone() };
        files.put(&item).unwrap();
        files.close(&id).unwrap();
        let prompt = QueuedPrompt { message_id: id.clone(), request: big.clone() };
        files.accept(&session, &prompt).unwrap();
        files.delivered(&session, &id).unwrap();
    }
    let folder = home.path().join("daemon");
    for path in
        [folder.join("inbox.jsonl"), folder.join("sessions").join(session.as_str()).join("prompts.jsonl")]
    {
        let size = fs_err::metadata(&path).unwrap().len();
        assert!(size < 1_500_000, "{}: {size}", path.display());
    }
    let again = DaemonFiles::open(home.path());
    let prompt = QueuedPrompt { message_id: "0".to_owned(), request: String::new() };
    assert_eq!(again.accept(&session, &prompt).unwrap(), Receipt::Duplicate);
}
