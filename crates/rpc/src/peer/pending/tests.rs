use musher_wire::Id;

use super::{MAX_REMEMBERED, Pending, Settled};

fn id(text: &str) -> Id {
    Id::from(text)
}

#[test]
fn error_without_id_fails_the_only_pending_call() {
    let mut pending = Pending::default();
    assert_eq!(pending.settle_only(), None);
    pending.insert(id("a"), 'a', None);
    assert_eq!(pending.settle_only(), Some('a'));
    assert_eq!(pending.settle(&id("a"), false), Settled::Duplicate);
    pending.insert(id("b"), 'b', None);
    pending.insert(id("c"), 'c', None);
    assert_eq!(pending.settle_only(), None);
    assert_eq!(pending.waiting.len(), 2);
}

#[test]
fn watched_call_gets_the_first_error_after_its_answer() {
    let mut pending = Pending::default();
    pending.insert(id("a"), "waiter", Some("watcher"));
    assert_eq!(pending.settle(&id("a"), false), Settled::Answer("waiter"));
    assert!(pending.is_empty());
    assert_eq!(pending.settle(&id("a"), false), Settled::Duplicate, "only errors count");
    assert_eq!(pending.settle(&id("a"), true), Settled::LateError("watcher"));
    assert_eq!(pending.settle(&id("a"), true), Settled::Duplicate);
}

#[test]
fn failed_call_is_not_watched() {
    let mut pending = Pending::default();
    pending.insert(id("a"), "waiter", Some("watcher"));
    assert_eq!(pending.settle(&id("a"), true), Settled::Answer("waiter"));
    assert_eq!(pending.settle(&id("a"), true), Settled::Duplicate);
}

#[test]
fn response_to_a_forgotten_call_is_known_and_dropped() {
    let mut pending = Pending::default();
    pending.insert(id("a"), 'a', None);
    pending.forget(&id("a"));
    assert_eq!(pending.settle(&id("a"), false), Settled::GivenUp);
    pending.insert(id("b"), 'b', Some('w'));
    assert_eq!(pending.settle(&id("b"), false), Settled::Answer('b'));
    pending.forget(&id("b"));
    assert_eq!(pending.settle(&id("b"), true), Settled::Duplicate);
}

#[test]
fn number_of_settled_ids_is_bounded() {
    let mut pending = Pending::default();
    for n in 0..=MAX_REMEMBERED {
        pending.insert(id(&n.to_string()), n, None);
        assert_eq!(pending.settle(&id(&n.to_string()), false), Settled::Answer(n));
    }
    assert_eq!(pending.settle(&id("0"), false), Settled::Unknown);
    assert_eq!(pending.settle(&id("1"), false), Settled::Duplicate);
}

#[test]
fn ids_of_different_kinds_are_different() {
    let mut pending = Pending::default();
    pending.insert(id("7"), (), None);
    assert_eq!(pending.settle(&Id::Number("7".into()), false), Settled::Unknown);
}

#[test]
fn taking_all_empties_the_table_of_waiters_and_watchers() {
    let mut pending = Pending::default();
    pending.insert(id("a"), 1, None);
    pending.insert(id("b"), 2, Some(3));
    pending.insert(id("c"), 4, Some(5));
    assert_eq!(pending.settle(&id("c"), false), Settled::Answer(4));
    let mut all: Vec<_> = pending.take_all().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 5]);
    assert!(pending.is_empty());
    assert_eq!(pending.settle(&id("c"), true), Settled::Duplicate);
}
