//! TLS with a server of our own: trusted if the system says so, and only then.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use musher_model::{ErrorClass, Format, ModelEvent, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::faults::{ask, provider};

/// The variable that tells the list of trusted certificates; it has to be there before the process starts.
const TRUSTED: &str = "SSL_CERT_FILE";
const ROLE: &str = "MUSHER_MODEL_TEST_TRUSTS";

/// A server with a certificate that was just made, and that certificate.
async fn server() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // fails if the client does not trust us
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut buffer = [0; 4096];
            let mut heard = Vec::new();
            while !heard.ends_with(b"}") {
                let count = stream.read(&mut buffer).await.unwrap();
                heard.extend_from_slice(&buffer[..count]);
            }
            let body =
                "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    (url, made.cert.pem())
}

#[tokio::test]
async fn a_certificate_the_system_trusts_is_enough() {
    if std::env::var_os(ROLE).is_none() {
        let folder = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a copy of this test, with another environment")]
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tls::a_certificate_the_system_trusts_is_enough"])
            .env(ROLE, "1")
            .env(TRUSTED, folder.path().join("trusted.pem"))
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let (url, certificate) = server().await;
    let file = std::env::var_os(TRUSTED).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test writes its own file")]
    std::fs::write(Path::new(&file), certificate).unwrap();
    let (heard, failed) = ask(&provider(Format::OpenaiChat, &url, Timeouts::default())).await;
    assert_eq!(failed, None);
    assert_eq!(heard[0], ModelEvent::TextDelta("hi".to_owned()));
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused() {
    let (url, _) = server().await;
    let (heard, failed) = ask(&provider(Format::OpenaiChat, &url, Timeouts::default())).await;
    let error = failed.unwrap();
    assert_eq!((heard.len(), error.class), (0, ErrorClass::Network));
    assert!(error.message.contains("certificate"), "{error}");
}
