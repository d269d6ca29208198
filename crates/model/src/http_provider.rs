//! A model behind an HTTP address: format, address and key put together, asked once per call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::stream;
use http::{HeaderMap, Method};
use musher_http::{Client, Response, SseLimits, SseReader, header};

use crate::retry_after::retry_after;
use crate::{
    Decoder, ErrorClass, EventStream, Format, FormatOptions, ModelError, ModelEvent, Provider, Request,
    Secret, redact,
};

const USER_AGENT: &str = concat!("musher/", env!("CARGO_PKG_VERSION"));
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Where and how a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The vendor's format.
    pub format: Format,
    /// The base address, without the format's path.
    pub base_url: String,
    /// The key, if the vendor wants one.
    pub key: Option<Secret>,
    /// More headers. They replace ours, so a gateway can have its own kind of key.
    pub headers: Vec<(String, Secret)>,
    /// In what the vendor differs.
    pub options: FormatOptions,
    /// Whether the model reads pictures.
    pub takes_images: bool,
    /// How much of an answer is taken.
    pub limits: SseLimits,
}

impl Endpoint {
    /// An address in a format, without a key.
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

    fn headers(&self) -> Result<HeaderMap, ModelError> {
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

    /// The error with everything secret taken out of its text.
    fn cleaned(&self, mut error: ModelError) -> ModelError {
        let secrets: Vec<&Secret> =
            self.key.iter().chain(self.headers.iter().map(|(_, value)| value)).collect();
        error.message = redact(&error.message, &secrets);
        error
    }
}

/// A model that is asked over HTTP.
///
/// ```no_run
/// use std::sync::Arc;
/// use futures_util::StreamExt;
/// use musher_http::Client;
/// use musher_model::{Endpoint, Format, HttpProvider, Message, ModelEvent, Request, RetryPolicy, with_retries};
///
/// # async fn ask() -> Result<(), musher_model::ModelError> {
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
    /// A model at this address.
    pub fn new(client: Client, endpoint: Endpoint) -> Self {
        Self { client, endpoint: Arc::new(endpoint) }
    }

    async fn ask(&self, request: Request) -> Result<Reading, ModelError> {
        let endpoint = &self.endpoint;
        let request = if endpoint.takes_images { request } else { request.without_images() };
        let body = endpoint.format.body(&request, &endpoint.options).to_string().into_bytes();
        let url = endpoint.format.url(&endpoint.base_url);
        let mut response = self.client.request(Method::POST, &url, endpoint.headers()?, body).await?;
        let request_id = ["request-id", "x-request-id"].iter().find_map(|name| response.header(name));
        let request_id = request_id.map(str::to_owned);
        if let Some(error) = refusal(endpoint.format, &mut response).await {
            return Err(ModelError { request_id, ..error });
        }
        Ok(Reading {
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
        let start = State::Ask(Box::new((self.clone(), request)));
        Box::pin(stream::unfold(start, move |state| {
            let endpoint = Arc::clone(&endpoint);
            async move {
                let (event, next) = state.next().await?;
                Some((event.map_err(|error| endpoint.cleaned(error)), next))
            }
        }))
    }
}

enum State {
    Ask(Box<(HttpProvider, Request)>),
    Read(Box<Reading>),
    Over,
}

impl State {
    async fn next(self) -> Option<(Result<ModelEvent, ModelError>, Self)> {
        let mut reading = match self {
            Self::Over => return None,
            Self::Read(reading) => reading,
            Self::Ask(call) => {
                let (provider, request) = *call;
                match provider.ask(request).await {
                    Ok(reading) => Box::new(reading),
                    Err(error) => return Some((Err(error), Self::Over)),
                }
            }
        };
        match reading.next().await {
            Ok(Some(event)) => Some((Ok(event), Self::Read(reading))),
            Ok(None) => None,
            Err(error) => {
                let request_id = reading.request_id.take();
                Some((Err(ModelError { request_id, ..error }), Self::Over))
            }
        }
    }
}

struct Reading {
    events: SseReader,
    request_id: Option<String>,
    decoder: Decoder,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    is_over: bool,
}

impl Reading {
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
                // it only says how to resume the stream, which no vendor supports
                Ok(Some(event)) if event.data.is_empty() => continue,
                Ok(Some(event)) => self.decoder.event(&event, &mut events),
                Ok(None) => self.decoder.end(&mut events),
                // an answer that is complete stays complete, however the connection ends
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

/// The error a response is instead of an answer, if it is one.
async fn refusal(format: Format, response: &mut Response) -> Option<ModelError> {
    let status = response.status.as_u16();
    let kind = response.header("content-type").unwrap_or_default();
    let is_stream = !(kind.starts_with("application/json") || kind.starts_with("text/html"));
    if response.status.is_success() && is_stream {
        return None;
    }
    let retry_after = retry_after(&response.headers, SystemTime::now());
    let text = response.text().await;
    if response.status.is_success() {
        // some gateways answer an error with 200
        let start: String = text.trim().chars().take(300).collect();
        let message = format!("the vendor answered, but not with a stream: {start}");
        let told = Format::told_error(0, &text);
        return Some(told.unwrap_or_else(|| ModelError::new(ErrorClass::Protocol, message)));
    }
    Some(ModelError { retry_after, ..format.error(status, &text) })
}
