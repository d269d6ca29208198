//! `FetchUrl`: fetches a public page as text. Private networks are unreachable, also through redirects and names.
//!
//! `musher-http` checks the addresses: without a proxy, those that it connects to; with a proxy, those that the name resolves to on this
//! machine. See [`AddressRule::Public`].

mod html;
mod spec;
#[cfg(test)]
mod tests;

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Uri};
pub use musher_http::AddressRule;
use musher_http::{Client, ClientBuilder, Redirects, Response};
use serde::Deserialize;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::limits::{MAX_FETCH_BYTES, MAX_FETCH_CHARS};
use crate::{Action, Context, Input, Run, Tool, ToolInfo, ToolOutput, input};

/// Fetches a page.
#[derive(Debug, Clone)]
pub struct FetchUrl {
    client: Client,
    timeout: Duration,
}

#[derive(Deserialize)]
struct Arguments {
    url: String,
}

/// For the whole page, including redirects.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 5;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("musher/", env!("CARGO_PKG_VERSION")));
const KINDS: HeaderValue =
    HeaderValue::from_static("text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1");

impl FetchUrl {
    /// Creates the tool. It connects only to addresses that the rule allows, and uses the proxy of this process's environment.
    pub fn new(rule: AddressRule) -> Self {
        Self::with_client(Client::builder().addresses(rule))
    }

    fn with_client(client: ClientBuilder) -> Self {
        // no page is fetched twice, so connections end with the call
        let client = client.redirects(Redirects::Follow { max: MAX_REDIRECTS }).keeps_connections(false);
        Self { client: client.build(), timeout: FETCH_TIMEOUT }
    }

    async fn fetch(&self, url: &str) -> Result<ToolOutput, String> {
        let url = checked(url)?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, AGENT);
        headers.insert(ACCEPT, KINDS);
        let failed = |error: musher_http::Error| {
            format!("cannot fetch {url}: {}. Check the URL, or try another page.", error.report())
        };
        let mut response = self.client.get(url, headers).await.map_err(failed)?;
        if !response.status.is_success() {
            return Err(format!(
                "{} answered with status {}. Check the URL, or try another page.",
                response.url, response.status
            ));
        }
        let kind = text_kind(&response)?;
        let (bytes, is_cut) = response.body.read_prefix(MAX_FETCH_BYTES).await.map_err(failed)?;
        Ok(readable(&kind, &bytes, is_cut))
    }
}

impl Tool for FetchUrl {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::Network { target: input::text(input, "url") })
    }

    fn run<'a>(&'a self, input: Input, _context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            let arguments: Arguments = match input::parse(input) {
                Ok(arguments) => arguments,
                Err(output) => return output,
            };
            tokio::select! {
                () = cancel.cancelled() => ToolOutput::cancelled(),
                fetched = timeout(self.timeout, self.fetch(&arguments.url)) => {
                    let late = |_elapsed| Err(format!("{} did not answer within {:?}. Try again later, or try another page.", arguments.url, self.timeout));
                    let fetched = fetched.unwrap_or_else(late);
                    fetched.unwrap_or_else(|reason| ToolOutput::error("URL fetch failed", &reason))
                }
            }
        })
    }
}

/// Checks a URL and removes its fragment.
fn checked(url: &str) -> Result<&str, String> {
    let url = url.trim().split('#').next().unwrap_or_default();
    let uri: Uri = url
        .parse()
        .map_err(|error| format!("invalid URL `{url}`: {error}. Correct it and call FetchUrl again."))?;
    // credentials would be sent to any host that the model names
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(
            "cannot fetch a URL that contains a user name or password. Remove them and call FetchUrl again."
                .to_owned(),
        );
    }
    Ok(url)
}

/// Returns the media type of a response if it is text.
fn text_kind(response: &Response) -> Result<String, String> {
    let kind = response.header(CONTENT_TYPE.as_str()).unwrap_or("text/plain");
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = kind.starts_with("text/")
        || is_html(&kind)
        || kind.ends_with("json")
        || kind.ends_with("xml")
        || kind.ends_with("javascript");
    if is_text {
        Ok(kind)
    } else {
        Err(format!(
            "{} is `{kind}`, not text, and cannot be shown. Use Execute with `curl -O` to download it, or try another page.",
            response.url
        ))
    }
}

fn is_html(kind: &str) -> bool {
    matches!(kind, "text/html" | "application/xhtml+xml")
}

fn readable(kind: &str, bytes: &[u8], is_cut: bool) -> ToolOutput {
    let text = String::from_utf8_lossy(bytes);
    let mut text = if is_html(kind) { html::to_text(&text) } else { text.into_owned() };
    let end = text.char_indices().nth(MAX_FETCH_CHARS).map(|(at, _)| at);
    if let Some(end) = end {
        text.truncate(end);
    }
    let note =
        if is_cut || end.is_some() { "\n\n[... the page is longer; the rest is not shown ...]" } else { "" };
    ToolOutput::two(text.clone(), format!("{text}{note}"))
}
