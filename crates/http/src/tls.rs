//! TLS settings of the process: the trusted certificates, read once when the first connection needs them.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};

use crate::{Error, ErrorKind};

/// Returns the TLS settings. Trusts the certificates of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR` override them), or those
/// of Mozilla if the system has none.
pub(crate) fn config() -> Result<Arc<ClientConfig>, Error> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, Error>> = OnceLock::new();
    CONFIG.get_or_init(read).clone()
}

fn read() -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::debug!(%error, "cannot read a certificate of the system");
    }
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::because(ErrorKind::TlsSetup, "cannot set up TLS", error))?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}
