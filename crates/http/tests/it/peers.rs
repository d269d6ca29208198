//! A real proxy program, tinyproxy, in a network namespace.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use testkit::{Program, Sandbox};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::servers::{TestServer, answer, certified, serve_on};
use crate::tls::{GET, TRUSTED};

/// Additional address of the namespace, because loopback addresses do not use a proxy.
const HOST: &str = "192.0.2.7";
const PROGRAM: &str = "/usr/bin/tinyproxy";

/// Starts the proxy and waits until it accepts connections.
async fn start(sandbox: &Sandbox, port: u16, settings: &str) -> Result<Program> {
    let file = sandbox.temp().join(format!("{port}.conf"));
    fs_err::write(
        &file,
        format!("Port {port}\nListen 127.0.0.1\nTimeout 10\nLogLevel Info\nConnectPort 443\n{settings}\n"),
    )?;
    let launch = sandbox.launch(PROGRAM).args(["-d", "-c"]).arg(&file);
    let mut program = sandbox.spawn(&launch)?;
    loop {
        let line = program.next_line().await?.context("tinyproxy ended")?;
        if line.contains("Accepting connections") {
            return Ok(program);
        }
    }
}

/// A server at the address of the namespace.
fn serve(sandbox: &Sandbox, port: u16, tls: Option<TlsAcceptor>, body: &'static str) -> Result<TestServer> {
    let listener = sandbox.run(move || std::net::TcpListener::bind((HOST, port)))??;
    listener.set_nonblocking(true)?;
    Ok(serve_on(TcpListener::from_std(listener)?, tls, move |_| answer("200 OK", "", body)))
}

/// Requests a URL in the namespace, and returns what the helper prints.
async fn get(sandbox: &Sandbox, url: &str, variables: &[(&str, &str)]) -> Result<String> {
    let launch = sandbox.launch(GET).arg(url).env(TRUSTED, sandbox.temp().join("trusted.pem"));
    let launch = variables.iter().fold(launch, |launch, (name, value)| launch.env(*name, *value));
    let ended = sandbox.output(&launch).await?;
    ensure!(ended.status.success(), "{}", ended.stderr);
    Ok(ended.stdout.join("\n"))
}

#[tokio::test]
async fn requests_go_through_tinyproxy() -> Result<()> {
    ensure!(Path::new(PROGRAM).exists(), "{PROGRAM} is missing; run `cargo xtask peers`");
    let sandbox = Sandbox::new()?;
    let added = sandbox.output(&sandbox.launch("ip").args(["addr", "add", HOST, "dev", "lo"])).await?;
    ensure!(added.status.success(), "{}", added.stderr);
    let mut proxy = start(&sandbox, 3128, "BasicAuth user s3cret").await?;
    let (tls, certificate) = certified(&[HOST]);
    fs_err::write(sandbox.temp().join("trusted.pem"), certificate)?;
    let secure = serve(&sandbox, 443, Some(tls), "protected")?;
    let plain = serve(&sandbox, 80, None, "plain")?;
    let direct = serve(&sandbox, 81, None, "direct")?;
    let except = format!("{HOST}:81");
    let variables = [
        ("HTTPS_PROXY", "http://user:s3cret@127.0.0.1:3128"),
        ("http_proxy", "127.0.0.1:3128"),
        ("no_proxy", except.as_str()),
    ];

    // a tunnel, with the right password
    assert_eq!(get(&sandbox, &format!("https://{HOST}/"), &variables).await?, "200 protected");
    assert!(!secure.heads()[0].contains("proxy-authorization"));
    // a tunnel that the proxy does not allow
    let output = get(&sandbox, &format!("https://{HOST}:8443/"), &variables).await?;
    assert!(output.starts_with("error ProxyRefused; "), "{output}");
    // a tunnel with the wrong password
    let wrong = [("HTTPS_PROXY", "user:wrong@127.0.0.1:3128")];
    let output = get(&sandbox, &format!("https://{HOST}/"), &wrong).await?;
    assert!(output.starts_with("error ProxyAuthentication; "), "{output}");
    assert!(output.contains("rejected the user name and password; "), "{output}");
    assert!(!output.contains("wrong"), "{output}");
    // forwarding without a password
    let output = get(&sandbox, &format!("http://{HOST}/"), &variables).await?;
    assert!(output.starts_with("error ProxyAuthentication; "), "{output}");
    assert!(output.contains("requires a user name and password; "), "{output}");
    assert_eq!(plain.heads(), Vec::<String>::new());
    // forwarding with the right one
    let right = [("HTTP_PROXY", "http://user:s3cret@127.0.0.1:3128")];
    assert_eq!(get(&sandbox, &format!("http://{HOST}/"), &right).await?, "200 plain");
    assert!(!plain.heads()[0].contains("proxy-authorization"), "{:?}", plain.heads());
    // a port without a server, through the proxy: the response of the proxy
    let output = get(&sandbox, &format!("http://{HOST}:82/"), &right).await?;
    assert!(output.starts_with('5'), "{output}");
    // a host that does not use the proxy
    assert_eq!(get(&sandbox, &format!("http://{HOST}:81/"), &variables).await?, "200 direct");
    assert!(direct.heads()[0].starts_with("GET / "), "{:?}", direct.heads());

    proxy.kill().await;
    drop(proxy);
    for served in [secure, plain, direct] {
        served.end().await;
    }
    sandbox.finish().await
}
