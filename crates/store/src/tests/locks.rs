//! Writers that meet.

use std::sync::Barrier;

use super::stage::{Home, session_id};
use crate::StoreError;

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
