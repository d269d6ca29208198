//! Names to addresses: the system's lookup, or another one.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// A lookup under way.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks up the addresses of names.
///
/// The client asks once per connection, checks what it gets against its [`AddressRule`](crate::AddressRule), and connects to exactly
/// these addresses. A literal address is checked without being looked up.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    /// Looks up a name. The ports of the addresses do not matter.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The lookup of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}
