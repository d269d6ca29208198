use musher_wire::Id;

use super::{Pending, REMEMBERED, Settled};

fn id(text: &str) -> Id {
    Id::from(text)
}

#[test]
fn an_error_without_id_fails_the_only_call_that_waits() {
    let mut pending = Pending::new();
    assert_eq!(pending.settle_the_only(), None);
    pending.insert(id("a"), 'a');
    assert_eq!(pending.settle_the_only(), Some('a'));
    assert_eq!(pending.settle(&id("a"), false), Settled::Duplicate);
    pending.insert(id("b"), 'b');
    pending.insert(id("c"), 'c');
    assert_eq!(pending.settle_the_only(), None);
    assert_eq!(pending.len(), 2);
}

#[test]
fn a_watched_call_is_told_of_the_first_error_after_its_answer() {
    let mut pending = Pending::new();
    pending.insert_watched(id("a"), "waiter", "watcher");
    assert_eq!(pending.settle(&id("a"), false), Settled::Answer("waiter"));
    assert!(pending.is_empty());
    assert_eq!(pending.settle(&id("a"), false), Settled::Duplicate, "only errors count");
    assert_eq!(pending.settle(&id("a"), true), Settled::LateError("watcher"));
    assert_eq!(pending.settle(&id("a"), true), Settled::Duplicate);
}

#[test]
fn a_watched_call_that_failed_is_not_watched() {
    let mut pending = Pending::new();
    pending.insert_watched(id("a"), "waiter", "watcher");
    assert_eq!(pending.settle(&id("a"), true), Settled::Answer("waiter"));
    assert_eq!(pending.settle(&id("a"), true), Settled::Duplicate);
}

#[test]
fn a_forgotten_call_is_known_but_nobody_is_told() {
    let mut pending = Pending::new();
    pending.insert(id("a"), 'a');
    pending.forget(&id("a"));
    assert_eq!(pending.settle(&id("a"), false), Settled::GivenUp);
    pending.insert_watched(id("b"), 'b', 'w');
    assert_eq!(pending.settle(&id("b"), false), Settled::Answer('b'));
    pending.forget(&id("b"));
    assert_eq!(pending.settle(&id("b"), true), Settled::Duplicate);
}

#[test]
fn the_memory_of_settled_ids_is_bounded() {
    let mut pending = Pending::new();
    for n in 0..=REMEMBERED {
        pending.insert(id(&n.to_string()), n);
        assert_eq!(pending.settle(&id(&n.to_string()), false), Settled::Answer(n));
    }
    assert_eq!(pending.settle(&id("0"), false), Settled::Unknown);
    assert_eq!(pending.settle(&id("1"), false), Settled::Duplicate);
}

#[test]
fn ids_of_different_kinds_are_different() {
    let mut pending = Pending::new();
    pending.insert(id("7"), ());
    assert_eq!(pending.settle(&Id::Number("7".into()), false), Settled::Unknown);
}

#[test]
fn taking_all_empties_the_table_of_waiters_and_watchers() {
    let mut pending = Pending::new();
    pending.insert(id("a"), 1);
    pending.insert_watched(id("b"), 2, 3);
    pending.insert_watched(id("c"), 4, 5);
    assert_eq!(pending.settle(&id("c"), false), Settled::Answer(4));
    let mut all: Vec<_> = pending.take_all().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 5]);
    assert!(pending.is_empty());
    assert_eq!(pending.settle(&id("c"), true), Settled::Duplicate);
}
