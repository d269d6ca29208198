//! An MCP server on loopback that requires a login, its authorization server, and a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use uuid::Uuid;

use super::super::server::Workshop;
use super::*;

type Service = StreamableHttpService<Workshop, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What the server knows.
#[derive(Default)]
pub(super) struct State {
    pub(super) metadata: Value,
    pub(super) resource: Value,
    pub(super) has_metadata: bool,
    /// Registered clients, and their secrets.
    pub(super) clients: BTreeMap<String, Option<String>>,
    /// Codes, with challenge, redirect and client.
    codes: BTreeMap<String, [String; 3]>,
    pub(super) access: BTreeSet<String>,
    /// Refresh tokens, with their client.
    pub(super) refresh: BTreeMap<String, String>,
    pub(super) expires_in: u64,
    pub(super) issuer_in_answer: Option<String>,
    /// The scope of the last login.
    pub(super) scope: Option<String>,
    /// Requests of tools that were refused.
    pub(super) refused: usize,
    counts: (usize, usize, usize),
}

/// The server. It ends when this is dropped.
pub(super) struct Authority {
    base: String,
    state: Arc<Mutex<State>>,
    stop: CancellationToken,
}

impl Drop for Authority {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Authority {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            metadata: json!({
                "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"), "revocation_endpoint": format!("{base}/revoke"),
                "code_challenge_methods_supported": ["S256"],
            }),
            resource: json!({"resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["tools"]}),
            has_metadata: true,
            expires_in: 3600,
            ..State::default()
        };
        let (state, stop) = (Arc::new(Mutex::new(state)), CancellationToken::new());
        let config = StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token());
        let workshop = Workshop::default();
        let service = Service::new(move || Ok(workshop.clone()), Arc::default(), config);
        let (served, stopped, name) = (Arc::clone(&state), stop.clone(), base.clone());
        tokio::spawn(async move {
            while let Some(Ok((stream, _))) = stopped.run_until_cancelled(listener.accept()).await {
                let (service, state, base) = (service.clone(), Arc::clone(&served), name.clone());
                let answer = service_fn(move |request| {
                    let (service, state, base) = (service.clone(), Arc::clone(&state), base.clone());
                    async move { Ok::<_, Infallible>(answer(request, &service, &state, &base).await) }
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                let stopped = stopped.clone();
                tokio::spawn(async move { stopped.run_until_cancelled(connection).await.map(Result::ok) });
            }
        });
        Self { base, state, stop }
    }

    /// Returns the URL of the MCP server.
    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of registrations, of codes that became tokens, and of refreshes.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        self.with(|state| state.counts)
    }
}

/// Opens a URL as a browser does. Returns the URL of the last redirect, which is opened only if asked for.
pub(super) async fn browse(url: &str, follows: bool) -> String {
    let client = musher_http::Client::default();
    let response = client.get(url, HeaderMap::new()).await.unwrap();
    assert_eq!(response.status, StatusCode::FOUND, "{url}");
    let to = response.header("location").unwrap().to_owned();
    if follows {
        let mut end = client.get(&to, HeaderMap::new()).await.unwrap();
        let text = end.text().await;
        assert_eq!(end.status, StatusCode::OK, "{text}");
    }
    to
}

/// Returns a parameter of the query of a URL.
pub(super) fn parameter(url: &str, name: &str) -> String {
    pairs_of(url.split_once('?').unwrap().1).remove(name).unwrap()
}

fn pairs_of(query: &str) -> BTreeMap<String, String> {
    let text = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'%' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (text(name), text(value))).collect()
}

fn json_answer(status: u16, body: &Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string())).boxed();
    Response::builder().status(status).header("content-type", "application/json").body(body).unwrap()
}

fn refusal(code: &str) -> Answer {
    json_answer(400, &json!({"error": code}))
}

async fn answer(
    request: hyper::Request<Incoming>,
    service: &Service,
    state: &Mutex<State>,
    base: &str,
) -> Answer {
    let path = request.uri().path().to_owned();
    if path == "/mcp" {
        let is_known = {
            let mut state = state.lock().unwrap();
            let token = request
                .headers()
                .get("authorization")
                .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
            let is_known = token.is_some_and(|token| state.access.contains(token));
            state.refused += usize::from(!is_known);
            is_known
        };
        if is_known {
            return service.handle(request).await;
        }
        let mut answer = json_answer(401, &Value::Null);
        let header = if state.lock().unwrap().has_metadata {
            format!("Bearer error=\"invalid_token\", resource_metadata=\"{base}/metadata\"")
        } else {
            "Bearer".to_owned()
        };
        answer.headers_mut().insert("www-authenticate", header.parse().unwrap());
        return answer;
    }
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let state = &mut *state.lock().unwrap();
    match path.as_str() {
        "/metadata" if state.has_metadata => json_answer(200, &state.resource),
        "/.well-known/oauth-authorization-server" if state.has_metadata => json_answer(200, &state.metadata),
        "/authorize" => authorize(&uri, state, base),
        "/register" => {
            let wanted: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(wanted["token_endpoint_auth_method"], "none");
            let id = Uuid::new_v4().to_string();
            state.clients.insert(id.clone(), None);
            state.counts.0 += 1;
            json_answer(201, &json!({"client_id": id, "redirect_uris": wanted["redirect_uris"]}))
        }
        "/token" => token(&headers, &pairs_of(std::str::from_utf8(&body).unwrap()), state, base),
        "/revoke" => {
            let token = pairs_of(std::str::from_utf8(&body).unwrap()).remove("token").unwrap();
            state.access.remove(&token);
            state.refresh.remove(&token);
            json_answer(200, &Value::Null)
        }
        _ => json_answer(404, &Value::Null),
    }
}

/// Opens the URL as a user who approves at once.
fn authorize(uri: &Uri, state: &mut State, base: &str) -> Answer {
    let asked = pairs_of(uri.query().unwrap());
    assert!(state.clients.contains_key(&asked["client_id"]));
    assert_eq!((asked["response_type"].as_str(), asked["code_challenge_method"].as_str()), ("code", "S256"));
    assert_eq!(asked["resource"], format!("{base}/mcp"));
    state.scope = asked.get("scope").cloned();
    let code = Uuid::new_v4().to_string();
    let of_code = ["code_challenge", "redirect_uri", "client_id"].map(|name| asked[name].clone());
    state.codes.insert(code.clone(), of_code);
    let issuer = state.issuer_in_answer.as_ref().map(|issuer| format!("&iss={issuer}")).unwrap_or_default();
    let to = format!("{}?code={code}&state={}{issuer}", asked["redirect_uri"], asked["state"]);
    let mut answer = json_answer(302, &Value::Null);
    answer.headers_mut().insert("location", to.parse().unwrap());
    answer
}

fn token(headers: &HeaderMap, asked: &BTreeMap<String, String>, state: &mut State, base: &str) -> Answer {
    let basic = headers.get("authorization").map(|value| {
        let pair = STANDARD.decode(value.to_str().unwrap().strip_prefix("Basic ").unwrap()).unwrap();
        let pair = String::from_utf8(pair).unwrap();
        let (id, secret) = pair.split_once(':').unwrap();
        (id.to_owned(), Some(secret.to_owned()))
    });
    let (client, secret) =
        basic.unwrap_or_else(|| (asked["client_id"].clone(), asked.get("client_secret").cloned()));
    if state.clients.get(&client) != Some(&secret) {
        return refusal("invalid_client");
    }
    assert_eq!(asked["resource"], format!("{base}/mcp"));
    match asked["grant_type"].as_str() {
        "authorization_code" => {
            let Some([challenge, redirect, of]) = state.codes.remove(&asked["code"]) else {
                return refusal("invalid_grant");
            };
            let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(asked["code_verifier"].as_bytes()));
            if (challenge, redirect.as_str(), &of) != (proof, asked["redirect_uri"].as_str(), &client) {
                return refusal("invalid_grant");
            }
            state.counts.1 += 1;
        }
        "refresh_token" => {
            // each is accepted once
            if state.refresh.remove(&asked["refresh_token"]) != Some(client.clone()) {
                return refusal("invalid_grant");
            }
            state.counts.2 += 1;
        }
        other => panic!("{other}"),
    }
    let (access, refresh) = (Uuid::new_v4().to_string(), Uuid::new_v4().to_string());
    state.access.insert(access.clone());
    state.refresh.insert(refresh.clone(), client);
    json_answer(
        200,
        &json!({"access_token": access, "token_type": "bearer", "expires_in": state.expires_in, "refresh_token": refresh}),
    )
}
