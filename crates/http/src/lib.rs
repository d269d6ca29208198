//! HTTP client for models, MCP servers and web pages: HTTP/1.1 over TCP or TLS, directly or through a proxy, with a limit
//! on every wait and every size.
//!
//! - [`Client`]: sends requests. [`ClientBuilder`] sets timeouts, limits, redirects, proxies and which addresses are allowed.
//! - [`Response`] and [`Body`]: a response whose body is read in chunks.
//! - [`Proxies`]: the proxy settings of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
//! - [`AddressRule`] and [`Resolve`]: which addresses a client connects to. The address checked is the address connected to.
//! - [`SseParser`] and [`SseReader`]: server-sent events, from bytes and from a body.
//!
//! ```no_run
//! use musher_http::{AddressRule, Client, Redirects};
//!
//! # async fn example() -> Result<(), musher_http::Error> {
//! let client = Client::builder().addresses(AddressRule::Public).redirects(Redirects::Follow { max: 5 }).build();
//! let mut response = client.get("https://example.com/", http::HeaderMap::new()).await?;
//! let page = response.body.read(1 << 20).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Built on hyper and rustls. reqwest was evaluated and rejected: it has no limit for the size of headers, does not pass literal
//! addresses to its resolver, and connects directly if a proxy variable is invalid.
//!
//! Cookies, decompression, HTTP/2 and retries are out of scope. The crate uses no other musher crate.

mod address;
mod body;
mod client;
mod connect;
mod error;
mod header;
mod proxy;
mod redirect;
mod resolve;
mod sse;
mod sse_reader;
mod tls;

pub use address::AddressRule;
pub use body::{Body, Response};
pub use client::{Client, ClientBuilder, Redirects, Timeouts};
pub use error::{Error, ErrorKind};
pub use header::header;
pub use proxy::{PROXY_VARIABLES, Proxies};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use sse::{SseEvent, SseLimits, SseOverflow, SseParser};
pub use sse_reader::SseReader;
