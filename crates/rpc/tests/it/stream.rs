//! Connections over byte streams: lanes, back-pressure, and the ends of either direction.

use std::time::Duration;

use musher_rpc::{Bound, Closed, Connection, Limits, memory, over};
use musher_wire::{Frame, Json, Notification};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::time::timeout;

use crate::support::{all, notification, soon};

/// A connection over a pipe that holds very little, and the other end of it.
fn narrow(limits: Limits) -> (Connection, DuplexStream) {
    let (near, far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(near);
    (over(reader, writer, limits), far)
}

/// A notification so big that the writer never gathers two of them.
fn big(number: usize) -> Frame {
    let params = serde_json::json!({"number": number, "padding": "x".repeat(100_000)});
    Frame::Notification(Notification::new("big", Json::new(&params).unwrap()))
}

async fn waits(future: impl Future) -> bool {
    timeout(Duration::from_hours(1), future).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn urgent_frame_overtakes_the_queue_and_each_lane_keeps_its_order() {
    let (connection, far) = narrow(Limits::default());
    for n in 0..20 {
        connection.outgoing.send(big(n)).await.unwrap();
    }
    // the writer is stuck in the first by now
    tokio::time::sleep(Duration::from_secs(1)).await;
    connection.outgoing.send_now(notification(100)).await.unwrap();
    connection.outgoing.send_now(notification(101)).await.unwrap();
    connection.outgoing.close();
    let mut lines = BufReader::new(far).lines();
    let mut order = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        order.push(value["params"]["number"].as_u64().unwrap());
    }
    let expected: Vec<_> = [0, 100, 101].into_iter().chain(1..20).collect();
    assert_eq!(order, expected);
}

#[tokio::test(start_paused = true)]
async fn stalled_peer_makes_the_sender_wait_without_loss() {
    let limits = Limits { data: Bound { messages: 4, bytes: 1024 * 1024 }, ..Limits::default() };
    let (connection, far) = narrow(limits);
    let mut sent = 0;
    while !waits(connection.outgoing.send(big(sent))).await {
        sent += 1;
    }
    assert!((4..=6).contains(&sent), "{sent} frames were taken");
    // the other lane still has room
    soon(connection.outgoing.send_now(notification(0))).await.unwrap();
    let reading = tokio::spawn(async move {
        let mut text = String::new();
        BufReader::new(far).read_to_string(&mut text).await.unwrap();
        text
    });
    soon(connection.outgoing.send(big(sent))).await.unwrap();
    assert!(connection.outgoing.finish(Duration::from_mins(1)).await);
    drop(connection);
    assert_eq!(soon(reading).await.unwrap().lines().count(), sent + 2);
}

#[tokio::test(start_paused = true)]
async fn slow_reader_of_frames_stops_the_reading_of_bytes() {
    let limits = Limits { incoming: Bound { messages: 4, bytes: 1024 * 1024 }, ..Limits::default() };
    let (mut connection, mut far) = narrow(limits);
    let text = format!("{}\n", notification(1).to_line()).repeat(10_000);
    assert!(waits(far.write_all(text.as_bytes())).await, "the frames are not read");
    connection.incoming.recv().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn closed_peer_is_the_same_reason_for_all() {
    let (mut connection, far) = narrow(Limits::default());
    drop(far);
    let (frames, closed) = all(&mut connection.incoming).await;
    assert!(frames.is_empty());
    assert!(matches!(closed, Closed::Ended), "{closed}");
    // the first may still go into the queue, before the writer has tried
    for _ in 0..3 {
        connection.outgoing.send(notification(1)).await.ok();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(matches!(connection.outgoing.send(notification(1)).await, Err(Closed::Ended)));
}

#[tokio::test(start_paused = true)]
async fn peer_that_takes_no_input_may_still_finish_its_output() {
    let (near_reader, mut far_writer) = tokio::io::duplex(1024);
    let (near_writer, far_reader) = tokio::io::duplex(1024);
    let mut connection = over(near_reader, near_writer, Limits::default());
    drop(far_reader);
    connection.outgoing.send(notification(1)).await.unwrap();
    // it talks on, with pauses
    for n in 0..5 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        far_writer.write_all(format!("{}\n", notification(n).to_line()).as_bytes()).await.unwrap();
    }
    // and then falls silent without an end: the broken pipe is the reason in the end
    let (frames, closed) = all(&mut connection.incoming).await;
    assert_eq!(frames, (0..5).map(notification).collect::<Vec<_>>());
    assert!(matches!(closed, Closed::Broken(_)), "{closed}");
}

#[tokio::test(start_paused = true)]
async fn end_of_the_input_leaves_the_output_open() {
    let (near_writer, far_reader) = tokio::io::duplex(1024);
    let mut connection = over(tokio::io::empty(), near_writer, Limits::default());
    assert!(matches!(connection.incoming.recv().await, Err(Closed::Ended)));
    connection.outgoing.send(notification(1)).await.unwrap();
    drop(connection);
    let mut text = String::new();
    BufReader::new(far_reader).read_to_string(&mut text).await.unwrap();
    assert_eq!(text, format!("{}\n", notification(1).to_line()));
}

#[tokio::test(start_paused = true)]
async fn read_error_comes_after_the_read_frames() {
    let input = tokio_test_error(format!("{}\n", notification(1).to_line()).into_bytes());
    let mut connection = over(input, tokio::io::sink(), Limits::default());
    let (frames, closed) = all(&mut connection.incoming).await;
    assert_eq!(frames, [notification(1)]);
    assert_eq!(musher_rpc::with_causes(&closed).to_string(), "the connection broke: the cable was cut");
}

/// A reader that gives some bytes and then fails.
fn tokio_test_error(bytes: Vec<u8>) -> impl tokio::io::AsyncRead + Send + Unpin {
    struct Cut;
    impl tokio::io::AsyncRead for Cut {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Err(std::io::Error::other("the cable was cut")))
        }
    }
    std::io::Cursor::new(bytes).chain(Cut)
}

#[tokio::test(start_paused = true)]
async fn memory_pair_has_two_lanes_and_independent_ends() {
    let (client, mut agent) = memory();
    client.outgoing.send(notification(1)).await.unwrap();
    client.outgoing.send_now(notification(2)).await.unwrap();
    let Connection { mut incoming, outgoing } = client;
    drop(outgoing);
    let (frames, closed) = all(&mut agent.incoming).await;
    assert_eq!(frames, [notification(2), notification(1)]);
    assert!(matches!(closed, Closed::Ended));
    agent.outgoing.send(notification(3)).await.unwrap();
    drop(agent);
    assert_eq!(all(&mut incoming).await.0, [notification(3)]);
}

#[tokio::test(start_paused = true)]
async fn sending_after_our_own_close_says_so() {
    let (client, _agent) = memory();
    client.outgoing.close();
    assert!(matches!(client.outgoing.send(notification(1)).await, Err(Closed::Local)));
    assert!(!soon(client.outgoing.finish(Duration::from_secs(1))).await, "it is not read");
}
