use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Bound, Gone, Lane, NotSent, Receiver, Sender, queue};
use crate::Closed;

const WIDE: Bound = Bound { messages: 100, bytes: 1000 };
const NARROW: Bound = Bound { messages: 2, bytes: 10 };

/// A sending end with clones, as connections have it.
type SharedSender<V> = Arc<Sender<(V, usize)>>;

fn shared_queue<V>(data: Bound) -> (SharedSender<V>, Receiver<(V, usize)>) {
    let (sender, receiver) = queue(WIDE, data);
    (Arc::new(sender), receiver)
}

/// Receives without the weight.
async fn recv<V>(receiver: &mut Receiver<(V, usize)>) -> Option<V> {
    receiver.recv().await.ok().map(|(value, _)| value)
}

/// Returns whether a future still waits when nothing else can happen.
async fn waits(future: impl Future) -> bool {
    timeout(Duration::from_hours(1), future).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn control_lane_overtakes_a_full_data_lane_and_both_keep_their_order() {
    let (sender, mut receiver) = queue(WIDE, NARROW);
    sender.send(Lane::Data, ("data 1", 1)).await.unwrap();
    sender.send(Lane::Data, ("data 2", 1)).await.unwrap();
    assert!(waits(sender.send(Lane::Data, ("data 3", 1))).await, "the lane is full");
    sender.send(Lane::Control, ("control 1", 1)).await.unwrap();
    sender.send(Lane::Control, ("control 2", 1)).await.unwrap();
    drop(sender);
    let mut order = Vec::new();
    while let Some(value) = recv(&mut receiver).await {
        order.push(value);
    }
    assert_eq!(order, ["control 1", "control 2", "data 1", "data 2"]);
}

#[tokio::test(start_paused = true)]
async fn lane_is_bounded_by_bytes_too_and_a_large_value_passes_alone() {
    let (sender, mut receiver) = queue(WIDE, NARROW);
    sender.send(Lane::Data, ("large", 1_000_000)).await.unwrap();
    assert!(waits(sender.send(Lane::Data, ("small", 1))).await);
    assert_eq!(sender.try_send(Lane::Data, ("small", 1)), Err(NotSent::Full(("small", 1))));
    assert_eq!(recv(&mut receiver).await, Some("large"));
    sender.send(Lane::Data, ("six", 6)).await.unwrap();
    assert!(waits(sender.send(Lane::Data, ("five", 5))).await);
    sender.send(Lane::Data, ("four", 4)).await.unwrap();
    assert_eq!(recv(&mut receiver).await, Some("six"));
    assert_eq!(recv(&mut receiver).await, Some("four"));
}

#[tokio::test(start_paused = true)]
async fn waiting_senders_go_on_in_the_order_they_came() {
    let (sender, mut receiver) = shared_queue(Bound { messages: 1, bytes: 10 });
    sender.send(Lane::Data, (0, 1)).await.unwrap();
    let mut waiting = Vec::new();
    for n in 1..=5 {
        let sender = Arc::clone(&sender);
        waiting.push(tokio::spawn(async move { sender.send(Lane::Data, (n, 1)).await }));
        tokio::task::yield_now().await;
    }
    for n in 0..=5 {
        assert_eq!(recv(&mut receiver).await, Some(n));
    }
    for task in waiting {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_send_sends_nothing_and_releases_its_room() {
    let (sender, mut receiver) = queue(WIDE, NARROW);
    sender.send(Lane::Data, ("a", 9)).await.unwrap();
    // holds a place and waits for bytes, then goes away
    assert!(waits(sender.send(Lane::Data, ("b", 9))).await);
    assert_eq!(recv(&mut receiver).await, Some("a"));
    sender.send(Lane::Data, ("c", 5)).await.unwrap();
    sender.send(Lane::Data, ("d", 5)).await.unwrap();
    assert_eq!(recv(&mut receiver).await, Some("c"));
    assert_eq!(recv(&mut receiver).await, Some("d"));
    assert!(waits(recv(&mut receiver)).await, "there is nothing more");
}

fn values(range: std::ops::Range<u32>) -> VecDeque<(u32, usize)> {
    range.map(|n| (n, 1)).collect()
}

#[tokio::test(start_paused = true)]
async fn batch_waits_for_room_and_a_dropped_send_keeps_unsent_values() {
    let (sender, mut receiver) = queue(WIDE, Bound { messages: 8, bytes: 100 });
    let mut many = values(0..20);
    assert!(waits(sender.send_all(Lane::Data, &mut many)).await);
    assert_eq!(many, values(8..20));
    assert_eq!(recv(&mut receiver).await, Some(0));
    assert!(waits(sender.send_all(Lane::Data, &mut many)).await);
    assert_eq!(many, values(9..20), "one place is free, and taken at once");
    let rest = tokio::spawn(async move { sender.send_all(Lane::Data, &mut many).await });
    for n in 1..20 {
        assert_eq!(recv(&mut receiver).await, Some(n));
    }
    rest.await.unwrap().unwrap();
    assert_eq!(recv(&mut receiver).await, None);
}

#[tokio::test(start_paused = true)]
async fn oversized_value_of_a_batch_passes_alone() {
    let (sender, mut receiver) = queue(WIDE, NARROW);
    let all = [("small", 1), ("large", 1_000_000), ("last", 1)];
    let sending = tokio::spawn(async move { sender.send_all(Lane::Data, &mut all.into()).await });
    for (value, _) in all {
        assert_eq!(recv(&mut receiver).await, Some(value));
    }
    sending.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn many_are_received_until_it_is_enough_with_the_control_lane_first_and_their_room_is_free_again() {
    let (sender, mut receiver) = queue(WIDE, Bound { messages: 4, bytes: 100 });
    sender.send_all(Lane::Data, &mut [(1, 10), (2, 10), (3, 10), (4, 10)].into()).await.unwrap();
    sender.send(Lane::Control, (0, 10)).await.unwrap();
    let mut taken = VecDeque::new();
    receiver.recv_many(&mut taken, 25).await.unwrap();
    assert_eq!(taken, [(0, 10), (1, 10), (2, 10)]);
    assert_eq!(sender.try_send(Lane::Data, (5, 80)), Ok(()), "two places and twenty bytes are free again");
    assert_eq!(sender.try_send(Lane::Data, (6, 1)), Err(NotSent::Full((6, 1))));
    taken.clear();
    assert!(matches!(receiver.try_recv_many(&mut taken, usize::MAX), Some(Ok(()))));
    assert_eq!(taken, [(3, 10), (4, 10), (5, 80)]);
    assert!(receiver.try_recv_many(&mut taken, usize::MAX).is_none());
}

#[tokio::test(start_paused = true)]
async fn closing_fails_those_who_wait_and_keeps_what_is_in() {
    let (sender, mut receiver) = shared_queue(Bound { messages: 1, bytes: 10 });
    sender.send(Lane::Data, (1, 1)).await.unwrap();
    let waiting = tokio::spawn({
        let sender = Arc::clone(&sender);
        async move { sender.send(Lane::Data, (2, 1)).await }
    });
    tokio::task::yield_now().await;
    sender.close(Closed::Local);
    assert_eq!(waiting.await.unwrap(), Err(Gone));
    assert_eq!(sender.send(Lane::Control, (3, 1)).await, Err(Gone));
    assert!(!sender.is_receiver_gone());
    assert_eq!(recv(&mut receiver).await, Some(1));
    for _ in 0..2 {
        assert!(matches!(receiver.recv().await, Err(Closed::Local)), "the reason stays");
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_receiver_is_noticed_by_all_senders() {
    let (sender, receiver) = shared_queue(Bound { messages: 1, bytes: 10 });
    sender.send(Lane::Data, (1, 1)).await.unwrap();
    let (waiting, watching) = (Arc::clone(&sender), Arc::clone(&sender));
    let waiting = tokio::spawn(async move { waiting.send(Lane::Data, (2, 1)).await });
    let watching = tokio::spawn(async move { watching.receiver_gone().await });
    tokio::task::yield_now().await;
    drop(receiver);
    assert_eq!(waiting.await.unwrap(), Err(Gone));
    watching.await.unwrap();
    assert_eq!(sender.try_send(Lane::Data, (3, 1)), Err(NotSent::Closed));
}

#[tokio::test(start_paused = true)]
async fn waiting_receiver_is_woken_by_the_end() {
    let (sender, mut receiver) = queue::<((), usize)>(WIDE, WIDE);
    let waiting = tokio::spawn(async move { recv(&mut receiver).await });
    tokio::task::yield_now().await;
    drop(sender);
    assert_eq!(waiting.await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_or_reordered_between_threads() {
    let (sender, mut receiver) = queue(NARROW, NARROW);
    let sender = Arc::new(sender);
    let senders: Vec<_> = (0..4)
        .map(|who| {
            let sender = Arc::clone(&sender);
            let lane = if who == 0 { Lane::Control } else { Lane::Data };
            tokio::spawn(async move {
                if who == 3 {
                    let mut all = (0..2000).map(|n| ((who, n), 1 + n % 12)).collect();
                    return sender.send_all(lane, &mut all).await.unwrap();
                }
                for n in 0..2000 {
                    sender.send(lane, ((who, n), 1 + n % 12)).await.unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    let mut next = [0; 4];
    while let Some((who, n)) = recv(&mut receiver).await {
        assert_eq!(n, next[who]);
        next[who] += 1;
    }
    assert_eq!(next, [2000; 4]);
    for task in senders {
        task.await.unwrap();
    }
}
