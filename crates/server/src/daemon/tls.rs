//! TLS for the addresses of a daemon, from certificate files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its key.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or has no PEM of the expected kind.
    #[error("cannot read the {what} in `{}`: {cause}", path.display())]
    File {
        /// What it should contain.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// The key does not belong to the certificate, or cannot be used.
    #[error("cannot use the certificate: {0}")]
    Certificate(#[from] tokio_rustls::rustls::Error),
}

impl Tls {
    /// Reads a certificate chain and its key, both in PEM.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let failed = |what, path: &Path, cause: String| TlsError::File { what, path: path.to_owned(), cause };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed("certificate", certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(failed("certificate", certificate, "there is none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| failed("private key", key, error.to_string()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(...)")
    }
}
