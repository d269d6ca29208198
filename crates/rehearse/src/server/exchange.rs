//! One request and its answer: reads the body within limits, asks the rehearsal, records, then plays the plan.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::body::{Body, Incoming};
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::body::PlannedBody;
use super::connection::Shared;
use super::origin;
use crate::apis::{Api, Route, list_models, one_model};
use crate::plan::{End, Plan};
use crate::recorder::{RecordedRequest, Recorder, redacted};
use crate::script::HttpError;

/// Larger bodies are rejected.
const MAX_BODY_BYTES: usize = 64 << 20;
/// Slower bodies are rejected.
const BODY_TIMEOUT: Duration = Duration::from_mins(1);

/// Answers one request. An error ends the connection without an answer.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    reset: Arc<AtomicBool>,
) -> io::Result<Response<PlannedBody>> {
    let (head, body) = request.into_parts();
    let mut record = RecordedRequest {
        number: 0,
        method: head.method.to_string(),
        path: head.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        headers: headers(&head.headers),
        body: None,
        body_bytes: 0,
        api: None,
        call: None,
        reply: None,
        status: None,
    };
    let route = Route::of(head.method.as_str(), head.uri.path());
    let plan = match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
        // a page that the user has open in a browser may send requests to loopback, also under a name of its own
        _ if !origin::is_trusted(&head.headers, &head.uri, shared.is_remote_allowed) => {
            refuse(&route, 403, "rehearsal: requests from web pages and for other hosts are not answered")
        }
        Err(_elapsed) => refuse(&route, 408, "the request body took too long"),
        Ok(Ok(bytes)) => decide(&shared, &route, &bytes, &mut record),
        Ok(Err(BodyError::TooLarge)) => refuse(&route, 413, "the request body is larger than 64 MiB"),
        Ok(Err(BodyError::Broken(error))) => return Err(io::Error::other(error)),
    };
    record.status = plan.status;
    let plan = match remember(&shared, record).await {
        Ok(()) => plan,
        Err(error) => refuse(&route, 500, &error),
    };
    tokio::select! {
        () = shared.stop.cancelled() => Err(io::Error::other("the server stops")),
        () = tokio::time::sleep(plan.delay) => play(plan, &shared, reset).await,
    }
}

/// Decides the answer to a request, without any IO.
fn decide(shared: &Shared, route: &Route, bytes: &[u8], record: &mut RecordedRequest) -> Plan {
    let body = serde_json::from_slice::<Value>(bytes);
    record.body_bytes = bytes.len();
    if !bytes.is_empty() && bytes.len() <= Recorder::MAX_BODY_BYTES {
        let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
        record.body = Some(body.as_ref().map_or_else(|_not_json| text(), Clone::clone));
    }
    record.api = vendor(route);
    let api = match route {
        Route::Ask(api) => *api,
        Route::CountTokens => Api::Anthropic,
        Route::Models | Route::Model(_) => return models(shared, route, record),
        Route::WrongMethod(_) => {
            return refuse(route, 405, &format!("{} is not allowed here", record.method));
        }
        Route::Unknown => {
            let message = format!("rehearsal: unknown endpoint {} {}", record.method, record.path);
            return refuse(route, 404, &message);
        }
    };
    let call = match body {
        Ok(body) => api.read(&body),
        Err(error) => Err(format!("the request body is not valid JSON: {error}")),
    };
    let call = match call {
        Ok(call) => call,
        Err(message) => return refuse(route, 400, &message),
    };
    let plan = if *route == Route::CountTokens {
        Api::count_tokens(&call)
    } else {
        let answer = shared.rehearsal.answer(&call);
        record.reply = Some(answer.source.to_string());
        api.plan(&call, &answer, now())
    };
    record.call = Some(call);
    plan
}

fn models(shared: &Shared, route: &Route, record: &RecordedRequest) -> Plan {
    let api = if record.header("anthropic-version").is_some() { Api::Anthropic } else { Api::OpenaiChat };
    let listed = &shared.rehearsal.script().models;
    let default = ["rehearsal".to_owned()];
    let names = if listed.is_empty() { &default[..] } else { listed };
    match route {
        Route::Model(name) if names.contains(name) => Plan::json(200, &one_model(api, name, now())),
        Route::Model(name) => api.error(&HttpError::new(404).message(format!("model: {name}")), 0),
        _ => Plan::json(200, &list_models(api, names, now())),
    }
}

fn vendor(route: &Route) -> Option<Api> {
    match route {
        Route::Ask(api) | Route::WrongMethod(api) => Some(*api),
        Route::CountTokens => Some(Api::Anthropic),
        Route::Models | Route::Model(_) | Route::Unknown => None,
    }
}

/// Formats an error of this server for the client's vendor.
fn refuse(route: &Route, status: u16, message: &str) -> Plan {
    match vendor(route) {
        Some(api) => api.error(&HttpError::new(status).message(message), 0),
        None => Plan::json(status, &json!({"error": {"type": "rehearsal_error", "message": message}})),
    }
}

async fn remember(shared: &Arc<Shared>, record: RecordedRequest) -> Result<(), String> {
    let recorded = if shared.recorder.writes_files() {
        let shared = Arc::clone(shared);
        let writing = tokio::task::spawn_blocking(move || shared.recorder.record(record));
        writing.await.map_err(|error| error.to_string())?
    } else {
        shared.recorder.record(record)
    };
    let recorded = recorded.map_err(|error| match std::error::Error::source(&error) {
        Some(source) => format!("rehearsal: {error}: {source}"),
        None => format!("rehearsal: {error}"),
    })?;
    if let Some(observer) = &shared.on_request {
        observer(&recorded);
    }
    Ok(())
}

async fn play(plan: Plan, shared: &Shared, reset: Arc<AtomicBool>) -> io::Result<Response<PlannedBody>> {
    let Some(status) = plan.status else {
        match plan.end {
            End::Hang => shared.stop.cancelled().await,
            End::Complete | End::Close | End::Reset => {}
        }
        return Err(io::Error::other("the script sends no answer"));
    };
    let mut response = Response::builder().status(StatusCode::from_u16(status).map_err(io::Error::other)?);
    for (name, value) in plan.headers {
        response = response.header(name, value);
    }
    let body = PlannedBody::new(plan.chunks, plan.end, reset, shared.stop.clone());
    response.body(body).map_err(io::Error::other)
}

enum BodyError {
    TooLarge,
    Broken(hyper::Error),
}

async fn read(mut body: Incoming) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(BodyError::Broken)?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > MAX_BODY_BYTES {
                return Err(BodyError::TooLarge);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

fn headers(headers: &hyper::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), redacted(name.as_str(), &text(value)))).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
