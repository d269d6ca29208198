//! Logins at MCP servers with OAuth 2.1, as the MCP specification describes it.
//!
//! - `challenge.rs`, `urls.rs`: the `WWW-Authenticate` header and URLs. Pure.
//! - `discovery.rs`: which authorization server a server trusts, and its endpoints.
//! - `endpoint.rs`: the requests to it: registration, tokens, revocation.
//! - `tokens.rs`: the file with the tokens, for all processes of the user.
//! - `auth.rs`: adds a token to requests, and refreshes it.
//! - `login.rs`, `callback.rs`: one login, from the URL for the user to the tokens.
//!
//! Tokens go only to the URL they were issued for. All endpoints need TLS, except on loopback. This is our own code, because the
//! feature `auth` of rmcp needs reqwest, which would connect to addresses that `musher-http` has not checked.

mod auth;
mod callback;
mod challenge;
mod discovery;
mod endpoint;
mod login;
mod tokens;
mod urls;

pub(super) use auth::Auth;
pub(super) use challenge::Challenge;
pub use login::PendingLogin;
pub(super) use login::{Login, LoginInput};
pub use tokens::LoginState;
pub use tokens::login_of;
