//! Behind a proxy: the scripted model takes its place, since it answers whatever host is asked for.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use super::stage::{Stage, step};
use crate::program::{Run, ended};

/// A home whose model and MCP server can only be reached through the proxy.
fn stage() -> Stage {
    let stage = Stage::new(Script::new().reply(Reply::text("Through the proxy.").when(step(1))));
    let settings = json!({"blockOnMcpLoad": true, "customModels": [{
        "model": "scripted", "displayName": "Scripted", "baseUrl": "http://model.example/v1",
        "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
    }]});
    fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
    let servers = json!({"mcpServers": {"web": {"type": "http", "url": "http://mcp.example/mcp"}}});
    fs_err::write(stage.home().join("mcp.json"), servers.to_string()).unwrap();
    stage
}

fn run(stage: &Stage, name: &str, value: &str) -> Run {
    let mut command = stage.command(&["hello"]);
    command.env(name, value);
    ended(command)
}

#[test]
fn models_and_mcp_servers_are_asked_through_the_proxy() {
    for name in ["HTTP_PROXY", "all_proxy"] {
        let stage = stage();
        let ran = run(&stage, name, &stage.model_url().replace("http://", "http://user:s3cret@"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Through the proxy.\n"), "{}", ran.stderr);
        let requests = stage.requests();
        for path in ["/v1/chat/completions", "/mcp"] {
            let request = requests.iter().find(|request| request.path == path).expect(path);
            assert!(request.header("host").is_some_and(|host| host.ends_with(".example")), "{request:?}");
            assert!(request.header("proxy-authorization").is_some(), "{request:?}");
        }
    }
}

#[test]
fn proxy_that_cannot_be_used_is_an_error_without_its_password() {
    let ran = run(&stage(), "HTTP_PROXY", "socks5://user:s3cret@127.0.0.1:1");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("invalid HTTP_PROXY: only http:// and https://"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
}
