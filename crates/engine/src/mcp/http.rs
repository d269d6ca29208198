//! Streamable HTTP over the HTTP client that models are asked with: the part of the transport that rmcp leaves to its user.
//!
//! Follows no redirect, because keys would go with it. Waits here have no limit of their own: a call may take as long as its caller
//! allows, and the stream of news is silent for hours.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use musher_model::{ErrorClass, Http, HttpBody, HttpResponse, ModelError, Timeouts};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

pub(super) type Error = StreamableHttpError<ModelError>;
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";
/// The largest answer, and the largest event of a stream.
const LARGEST: usize = 16 << 20;

/// The client of all servers of a session. Clones share connections.
#[derive(Debug, Clone)]
pub(super) struct Client {
    http: Arc<Http>,
}

impl Client {
    pub(super) fn new() -> Self {
        let timeouts = Timeouts { connect: Some(Duration::from_secs(10)), headers: None, silence: None };
        Self { http: Arc::new(Http::new(timeouts)) }
    }

    pub(super) async fn ask(
        &self,
        method: Method,
        uri: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<HttpResponse, Error> {
        let response = self.http.request(method, uri, headers, body).await.map_err(Error::Client)?;
        if matches!(response.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let challenge = response.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
            let challenge = challenge.unwrap_or("no reason is given").to_owned();
            return Err(Error::AuthRequired(AuthRequiredError::new(challenge)));
        }
        Ok(response)
    }
}

impl StreamableHttpClient for Client {
    type Error = ModelError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut headers = headers(custom_headers, session_id.as_deref(), auth_header.as_deref())?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let body = serde_json::to_vec(&message)?;
        let mut response = self.ask(Method::POST, &uri, headers, body).await?;
        let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        let status = response.status;
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(Error::SessionExpired);
        }
        let is_kind = |kind: &str| response.header("content-type").is_some_and(|told| told.starts_with(kind));
        let (is_json, is_events) = (is_kind(JSON), is_kind(EVENTS));
        let session = response.header(SESSION.as_str()).map(str::to_owned);
        if !status.is_success() {
            let text = response.text().await;
            // a server may say in its own words what is wrong with a request
            let error = serde_json::from_str::<ServerJsonRpcMessage>(&text).ok();
            return match error.filter(|message| is_json && matches!(message, ServerJsonRpcMessage::Error(_)))
            {
                Some(error) => Ok(StreamableHttpPostResponse::Json(error, session)),
                None => Err(Error::UnexpectedServerResponse(Cow::Owned(format!(
                    "HTTP {status}: {}",
                    text.trim()
                )))),
            };
        }
        if is_events {
            return Ok(StreamableHttpPostResponse::Sse(events(response.body), session));
        }
        if !wants_answer || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_json {
            let told = response.header("content-type").map(str::to_owned);
            return Err(Error::UnexpectedContentType(told));
        }
        let bytes = whole(&mut response.body).await?;
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&bytes)?, session))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        let mut headers = headers(custom_headers, session_id.as_deref(), auth_header.as_deref())?;
        if let Some(last) = last_event_id {
            headers.insert(LAST_EVENT, value(&last)?);
        }
        let response = self.ask(Method::GET, &uri, headers, Vec::new()).await?;
        if response.status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(Error::ServerDoesNotSupportSse);
        }
        if !response.status.is_success() {
            return Err(Error::UnexpectedServerResponse(Cow::Owned(format!("HTTP {}", response.status))));
        }
        match response.header("content-type") {
            Some(kind) if kind.starts_with(EVENTS) => Ok(events(response.body)),
            other => Err(Error::UnexpectedContentType(other.map(str::to_owned))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let headers = headers(custom_headers, Some(&session_id), auth_header.as_deref())?;
        let response = self.ask(Method::DELETE, &uri, headers, Vec::new()).await?;
        if response.status.is_success() || response.status == StatusCode::METHOD_NOT_ALLOWED {
            Ok(())
        } else {
            Err(Error::UnexpectedServerResponse(Cow::Owned(format!("HTTP {}", response.status))))
        }
    }
}

/// The given headers first: those of the protocol cannot be replaced.
fn headers(
    custom: HashMap<HeaderName, HeaderValue>,
    session: Option<&str>,
    token: Option<&str>,
) -> Result<HeaderMap, Error> {
    let mut headers: HeaderMap = custom.into_iter().collect();
    headers.insert(ACCEPT, BOTH);
    if let Some(session) = session {
        headers.insert(SESSION, value(session)?);
    }
    if let Some(token) = token {
        let mut value = value(&format!("Bearer {token}"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    let bad =
        |_bad| Error::UnexpectedServerResponse(Cow::Borrowed("it gave an id that is not fit for a header"));
    HeaderValue::from_str(text).map_err(bad)
}

async fn whole(body: &mut HttpBody) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await.map_err(Error::Client)? {
        if bytes.len() + piece.len() > LARGEST {
            return Err(Error::Client(too_large()));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The events of a body. What has come since the last whole event is bounded.
pub(super) fn events(body: HttpBody) -> Events {
    let since = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&since);
    let bytes = stream::unfold(Some(body), move |body| {
        let counted = Arc::clone(&counted);
        async move {
            let mut body = body?;
            let piece = match body.next().await {
                Ok(None) => return None,
                Ok(Some(piece))
                    if counted.fetch_add(piece.len(), Ordering::Relaxed) + piece.len() > LARGEST =>
                {
                    return Some((Err(too_large()), None));
                }
                Ok(Some(piece)) => Ok(piece),
                Err(error) => return Some((Err(error), None)),
            };
            Some((piece, Some(body)))
        }
    });
    let events = SseStream::from_bytes_stream(Box::pin(bytes));
    events.inspect(move |_event| since.store(0, Ordering::Relaxed)).boxed()
}

fn too_large() -> ModelError {
    ModelError::new(ErrorClass::Protocol, format!("the answer is larger than {LARGEST} bytes"))
}
