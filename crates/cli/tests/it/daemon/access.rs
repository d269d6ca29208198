//! Who may connect, and what happens to everyone else.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;

use musher_rpc::Closed;
use serde_json::json;

use super::stage::{DEADLINE, Stage, script};
use crate::program::{Running, ended};

/// Sends a request as it is and returns the status line with the rest of the answer.
fn exchange(stage: &Stage, request: &str) -> String {
    let mut stream = TcpStream::connect(stage.address.strip_prefix("ws://").unwrap()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn upgrade(headers: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\n{headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

#[tokio::test]
async fn methods_exist_only_after_the_login_and_a_wrong_credential_is_refused() {
    let mut stage = Stage::new();
    let mut client = stage.stranger().await;
    let refusal = client.refusal("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(refusal["message"], "Method not found: daemon.list_opened_sessions");
    let wrong = json!({"apiKey": "wrong-wrong-wrong-wrong", "caller": "test"});
    assert_eq!(client.refusal("daemon.authenticate", wrong).await["code"], -32001);
    assert_eq!(client.refusal("daemon.authenticate", json!({"caller": "test"})).await["code"], -32700);
    let no_caller = json!({"apiKey": client.token});
    assert_eq!(client.refusal("daemon.authenticate", no_caller).await["code"], -32700);
    // the credential may be in either field
    let right = json!({"token": client.token, "caller": "test"});
    client.call("daemon.authenticate", right.clone()).await;
    client.until(&json!({"method": "daemon.connection_status"})).await;
    client.call("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(client.call("daemon.logout", json!({})).await, json!({"accepted": true}));
    assert_eq!(client.refusal("daemon.list_opened_sessions", json!({})).await["code"], -32601);
    client.call("daemon.authenticate", right).await;
    stage.stop();
}

#[tokio::test]
async fn envelope_that_is_not_valid_is_refused_and_the_connection_stays() {
    let mut stage = Stage::new();
    let mut client = stage.stranger().await;
    client.send(json!("not a message")).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32700)));
    client.send(json!({"id": "5", "method": "daemon.authenticate", "params": {}})).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("5"), &json!(-32700)));
    let numbered = json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": 7, "method": "daemon.authenticate", "params": {}});
    client.send(numbered).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32001)));
    let login = json!({"apiKey": client.token, "caller": "test"});
    client.call("daemon.authenticate", login).await;
    stage.stop();
}

#[tokio::test]
async fn pages_of_other_sites_and_other_names_are_refused_before_the_upgrade() {
    let mut stage = Stage::with(script(), &["--origin", "https://console.example"]);
    for headers in [
        "Host: evil.example\r\n",
        "",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nOrigin: https://console.example\r\nOrigin: https://console.example\r\n",
    ] {
        let answer = exchange(&stage, &upgrade(headers));
        assert!(answer.starts_with("HTTP/1.1 403 "), "{headers}: {answer}");
    }
    let mut stream = TcpStream::connect(stage.address.strip_prefix("ws://").unwrap()).unwrap();
    let allowed = upgrade("Host: localhost\r\nOrigin: https://console.example\r\n");
    stream.write_all(allowed.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 101");
    drop(stream);
    stage.stop();
}

#[tokio::test]
async fn plain_requests_get_health_and_with_the_token_metrics() {
    let mut stage = Stage::new();
    let get = |path: &str, headers: &str| {
        exchange(&stage, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"))
    };
    let health = get("/health", "");
    assert!(health.starts_with("HTTP/1.1 200 ") && health.ends_with("ok\n"), "{health}");
    assert!(get("/", "").starts_with("HTTP/1.1 404 "));
    assert!(get("/metrics", "").starts_with("HTTP/1.1 401 "));
    let metrics = get("/metrics", &format!("Authorization: Bearer {}\r\n", stage.token()));
    assert!(
        metrics.contains("\nmusher_sessions 0\n") && metrics.contains("musher_logins_failed_total 1\n"),
        "{metrics}"
    );
    stage.stop();
}

#[tokio::test]
async fn metrics_count_what_waits_and_how_long_turns_and_calls_take() {
    let mut stage = Stage::with(script(), &["--max-turns", "1"]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    client.turn(&one, "say hello").await;
    // one turn waits for a person and has a prompt behind it, so the other session has to wait
    client.request("daemon.add_user_message", json!({"sessionId": one, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    client.call("daemon.add_user_message", json!({"sessionId": one, "text": "queued"})).await;
    client.call("daemon.add_user_message", json!({"sessionId": two, "text": "waits"})).await;
    // a call behind the prompt: when it is answered, the session has counted
    client.call("daemon.list_skills", json!({"sessionId": two})).await;
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.token()
    );
    let metrics = exchange(&stage, &request);
    for line in [
        "musher_prompts_waiting 2",
        "musher_turns_waiting 1",
        "musher_send_queue_bytes 0",
        "musher_turn_duration_seconds_count 1",
        "musher_first_text_seconds_count 1",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    let calls = metrics.lines().find_map(|it| it.strip_prefix("musher_call_seconds_count ")).unwrap();
    assert!(calls.parse::<u32>().unwrap() >= 6, "{metrics}");
    stage.kill();
}

#[tokio::test]
async fn default_is_a_unix_socket_that_only_the_user_can_open() {
    let mut stage = Stage::new();
    stage.stop();
    let home = stage.home.path().join(".musher");
    let daemon = Running::spawn(stage.command(&[]));
    let socket = home.join("daemon.sock");
    assert_eq!(daemon.line(), format!("listening on unix:{}", socket.display()));
    let metadata = fs_err::symlink_metadata(&socket).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.mode() & 0o777, 0o600);
    assert_eq!(fs_err::metadata(home.join("daemon.token")).unwrap().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(daemon.stop("-TERM").code, Some(0));
    assert!(!socket.exists(), "it is removed at the end");

    // a daemon that was killed leaves its socket behind
    let daemon = Running::spawn(stage.command(&[]));
    daemon.line();
    drop(daemon);
    assert!(socket.exists());
    let daemon = Running::spawn(stage.command(&[]));
    daemon.line();
    UnixStream::connect(&socket).unwrap();
    assert_eq!(daemon.stop("-TERM").code, Some(0));
}

#[tokio::test]
async fn second_daemon_and_unsafe_setups_are_refused_with_a_reason() {
    let mut stage = Stage::new();
    let second = ended(stage.command(&["--listen", "127.0.0.1:0"]));
    assert_eq!(second.code, Some(2));
    let pid = stage.id();
    assert!(
        second.stderr.contains(&format!("a daemon already runs on this home (process {pid})")),
        "{}",
        second.stderr
    );
    stage.stop();

    let remote = ended(stage.command(&["--listen", "0.0.0.0:0"]));
    assert_eq!(remote.code, Some(2));
    assert!(remote.stderr.contains("--allow-remote"), "{}", remote.stderr);
    for (arguments, expected) in [
        (["--token", "short"], "16 or more"),
        (["--listen", "nonsense"], "invalid address"),
        (["--origin", "nonsense"], "invalid origin"),
        (["--droid-path", "/no/such/program"], "cannot find the program"),
    ] {
        let run = ended(stage.command(&arguments));
        assert!(run.code == Some(2) && run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    let token = stage.home.path().join(".musher/daemon.token");
    fs_err::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let open = ended(stage.command(&[]));
    assert!(open.code == Some(2) && open.stderr.contains("other users can read"), "{}", open.stderr);
}

#[tokio::test]
async fn silent_connections_do_not_keep_others_out_for_long() {
    let mut stage = Stage::new();
    let address = stage.address.strip_prefix("ws://").unwrap().to_owned();
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    // the first ones are disconnected after the time limit for their request, the others at once
    for mut stream in silent {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut nothing = [0; 1];
        let read = stream.read(&mut nothing);
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
    let mut client = stage.client().await;
    client.call("daemon.list_opened_sessions", json!({})).await;
    stage.stop();
}

#[tokio::test]
async fn message_beyond_the_limit_closes_the_connection_with_its_code() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    let text = "x".repeat(17 * 1024 * 1024);
    let sent = json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "big", "method": "daemon.add_user_message", "params": {"sessionId": session, "text": text}});
    client.connection.outgoing.send(musher_wire::Frame::parse(sent.to_string().as_bytes())).await.ok();
    let closed = loop {
        match tokio::time::timeout(DEADLINE, client.connection.incoming.recv()).await.unwrap() {
            Ok(_) => {}
            Err(closed) => break closed,
        }
    };
    assert!(matches!(closed, Closed::WebSocket { code: 1009, .. }), "{closed:?}");
    // the session is not affected
    let mut client = stage.client().await;
    client.load(&session, None).await;
    client.turn(&session, "say hello").await;

    let mut stranger = stage.stranger().await;
    let login = json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "big", "method": "daemon.authenticate", "params": {"apiKey": "x".repeat(200_000), "caller": "c"}});
    stranger.connection.outgoing.send(musher_wire::Frame::parse(login.to_string().as_bytes())).await.ok();
    let ended = tokio::time::timeout(DEADLINE, stranger.connection.incoming.recv()).await.unwrap();
    assert!(ended.is_err(), "much input before the login ends the connection: {ended:?}");
    stage.stop();
}
