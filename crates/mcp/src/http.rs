//! Streamable HTTP over `musher-http`: the HTTP client for rmcp's transport.
//!
//! Follows no redirect, because secrets would go with it. Has no timeouts of its own: the caller limits each call,
//! and the stream of notifications may be silent for hours.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use musher_http::{Body, ErrorKind, Response, SseEvent, SseLimits, SseReader, Timeouts};
use musher_model::Secret;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::fault::{Fault, MAX_MESSAGE, too_large};
use super::oauth::{Auth, Challenge};

/// A failure of the HTTP client. rmcp keeps its text and loses its source, so the text has the cause in it.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.report())]
pub(super) struct TransportError(#[source] musher_http::Error);

pub(super) type Error = StreamableHttpError<TransportError>;
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// The client of all servers of a session. Clones share connections.
#[derive(Debug, Clone)]
pub(super) struct Client {
    http: musher_http::Client,
    auth: Option<Arc<Auth>>,
    /// Set when a stream exceeds a limit that belongs to no request.
    fault: Fault,
}

impl Client {
    pub(super) fn new() -> Self {
        let timeouts = Timeouts { connect: Some(Duration::from_secs(10)), headers: None, silence: None };
        Self {
            http: musher_http::Client::builder().timeouts(timeouts).build(),
            auth: None,
            fault: Fault::default(),
        }
    }

    /// Returns a client that sends the tokens of a server.
    pub(super) fn with_auth(self, auth: Option<Arc<Auth>>) -> Self {
        Self { auth, ..self }
    }

    /// Returns a client of a connection, which fails with it.
    pub(super) fn with_fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// Returns the events of a stream that answers no request. One that is too large fails the connection.
    pub(super) fn events(&self, body: Body) -> Events {
        let fault = self.fault.clone();
        events(body, move || {
            fault.set(too_large());
            None
        })
    }

    /// Returns the events that answer a request. One that is too large becomes an error as its answer: rmcp would ask again for the
    /// same event after an error of the stream.
    fn answer_events(&self, body: Body, id: Option<RequestId>) -> Events {
        if id.is_none() {
            return self.events(body);
        }
        events(body, || {
            let answer = serde_json::to_string(&refused_answer(id)).ok()?;
            Some(Sse { event: None, data: Some(answer), id: None, retry: None })
        })
    }

    /// Sends a request. Adds the token of the server, and refreshes it once if the server refuses it.
    pub(super) async fn ask(
        &self,
        method: Method,
        uri: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Error> {
        let Some(auth) = &self.auth else {
            let response = self.http.request(method, uri, headers, body).await.map_err(failed)?;
            return match refusal(&response) {
                Some(challenge) => Err(Error::AuthRequired(AuthRequiredError::new(challenge))),
                None => Ok(response),
            };
        };
        let login_failed = |text| Error::UnexpectedServerResponse(Cow::Owned(text));
        let mut token = auth.token().await.map_err(login_failed)?;
        let send = async |token: Option<&Secret>| {
            let mut headers = headers.clone();
            if let Some(token) = token {
                headers.insert(AUTHORIZATION, bearer(token.expose())?);
            }
            self.http.request(method.clone(), uri, headers, body.clone()).await.map_err(failed)
        };
        let mut response = send(token.as_ref()).await?;
        if response.status == StatusCode::UNAUTHORIZED
            && let Some(old) = &token
            && let Some(new) = auth.replaced(old.expose()).await.map_err(login_failed)?
        {
            response.body.finish().await;
            response = send(Some(&new)).await?;
            token = Some(new);
        }
        match refusal(&response) {
            // the user may not do this, and another login would not change that
            Some(challenge)
                if response.status == StatusCode::FORBIDDEN
                    && token.is_some()
                    && !Challenge::parse(&challenge).lacks_scope() =>
            {
                Ok(response)
            }
            Some(challenge) => {
                auth.refuse(&challenge, token.as_ref()).await;
                Err(Error::AuthRequired(AuthRequiredError::new(challenge)))
            }
            None => Ok(response),
        }
    }
}

impl StreamableHttpClient for Client {
    type Error = TransportError;

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
        let id = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id),
            _ => None,
        };
        let status = response.status;
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(Error::SessionExpired);
        }
        let is_kind = |kind: &str| response.header("content-type").is_some_and(|told| told.starts_with(kind));
        let (is_json, is_events) = (is_kind(JSON), is_kind(EVENTS));
        let session = response.header(SESSION.as_str()).map(str::to_owned);
        if !status.is_success() {
            let text = response.text().await;
            // a server may explain in the body what is wrong with a request
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
            return Ok(StreamableHttpPostResponse::Sse(self.answer_events(response.body, id), session));
        }
        if id.is_none() || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_json {
            let told = response.header("content-type").map(str::to_owned);
            return Err(Error::UnexpectedContentType(told));
        }
        let bytes = match response.body.read(MAX_MESSAGE).await {
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                return Ok(StreamableHttpPostResponse::Json(refused_answer(id), session));
            }
            read => read.map_err(failed)?,
        };
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
            Some(kind) if kind.starts_with(EVENTS) => Ok(self.events(response.body)),
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

/// Merges the headers: protocol headers override configured ones.
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
        headers.insert(AUTHORIZATION, bearer(token)?);
    }
    Ok(headers)
}

fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let mut value = value(&format!("Bearer {token}"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns what the server says if it refuses the request for lack of a login.
fn refusal(response: &Response) -> Option<String> {
    let is_refused = matches!(response.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    is_refused.then(|| {
        let challenge = response.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        challenge.unwrap_or("no reason is given").to_owned()
    })
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    let bad =
        |_bad| Error::UnexpectedServerResponse(Cow::Borrowed("it gave an id that is not fit for a header"));
    HeaderValue::from_str(text).map_err(bad)
}

fn failed(error: musher_http::Error) -> Error {
    Error::Client(TransportError(error))
}

/// Returns the answer to a request whose answer of the server is too large.
fn refused_answer(id: Option<RequestId>) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(too_large(), None), id)
}

/// Returns the events of a body. The size of an event is limited, the length of the stream is not. `oversized` may replace an event
/// that is too large; it is the last one.
fn events(body: Body, oversized: impl FnOnce() -> Option<Sse> + Send + 'static) -> Events {
    let limits = SseLimits { line: MAX_MESSAGE, event: MAX_MESSAGE, response: usize::MAX };
    let reader = SseReader::new(body, limits);
    let events = stream::unfold(Some((reader, oversized)), |state| async move {
        let (mut reader, oversized) = state?;
        match reader.next().await {
            Ok(event) => Some((Ok(sse(event?)), Some((reader, oversized)))),
            Err(error)
                if error.kind() == ErrorKind::TooLarge
                    && let Some(event) = oversized() =>
            {
                Some((Ok(event), None))
            }
            Err(error) => Some((Err(SseError::Body(TransportError(error).into())), None)),
        }
    });
    events.boxed()
}

fn sse(event: SseEvent) -> Sse {
    let text = |text: String| (!text.is_empty()).then_some(text);
    let retry = event.retry.and_then(|retry| u64::try_from(retry.as_millis()).ok());
    Sse { event: text(event.name), data: text(event.data), id: event.id, retry }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priming_event_has_no_data() {
        let event = SseEvent {
            id: Some("7".to_owned()),
            retry: Some(Duration::from_millis(1500)),
            ..SseEvent::default()
        };
        let expected = Sse { event: None, data: None, id: Some("7".to_owned()), retry: Some(1500) };
        assert_eq!(sse(event), expected);
    }
}
