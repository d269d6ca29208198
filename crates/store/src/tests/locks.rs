//! Concurrent writers.

use std::sync::Barrier;

use super::support::{Home, session_id};
use crate::StoreError;

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
                    // no lock is released before all threads have tried
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
