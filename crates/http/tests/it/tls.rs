//! TLS with test servers and proxies: trusted if and only if the system trusts their certificate.

use std::process::{Command, Output};

use http::HeaderMap;
use musher_http::{Client, ErrorKind, Proxies};

use crate::servers::{Proxy, answer, bound, certified, client, proxy, serve_on};

/// Helper program, because the trusted certificates must be in the environment before a process starts.
pub(crate) const GET: &str = env!("CARGO_BIN_EXE_musher-http-get");
/// The variable that names the trusted certificates.
pub(crate) const TRUSTED: &str = "SSL_CERT_FILE";

#[tokio::test]
async fn trusted_certificate_is_accepted_directly_and_through_proxies() {
    let (tls, certificate) = certified(&["localhost", "host.example", "proxy.example"]);
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("trusted.pem");
    fs_err::write(&trusted, certificate).unwrap();
    let host = serve_on(bound().await, Some(tls.clone()), |_| answer("200 OK", "", "protected"));
    let plain = proxy(Proxy::To(host.address), None).await;
    let secure = proxy(Proxy::To(host.address), Some(tls)).await;
    let secure_url = format!("https://user:pw@proxy.example:{}", secure.address.port());
    let cases = [
        (format!("https://localhost:{}/", host.address.port()), String::new()),
        ("https://host.example/".to_owned(), format!("http://user:pw@{}", plain.address)),
        ("https://host.example/".to_owned(), secure_url),
    ];
    for (url, variable) in cases {
        #[expect(clippy::disallowed_methods, reason = "the helper gets its environment from the test")]
        let mut get = Command::new(GET);
        get.args([&url, "localhost", "proxy.example"]).env_clear();
        get.env(TRUSTED, &trusted).env("https_proxy", variable);
        let ended = tokio::task::spawn_blocking(move || get.output()).await.unwrap().unwrap();
        let Output { status, stdout, stderr } = ended;
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        assert_eq!(String::from_utf8(stdout).unwrap(), "200 protected\n", "{url}");
    }
    for proxy in [plain, secure] {
        let heads = proxy.heads();
        assert!(heads[0].starts_with("CONNECT host.example:443 "), "{heads:?}");
        assert!(heads[0].contains("proxy-authorization: Basic "), "{heads:?}");
    }
    // the proxy's password is not sent to the host
    assert_eq!(host.heads().len(), 3);
    assert!(
        host.heads().iter().all(|head| !head.contains("proxy-authorization") && head.starts_with("GET / "))
    );
}

#[tokio::test]
async fn certificate_that_the_system_does_not_trust_is_rejected() {
    let (tls, _) = certified(&["localhost", "host.example"]);
    let host = serve_on(bound().await, Some(tls), |_| answer("200 OK", "", ""));
    let proxy = proxy(Proxy::To(host.address), None).await;
    let direct = Client::builder().proxies(Proxies::none()).build();
    let direct = direct.get(&format!("https://localhost:{}/", host.address.port()), HeaderMap::new()).await;
    let through = client(&[("ALL_PROXY", proxy.address.to_string())]).build();
    let through = through.get("https://host.example/", HeaderMap::new()).await;
    for error in [direct.unwrap_err(), through.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert!(error.report().contains("certificate"), "{}", error.report());
    }
    assert_eq!(host.heads(), Vec::<String>::new());
}
