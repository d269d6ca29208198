//! The REST helpers against a server built from the public descriptions. The vendor's own service is not called.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use musher::rest::{ComputerUpdate, NewComputer, NewRemoteSession, NewTemplate, RemoteMessage, Rest};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request as the service saw it: method and path, key, body.
type Seen = Arc<Mutex<Vec<(String, String, Value)>>>;

/// The service: answers by method and path, and records what it is asked.
struct Service {
    url: String,
    seen: Seen,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    async fn start(answers: &[(&str, u16, Value)]) -> Self {
        let answers: HashMap<_, _> = answers
            .iter()
            .map(|(place, status, body)| ((*place).to_owned(), (*status, body.clone())))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Seen::default();
        let (answers, recorded) = (Arc::new(answers), Arc::clone(&seen));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answers), Arc::clone(&recorded)));
            }
        });
        Self { url, seen, task }
    }

    fn client(&self) -> Rest {
        Rest::new("fk-test").unwrap().base_url(&self.url)
    }

    /// The last request.
    fn last(&self) -> (String, Value) {
        let seen = self.seen.lock().unwrap();
        let (place, key, body) = seen.last().unwrap().clone();
        assert_eq!(key, "Bearer fk-test");
        (place, body)
    }
}

async fn serve(stream: TcpStream, answers: Arc<HashMap<String, (u16, Value)>>, seen: Seen) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        let place = line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let (mut length, mut key) = (0, String::new());
        loop {
            let mut header = String::new();
            stream.read_line(&mut header).await.unwrap();
            let Some((name, value)) = header.trim().split_once(": ") else { break };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => value.clone_into(&mut key),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let (status, answer) = answers.get(&place).cloned().unwrap_or((404, json!({"error": "not found"})));
        seen.lock().unwrap().push((place, key, body));
        let answer = if answer.is_null() { String::new() } else { answer.to_string() };
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.write_all((head + &answer).as_bytes()).await.unwrap();
    }
}

fn computer() -> Value {
    json!({"id": "c1", "name": "box", "providerType": "byom", "status": "active", "createdAt": 1, "unknown": true})
}

#[tokio::test]
async fn computers_are_listed_created_changed_and_deleted() {
    let service = Service::start(&[
        ("GET /api/v0/computers", 200, json!({"computers": [computer()]})),
        ("POST /api/v0/computers", 201, computer()),
        ("GET /api/v0/computers/c1", 200, computer()),
        ("GET /api/v0/computers/name/my%20box%2F1", 200, computer()),
        ("PATCH /api/v0/computers/c1", 200, computer()),
        ("DELETE /api/v0/computers/c1", 204, Value::Null),
        ("POST /api/v0/computers/c1/restart", 200, json!({})),
        ("POST /api/v0/computers/c1/refresh", 200, json!({"configured": 3})),
        ("POST /api/v0/computers/c1/install-deps", 200, computer()),
        (
            "GET /api/v0/computers/c1/metrics?start=2026-01-01T00%3A00%3A00Z",
            200,
            json!([{"timestamp": 1, "cpuUsedPct": 2.5}]),
        ),
    ])
    .await;
    let rest = service.client();
    let listed = rest.list_computers().await.unwrap();
    assert_eq!((listed[0].id.as_str(), &listed[0].extra["unknown"]), ("c1", &json!(true)));
    let new = NewComputer { name: "box".to_owned(), remote_user: "me".to_owned(), ..NewComputer::default() };
    rest.create_computer(&new).await.unwrap();
    assert_eq!(service.last().1, json!({"name": "box", "remoteUser": "me"}));
    assert_eq!(rest.get_computer("c1").await.unwrap().status.as_deref(), Some("active"));
    rest.get_computer_by_name("my box/1").await.unwrap();
    let update = ComputerUpdate { name: Some("other".to_owned()), ..ComputerUpdate::default() };
    rest.update_computer("c1", &update).await.unwrap();
    assert_eq!(service.last(), ("PATCH /api/v0/computers/c1".to_owned(), json!({"name": "other"})));
    rest.restart_computer("c1").await.unwrap();
    assert_eq!(rest.refresh_computer("c1").await.unwrap().configured, 3);
    rest.retry_install_dependencies("c1").await.unwrap();
    let metrics = rest.get_computer_metrics("c1", Some("2026-01-01T00:00:00Z")).await.unwrap();
    assert_eq!(metrics[0].cpu_used_pct, Some(2.5));
    rest.delete_computer("c1").await.unwrap();
}

#[tokio::test]
async fn templates_and_sessions_are_paged_and_managed() {
    let template = json!({"templateId": "t1", "repoUrl": "r", "buildStatus": {"status": "failed", "failureReason": "system_error"}});
    let session =
        json!({"sessionId": "s1", "status": "idle", "messageCount": 2, "createdAt": 1, "updatedAt": 2});
    let service = Service::start(&[
        (
            "GET /api/v0/machines/templates?limit=1",
            200,
            json!({"templates": [template], "pagination": {"hasMore": true, "nextCursor": "n&1"}}),
        ),
        (
            "GET /api/v0/machines/templates?cursor=n%261",
            200,
            json!({"templates": [], "pagination": {"hasMore": false}}),
        ),
        ("GET /api/v0/machines/templates/t1", 200, template.clone()),
        ("POST /api/v0/machines/templates", 201, template.clone()),
        ("DELETE /api/v0/machines/templates/t1", 204, Value::Null),
        (
            "GET /api/v0/sessions?computerId=c1",
            200,
            json!({"sessions": [session], "pagination": {"hasMore": false}}),
        ),
        ("POST /api/v0/sessions", 201, session.clone()),
        ("GET /api/v0/sessions/s1", 200, session.clone()),
        ("POST /api/v0/sessions/s1/messages", 200, json!({"messageId": "m1", "status": "pending"})),
        ("POST /api/v0/sessions/s1/interrupt", 200, json!({"status": "idle"})),
        ("DELETE /api/v0/sessions/s1", 204, Value::Null),
    ])
    .await;
    let rest = service.client();
    let first = rest.list_templates(Some(1), None).await.unwrap();
    assert!(first.has_more);
    assert_eq!(first.items[0].build_status.as_ref().unwrap().failure_reason.as_deref(), Some("system_error"));
    let rest_of_it = rest.list_templates(None, first.next_cursor.as_deref()).await.unwrap();
    assert!(!rest_of_it.has_more && rest_of_it.items.is_empty());
    assert_eq!(rest.get_template("t1").await.unwrap().template_id, "t1");
    let new =
        NewTemplate { repo_url: "r".to_owned(), template_name: "t".to_owned(), ..NewTemplate::default() };
    rest.create_template(&new).await.unwrap();
    rest.delete_template("t1").await.unwrap();

    assert_eq!(rest.list_sessions(None, None, Some("c1")).await.unwrap().items[0].session_id, "s1");
    let new =
        NewRemoteSession { computer_id: "c1".to_owned(), session_settings: Some(json!({"model": "m"})) };
    rest.create_session(&new).await.unwrap();
    assert_eq!(service.last().1, json!({"computerId": "c1", "sessionSettings": {"model": "m"}}));
    assert_eq!(rest.get_session("s1").await.unwrap().status, "idle");
    let message = RemoteMessage { text: "hi".to_owned(), ..RemoteMessage::default() };
    assert_eq!(rest.send_message("s1", &message).await.unwrap().message_id, "m1");
    rest.interrupt_session("s1").await.unwrap();
    rest.delete_session("s1").await.unwrap();
}

#[tokio::test]
async fn failures_say_what_happened_and_never_show_the_key() {
    let service = Service::start(&[
        ("GET /api/v0/computers", 401, json!({"error": "no"})),
        ("GET /api/v0/computers/c1", 422, json!({"error": "too small"})),
        ("GET /api/v0/sessions/s1", 200, json!([])),
    ])
    .await;
    let rest = service.client();
    let text = |error: musher::Error| error.with_causes().to_string();
    let denied = rest.list_computers().await.unwrap_err();
    assert!(matches!(denied.kind(), musher::ErrorKind::Protocol { code: Some(401), .. }), "{denied:?}");
    assert!(text(denied).contains("invalid or expired key"));
    assert!(text(rest.get_computer("c1").await.unwrap_err()).contains("HTTP 422: too small"));
    let odd = rest.get_session("s1").await.unwrap_err();
    assert!(odd.is_protocol() && text(odd).contains("documented form"));
    assert!(Rest::new("a\nb").unwrap_err().is_invalid_input());
    assert!(!format!("{rest:?}").contains("fk-test"));
    let url = service.url.clone();
    drop(service);
    tokio::task::yield_now().await;
    let gone =
        Rest::new("fk-test").unwrap().base_url("http://127.0.0.1:1").list_computers().await.unwrap_err();
    assert!(gone.is_connection(), "{url}: {gone:?}");
}
