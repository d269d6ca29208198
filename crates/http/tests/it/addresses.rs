//! Which addresses a client connects to when URLs come from outside.

use http::HeaderMap;
use musher_http::{AddressRule, Client, ErrorKind, Proxies, Redirects};

use crate::servers::{Names, Proxy, answer, client, proxy, serve};

async fn forbidden(client: &Client, url: &str) -> String {
    let error = client.get(url, HeaderMap::new()).await.expect_err(url);
    assert_eq!(error.kind(), ErrorKind::ForbiddenAddress, "{url}: {}", error.report());
    error.to_string()
}

#[tokio::test]
async fn private_addresses_are_rejected_in_every_notation() {
    let host = serve(|_| answer("200 OK", "", "secret")).await;
    let port = host.address.port();
    let public = Client::builder().proxies(Proxies::none()).addresses(AddressRule::Public).build();
    for name in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
    ] {
        for scheme in ["http", "https"] {
            let message = forbidden(&public, &format!("{scheme}://{name}:{port}/")).await;
            assert!(message.contains("not an address of the public internet"), "{message}");
        }
    }
    assert_eq!(host.heads(), Vec::<String>::new());
}

#[tokio::test]
async fn name_with_one_private_address_is_rejected() {
    let names = Names::new(&[("mixed.example", &[&["93.184.216.34", "127.0.0.1"]])]);
    let client =
        Client::builder().proxies(Proxies::none()).addresses(AddressRule::Public).resolver(names).build();
    let message = forbidden(&client, "http://mixed.example/").await;
    assert_eq!(message, "mixed.example is 127.0.0.1, which is not an address of the public internet");
}

#[tokio::test]
async fn address_that_was_checked_is_the_address_connected_to() {
    let host = serve(|_| answer("200 OK", "", "")).await;
    let port = host.address.port();
    // a second lookup for the same connection would return an address where no server listens
    let names = Names::new(&[("rebind.example", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let client = Client::builder().proxies(Proxies::none()).resolver(names.clone()).build();
    client.get(&format!("http://rebind.example:{port}/"), HeaderMap::new()).await.unwrap();
    assert_eq!(names.lookups(), ["rebind.example"]);
    // the next connection looks up and checks the name again
    let names = Names::new(&[("rebind.example", &[&["93.184.216.34"], &["127.0.0.1"]])]);
    let proxy = proxy(Proxy::Sends(answer("200 OK", "", "")), None).await;
    let client = crate::servers::client(&[("ALL_PROXY", proxy.address.to_string())])
        .resolver(names)
        .addresses(AddressRule::Public)
        .build();
    client.get("http://rebind.example/", HeaderMap::new()).await.unwrap();
    forbidden(&client, "http://rebind.example/").await;
    assert_eq!(proxy.heads().len(), 1);
}

#[tokio::test]
async fn proxy_does_not_open_private_networks() {
    let proxy = proxy(Proxy::Sends(answer("200 OK", "", "proxied")), None).await;
    let names = Names::new(&[
        ("public.example", &[&["93.184.216.34"]]),
        ("inside.example", &[&["10.1.2.3"]]),
        ("mixed.example", &[&["93.184.216.34", "::1"]]),
    ]);
    let client =
        client(&[("ALL_PROXY", proxy.address.to_string()), ("NO_PROXY", "direct.example".to_owned())])
            .addresses(AddressRule::Public)
            .resolver(names)
            .build();
    for host in [
        "inside.example",
        "mixed.example",
        "10.0.0.1",
        "169.254.169.254",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "intranet",
        "metadata.google.internal",
        "printer.local",
        "2130706433",
        "0x7f.1",
        "10.0.0.1.",
        "127.0.0.1",
        "[::1]",
    ] {
        for scheme in ["http", "https"] {
            forbidden(&client, &format!("{scheme}://{host}/")).await;
        }
    }
    assert_eq!(proxy.heads(), Vec::<String>::new());
    // a name that only the proxy can look up is allowed
    for host in ["public.example", "93.184.216.34", "unknown.example"] {
        let response = client.get(&format!("http://{host}/"), HeaderMap::new()).await.unwrap();
        assert_eq!(response.status, 200, "{host}");
    }
    assert_eq!(proxy.heads().len(), 3);
}

#[tokio::test]
async fn redirect_does_not_open_private_networks() {
    for location in ["http://10.0.0.1/", "http://localhost/", "http://inside.example/", "//[::1]/"] {
        let proxy =
            proxy(Proxy::Sends(answer("302 Found", &format!("location: {location}\r\n"), "")), None).await;
        let names = Names::new(&[
            ("public.example", &[&["93.184.216.34"]]),
            ("inside.example", &[&["10.1.2.3"]]),
            ("localhost", &[&["127.0.0.1"]]),
        ]);
        let client = client(&[("ALL_PROXY", proxy.address.to_string())])
            .addresses(AddressRule::Public)
            .redirects(Redirects::Follow { max: 5 })
            .resolver(names)
            .build();
        forbidden(&client, "http://public.example/").await;
        assert_eq!(proxy.heads().len(), 1, "{location}");
    }
}
