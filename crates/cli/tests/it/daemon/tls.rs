//! TLS: a certificate that clients check, and nothing without it.

use std::path::Path;
use std::sync::Arc;

use musher_rpc::{WebSocketOptions, connect_websocket, connect_websocket_over};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::stage::{Stage, script};

/// A certificate for this machine, in files.
struct Certificate {
    folder: tempfile::TempDir,
    root: CertificateDer<'static>,
}

impl Certificate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        fs_err::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        fs_err::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Self { folder, root: made.cert.der().clone() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    async fn connect(&self, address: &str) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address.strip_prefix("wss://").unwrap()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }
}

#[tokio::test]
async fn client_with_tls_works_and_one_without_is_refused() {
    let certificate = Certificate::new();
    let files = [certificate.path("cert.pem"), certificate.path("key.pem")];
    let mut stage = Stage::with(script(), &["--tls-cert", &files[0], "--tls-key", &files[1]]);
    assert!(stage.address.starts_with("wss://127.0.0.1:"), "{}", stage.address);
    let plain = stage.address.replacen("wss://", "ws://", 1);
    assert!(connect_websocket(&plain, WebSocketOptions::default()).await.is_err());

    let mut health = certificate.connect(&stage.address).await;
    health.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut text = String::new();
    // the daemon ends the connection without a closing message of TLS
    health.read_to_string(&mut text).await.ok();
    assert!(text.ends_with("musher-daemon ok\n"), "{text}");

    let stream = certificate.connect(&stage.address).await;
    let connection =
        connect_websocket_over(stream, "ws://localhost/", WebSocketOptions::default()).await.unwrap();
    let mut client = stage.over(connection);
    let login = json!({"apiKey": client.token, "caller": "test"});
    client.call("daemon.authenticate", login).await;
    let session = client.open().await;
    assert_eq!(super::stage::text_of(&client.turn(&session, "say hello").await), "Hello.");
    stage.stop();
}

#[test]
fn certificate_that_cannot_be_used_is_an_error_of_the_setup() {
    let (one, other) = (Certificate::new(), Certificate::new());
    let home = tempfile::tempdir().unwrap();
    let run = |certificate: &str, key: &str| {
        let arguments = ["daemon", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key];
        let run = crate::program::musher_with(&arguments, |command| {
            command.env("HOME", home.path());
        });
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        run.stderr
    };
    let absent = Path::new("/nope/cert.pem").to_str().unwrap();
    assert!(run(absent, &one.path("key.pem")).contains("cannot read the certificate in `/nope/cert.pem`"));
    let swapped = run(&one.path("key.pem"), &one.path("cert.pem"));
    assert!(swapped.contains("cannot read the certificate"), "{swapped}");
    let foreign = run(&one.path("cert.pem"), &other.path("key.pem"));
    assert!(foreign.contains("cannot use the certificate"), "{foreign}");
}
