//! The older HTTP+SSE transport: a stream of events delivers responses and names the URL for requests.
//!
//! rmcp no longer has it. A server that speaks it starts its stream with an event `endpoint`. Requests go only
//! to the configured origin, because they contain secrets.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Uri};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::http::{Client, EVENTS, Error, Events, JSON};

/// The maximum time until the server sends its endpoint.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection over the older transport.
pub(super) struct OldSse {
    client: Client,
    endpoint: Arc<str>,
    headers: HeaderMap,
    events: Events,
}

impl OldSse {
    /// Connects. Returns `None` if the server does not speak this transport.
    pub(super) async fn open(client: Client, url: &str, headers: HeaderMap) -> Result<Option<Self>, Error> {
        let mut asked = headers.clone();
        asked.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let response = client.ask(Method::GET, url, asked, Vec::new()).await?;
        let is_stream = response.header("content-type").is_some_and(|kind| kind.starts_with(EVENTS));
        if !(response.status.is_success() && is_stream) {
            return Ok(None);
        }
        let mut events = client.events(response.body);
        let endpoint = async {
            while let Some(Ok(event)) = events.next().await {
                if event.event.as_deref() == Some("endpoint") {
                    return event.data;
                }
            }
            None
        };
        let Ok(Some(told)) = tokio::time::timeout(ENDPOINT_TIMEOUT, endpoint).await else { return Ok(None) };
        let endpoint = resolve(url, told.trim())
            .ok_or_else(|| unexpected(format!("it wants to be asked at another origin, {}", told.trim())))?;
        Ok(Some(Self { client, endpoint: endpoint.into(), headers, events }))
    }
}

impl Transport<RoleClient> for OldSse {
    type Error = Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let (client, endpoint, mut headers) =
            (self.client.clone(), Arc::clone(&self.endpoint), self.headers.clone());
        async move {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            let body = serde_json::to_vec(&message)?;
            let mut response = client.ask(Method::POST, &endpoint, headers, body).await?;
            let status = response.status;
            if status.is_success() {
                return Ok(());
            }
            Err(unexpected(format!("HTTP {status}: {}", response.text().await.trim())))
        }
    }

    /// Returns the next message. Skips invalid messages; the end of the stream ends the connection.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while let Some(Ok(event)) = self.events.next().await {
            if event.event.as_deref().is_some_and(|kind| kind != "message") {
                continue;
            }
            match serde_json::from_str(event.data.as_deref().unwrap_or_default()) {
                Ok(message) => return Some(message),
                // without its text, which has parts of the message
                Err(error) => {
                    tracing::debug!(error = ?error.classify(), "an event of an MCP server is not a valid message");
                }
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}

fn unexpected(text: String) -> Error {
    Error::UnexpectedServerResponse(Cow::Owned(text))
}

/// Returns the URL for requests, or `None` if its origin differs.
fn resolve(base: &str, told: &str) -> Option<String> {
    let base: Uri = base.parse().ok()?;
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    if told.starts_with('/') && !told.starts_with("//") {
        return Some(format!("{scheme}://{authority}{told}"));
    }
    if told.contains("://") || told.starts_with("//") {
        let uri: Uri = told.parse().ok()?;
        let is_same = uri.scheme_str() == Some(scheme) && uri.authority() == Some(authority);
        return is_same.then(|| told.to_owned());
    }
    let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(format!("{scheme}://{authority}{folder}/{told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_same_origin_only() {
        let to = |told: &str| resolve("http://host:81/a/sse?x=1", told);
        assert_eq!(to("/messages?id=7").as_deref(), Some("http://host:81/messages?id=7"));
        assert_eq!(to("messages").as_deref(), Some("http://host:81/a/messages"));
        assert_eq!(to("http://host:81/m").as_deref(), Some("http://host:81/m"));
        for elsewhere in ["http://other:81/m", "https://host:81/m", "http://host/m", "//other/m", "http://"] {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
    }
}
