//! WebSocket connections in both roles, over real sockets on loopback.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use musher_rpc::{
    Admission, Closed, Connection, Error, Incoming, Limits, Peer, WebSocketOptions, accept_websocket,
    connect_websocket,
};
use musher_wire::{Frame, Json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::support::{all, notification, soon};

fn options() -> WebSocketOptions {
    WebSocketOptions::default()
}

/// An agent and a client that is none of ours, over a pipe.
async fn foreign_client(options: WebSocketOptions) -> (Connection, WebSocketStream<DuplexStream>) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (accepted, client) = tokio::join!(
        accept_websocket(near, options, |_| Admission::Admit),
        client_async("ws://localhost/", far)
    );
    (accepted.unwrap(), client.unwrap().0)
}

/// The same over a real socket.
async fn both_ends(options: WebSocketOptions) -> (Connection, Connection) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/path?x=1", listener.local_addr().unwrap());
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        accept_websocket(stream, options, |upgrade| {
            assert_eq!(upgrade.path(), "/path?x=1");
            assert_eq!((upgrade.header("origin"), upgrade.count("host")), (None, 1));
            Admission::Admit
        })
        .await
        .unwrap()
    };
    let (server, client) = soon(async { tokio::join!(accept, connect_websocket(&url, options)) }).await;
    (client.unwrap(), server)
}

#[tokio::test]
async fn frames_go_both_ways_and_a_close_is_an_orderly_end() {
    let (mut client, mut server) = both_ends(options()).await;
    for n in 0..100 {
        client.outgoing.send(notification(n)).await.unwrap();
        server.outgoing.send(notification(n + 1000)).await.unwrap();
    }
    // a WebSocket has no half-close: what the server has not written when the close comes would not be written
    for n in 0..100 {
        assert_eq!(soon(client.incoming.recv()).await.unwrap(), notification(n + 1000));
    }
    client.outgoing.close();
    let (frames, closed) = all(&mut server.incoming).await;
    assert_eq!(frames, (0..100).map(notification).collect::<Vec<_>>());
    assert!(matches!(closed, Closed::Ended), "{closed}");
    let (frames, closed) = all(&mut client.incoming).await;
    assert!(frames.is_empty());
    assert!(matches!(closed, Closed::Ended), "{closed}");
}

#[tokio::test]
async fn call_crosses_a_websocket() {
    let (client, server) = both_ends(options()).await;
    let (client, _notifications) = Peer::start(client);
    let (agent, mut inbox) = Peer::start(server);
    let serve = tokio::spawn(async move {
        while let Some(incoming) = inbox.recv().await {
            if let Incoming::Request(request) = incoming {
                agent.respond(request.id, Ok(request.params.unwrap())).await.unwrap();
            }
        }
    });
    let params = Json::new(&serde_json::json!({"text": "line\nbreak \u{1F415}"})).unwrap();
    let echo = soon(client.request("echo", params.clone(), Duration::from_secs(30))).await.unwrap();
    assert_eq!(echo, params);
    drop(client);
    soon(serve).await.unwrap();
}

#[tokio::test]
async fn too_big_message_ends_the_connection_with_a_reason() {
    let small = WebSocketOptions { limits: Limits { line: 1000, ..Limits::default() }, ..options() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        accept_websocket(stream, small, |_| Admission::Admit).await.unwrap()
    };
    let connect = async {
        let stream = TcpStream::connect(address).await.unwrap();
        client_async("ws://localhost/", stream).await.unwrap().0
    };
    let (mut server, mut client) = soon(async { tokio::join!(accept, connect) }).await;
    client.send(Message::text(notification(1).to_line())).await.unwrap();
    // far more than the sockets buffer: the close message must come through while this is still being written
    let sending = async {
        let (mut sink, stream) = client.split();
        sink.send(Message::text("x".repeat(32 * 1024 * 1024))).await.ok();
        stream.collect::<Vec<_>>().await
    };
    let (answers, (frames, closed)) = soon(async { tokio::join!(sending, all(&mut server.incoming)) }).await;
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[0], notification(1));
    assert!(matches!(&frames[1], Frame::Malformed(it) if it.reason.to_string() == "longer than 1000 bytes"));
    assert!(matches!(closed, Closed::TooBig { limit: 1000 }), "{closed}");
    let Some(Ok(Message::Close(Some(frame)))) = answers.first() else { panic!("{answers:?}") };
    assert_eq!(frame.code, CloseCode::Size);
}

#[tokio::test]
async fn abrupt_end_fails_every_call_as_a_broken_connection() {
    let (server, client) = foreign_client(options()).await;
    let (peer, mut inbox) = Peer::start(server);
    let call = tokio::spawn({
        let peer = peer.clone();
        async move { peer.request("m", Json::empty_object(), Duration::from_secs(30)).await }
    });
    tokio::task::yield_now().await;
    drop(client);
    assert!(matches!(soon(call).await.unwrap(), Err(Error::Closed(Closed::Broken(_)))));
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Closed(Closed::Broken(_)))));
}

#[tokio::test]
async fn bad_text_is_a_frame_and_blank_or_binary_messages_do_no_harm() {
    let (mut server, mut client) = foreign_client(options()).await;
    client.send(Message::text("oops")).await.unwrap();
    client.send(Message::text(" \n")).await.unwrap();
    client.send(Message::binary(notification(1).to_line().into_bytes())).await.unwrap();
    client.send(Message::text(format!("\n{}\r\n", notification(2).to_line()))).await.unwrap();
    client.close(None).await.unwrap();
    let (frames, _) = all(&mut server.incoming).await;
    assert!(matches!(frames[0], Frame::Malformed(_)));
    assert_eq!(frames[1..], [notification(1), notification(2)]);
}

#[tokio::test]
async fn close_code_and_its_reason_are_kept() {
    let (mut server, mut client) = foreign_client(options()).await;
    let frame = tokio_tungstenite::tungstenite::protocol::CloseFrame {
        code: CloseCode::Policy,
        reason: "not today".into(),
    };
    client.close(Some(frame)).await.unwrap();
    // the client sees the answer to its close
    let rest = soon(client.collect::<Vec<_>>());
    let ((_, closed), rest) = tokio::join!(all(&mut server.incoming), rest);
    assert_eq!(closed.to_string(), "the peer closed the connection with code 1008: not today");
    assert!(matches!(rest[..], [Ok(Message::Close(_))]), "{rest:?}");
}

#[tokio::test]
async fn pings_are_answered() {
    let (_server, mut client) = foreign_client(options()).await;
    client.send(Message::Ping("beat".into())).await.unwrap();
    let Some(Ok(Message::Pong(payload))) = soon(client.next()).await else { panic!() };
    assert_eq!(payload, "beat");
}

#[tokio::test(start_paused = true)]
async fn peer_is_pinged_and_a_silent_one_is_disconnected() {
    let (mut server, mut client) = foreign_client(options()).await;
    let Some(Ok(Message::Ping(_))) = client.next().await else { panic!("no ping") };
    // the client of this test answers only while it is read from, and it is not
    let (_, closed) = all(&mut server.incoming).await;
    assert!(matches!(closed, Closed::Silent { .. }), "{closed}");
}

#[tokio::test]
async fn client_that_is_not_admitted_gets_403_and_no_connection() {
    let (near, mut far) = tokio::io::duplex(4096);
    let request = "GET / HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    far.write_all(request.as_bytes()).await.unwrap();
    let refused = accept_websocket(near, options(), |upgrade| {
        assert_eq!(upgrade.header("Origin"), Some("http://evil.example"));
        Admission::Forbid
    });
    assert!(matches!(soon(refused).await, Err(Error::Accept { .. })));
    let mut answer = String::new();
    soon(far.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn missing_handshake_times_out() {
    let (near, _far) = tokio::io::duplex(4096);
    let refused = accept_websocket(near, options(), |_| Admission::Admit).await;
    assert!(matches!(refused, Err(Error::Accept { .. })));
}

#[tokio::test]
async fn unreachable_or_invalid_url_is_named_in_the_error() {
    for url in ["wss://localhost/", "http://localhost/", "nonsense", "ws://127.0.0.1:1/"] {
        let error = soon(connect_websocket(url, options())).await.unwrap_err();
        assert_eq!(error.to_string(), format!("cannot connect to `{url}`"));
    }
}
