//! Searches at a server on loopback that answers like each service.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;
use crate::builtin::testing::TestWorkspace;

/// Starts a server with one answer. Returns its address, and the requests as they come.
async fn server(status: &'static str, body: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
            loop {
                let text = String::from_utf8_lossy(&heard).to_lowercase();
                let length = text
                    .split_once("content-length: ")
                    .and_then(|(_, rest)| rest.lines().next()?.parse::<usize>().ok());
                if text.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= length.unwrap_or(0)) {
                    break;
                }
                let count = stream.read(&mut buffer).await.unwrap();
                heard.extend_from_slice(&buffer[..count]);
            }
            sender.send(String::from_utf8_lossy(&heard).into_owned()).await.unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, requests)
}

async fn search(provider: SearchProvider, query: &str) -> ToolOutput {
    TestWorkspace::new().run(&WebSearch::new(provider), json!({"query": query, "max_results": 2})).await
}

const RESULTS: &str =
    "1. One\n   https://one.example/\n   first page\n2. Two\n   https://two.example/\n   second";

#[tokio::test]
async fn every_service_is_asked_and_read_in_its_own_way() {
    let plain = r#"{"results": [{"title": "One", "url": "https://one.example/", "content": "first\n page"}, {"title": "Two", "url": "https://two.example/", "content": "second"}, {"title": "Three", "url": "https://three.example/"}]}"#;
    let brave = r#"{"query": {}, "web": {"results": [{"title": "One", "url": "https://one.example/", "description": "first page"}, {"title": "Two", "url": "https://two.example/", "description": "second"}]}}"#;
    let exa = r#"{"results": [{"title": "One", "url": "https://one.example/", "text": "first page"}, {"title": "Two", "url": "https://two.example/", "text": "second"}]}"#;
    for (provider, body, expected) in [
        (SearchProvider::searxng(""), plain, vec!["GET /search?q=rust%20%26%20co&format=json HTTP/1.1"]),
        (
            SearchProvider::brave("k1"),
            brave,
            vec!["GET /res/v1/web/search?q=rust%20%26%20co&count=2 ", "x-subscription-token: k1"],
        ),
        (
            SearchProvider::tavily("k2"),
            plain,
            vec!["POST /search ", "authorization: Bearer k2", "{\"query\":\"rust & co\",\"max_results\":2}"],
        ),
        (SearchProvider::exa("k3"), exa, vec!["POST /search ", "x-api-key: k3", "\"numResults\":2"]),
    ] {
        let (address, mut requests) = server("200 OK", body).await;
        let output = search(provider.at(address), "rust & co").await;
        assert_eq!(output.model_text(), RESULTS);
        let request = requests.recv().await.unwrap();
        for part in expected {
            assert!(request.contains(part), "{request}");
        }
    }
}

#[tokio::test]
async fn failure_says_why_and_never_shows_the_key() {
    let (address, _requests) = server("401 Unauthorized", "bad key secret-7").await;
    let output = search(SearchProvider::tavily("secret-7").at(address), "x").await;
    assert_eq!((output.client_text().as_str(), output.is_error), ("Error: Web search failed", true));
    assert!(
        output.model_text().contains("status 401") && output.model_text().contains("bad key ***"),
        "{}",
        output.model_text()
    );
    let (address, _requests) = server("200 OK", "<html>").await;
    assert!(search(SearchProvider::searxng(address), "x").await.model_text().contains("not JSON"));
    let (address, _requests) = server("200 OK", r#"{"results": []}"#).await;
    assert!(
        search(SearchProvider::searxng(address), "x").await.model_text().starts_with("No results for \"x\"")
    );
    assert!(
        search(SearchProvider::searxng("http://127.0.0.1:1"), "x")
            .await
            .model_text()
            .contains("cannot be reached")
    );
    assert!(search(SearchProvider::searxng(""), " ").await.model_text().contains("`query` is empty"));
    assert!(!format!("{:?}", SearchProvider::brave("secret-7")).contains("secret-7"));
}

#[test]
fn first_variable_that_is_set_decides_about_the_service() {
    let from = |set: &[(&str, &str)]| {
        let variable =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        SearchProvider::from_variables(variable).map(|provider| format!("{provider:?}"))
    };
    assert_eq!(from(&[("BRAVE_API_KEY", " ")]), None);
    assert!(from(&[("EXA_API_KEY", "k")]).unwrap().contains("Exa"));
    assert!(from(&[("EXA_API_KEY", "k"), ("SEARXNG_URL", "http://s")]).unwrap().contains("http://s"));
}
