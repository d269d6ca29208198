//! Requests to an authorization server: registration, tokens, revocation.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use musher_http::{Client, Redirects, Timeouts};
use musher_model::{Secret, redact};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::discovery::Discovered;
use super::urls::{encode, encoded};

const MAX_RESPONSE: usize = 64 << 10;
/// The maximum length of a vendor's explanation.
const MAX_REASON: usize = 300;

/// Returns the HTTP client for authorization servers.
pub(super) fn client() -> Client {
    let timeouts = Timeouts {
        connect: Some(Duration::from_secs(10)),
        headers: Some(Duration::from_secs(20)),
        silence: Some(Duration::from_secs(10)),
    };
    Client::builder().timeouts(timeouts).redirects(Redirects::Follow { max: 3 }).build()
}

/// Who we are for an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    /// How it authenticates at the token endpoint.
    pub(super) method: String,
    /// Where the browser returns to. `None` if the user's configuration names the client: any port of loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redirect: Option<String>,
}

/// What a token endpoint returns.
#[derive(Deserialize)]
pub(super) struct Tokens {
    pub(super) access_token: String,
    pub(super) token_type: String,
    pub(super) expires_in: Option<u64>,
    pub(super) refresh_token: Option<String>,
    pub(super) scope: Option<String>,
}

/// A refusal of an authorization server, or no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It answered with this error code.
    Code { code: String, text: String },
    /// It could not be asked, or its answer is not understood.
    Other(String),
}

impl Refusal {
    /// Returns whether the tokens are void: only a new login helps.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Code { code, .. } => {
                matches!(code.as_str(), "invalid_grant" | "invalid_client" | "unauthorized_client")
            }
            Self::Other(_) => false,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Code { text, .. } | Self::Other(text) => text,
        }
    }
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers us (RFC 7591).
pub(super) async fn register(
    http: &Client,
    server: &Discovered,
    redirect: &str,
) -> Result<Registration, String> {
    let Some(url) = &server.registration else {
        return Err("the authorization server does not register clients: register musher there, and set `oauth.clientId` of \
                    the server in mcp.json"
            .to_owned());
    };
    let wanted = method(server.methods.as_deref());
    let mut body = json!({
        "client_name": "musher",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
    });
    if let Some(scope) = &server.scope {
        body["scope"] = scope.clone().into();
    }
    let body = serde_json::to_vec(&body).map_err(|error| error.to_string())?;
    let answer = post(http, url, "application/json", None, body).await.map_err(Refusal::text)?;
    let registered =
        Registered::deserialize(answer).map_err(|error| format!("{url} gave no client id: {error}"))?;
    let default = if registered.client_secret.is_some() { wanted } else { "none" };
    Ok(Registration {
        method: registered.token_endpoint_auth_method.unwrap_or_else(|| default.to_owned()),
        id: registered.client_id,
        secret: registered.client_secret,
        redirect: Some(redirect.to_owned()),
    })
}

/// Returns how to authenticate at the token endpoint. We cannot keep a secret, so none is best.
pub(super) fn method(supported: Option<&[String]>) -> &'static str {
    let has = |method: &str| supported.is_none_or(|all| all.iter().any(|one| one == method));
    ["none", "client_secret_post", "client_secret_basic"]
        .into_iter()
        .find(|method| has(method))
        .unwrap_or("none")
}

/// Requests tokens with these fields.
pub(super) async fn tokens(
    http: &Client,
    url: &str,
    client: &Registration,
    fields: &[(&str, &str)],
) -> Result<Tokens, Refusal> {
    let answer = form(http, url, client, fields).await?;
    let tokens = Tokens::deserialize(answer)
        .map_err(|error| Refusal::Other(format!("{url} gave no token: {error}")))?;
    if !tokens.token_type.eq_ignore_ascii_case("bearer") || tokens.access_token.is_empty() {
        return Err(Refusal::Other(format!("{url} gave a token of an unknown type")));
    }
    Ok(tokens)
}

/// Revokes a token (RFC 7009).
pub(super) async fn revoke(
    http: &Client,
    url: &str,
    client: &Registration,
    token: &str,
) -> Result<(), String> {
    match form(http, url, client, &[("token", token)]).await {
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal.text()),
    }
}

async fn form(
    http: &Client,
    url: &str,
    client: &Registration,
    fields: &[(&str, &str)],
) -> Result<Value, Refusal> {
    let mut fields = fields.to_vec();
    let secret = client.secret.as_deref().unwrap_or_default();
    let mut authorization = None;
    if client.method == "client_secret_basic" {
        let pair = STANDARD.encode(format!("{}:{}", encoded(&client.id), encoded(secret)));
        authorization = Some(format!("Basic {pair}"));
    } else {
        fields.push(("client_id", &client.id));
        if client.method == "client_secret_post" {
            fields.push(("client_secret", secret));
        }
    }
    let body = encode(&fields).into_bytes();
    let secrets: Vec<Secret> =
        fields.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| Secret::new(*value)).collect();
    post(http, url, "application/x-www-form-urlencoded", authorization, body).await.map_err(|refusal| {
        let hide = |text: String| redact(&text, &secrets.iter().collect::<Vec<_>>());
        match refusal {
            Refusal::Code { code, text } => Refusal::Code { code, text: hide(text) },
            Refusal::Other(text) => Refusal::Other(hide(text)),
        }
    })
}

fn is_secret(field: &str) -> bool {
    matches!(field, "code" | "code_verifier" | "client_secret" | "refresh_token" | "token")
}

async fn post(
    http: &Client,
    url: &str,
    kind: &'static str,
    authorization: Option<String>,
    body: Vec<u8>,
) -> Result<Value, Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(authorization) = authorization {
        let value = musher_http::header("authorization", &authorization);
        headers.insert(AUTHORIZATION, value.map_err(|error| Refusal::Other(error.report()))?.1);
    }
    let sent = http.request(Method::POST, url, headers, body).await;
    let mut response = sent.map_err(|error| Refusal::Other(error.report()))?;
    let read = response.body.read(MAX_RESPONSE).await;
    let bytes = read.map_err(|error| Refusal::Other(error.report()))?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if response.status.is_success() {
        return Ok(answer);
    }
    let text =
        |name: &str| answer[name].as_str().map(|text| text.chars().take(MAX_REASON).collect::<String>());
    match (text("error"), text("error_description")) {
        (Some(code), description) => {
            let text =
                description.map_or_else(|| code.clone(), |description| format!("{code}: {description}"));
            Err(Refusal::Code { code, text: format!("{url} refused: {text}") })
        }
        (None, _) => Err(Refusal::Other(format!("{url} answered with HTTP {}", response.status))),
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_client_is_preferred() {
        let of = |list: &[&str]| method(Some(&list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()));
        assert_eq!(method(None), "none");
        assert_eq!(of(&["client_secret_basic", "none"]), "none");
        assert_eq!(of(&["client_secret_basic", "client_secret_post"]), "client_secret_post");
        assert_eq!(of(&["client_secret_basic"]), "client_secret_basic");
    }
}
