//! Test helper: a client with the proxies and certificates of its environment. Usage: `musher-http-get URL [NAME...]`.
//!
//! Prints the status and the body, or `error` and its details. The names resolve to loopback; no other name resolves.

use std::io::{self, Write as _};
use std::net::Ipv4Addr;

use http::HeaderMap;
use musher_http::{Client, Error, Resolve, Resolving};

/// The names that resolve.
#[derive(Debug)]
struct Names(Vec<String>);

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        let is_known = self.0.iter().any(|name| name == host);
        Box::pin(async move {
            let found = is_known.then(|| vec![(Ipv4Addr::LOCALHOST, 0).into()]);
            found.ok_or_else(|| io::Error::other("no such name"))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or_else(|| io::Error::other("a URL expected"))?;
    let client = Client::builder().resolver(Names(arguments.collect())).build();
    let line = match get(&client, &url).await {
        Ok((status, body)) => format!("{status} {body}"),
        Err(error) => format!("error {:?}; {error}; {}; {error:?}", error.kind(), error.report()),
    };
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    writeln!(stdout, "{line}")
}

async fn get(client: &Client, url: &str) -> Result<(u16, String), Error> {
    let mut response = client.get(url, HeaderMap::new()).await?;
    let body = response.body.read(100_000).await?;
    Ok((response.status.as_u16(), String::from_utf8_lossy(&body).into_owned()))
}
