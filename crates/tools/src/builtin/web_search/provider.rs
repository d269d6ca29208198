//! The search services: how each is asked, and what it answers. Pure.
//!
//! As documented in November 2026: Brave `api-dashboard.search.brave.com/docs`, Tavily `docs.tavily.com/api-reference`, Exa
//! `docs.exa.ai/reference/search`, `SearXNG` `docs.searxng.org/dev/search_api`.

use std::fmt;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// A search service and how to reach it.
#[derive(Clone)]
pub struct SearchProvider {
    service: Service,
    base_url: String,
    /// Empty for services without keys.
    key: String,
}

/// A search service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Searxng,
    Brave,
    Tavily,
    Exa,
}

/// A request to a service.
pub(super) struct SearchRequest {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// A search result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
}

/// The number of characters of a snippet.
const MAX_SNIPPET: usize = 500;

impl SearchProvider {
    /// The environment variables that configure a service, and what each has. The first that is set is used.
    pub const VARIABLES: [(&'static str, &'static str); 4] = [
        ("SEARXNG_URL", "URL of a SearXNG instance with JSON output, for the tool `WebSearch`"),
        ("BRAVE_API_KEY", "key of the Brave Search API, for the tool `WebSearch`"),
        ("TAVILY_API_KEY", "key of Tavily, for the tool `WebSearch`"),
        ("EXA_API_KEY", "key of Exa, for the tool `WebSearch`"),
    ];

    /// Returns the service that environment variables configure, if any.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::VARIABLES.iter().find_map(|(name, _)| {
            let value =
                variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())?;
            Some(match *name {
                "SEARXNG_URL" => Self::searxng(value),
                "BRAVE_API_KEY" => Self::brave(value),
                "TAVILY_API_KEY" => Self::tavily(value),
                _ => Self::exa(value),
            })
        })
    }

    /// Creates an instance of `SearXNG`.
    pub fn searxng(url: impl Into<String>) -> Self {
        Self { service: Service::Searxng, base_url: url.into(), key: String::new() }
    }

    /// Brave Search.
    pub fn brave(key: impl Into<String>) -> Self {
        Self { service: Service::Brave, base_url: "https://api.search.brave.com".to_owned(), key: key.into() }
    }

    /// Tavily.
    pub fn tavily(key: impl Into<String>) -> Self {
        Self { service: Service::Tavily, base_url: "https://api.tavily.com".to_owned(), key: key.into() }
    }

    /// Exa.
    pub fn exa(key: impl Into<String>) -> Self {
        Self { service: Service::Exa, base_url: "https://api.exa.ai".to_owned(), key: key.into() }
    }

    /// Sets the address of the service, for gateways.
    #[must_use]
    pub fn at(self, base_url: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), ..self }
    }

    /// Returns the request for a query. The error says why the key cannot be sent.
    pub(super) fn request(&self, query: &str, max: u64) -> Result<SearchRequest, String> {
        let base = self.base_url.trim_end_matches('/');
        let encoded = utf8_percent_encode(query, NON_ALPHANUMERIC);
        let (url, body) = match self.service {
            Service::Searxng => (format!("{base}/search?q={encoded}&format=json"), None),
            Service::Brave => (format!("{base}/res/v1/web/search?q={encoded}&count={max}"), None),
            Service::Tavily => (format!("{base}/search"), Some(json!({"query": query, "max_results": max}))),
            Service::Exa => {
                let contents = json!({"text": {"maxCharacters": MAX_SNIPPET}});
                (
                    format!("{base}/search"),
                    Some(json!({"query": query, "numResults": max, "contents": contents})),
                )
            }
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let (name, value) = match self.service {
            Service::Searxng => (None, String::new()),
            Service::Brave => (Some(HeaderName::from_static("x-subscription-token")), self.key.clone()),
            Service::Tavily => (Some(AUTHORIZATION), format!("Bearer {}", self.key)),
            Service::Exa => (Some(HeaderName::from_static("x-api-key")), self.key.clone()),
        };
        if let Some(name) = name {
            // without the value: it has the key
            let value = HeaderValue::from_str(&value).map_err(|_invalid| {
                "the key of the search service contains characters that no key has".to_owned()
            })?;
            headers.insert(name, value);
        }
        let method = if body.is_some() { Method::POST } else { Method::GET };
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Ok(SearchRequest { method, url, headers, body })
    }

    /// Returns the results in an answer; `None` if it is not the answer of this service.
    pub(super) fn results(&self, answer: &Value) -> Option<Vec<Found>> {
        let (list, snippet) = match self.service {
            // Brave leaves the list out if there are no results
            Service::Brave if answer.get("web").is_none() && answer.get("query").is_some() => {
                return Some(Vec::new());
            }
            Service::Brave => (&answer["web"]["results"], "description"),
            Service::Searxng | Service::Tavily => (&answer["results"], "content"),
            Service::Exa => (&answer["results"], "text"),
        };
        let found = |result: &Value| {
            let text = |key: &str| result[key].as_str().unwrap_or_default().trim();
            let snippet: String = text(snippet).chars().take(MAX_SNIPPET).collect();
            let snippet = snippet.split_whitespace().collect::<Vec<_>>().join(" ");
            Found { title: text("title").to_owned(), url: text("url").to_owned(), snippet }
        };
        Some(list.as_array()?.iter().map(found).filter(|found| !found.url.is_empty()).collect())
    }

    /// Removes the key from a text.
    pub(super) fn redacted(&self, text: &str) -> String {
        if self.key.is_empty() { text.to_owned() } else { text.replace(&self.key, "***") }
    }
}

impl fmt::Debug for SearchProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchProvider")
            .field("service", &self.service)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}
