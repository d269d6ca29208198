//! `FetchUrl`: a public page as text. Private networks are out of reach, also by redirect and by name.

mod address;
mod get;
mod html;
mod spec;
#[cfg(test)]
mod tests;

use std::time::Duration;

use hyper::Uri;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::info;
use crate::limits::FETCH_CHARS;
use crate::{Context, Input, Run, Tool, ToolInfo, ToolOutput, input};
pub use address::AddressRule;
use get::Page;

/// Fetches a page.
#[derive(Debug, Clone, Copy)]
pub struct FetchUrl {
    rule: AddressRule,
    patience: Duration,
}

#[derive(Deserialize)]
struct Arguments {
    url: String,
}

const PATIENCE: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: usize = 5;

impl FetchUrl {
    /// Asks only addresses that fit the rule.
    pub fn new(rule: AddressRule) -> Self {
        Self { rule, patience: PATIENCE }
    }

    async fn fetch(&self, url: &str) -> Result<ToolOutput, String> {
        let mut uri = checked(url)?;
        for _ in 0..=MOST_REDIRECTS {
            let page = get::get(&uri, self.rule)
                .await
                .map_err(|error| format!("{uri} cannot be fetched: {error}"))?;
            if page.status.is_redirection() {
                uri = redirected(&uri, &page)?;
                continue;
            }
            if !page.status.is_success() {
                return Err(format!("{uri} answered with status {}", page.status));
            }
            return readable(&uri, &page);
        }
        Err(format!("{url} redirects more than {MOST_REDIRECTS} times"))
    }
}

impl Tool for FetchUrl {
    fn info(&self) -> &'static ToolInfo {
        const { info("FetchUrl") }
    }

    fn description(&self) -> &'static str {
        spec::DESCRIPTION
    }

    fn schema(&self) -> Value {
        spec::schema()
    }

    fn run<'a>(&'a self, input: Input, _context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            let arguments: Arguments = match input::parse(input) {
                Ok(arguments) => arguments,
                Err(output) => return output,
            };
            tokio::select! {
                () = cancel.cancelled() => ToolOutput::cancelled(),
                fetched = timeout(self.patience, self.fetch(&arguments.url)) => {
                    let late = |_elapsed| Err(format!("{} did not answer within {:?}", arguments.url, self.patience));
                    let fetched = fetched.unwrap_or_else(late);
                    fetched.unwrap_or_else(|reason| ToolOutput::error("URL fetch failed", &reason))
                }
            }
        })
    }
}

/// An address of a kind we ask.
fn checked(url: &str) -> Result<Uri, String> {
    let without_fragment = url.trim().split('#').next().unwrap_or_default();
    let uri: Uri = without_fragment.parse().map_err(|error| format!("`{url}` is no address: {error}"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
        return Err(format!("`{url}` must begin with http:// or https:// and a host"));
    }
    // a name and password in an address are sent to whoever is behind it
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("an address with a name or password in it is not fetched".to_owned());
    }
    Ok(uri)
}

fn redirected(from: &Uri, page: &Page) -> Result<Uri, String> {
    let location = page.headers.get("location").and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| format!("{from} redirects to nowhere"))?;
    let scheme = from.scheme_str().unwrap_or("https");
    let authority = from.authority().map_or("", |authority| authority.as_str());
    let absolute = if location.contains("://") {
        location.to_owned()
    } else if let Some(host) = location.strip_prefix("//") {
        format!("{scheme}://{host}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    let to = checked(&absolute)?;
    if from.scheme_str() == Some("https") && to.scheme_str() == Some("http") {
        return Err(format!("{from} redirects to {to}, which is not protected"));
    }
    Ok(to)
}

fn readable(uri: &Uri, page: &Page) -> Result<ToolOutput, String> {
    let kind = page.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("text/plain");
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
    let is_text = kind.starts_with("text/")
        || is_html
        || kind.ends_with("json")
        || kind.ends_with("xml")
        || kind.ends_with("javascript");
    if !is_text {
        return Err(format!("{uri} is `{kind}`, not text"));
    }
    let text = String::from_utf8_lossy(&page.body);
    let mut text = if is_html { html::to_text(&text) } else { text.into_owned() };
    let end = text.char_indices().nth(FETCH_CHARS).map(|(at, _)| at);
    if let Some(end) = end {
        text.truncate(end);
    }
    let note = if page.is_cut || end.is_some() { "\n\n[... the page is longer ...]" } else { "" };
    Ok(ToolOutput::two(text.clone(), format!("{text}{note}")))
}
