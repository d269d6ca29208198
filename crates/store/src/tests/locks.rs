//! Concurrent writers.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use serde_json::Map;

use super::support::{Home, after, call, record, said, session_id};
use crate::{Acquired, LastLease, Lease, Leases, Purpose, SessionId, StoreError};
use musher_message::Role;

#[test]
fn exactly_one_of_many_concurrent_writers_opens_the_log() {
    let home = Home::with_session("s");
    let barrier = Barrier::new(8);
    let got = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let loaded = home.store().load(&session_id("s"));
                    // no lease is released before all threads have tried
                    barrier.wait();
                    match loaded {
                        Ok(_) => true,
                        Err(StoreError::Locked { .. }) => false,
                        Err(error) => panic!("{error}"),
                    }
                })
            })
            .collect();
        openers.into_iter().map(|opener| opener.join().unwrap()).filter(|got| *got).count()
    });
    assert_eq!(got, 1);
}

#[test]
fn released_session_is_written_by_others_and_acquired_with_what_they_wrote() {
    let home = Home::with_session("s");
    let store = home.store();
    let mut first = store.attach(&session_id("s")).unwrap().released;
    let mut second = store.attach(&session_id("s")).unwrap().released;
    let Acquired::Unchanged(mut log) = first.acquire(Purpose::Turn).unwrap() else {
        panic!("it was not written")
    };
    let error = second.acquire(Purpose::Turn).unwrap_err();
    assert!(error.to_string().ends_with(&format!("is running in process {}", std::process::id())), "{error}");
    log.append(&record(after("ending", said("u3", Role::User, "More.")))).unwrap();
    log.set_title("Theirs", true).unwrap();
    let mut first = log.release();
    let Acquired::Changed(loaded) = second.acquire(Purpose::Turn).unwrap() else { panic!("it was written") };
    assert_eq!(loaded.session.messages.last().unwrap().id, "u3");
    assert_eq!(loaded.session.start.title(), "Theirs");
    let mut log = loaded.log;
    let mut second = log.release();
    let Acquired::Unchanged(log) = second.acquire(Purpose::Turn).unwrap() else {
        panic!("it was not written")
    };
    drop(log);
    // a lease without a change is a reason to read again, too: it costs little, and the other process may have saved settings
    assert!(matches!(first.acquire(Purpose::Turn).unwrap(), Acquired::Changed(_)));
}

#[test]
fn session_that_another_process_writes_is_attached_without_damage_or_made_up_results() {
    let home = Home::new();
    let mut log = home.create("s");
    log.append(&record(said("u", Role::User, "Go."))).unwrap();
    log.append(&record(after("u", call("a", "t1")))).unwrap();
    let mut file = fs_err::OpenOptions::new().append(true).open(log.path()).unwrap();
    std::io::Write::write_all(&mut file, b"{\"type\":\"mess").unwrap();
    let session = home.store().attach(&session_id("s")).unwrap().session;
    assert!(session.damage.is_none(), "{}", session.damage);
    assert_eq!(session.messages.len(), 2, "the call still runs");
    drop(log);
    let attached = home.store().attach(&session_id("s")).unwrap();
    assert!(attached.session.damage.is_torn);
    assert_eq!(attached.session.damage.interrupted_calls, 1);
    assert_eq!(home.store().read(&session_id("s")).unwrap().damage.interrupted_calls, 0, "it was repaired");
}

/// Gives out leases that anyone can take over, as storage in a network does when a holder is silent for too long.
#[derive(Debug, Default)]
struct Takeover(Arc<AtomicU64>);

#[derive(Debug)]
struct Token(u64, Arc<AtomicU64>);

impl Leases for Takeover {
    fn take(&self, _id: &SessionId, _folder: &Path, _purpose: Purpose) -> Result<Box<dyn Lease>, StoreError> {
        Ok(Box::new(Token(self.0.fetch_add(1, Ordering::Relaxed) + 1, Arc::clone(&self.0))))
    }

    fn last(&self, _id: &SessionId, _folder: &Path) -> LastLease {
        LastLease { token: self.0.load(Ordering::Relaxed), holder: None }
    }
}

impl Lease for Token {
    fn token(&self) -> u64 {
        self.0
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.1.load(Ordering::Relaxed) == self.0 {
            Ok(())
        } else {
            Err(StoreError::NotOwned { id: session_id("s") })
        }
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}

#[test]
fn writer_whose_lease_was_taken_over_writes_nothing() {
    let home = Home::with_session("s");
    let store = home.store().leases(Arc::new(Takeover::default()));
    let mut old = store.load(&session_id("s")).unwrap().log;
    let new_message = |id| record(after("ending", said(id, Role::User, "More.")));
    old.append(&new_message("before")).unwrap();
    let mut new = store.load(&session_id("s")).unwrap().log;
    let before = fs_err::read(new.path()).unwrap();
    for refused in [
        old.append(&new_message("late")),
        old.set_title("late", true).map(drop),
        old.save_settings(Map::new()),
    ] {
        assert!(matches!(refused, Err(StoreError::NotOwned { .. })), "{refused:?}");
    }
    assert_eq!(fs_err::read(new.path()).unwrap(), before);
    new.append(&new_message("mine")).unwrap();
    new.release();
    let released = new.append(&new_message("released"));
    assert!(matches!(released, Err(StoreError::NotOwned { .. })), "{released:?}");
}
