//! The tokens of one server: adds them to requests, refreshes them, and remembers that a login is needed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::Uri;
use http::header::AUTHORIZATION;
use musher_http::Client;
use musher_model::Secret;

use super::challenge::Challenge;
use super::endpoint::{self, Refusal, Tokens, now};
use super::tokens::{self, Stored};
use super::urls::{checked, is_loopback};
use musher_config::{McpServer, OAuth, Transport};

/// The tokens of one server.
pub(crate) struct Auth {
    /// The server as its configuration names it: the key of the stored login.
    url: String,
    pub(super) server: Uri,
    home: PathBuf,
    pub(super) config: OAuth,
    http: OnceLock<Client>,
    // locked briefly, never across an await
    known: Mutex<Known>,
    /// One refresh at a time.
    refreshing: tokio::sync::Semaphore,
}

#[derive(Default)]
struct Known {
    stored: Option<Stored>,
    /// What the server said when it refused the last request.
    challenge: Option<Challenge>,
}

impl Auth {
    /// Returns the tokens of a server, or `None` if it is not to log in with OAuth: it is a program, has a token in its headers, or its
    /// configuration says so.
    pub(crate) fn of(server: &McpServer, home: &Path) -> Option<Arc<Self>> {
        let (Transport::Http { url, headers } | Transport::Sse { url, headers }) = &server.transport else {
            return None;
        };
        let has_token = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()));
        if has_token || server.oauth.is_disabled {
            return None;
        }
        let parsed: Uri = url.parse().ok()?;
        // a token would be readable on the way
        let is_safe = parsed.scheme_str() == Some("https") || is_loopback(&parsed);
        is_safe.then(|| {
            let known = Known { stored: tokens::read(home, url), challenge: None };
            Arc::new(Self {
                url: url.clone(),
                server: parsed,
                home: home.to_owned(),
                config: server.oauth.clone(),
                http: OnceLock::new(),
                known: Mutex::new(known),
                refreshing: tokio::sync::Semaphore::new(1),
            })
        })
    }

    pub(super) fn http(&self) -> &Client {
        self.http.get_or_init(endpoint::client)
    }

    /// Returns the token for a request, refreshed if it has expired.
    pub(crate) async fn token(&self) -> Result<Option<Secret>, String> {
        let Some(stored) = self.usable() else { return Ok(None) };
        let Some(access) = stored.access_token.clone() else { return Ok(None) };
        if !stored.is_expired() {
            return Ok(Some(Secret::new(access)));
        }
        // without a refresh token it may still be good: clocks differ
        match stored.refresh_token {
            Some(_) => self.replaced(&access).await,
            None => Ok(Some(Secret::new(access))),
        }
    }

    /// Returns a token in place of one that has expired or was refused: that of another process, or a refreshed one. `None` if only a
    /// new login helps.
    pub(crate) async fn replaced(&self, old: &str) -> Result<Option<Secret>, String> {
        let _one = self.refreshing.acquire().await;
        let newer = |stored: &Stored| stored.access_token.as_deref().is_some_and(|access| access != old);
        if let Some(stored) = self.usable().filter(newer) {
            return Ok(stored.access_token.map(Secret::new));
        }
        let path = tokens::refresh_lock(&self.home, &self.url);
        let _lock = blocking(move || tokens::lock(&path)).await?;
        let (home, url) = (self.home.clone(), self.url.clone());
        let stored = blocking(move || Ok(tokens::read(&home, &url))).await?;
        self.lock().stored.clone_from(&stored);
        let Some(stored) = self.usable() else { return Ok(None) };
        if newer(&stored) && !stored.is_expired() {
            return Ok(stored.access_token.map(Secret::new));
        }
        let (Some(refresh), Some(client)) = (&stored.refresh_token, &stored.client) else { return Ok(None) };
        checked(&stored.token_endpoint, &self.server)?;
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
            ("resource", &stored.resource),
        ];
        match endpoint::tokens(self.http(), &stored.token_endpoint, client, &fields).await {
            Ok(tokens) => {
                let token = Secret::new(tokens.access_token.clone());
                self.save_instead(refresh.clone(), with_tokens(stored, tokens)).await?;
                Ok(Some(token))
            }
            Err(refusal) if refusal.is_final() => {
                tracing::info!(server = %self.server, "the login at an MCP server has ended");
                let is_unknown = matches!(&refusal, Refusal::Code { code, .. } if code != "invalid_grant");
                let client = stored.client.clone().filter(|_| !is_unknown);
                let refresh = refresh.clone();
                let ended =
                    Stored { client, access_token: None, refresh_token: None, needs_login: true, ..stored };
                self.save_instead(refresh, ended).await?;
                Ok(None)
            }
            Err(refusal) => Err(format!("cannot refresh the login: {}", refusal.text())),
        }
    }

    /// Remembers that the server has refused a request with this token, for other processes, too.
    pub(crate) async fn refuse(&self, header: &str, token: Option<&Secret>) {
        self.lock().challenge = Some(Challenge::parse(header));
        let token = token.map(|token| token.expose().to_owned());
        let change = move |old: Option<Stored>| match old {
            // the user has logged in meanwhile
            Some(old) if old.access_token.is_some() && old.access_token != token => Some(old),
            old => Some(Stored { needs_login: true, ..old.unwrap_or_default() }),
        };
        if self.lock().stored.as_ref().is_some_and(|stored| stored.needs_login) {
            return;
        }
        if let Err(error) = self.update(change).await {
            tracing::warn!(error, "cannot store that an MCP server needs a login");
        }
    }

    /// Returns what the server said when it refused the last request, if it did.
    pub(crate) fn challenge(&self) -> Option<Challenge> {
        self.lock().challenge.clone()
    }

    /// Returns whether there are tokens.
    pub(crate) fn has_tokens(&self) -> bool {
        self.usable().is_some_and(|stored| stored.access_token.is_some())
    }

    /// Returns whether the user has logged in elsewhere since the server has refused a request. Reads the file.
    pub(crate) fn has_new_login(&self) -> bool {
        let Some(stored) = tokens::read(&self.home, &self.url) else { return false };
        let known = self.lock();
        let old = known.stored.as_ref().and_then(|stored| stored.access_token.as_ref());
        !stored.needs_login && stored.access_token.is_some() && stored.access_token.as_ref() != old
    }

    /// Forgets that a request was refused, and reads the tokens again, because the server is connected again.
    pub(crate) fn reset(&self) {
        let stored = tokens::read(&self.home, &self.url);
        *self.lock() = Known { stored, challenge: None };
    }

    /// Returns the registration of an earlier login.
    pub(super) fn registration(&self) -> Option<(Option<String>, endpoint::Registration)> {
        self.usable().and_then(|stored| Some((stored.issuer, stored.client?)))
    }

    /// Returns the scopes of the login.
    pub(super) fn scope(&self) -> Option<String> {
        self.usable().and_then(|stored| stored.scope)
    }

    /// Stores a login.
    pub(super) async fn save(&self, stored: Stored) -> Result<(), String> {
        self.update(move |_old| Some(stored)).await
    }

    /// Stores what follows from a refresh, unless the login was replaced or deleted meanwhile.
    async fn save_instead(&self, refreshed: String, stored: Stored) -> Result<(), String> {
        let is_same = move |old: &Stored| old.refresh_token.as_ref() == Some(&refreshed);
        self.update(move |old| if old.as_ref().is_some_and(is_same) { Some(stored) } else { old }).await
    }

    /// Deletes the login here, and revokes it at the server if that is possible.
    pub(crate) async fn clear(&self) -> Result<(), String> {
        let stored = self.usable();
        self.update(|_old| None).await?;
        let Some(stored) = stored else { return Ok(()) };
        let (Some(url), Some(client)) = (&stored.revocation_endpoint, &stored.client) else { return Ok(()) };
        // one revokes the other at most servers, but not at all
        for token in [&stored.refresh_token, &stored.access_token].into_iter().flatten() {
            if let Err(error) = endpoint::revoke(self.http(), url, client, token).await {
                tracing::warn!(error, "cannot revoke a token of an MCP server");
                break;
            }
        }
        Ok(())
    }

    async fn update(
        &self,
        change: impl FnOnce(Option<Stored>) -> Option<Stored> + Send + 'static,
    ) -> Result<(), String> {
        let (home, url) = (self.home.clone(), self.url.clone());
        let stored = blocking(move || tokens::update(&home, &url, change)).await?;
        self.lock().stored = stored;
        Ok(())
    }

    /// Returns the stored login, unless it belongs to another client than the configured one.
    fn usable(&self) -> Option<Stored> {
        let stored = self.lock().stored.clone()?;
        let configured = self.config.client_id.as_deref();
        let is_ours = match (configured, &stored.client) {
            (Some(id), Some(client)) => client.id == id,
            _ => true,
        };
        is_ours.then_some(stored)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Puts new tokens into a login. A server that sends no new refresh token keeps the old one.
pub(super) fn with_tokens(stored: Stored, tokens: Tokens) -> Stored {
    Stored {
        access_token: Some(tokens.access_token),
        refresh_token: tokens.refresh_token.or(stored.refresh_token),
        expires_at: tokens.expires_in.map(|seconds| now().saturating_add(seconds)),
        scope: tokens.scope.or(stored.scope),
        needs_login: false,
        ..stored
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}
