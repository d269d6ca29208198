//! Which authorization server an MCP server trusts, and the endpoints of it: RFC 9728, RFC 8414 and `OpenID` Connect Discovery.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Uri};
use musher_http::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::challenge::Challenge;
use super::urls::{checked, is_of_resource, origin};

/// The maximum size of metadata.
const MAX_METADATA: usize = 256 << 10;

/// The authorization server of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Discovered {
    /// The name of the authorization server; `None` if it has no metadata.
    pub(super) issuer: Option<String>,
    /// Where the user logs in.
    pub(super) authorization: String,
    /// Where codes become tokens.
    pub(super) token: String,
    /// Where clients register.
    pub(super) registration: Option<String>,
    /// Where tokens are revoked.
    pub(super) revocation: Option<String>,
    /// How clients may authenticate at the token endpoint.
    pub(super) methods: Option<Vec<String>>,
    /// Whether it names itself in the answer to a login.
    pub(super) sends_issuer: bool,
    /// What tokens are requested for.
    pub(super) resource: String,
    /// The scopes to request.
    pub(super) scope: Option<String>,
}

/// The metadata of an MCP server.
#[derive(Debug, Deserialize)]
struct Resource {
    #[serde(rename = "resource")]
    url: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
}

/// The metadata of an authorization server.
#[derive(Debug, Deserialize)]
struct Server {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Finds the authorization server.
pub(super) async fn discover(
    http: &Client,
    server: &Uri,
    challenge: &Challenge,
) -> Result<Discovered, String> {
    let resource = resource(http, server, challenge).await?;
    let scope = challenge.scope.clone().or_else(|| {
        let scopes = resource.as_ref()?.scopes_supported.as_ref()?;
        (!scopes.is_empty()).then(|| scopes.join(" "))
    });
    let named = resource.as_ref().and_then(|resource| resource.authorization_servers.first().cloned());
    let is_named = named.is_some();
    let issuer = named.unwrap_or_else(|| origin(server));
    let issuer_url = checked(&issuer, server)?;
    let audience = resource.map_or_else(|| server.to_string(), |resource| resource.url);
    for candidate in metadata_of_issuer(&issuer_url) {
        let Some(found) = get::<Server>(http, &candidate).await? else { continue };
        if found.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            return Err(format!(
                "the metadata of the authorization server {issuer} names another one, {}",
                found.issuer
            ));
        }
        if !found.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(format!("the authorization server {issuer} does not support PKCE with S256"));
        }
        for url in [&found.authorization_endpoint, &found.token_endpoint]
            .into_iter()
            .chain(&found.registration_endpoint)
        {
            checked(url, server)?;
        }
        return Ok(Discovered {
            issuer: Some(found.issuer),
            authorization: found.authorization_endpoint,
            token: found.token_endpoint,
            registration: found.registration_endpoint,
            revocation: found.revocation_endpoint.filter(|url| checked(url, server).is_ok()),
            methods: found.token_endpoint_auth_methods_supported,
            sends_issuer: found.authorization_response_iss_parameter_supported,
            resource: audience,
            scope,
        });
    }
    if is_named {
        return Err(format!("the authorization server {issuer} has no metadata"));
    }
    // the first version of the specification had fixed paths
    let at = |path: &str| format!("{}{path}", origin(server));
    Ok(Discovered {
        issuer: None,
        authorization: at("/authorize"),
        token: at("/token"),
        registration: Some(at("/register")),
        revocation: None,
        methods: None,
        sends_issuer: false,
        resource: audience,
        scope,
    })
}

/// Returns the metadata of the MCP server, if it has any.
async fn resource(http: &Client, server: &Uri, challenge: &Challenge) -> Result<Option<Resource>, String> {
    let named = challenge.metadata.as_deref().map(|url| checked(url, server)).transpose()?;
    let candidates = match named {
        Some(url) => vec![url.to_string()],
        None => metadata_of_resource(server),
    };
    for candidate in candidates {
        let Some(found) = get::<Resource>(http, &candidate).await? else { continue };
        if !is_of_resource(server, &found.url) {
            return Err(format!("{candidate} describes another server, {}", found.url));
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Requests metadata. Returns `None` if there is none at this URL.
async fn get<T: DeserializeOwned>(http: &Client, url: &str) -> Result<Option<T>, String> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let mut response = http.get(url, headers).await.map_err(|error| error.report())?;
    if response.status.is_server_error() {
        return Err(format!("{url} answered with HTTP {}", response.status));
    }
    if !response.status.is_success() {
        response.body.finish().await;
        return Ok(None);
    }
    let bytes = response.body.read(MAX_METADATA).await.map_err(|error| error.report())?;
    // some servers answer every path with a page
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Returns where the metadata of an MCP server may be.
fn metadata_of_resource(server: &Uri) -> Vec<String> {
    let (origin, path) = (origin(server), server.path().trim_end_matches('/'));
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    if path.is_empty() { vec![root] } else { vec![format!("{root}{path}"), root] }
}

/// Returns where the metadata of an authorization server may be.
fn metadata_of_issuer(issuer: &Uri) -> Vec<String> {
    let (origin, path) = (origin(issuer), issuer.path().trim_end_matches('/'));
    let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
    let mut all = vec![format!("{origin}{oauth}{path}"), format!("{origin}{openid}{path}")];
    if !path.is_empty() {
        all.push(format!("{origin}{path}{openid}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_standards_say() {
        let issuer = Uri::from_static("https://login.example/tenant/");
        let at = |path: &str| format!("https://login.example{path}");
        assert_eq!(
            metadata_of_issuer(&issuer),
            [
                at("/.well-known/oauth-authorization-server/tenant"),
                at("/.well-known/openid-configuration/tenant"),
                at("/tenant/.well-known/openid-configuration"),
            ]
        );
        assert_eq!(metadata_of_issuer(&Uri::from_static("https://login.example")).len(), 2);
        let server = Uri::from_static("https://login.example/a/mcp");
        let root = at("/.well-known/oauth-protected-resource");
        assert_eq!(metadata_of_resource(&server), [format!("{root}/a/mcp"), root]);
    }
}
