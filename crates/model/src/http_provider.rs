//! A model behind an HTTP endpoint: combines format, address and key, and makes one request per call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::stream;
use http::{HeaderMap, HeaderValue, Method};
use musher_http::{Client, Response, SseLimits, SseReader, header};

use crate::retry_after::retry_after;
use crate::{
    Decoder, ErrorClass, EventStream, Format, FormatOptions, ModelError, ModelEvent, Provider, Request,
    Secret, redact,
};

const USER_AGENT: &str = concat!("musher/", env!("CARGO_PKG_VERSION"));
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The address of a model, and the format and credentials to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The vendor's format.
    pub format: Format,
    /// Base URL, without the path of the format.
    pub base_url: String,
    /// API key, if the vendor requires one.
    pub key: Option<Secret>,
    /// Additional headers. They override the default ones, so that a gateway can use its own authentication.
    pub headers: Vec<(String, Secret)>,
    /// Deviations of the vendor from the format.
    pub options: FormatOptions,
    /// Whether the model accepts images and documents.
    pub takes_images: bool,
    /// Size limits for the answer.
    pub limits: SseLimits,
}

impl Endpoint {
    /// Creates an endpoint without a key.
    pub fn new(format: Format, base_url: impl Into<String>) -> Self {
        Self {
            format,
            base_url: base_url.into(),
            key: None,
            headers: Vec::new(),
            options: FormatOptions::default(),
            takes_images: true,
            limits: SseLimits::default(),
        }
    }

    pub(crate) fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| -> Result<(), ModelError> {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
            Ok(())
        };
        add("content-type", "application/json")?;
        add("accept", "text/event-stream")?;
        add("user-agent", USER_AGENT)?;
        if let Some(key) = self.key.as_ref().filter(|key| !key.is_empty()) {
            match self.format {
                Format::Anthropic => add("x-api-key", key.expose())?,
                Format::OpenaiChat | Format::OpenaiResponses => {
                    add("authorization", &format!("Bearer {}", key.expose()))?;
                }
            }
        }
        if self.format == Format::Anthropic {
            add("anthropic-version", ANTHROPIC_VERSION)?;
        }
        for (name, value) in &self.headers {
            add(name, value.expose())?;
        }
        Ok(headers)
    }

    /// Removes all secrets from the message of an error.
    pub(crate) fn redacted(&self, mut error: ModelError) -> ModelError {
        let secrets: Vec<&Secret> =
            self.key.iter().chain(self.headers.iter().map(|(_, value)| value)).collect();
        error.message = redact(&error.message, &secrets);
        error
    }
}

/// A model that is called over HTTP.
///
/// ```no_run
/// use std::sync::Arc;
/// use futures_util::StreamExt;
/// use musher_http::Client;
/// use musher_model::{Endpoint, Format, HttpProvider, Message, ModelEvent, Request, RetryPolicy, with_retries};
///
/// # async fn call() -> Result<(), musher_model::ModelError> {
/// let endpoint = Endpoint::new(Format::OpenaiChat, "http://127.0.0.1:11434/v1");
/// let model = Arc::new(HttpProvider::new(Client::default(), endpoint));
/// let request = Request::new("qwen3", vec![Message::user("Hello")]);
/// let mut events = with_retries(model, request, RetryPolicy::default());
/// while let Some(event) = events.next().await {
///     if let ModelEvent::TextDelta(piece) = event? {
///         print!("{piece}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct HttpProvider {
    client: Client,
    endpoint: Arc<Endpoint>,
}

impl HttpProvider {
    /// Creates a provider for the model at `endpoint`.
    pub fn new(client: Client, endpoint: Endpoint) -> Self {
        Self { client, endpoint: Arc::new(endpoint) }
    }

    async fn send(&self, request: Request) -> Result<Call, ModelError> {
        let endpoint = &self.endpoint;
        let request = if endpoint.takes_images { request } else { request.without_images() };
        let body = endpoint.format.body(&request, &endpoint.options);
        let mut headers = endpoint.headers()?;
        if let Some(beta) = Format::beta_header(&body, &endpoint.options) {
            // a header of the user stays
            headers.entry("anthropic-beta").or_insert(HeaderValue::from_static(beta));
        }
        let body = body.to_string().into_bytes();
        let url = endpoint.format.url(&endpoint.base_url);
        let mut response = self.client.request(Method::POST, &url, headers, body).await?;
        let request_id = ["request-id", "x-request-id"].iter().find_map(|name| response.header(name));
        let request_id = request_id.map(str::to_owned);
        if let Some(error) = error_response(endpoint.format, &mut response).await {
            return Err(ModelError { request_id, ..error });
        }
        Ok(Call {
            events: SseReader::new(response.body, endpoint.limits),
            request_id,
            decoder: endpoint.format.decoder(),
            ready: VecDeque::new(),
            is_over: false,
        })
    }
}

impl Provider for HttpProvider {
    fn stream(&self, request: Request) -> EventStream {
        let endpoint = Arc::clone(&self.endpoint);
        let start = State::Start(Box::new((self.clone(), request)));
        Box::pin(stream::unfold(start, move |state| {
            let endpoint = Arc::clone(&endpoint);
            async move {
                let (event, next) = state.next().await?;
                Some((event.map_err(|error| endpoint.redacted(error)), next))
            }
        }))
    }
}

enum State {
    Start(Box<(HttpProvider, Request)>),
    Read(Box<Call>),
    Done,
}

impl State {
    async fn next(self) -> Option<(Result<ModelEvent, ModelError>, Self)> {
        let mut call = match self {
            Self::Done => return None,
            Self::Read(call) => call,
            Self::Start(start) => {
                let (provider, request) = *start;
                match provider.send(request).await {
                    Ok(call) => Box::new(call),
                    Err(error) => return Some((Err(error), Self::Done)),
                }
            }
        };
        match call.next().await {
            Ok(Some(event)) => Some((Ok(event), Self::Read(call))),
            Ok(None) => None,
            Err(error) => {
                let request_id = call.request_id.take();
                Some((Err(ModelError { request_id, ..error }), Self::Done))
            }
        }
    }
}

struct Call {
    events: SseReader,
    request_id: Option<String>,
    decoder: Decoder,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    is_over: bool,
}

impl Call {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event.map(Some);
            }
            if self.is_over {
                return Ok(None);
            }
            let mut events = Vec::new();
            let read = match self.events.next().await {
                // an event without data only concerns resuming the stream, which no vendor supports
                Ok(Some(event)) if event.data.is_empty() => continue,
                Ok(Some(event)) => self.decoder.event(&event, &mut events),
                Ok(None) => self.decoder.end(&mut events),
                // a complete answer stays complete even if the connection fails afterwards
                Err(error) => self.decoder.end(&mut events).map_err(|_cut| error.into()),
            };
            self.ready.extend(events.into_iter().map(Ok));
            if let Err(error) = read {
                self.ready.push_back(Err(error));
            }
            if self.decoder.is_over() {
                self.is_over = true;
                self.events.finish().await;
            }
        }
    }
}

/// Returns the error that a response reports, or `None` if it is a stream.
async fn error_response(format: Format, response: &mut Response) -> Option<ModelError> {
    let status = response.status.as_u16();
    let kind = response.header("content-type").unwrap_or_default();
    let is_stream = !(kind.starts_with("application/json") || kind.starts_with("text/html"));
    if response.status.is_success() && is_stream {
        return None;
    }
    let retry_after = retry_after(&response.headers, SystemTime::now());
    let text = response.text().await;
    if response.status.is_success() {
        // some gateways report errors with status 200
        let start: String = text.trim().chars().take(300).collect();
        let message = format!("invalid response: expected an event stream, got: {start}");
        let reported = Format::reported_error(0, &text);
        return Some(reported.unwrap_or_else(|| ModelError::new(ErrorClass::Protocol, message)));
    }
    Some(ModelError { retry_after, ..format.error(status, &text) })
}
