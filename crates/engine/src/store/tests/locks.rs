//! Writers that meet.

use std::sync::Barrier;

use super::stage::{Home, record, said, session_id};
use crate::Role;
use crate::store::StoreError;

#[test]
fn of_many_openers_exactly_one_gets_the_log() {
    let home = Home::with_session("s");
    let barrier = Barrier::new(8);
    let got = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let loaded = home.store().load(&session_id("s"));
                    // nobody lets go before all have tried
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

/// Does nothing unless another test has started it as a process of its own: then it opens a session and waits to be killed.
#[test]
fn holder() {
    let Some(home) = std::env::var_os("MUSHER_TEST_STORE_HOLDS") else { return };
    let mut loaded = crate::store::Store::open(home).load(&session_id("s")).unwrap();
    loaded.log.append(&record(said("held", Role::User, "Mine."))).unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
fn a_log_is_free_again_when_its_holder_is_killed() {
    let home = Home::with_session("s");
    #[expect(clippy::disallowed_methods, reason = "this test itself, in a process that can be killed")]
    let mut holder = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::locks::holder", "--nocapture"])
        .env("MUSHER_TEST_STORE_HOLDS", home.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let has_it = || home.store().read(&session_id("s")).unwrap().messages.len() == 7;
    let begun = std::time::Instant::now();
    while !has_it() {
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "the holder does not begin");
        assert!(holder.try_wait().unwrap().is_none(), "the holder has ended");
        std::thread::yield_now();
    }
    let error = home.store().load(&session_id("s")).unwrap_err();
    assert!(matches!(error, StoreError::Locked { holder: Some(pid), .. } if pid == holder.id()), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let session = home.store().load(&session_id("s")).unwrap().session;
    assert_eq!(session.messages.len(), 7, "what it had written is there");
}
