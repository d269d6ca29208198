//! Helpers for the vendor's REST API: computers, machine templates and remote sessions.
//!
//! Written from the public documentation, and tested against a server built from it: **not tested against the vendor's service**. Its endpoints for sessions are
//! enabled for selected organizations only.
//!
//! ```no_run
//! # async fn example() -> musher::Result<()> {
//! use musher::rest::Rest;
//!
//! let rest = Rest::new("fk-...")?;
//! for computer in rest.list_computers().await? {
//!     println!("{} {:?}", computer.name, computer.status);
//! }
//! # Ok(()) }
//! ```

mod types;

use std::fmt;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use musher_http::Client;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use types::{
    BuildStatus, Computer, ComputerMetrics, ComputerUpdate, MachineTemplate, NewComputer, NewRemoteSession,
    NewTemplate, Page, ProvisioningStep, Refreshed, RemoteMessage, RemoteSession, Sent, TemplateUpdate,
    Variable,
};

use crate::error::Kind;
use crate::{Error, Result};

/// The vendor's service.
const BASE: &str = "https://api.factory.ai";
/// The maximum size of an answer.
const MAX_ANSWER: usize = 16 << 20;
/// All but what stands for itself in a path or a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A client of the REST API. Clones share connections.
#[derive(Clone)]
pub struct Rest {
    http: Client,
    base: String,
    key: HeaderValue,
}

/// Omits the key.
impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Rest {
    /// Creates a client with the key for the vendor's service.
    ///
    /// # Errors
    ///
    /// Fails if the key cannot be a header value.
    pub fn new(key: &str) -> Result<Self> {
        let mut key = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_source| Error::invalid_input("the key has characters that a header cannot have"))?;
        key.set_sensitive(true);
        Ok(Self { http: Client::default(), base: BASE.to_owned(), key })
    }

    /// Sets another address of the service, such as `http://127.0.0.1:8080`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        let url: String = url.into();
        url.trim_end_matches('/').clone_into(&mut self.base);
        self
    }

    /// Lists the computers of the account.
    pub async fn list_computers(&self) -> Result<Vec<Computer>> {
        #[derive(serde::Deserialize)]
        struct Listed {
            computers: Vec<Computer>,
        }
        let listed: Listed = self.get("/api/v0/computers", &[]).await?;
        Ok(listed.computers)
    }

    /// Creates a computer.
    pub async fn create_computer(&self, computer: &NewComputer) -> Result<Computer> {
        self.send(Method::POST, "/api/v0/computers", computer).await
    }

    /// Returns a computer by its id.
    pub async fn get_computer(&self, id: &str) -> Result<Computer> {
        self.get(&format!("/api/v0/computers/{}", escaped(id)), &[]).await
    }

    /// Returns a computer by its name.
    pub async fn get_computer_by_name(&self, name: &str) -> Result<Computer> {
        self.get(&format!("/api/v0/computers/name/{}", escaped(name)), &[]).await
    }

    /// Changes a computer.
    pub async fn update_computer(&self, id: &str, update: &ComputerUpdate) -> Result<Computer> {
        self.send(Method::PATCH, &format!("/api/v0/computers/{}", escaped(id)), update).await
    }

    /// Deletes a computer.
    pub async fn delete_computer(&self, id: &str) -> Result<()> {
        self.call(Method::DELETE, &format!("/api/v0/computers/{}", escaped(id)), None).await.map(drop)
    }

    /// Resumes a managed computer that is paused. Does nothing if it runs.
    pub async fn restart_computer(&self, id: &str) -> Result<()> {
        self.call(Method::POST, &format!("/api/v0/computers/{}/restart", escaped(id)), Some(&json!({})))
            .await
            .map(drop)
    }

    /// Changes the configuration of a computer.
    pub async fn refresh_computer(&self, id: &str) -> Result<Refreshed> {
        self.send(Method::POST, &format!("/api/v0/computers/{}/refresh", escaped(id)), &json!({})).await
    }

    /// Returns measurements of a computer, since a time (ISO 8601) if one is given.
    pub async fn get_computer_metrics(&self, id: &str, start: Option<&str>) -> Result<Vec<ComputerMetrics>> {
        self.get(
            &format!("/api/v0/computers/{}/metrics", escaped(id)),
            &[("start", start.map(str::to_owned))],
        )
        .await
    }

    /// Installs the dependencies of a computer again.
    pub async fn retry_install_dependencies(&self, id: &str) -> Result<Computer> {
        self.send(Method::POST, &format!("/api/v0/computers/{}/install-deps", escaped(id)), &json!({})).await
    }

    /// Lists machine templates: at most `limit` (1 to 100), from a cursor on.
    pub async fn list_templates(
        &self,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Page<MachineTemplate>> {
        let query = [("limit", limit.map(|limit| limit.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.page("/api/v0/machines/templates", &query, "templates").await
    }

    /// Returns a machine template.
    pub async fn get_template(&self, id: &str) -> Result<MachineTemplate> {
        self.get(&format!("/api/v0/machines/templates/{}", escaped(id)), &[]).await
    }

    /// Creates a machine template.
    pub async fn create_template(&self, template: &NewTemplate) -> Result<MachineTemplate> {
        self.send(Method::POST, "/api/v0/machines/templates", template).await
    }

    /// Changes a machine template.
    pub async fn update_template(&self, id: &str, update: &TemplateUpdate) -> Result<MachineTemplate> {
        self.send(Method::PATCH, &format!("/api/v0/machines/templates/{}", escaped(id)), update).await
    }

    /// Deletes a machine template.
    pub async fn delete_template(&self, id: &str) -> Result<()> {
        self.call(Method::DELETE, &format!("/api/v0/machines/templates/{}", escaped(id)), None)
            .await
            .map(drop)
    }

    /// Lists remote sessions: at most `limit`, from a cursor on, of one computer if it is given.
    pub async fn list_sessions(
        &self,
        limit: Option<u32>,
        cursor: Option<&str>,
        computer_id: Option<&str>,
    ) -> Result<Page<RemoteSession>> {
        let query = [
            ("limit", limit.map(|limit| limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
            ("computerId", computer_id.map(str::to_owned)),
        ];
        self.page("/api/v0/sessions", &query, "sessions").await
    }

    /// Creates a session on a computer.
    pub async fn create_session(&self, session: &NewRemoteSession) -> Result<RemoteSession> {
        self.send(Method::POST, "/api/v0/sessions", session).await
    }

    /// Returns a remote session.
    pub async fn get_session(&self, id: &str) -> Result<RemoteSession> {
        self.get(&format!("/api/v0/sessions/{}", escaped(id)), &[]).await
    }

    /// Archives a remote session.
    pub async fn delete_session(&self, id: &str) -> Result<()> {
        self.call(Method::DELETE, &format!("/api/v0/sessions/{}", escaped(id)), None).await.map(drop)
    }

    /// Sends a prompt to a remote session. It is not repeated if the connection breaks.
    pub async fn send_message(&self, id: &str, message: &RemoteMessage) -> Result<Sent> {
        self.send(Method::POST, &format!("/api/v0/sessions/{}/messages", escaped(id)), message).await
    }

    /// Interrupts a remote session.
    pub async fn interrupt_session(&self, id: &str) -> Result<()> {
        self.call(Method::POST, &format!("/api/v0/sessions/{}/interrupt", escaped(id)), Some(&json!({})))
            .await
            .map(drop)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<T> {
        let query: Vec<_> = query
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", escaped(value.as_ref()?))))
            .collect();
        let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) };
        read(self.call(Method::GET, &path, None).await?)
    }

    async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<String>)],
        items: &str,
    ) -> Result<Page<T>> {
        let mut told: Value = self.get(path, query).await?;
        let next_cursor = told["pagination"]["nextCursor"].as_str().map(str::to_owned);
        let has_more = told["pagination"]["hasMore"].as_bool().unwrap_or(next_cursor.is_some());
        Ok(Page { items: read(told[items].take())?, has_more, next_cursor })
    }

    async fn send<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<T> {
        let body = serde_json::to_value(body).map_err(|error| Error::invalid_input(error.to_string()))?;
        read(self.call(method, path, Some(&body)).await?)
    }

    /// Makes a request; the answer is null if there is none.
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.key.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(Value::to_string).unwrap_or_default().into_bytes();
        let place = format!("{method} {}", path.split('?').next().unwrap_or_default());
        let unreachable =
            |error: musher_http::Error| Error::because(Kind::Connection { program: None }, error);
        let url = format!("{}{path}", self.base);
        let mut response = self.http.request(method, &url, headers, body).await.map_err(unreachable)?;
        let status = response.status;
        let bytes = response.body.read(MAX_ANSWER).await.map_err(unreachable)?;
        let refused = |text: String| {
            Error::because(
                Kind::Protocol { method: Some(place.clone()), code: Some(i64::from(status.as_u16())) },
                text,
            )
        };
        if !status.is_success() {
            let told = serde_json::from_slice::<Value>(&bytes).ok();
            let told = told.as_ref().and_then(|told| {
                told["error"].as_str().or_else(|| told["error"]["message"].as_str()).map(str::to_owned)
            });
            let text = match (status.as_u16(), told) {
                (401 | 403, _) => "invalid or expired key".to_owned(),
                (_, Some(told)) => told,
                (_, None) => "no reason was given".to_owned(),
            };
            return Err(refused(format!("HTTP {}: {text}", status.as_u16())));
        }
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|error| refused(format!("the answer is not JSON: {error}")))
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| {
        let kind = Kind::Protocol { method: None, code: None };
        Error::because(kind, format!("the answer does not have the documented form: {error}"))
    })
}
