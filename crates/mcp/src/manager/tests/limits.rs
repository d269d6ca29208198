//! Messages over the limit, over every transport: an error at once that names the limit.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::server::{at, program, serve_http};
use super::*;

/// Far less than the timeout of a call.
const DEADLINE: Duration = Duration::from_mins(1);

/// Calls a tool whose result is larger than the limit, and then another one.
pub(super) async fn refuses_a_huge_result(mcp: &Mcp, name: &str) {
    let output =
        timeout(DEADLINE, call(mcp, name, "huge", json!({}))).await.expect("it waits for the timeout");
    let text = output.client_text();
    assert!(output.is_error && text.contains("a message of more than 16 MiB"), "{text}");
    let output = timeout(DEADLINE, call(mcp, name, "echo", json!({"a": 1}))).await.expect("it works again");
    assert_eq!(output.client_text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn endless_line_of_a_program_fails_at_once_and_the_next_call_starts_it_again() {
    let (mcp, _home) = start(vec![("local", program())]).await;
    refuses_a_huge_result(&mcp, "local").await;
}

#[tokio::test]
async fn event_over_the_limit_fails_its_call_only() {
    let (address, _served) = serve_http(None, true).await;
    let (mcp, _home) = start(vec![("web", at(address, "t0ken"))]).await;
    let cancel = CancellationToken::new();
    let waiting = mcp.call("web", "wait", Map::new(), &cancel);
    let huge = async {
        refuses_a_huge_result(&mcp, "web").await;
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(waiting, huge);
    assert_eq!(output, ToolOutput::cancelled(), "the other call is still in flight");
}

#[tokio::test]
async fn response_over_the_limit_fails_its_call_only() {
    let (address, _served) = serve_http(None, false).await;
    let (mcp, _home) = start(vec![("web", at(address, "t0ken"))]).await;
    refuses_a_huge_result(&mcp, "web").await;
}

/// Returns a server that sends a huge event on the stream of notifications, which answers no request.
async fn flooding() -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let http = hyper::server::conn::http1::Builder::new();
            connections.spawn(http.serve_connection(TokioIo::new(stream), service_fn(flood)));
        }
    });
    (url, AbortOnDropHandle::new(task))
}

async fn flood(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let kind = |kind: &str| Response::builder().header("content-type", kind).header("mcp-session-id", "1");
    if request.method() == "GET" {
        let event = format!("data: {}\n\n", "x".repeat(20 << 20));
        return Ok(kind("text/event-stream").body(event.into()).unwrap());
    }
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let version = &message["params"]["protocolVersion"];
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": version, "capabilities": {"tools": {}},
            "serverInfo": {"name": "flood", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": []}),
        _ => return Ok(Response::builder().status(202).body(Full::default()).unwrap()),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    Ok(kind("application/json").body(answer.to_string().into()).unwrap())
}

#[tokio::test]
async fn event_over_the_limit_that_answers_no_call_fails_the_connection() {
    let (url, _served) = flooding().await;
    let (mcp, _home) = start(vec![("web", Transport::Http { url, headers: vec![] })]).await;
    wait_for(&mcp, |servers| servers[0].status == "failed").await;
    let error = mcp.servers()[0].error.clone().unwrap();
    assert!(error.contains("a message of more than 16 MiB"), "{error}");
}
