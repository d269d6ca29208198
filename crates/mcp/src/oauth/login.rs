//! One login: from the URL that the user opens to the stored tokens.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use super::auth::{Auth, with_tokens};
use super::callback::Callback;
use super::discovery::{Discovered, discover};
use super::endpoint::{self, Registration};
use super::tokens::Stored;
use super::urls::{decode, with_query};

/// The maximum time for the user to log in.
const LOGIN_TIMEOUT: Duration = Duration::from_mins(10);
/// The maximum time until the URL for the user is known.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A login that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingLogin {
    /// The URL that the user opens.
    pub url: String,
    /// The `state` of the login.
    pub state: String,
    /// What to tell the user.
    pub message: String,
}

/// What the authorization server answers, through the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoginInput {
    /// The user has logged in.
    Code { code: String, state: String, issuer: Option<String> },
    /// The user or the server has refused.
    Error { error: String, description: Option<String>, state: String },
}

impl LoginInput {
    /// Reads the query of the URL that a browser returns to. `state` stands for a missing one.
    pub(crate) fn of_query(query: &str, state: Option<&str>) -> Option<Self> {
        let pairs = decode(query);
        let get = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let state = get("state").or_else(|| state.map(str::to_owned))?;
        match (get("code"), get("error")) {
            (_, Some(error)) => Some(Self::Error { error, description: get("error_description"), state }),
            (Some(code), None) => Some(Self::Code { code, state, issuer: get("iss") }),
            (None, None) => None,
        }
    }

    /// Reads what a user pastes: the address that the browser ends at, or only the code.
    pub(crate) fn of_paste(text: &str, state: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((_, query)) = text.split_once('?') {
            return Self::of_query(query.split('#').next().unwrap_or_default(), None);
        }
        let is_code = !text.is_empty() && !text.contains([' ', '/', '=']);
        is_code.then(|| Self::Code { code: text.to_owned(), state: state.to_owned(), issuer: None })
    }

    pub(crate) fn state(&self) -> &str {
        match self {
            Self::Code { state, .. } | Self::Error { state, .. } => state,
        }
    }
}

/// A login that was started.
pub(crate) struct Started {
    /// What the user has to do.
    pub(crate) pending: PendingLogin,
    /// Waits for the user.
    pub(crate) login: Login,
}

/// A login.
pub(crate) struct Login {
    auth: Arc<Auth>,
    server: Discovered,
    client: Registration,
    redirect: String,
    verifier: String,
    state: String,
    callback: Option<Callback>,
}

impl Login {
    /// Prepares a login: finds the authorization server, registers us if needed, and listens for the browser, unless a client of ours
    /// does that at `callback`.
    pub(crate) async fn begin(
        auth: Arc<Auth>,
        name: &str,
        callback: Option<String>,
    ) -> Result<Started, String> {
        let started = timeout(START_TIMEOUT, Self::prepare(auth, callback)).await;
        let login =
            started.map_err(|_elapsed| "the authorization server did not answer in time".to_owned())??;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(login.verifier.as_bytes()));
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", login.client.id.as_str()),
            ("redirect_uri", login.redirect.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("state", login.state.as_str()),
            ("resource", login.server.resource.as_str()),
        ];
        if let Some(scope) = &login.server.scope {
            pairs.push(("scope", scope));
        }
        let url = with_query(&login.server.authorization, &pairs);
        let message = format!("Authentication required for {name}");
        Ok(Started { pending: PendingLogin { url, state: login.state.clone(), message }, login })
    }

    async fn prepare(auth: Arc<Auth>, given: Option<String>) -> Result<Self, String> {
        let challenge = auth.challenge().unwrap_or_default();
        let mut server = discover(auth.http(), &auth.server, &challenge).await?;
        // the server names only what was missing
        if let (true, Some(wanted), Some(had)) = (challenge.lacks_scope(), &server.scope, auth.scope()) {
            server.scope = Some(joined(&had, wanted));
        }
        if let Some(scopes) = &auth.config.scopes {
            server.scope = Some(scopes.clone());
        }
        let known =
            auth.registration().filter(|(issuer, _)| *issuer == server.issuer).map(|(_, client)| client);
        let earlier = known.as_ref().and_then(|client| client.redirect.as_deref());
        let callback = match (&given, auth.config.callback_port, earlier) {
            (Some(_), _, _) => None,
            (None, Some(port), _) => Some(listen(port).await?),
            (None, None, Some(earlier)) => match Callback::listen_again(earlier).await {
                Some(callback) => Some(callback),
                None => Some(listen(0).await?),
            },
            (None, None, None) => Some(listen(0).await?),
        };
        let redirect = given.or_else(|| Some(callback.as_ref()?.redirect().to_owned())).unwrap_or_default();
        let client = match (&auth.config.client_id, known) {
            (Some(id), _) => Registration {
                id: id.clone(),
                secret: auth.config.client_secret.as_ref().map(|secret| secret.expose().to_owned()),
                method: match &auth.config.client_secret {
                    Some(_) => secret_method(server.methods.as_deref()),
                    None => "none",
                }
                .to_owned(),
                redirect: None,
            },
            (None, Some(client)) if client.redirect.as_deref() == Some(&redirect) => client,
            (None, _) => endpoint::register(auth.http(), &server, &redirect).await?,
        };
        let (verifier, state) = (random(), random());
        Ok(Self { auth, server, client, redirect, verifier, state, callback })
    }

    /// Waits for the answer, from the browser or from `inputs`, and stores the tokens.
    pub(crate) async fn finish(self, inputs: &mut mpsc::Receiver<LoginInput>) -> Result<(), String> {
        let callback = async {
            match &self.callback {
                Some(callback) => callback.answer(&self.state).await,
                None => std::future::pending().await,
            }
        };
        let answer = async {
            tokio::select! {
                input = callback => Some(input),
                Some(input) = inputs.recv() => Some(input),
                else => None,
            }
        };
        let answer = timeout(LOGIN_TIMEOUT, answer).await;
        let answer = answer.map_err(|_elapsed| {
            format!("the user did not log in within {} minutes", LOGIN_TIMEOUT.as_secs() / 60)
        })?;
        let (code, issuer) = match answer.ok_or_else(|| "the login was given up".to_owned())? {
            LoginInput::Code { code, issuer, .. } => (code, issuer),
            LoginInput::Error { error, description, .. } => {
                let description = description.map(|text| format!(": {text}")).unwrap_or_default();
                return Err(format!("the login was refused: {error}{description}"));
            }
        };
        self.check_issuer(issuer.as_deref())?;
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", self.redirect.as_str()),
            ("code_verifier", self.verifier.as_str()),
            ("resource", self.server.resource.as_str()),
        ];
        let tokens = endpoint::tokens(self.auth.http(), &self.server.token, &self.client, &fields).await;
        let tokens = tokens.map_err(endpoint::Refusal::text)?;
        let stored = Stored {
            client: Some(self.client),
            issuer: self.server.issuer,
            token_endpoint: self.server.token,
            revocation_endpoint: self.server.revocation,
            resource: self.server.resource,
            scope: self.server.scope,
            ..Stored::default()
        };
        self.auth.save(with_tokens(stored, tokens)).await
    }

    /// Refuses the answer of another authorization server (RFC 9207).
    fn check_issuer(&self, answered: Option<&str>) -> Result<(), String> {
        match (answered, &self.server.issuer) {
            (Some(answered), Some(issuer)) if answered == issuer => Ok(()),
            (Some(answered), _) => {
                Err(format!("the answer to the login is of another authorization server, {answered}"))
            }
            (None, _) if self.server.sends_issuer && self.callback.is_some() => {
                Err("the answer to the login does not name its authorization server".to_owned())
            }
            (None, _) => Ok(()),
        }
    }
}

/// Returns how a client with a secret authenticates. The standard's default is `client_secret_basic`.
fn secret_method(supported: Option<&[String]>) -> &'static str {
    let has_post = supported.is_some_and(|all| all.iter().any(|method| method == "client_secret_post"));
    if has_post { "client_secret_post" } else { "client_secret_basic" }
}

/// Joins two lists of scopes.
fn joined(had: &str, wanted: &str) -> String {
    let mut all: Vec<&str> = had.split_whitespace().collect();
    all.extend(wanted.split_whitespace().filter(|scope| !had.split_whitespace().any(|one| one == *scope)));
    all.join(" ")
}

async fn listen(port: u16) -> Result<Callback, String> {
    Callback::listen(port)
        .await
        .map_err(|error| format!("cannot listen on 127.0.0.1:{port} for the browser: {error}"))
}

/// Returns 64 random characters.
fn random() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_address_or_code_is_the_answer() {
        let code = |code: &str, state: &str| {
            Some(LoginInput::Code { code: code.to_owned(), state: state.to_owned(), issuer: None })
        };
        let paste = |text: &str| LoginInput::of_paste(text, "ours");
        assert_eq!(paste(" http://127.0.0.1:1/callback?code=c%2F1&state=theirs#x \n"), code("c/1", "theirs"));
        assert_eq!(paste("c.-1_~\n"), code("c.-1_~", "ours"));
        assert_eq!(paste("http://127.0.0.1:1/callback?code=c"), None, "the address has a state");
        for none in ["", "\n", "no idea", "http://127.0.0.1:1/callback", "state=1"] {
            assert_eq!(paste(none), None, "{none}");
        }
    }
}
