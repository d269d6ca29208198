//! Makes connections: TCP, TLS over it, and a limit on the whole of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp
}

/// Trusts whom the system trusts; on a system that has no list, whom Mozilla trusts.
pub(super) fn tls() -> Result<HttpsConnector<HttpConnector>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::debug!(%error, "a certificate of the system cannot be read");
    }
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_only().enable_http1();
    Ok(builder.wrap_connector(tcp()))
}

/// A connection was not made in time.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("no connection within {0:?}")]
pub(super) struct ConnectTimeout(Duration);

/// Limits the time another connector may take.
#[derive(Debug, Clone)]
pub(super) struct Limited<C> {
    inner: C,
    limit: Option<Duration>,
}

impl<C> Limited<C> {
    pub(super) fn new(inner: C, limit: Option<Duration>) -> Self {
        Self { inner, limit }
    }
}

impl<C> Service<Uri> for Limited<C>
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            match limit {
                None => connecting.await.map_err(Into::into),
                Some(limit) => match timeout(limit, connecting).await {
                    Ok(connected) => connected.map_err(Into::into),
                    Err(_elapsed) => Err(ConnectTimeout(limit).into()),
                },
            }
        })
    }
}
