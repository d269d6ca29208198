//! Name resolution: the system's resolver, or a custom one.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// A lookup in progress.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks up the addresses of names.
///
/// The client resolves once per connection, checks the addresses against its [`AddressRule`](crate::AddressRule), and connects to
/// exactly these addresses. A literal address is checked without a lookup.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    /// Looks up a name. The ports of the returned addresses are ignored.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}
