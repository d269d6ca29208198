//! `WebSearch`: searches the web through the service that is configured. Without one, the tool does not exist.

mod provider;
mod spec;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::Duration;

use musher_http::Client;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, Tool, ToolInfo, ToolOutput, input};
pub use provider::SearchProvider;

/// Searches the web.
#[derive(Debug, Clone)]
pub struct WebSearch {
    client: Client,
    provider: SearchProvider,
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default, deserialize_with = "input::count")]
    max_results: Option<u64>,
}

const SEARCH_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_RESULTS: u64 = 8;
const MAX_RESULTS: u64 = 20;
const MAX_ANSWER_BYTES: usize = 2 << 20;

impl WebSearch {
    /// Creates the tool. It uses the proxy of this process's environment.
    pub fn new(provider: SearchProvider) -> Self {
        Self { client: Client::default(), provider }
    }

    async fn search(&self, arguments: &Arguments) -> Result<ToolOutput, String> {
        let query = arguments.query.trim();
        if query.is_empty() {
            return Err("`query` is empty. Call WebSearch again with what you look for.".to_owned());
        }
        let max = arguments.max_results.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
        let request = self.provider.request(query, max)?;
        let failed = |error: musher_http::Error| {
            format!(
                "the search service cannot be reached: {}. Try again later, or continue without it.",
                error.report()
            )
        };
        let response = self.client.request(request.method, &request.url, request.headers, request.body);
        let mut response = response.await.map_err(failed)?;
        let status = response.status;
        if !status.is_success() {
            let text: String = response.text().await.chars().take(300).collect();
            return Err(format!(
                "the search service answered with status {status}: {text}. Tell the user if the key or the quota is the reason."
            ));
        }
        let body = response.body.read(MAX_ANSWER_BYTES).await.map_err(failed)?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|error| format!("the answer of the search service is not JSON: {error}. Continue without it, or tell the user."))?;
        let results = self.provider.results(&answer);
        let results = results.ok_or(
            "the answer of the search service has no results in it. Continue without it, or tell the user.",
        )?;
        if results.is_empty() {
            return Ok(ToolOutput::text(format!("No results for \"{query}\". Try other words.")));
        }
        let mut text = String::new();
        for (number, found) in (1..=max).zip(&results) {
            // writing to a string cannot fail
            writeln!(text, "{number}. {}\n   {}\n   {}", found.title, found.url, found.snippet).ok();
        }
        Ok(ToolOutput::text(text.trim_end()))
    }
}

impl Tool for WebSearch {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::Network { target: input::text(input, "query") })
    }

    fn run<'a>(&'a self, input: Input, _context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            let arguments: Arguments = match input::parse(input) {
                Ok(arguments) => arguments,
                Err(output) => return output,
            };
            tokio::select! {
                () = cancel.cancelled() => ToolOutput::cancelled(),
                searched = timeout(SEARCH_TIMEOUT, self.search(&arguments)) => {
                    let late = |_elapsed| Err(format!("the search service did not answer within {SEARCH_TIMEOUT:?}. Try again later."));
                    let failed = |reason: String| ToolOutput::error("Web search failed", &self.provider.redacted(&reason));
                    searched.unwrap_or_else(late).unwrap_or_else(failed)
                }
            }
        })
    }
}
