mod limits;
mod oauth;
mod old_sse;
mod server;

use musher_tools::Part;
use serde_json::json;
use tempfile::TempDir;

use server::{at, program, serve_http};

use super::*;
use crate::pool::MAX_RESTARTS;

fn options(home: &TempDir) -> Options {
    Options {
        home: home.path().join("home"),
        factory_home: Some(home.path().join("factory")),
        cwd: home.path().to_owned(),
        environment: std::env::vars_os().collect(),
        ..Options::default()
    }
}

async fn start(servers: Vec<(&str, Transport)>) -> (Mcp, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let servers = servers.into_iter().map(|(name, transport)| McpServer {
        level: Some(Level::User),
        ..McpServer::of_session(name, transport)
    });
    let mcp = Mcp::start(options(&home), servers.collect());
    mcp.settled().await;
    (mcp, home)
}

async fn call(mcp: &Mcp, server: &str, tool: &str, arguments: Value) -> ToolOutput {
    let arguments = arguments.as_object().unwrap().clone();
    mcp.call(server, tool, arguments, &CancellationToken::new()).await
}

/// Waits until the list of servers satisfies a condition.
async fn wait_for(mcp: &Mcp, what: impl Fn(&[ServerView]) -> bool) {
    let mut changes = mcp.changes();
    let waiting = async {
        while !what(&mcp.servers()) {
            changes.changed().await.unwrap();
        }
    };
    timeout(Duration::from_secs(30), waiting).await.expect("it never came to that");
}

fn status(mcp: &Mcp) -> Vec<(String, String)> {
    mcp.servers().into_iter().map(|server| (server.name, server.status)).collect()
}

fn pairs<const N: usize>(list: [(&str, &str); N]) -> Vec<(String, String)> {
    list.map(|(name, status)| (name.to_owned(), status.to_owned())).to_vec()
}

/// The behaviour of every server, over any transport.
async fn does_its_work(mcp: &Mcp, name: &str) {
    let echo = mcp.find(&format!("{name}___echo")).unwrap();
    assert_eq!(
        (echo.is_read_only, echo.is_enabled, echo.description.as_deref()),
        (Some(true), true, Some("does echo"))
    );
    assert_eq!(mcp.find(&format!("{name}___fail")).unwrap().is_read_only, None);
    let output = call(mcp, name, "echo", json!({"a": [1, "é"]})).await;
    assert_eq!((output.client_text().as_str(), output.is_error), (r#"{"a":[1,"é"]}"#, false));
    let output = call(mcp, name, "fail", json!({})).await;
    assert_eq!((output.client_text().as_str(), output.is_error), ("Error: Error: it broke", true));
    let output = call(mcp, name, "picture", json!({})).await;
    let picture = Part::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    assert_eq!(output.for_client, [picture]);
    let output = call(mcp, name, "nothing", json!({})).await;
    assert_eq!(output.client_text(), "Error: Error: there is no tool `nothing`");

    let cancel = CancellationToken::new();
    let waiting = mcp.call(name, "wait", Map::new(), &cancel);
    let soon = async {
        // the call is in flight when the next one is answered
        call(mcp, name, "echo", json!({})).await;
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(waiting, soon);
    assert_eq!(output, ToolOutput::cancelled());
}

#[tokio::test]
async fn program_is_started_called_and_stopped() {
    let (mcp, _home) = start(vec![("local", program())]).await;
    assert_eq!(status(&mcp), pairs([("local", "connected")]), "{:?}", mcp.servers());
    does_its_work(&mcp, "local").await;
    let before = mcp.servers();
    assert_eq!(
        (before[0].tool_count, before[0].kind.as_str(), before[0].source.as_str()),
        (Some(7), "stdio", "user")
    );
    mcp.shutdown().await;
    assert!(mcp.pool.tasks.is_empty());
    let output = call(&mcp, "local", "echo", json!({})).await;
    assert_eq!(output.client_text(), "Error: Error: the session is over");
}

#[tokio::test]
async fn own_secrets_reach_a_program_and_ours_do_not() {
    let home = tempfile::tempdir().unwrap();
    let Transport::Stdio { command, args, mut env } = program() else { panic!("it is a program") };
    env.push(("OWN".to_owned(), musher_model::Secret::new("own")));
    let ours = std::env::vars_os().chain([("OPENAI_API_KEY".into(), "ours".into())]);
    let options =
        Options { environment: musher_tools::command_environment(ours, &[], &[]), ..options(&home) };
    let mcp = Mcp::start(options, vec![McpServer::of_session("s", Transport::Stdio { command, args, env })]);
    mcp.settled().await;
    let own = call(&mcp, "s", "variable", json!({"name": "OWN"})).await;
    let ours = call(&mcp, "s", "variable", json!({"name": "OPENAI_API_KEY"})).await;
    assert_eq!((own.client_text().as_str(), ours.client_text().as_str()), ("own", "not set"));
    assert_eq!(mcp.servers(), [], "those of a client are not listed");
    assert_eq!(mcp.tools().len(), 7, "but their tools are");
}

#[tokio::test]
async fn crashed_program_is_restarted_a_few_times() {
    let (mcp, _home) = start(vec![("local", program())]).await;
    for _ in 0..=MAX_RESTARTS {
        let output = call(&mcp, "local", "die", json!({})).await;
        assert!(output.is_error);
        let text = output.client_text();
        assert!(text.contains("it ended with code 7: out of cheese"), "{text}");
        wait_for(&mcp, |servers| servers[0].status == "failed").await;
    }
    let output = call(&mcp, "local", "echo", json!({})).await;
    assert!(output.client_text().contains("does not work"), "{}", output.client_text());
    // disabling and enabling it resets the restarts; it is not in the file
    mcp.pool.switch("local", false);
    mcp.pool.switch("local", true);
    assert_eq!(call(&mcp, "local", "echo", json!({})).await.client_text(), "{}");
}

#[tokio::test]
async fn new_tools_are_seen() {
    let (mcp, _home) = start(vec![("local", program())]).await;
    call(&mcp, "local", "grow", json!({})).await;
    wait_for(&mcp, |servers| servers[0].tool_count == Some(8)).await;
    assert!(mcp.find("local___more").is_some());
}

#[tokio::test]
async fn http_server_with_sessions_and_streams_is_called() {
    let (address, _served) = serve_http(None, true).await;
    let (mcp, _home) = start(vec![("web", at(address, "t0ken"))]).await;
    assert_eq!(status(&mcp), pairs([("web", "connected")]), "{:?}", mcp.servers());
    does_its_work(&mcp, "web").await;
    call(&mcp, "web", "grow", json!({})).await;
    wait_for(&mcp, |servers| servers[0].tool_count == Some(6)).await;
    mcp.shutdown().await;
    assert!(mcp.pool.tasks.is_empty());
}

#[tokio::test]
async fn http_server_without_sessions_is_called() {
    let (address, _served) = serve_http(None, false).await;
    let (mcp, _home) = start(vec![("web", at(address, "t0ken"))]).await;
    does_its_work(&mcp, "web").await;
}

#[tokio::test]
async fn server_configured_as_sse_is_called_over_streamable_http() {
    let (address, _served) = serve_http(None, true).await;
    let older = |transport| match transport {
        Transport::Http { url, headers } => Transport::Sse { url, headers },
        other => other,
    };
    let elsewhere = Transport::Sse { url: "http://127.0.0.1:9/sse".to_owned(), headers: vec![] };
    let (mcp, _home) = start(vec![("old", older(at(address, "t0ken"))), ("none", elsewhere)]).await;
    assert_eq!(status(&mcp), pairs([("old", "connected"), ("none", "failed")]));
    let servers = mcp.servers();
    assert_eq!(servers[0].kind, "sse");
    assert!(servers[1].error.is_some(), "{servers:?}");
}

#[tokio::test]
async fn server_that_requires_login_fails_with_a_message() {
    let (address, _served) = serve_http(None, true).await;
    let (mcp, _home) = start(vec![("web", at(address, "wrong"))]).await;
    let servers = mcp.servers();
    assert_eq!(servers[0].status, "failed");
    assert!(servers[0].error.as_deref().unwrap().contains("needs a token"), "{servers:?}");
    assert!(!format!("{mcp:?}").contains("wrong"));
}

#[tokio::test]
async fn restarted_http_server_is_reconnected() {
    let (address, served) = serve_http(None, true).await;
    let (mcp, _home) = start(vec![("web", at(address, "t0ken"))]).await;
    served.end().await;
    let output = call(&mcp, "web", "echo", json!({})).await;
    assert!(output.is_error, "{}", output.client_text());
    wait_for(&mcp, |servers| servers[0].status == "failed").await;
    let (_, _served) = serve_http(Some(address), true).await;
    assert_eq!(call(&mcp, "web", "echo", json!({})).await.client_text(), "{}");
    assert_eq!(status(&mcp), pairs([("web", "connected")]));
}

#[tokio::test]
async fn failing_programs_do_not_affect_other_servers() {
    let nothing = Transport::Stdio { command: "/no/such/program".to_owned(), args: vec![], env: vec![] };
    let chatty = Transport::Stdio {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), "echo hello; echo what is this >&2; exit 3".to_owned()],
        env: vec![],
    };
    let refused = Transport::Http { url: "http://127.0.0.1:9/mcp".to_owned(), headers: vec![] };
    let (mcp, _home) =
        start(vec![("none", nothing), ("chatty", chatty), ("web", refused), ("good", program())]).await;
    let expected = [("none", "failed"), ("chatty", "failed"), ("web", "failed"), ("good", "connected")];
    assert_eq!(status(&mcp), pairs(expected));
    let errors: Vec<_> = mcp.servers().into_iter().map(|server| server.error.unwrap_or_default()).collect();
    assert!(errors[0].contains("/no/such/program"), "{}", errors[0]);
    assert!(errors[1].contains("code 3: what is this"), "{}", errors[1]);
    assert!(errors[2].contains("127.0.0.1:9"), "{}", errors[2]);
}

#[tokio::test(start_paused = true)]
async fn silent_server_fails_after_the_start_timeout() {
    let silent = Transport::Stdio { command: "sleep".to_owned(), args: vec!["1000".to_owned()], env: vec![] };
    let home = tempfile::tempdir().unwrap();
    let server = McpServer { level: Some(Level::User), ..McpServer::of_session("silent", silent) };
    let begun = tokio::time::Instant::now();
    let mcp = Mcp::start(options(&home), vec![server]);
    let mut changes = mcp.changes();
    // no timeout here: the paused clock would advance to it while the program starts
    while mcp.servers()[0].status == "connecting" {
        changes.changed().await.unwrap();
    }
    let error = mcp.servers()[0].error.clone().unwrap();
    assert!(error.starts_with("it did not answer within 30 seconds"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(40));
}

#[tokio::test]
async fn call_ends_at_its_timeout() {
    let home = tempfile::tempdir().unwrap();
    let options = Options { call_timeout: Some(Duration::from_millis(300)), ..options(&home) };
    let mcp = Mcp::start(options, vec![McpServer::of_session("s", program())]);
    mcp.settled().await;
    let output = call(&mcp, "s", "wait", json!({})).await;
    assert_eq!(output.client_text(), "Error: Error: the tool did not answer within 0.3 seconds");
}

#[tokio::test]
async fn changes_are_saved_in_our_home_and_not_in_droids() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    fs_err::create_dir_all(path("factory")).unwrap();
    let theirs = r#"{"mcpServers": {"old": {"command": "${SOME}", "disabled": true}}}"#;
    fs_err::write(path("factory/mcp.json"), theirs).unwrap();
    let old = McpServer {
        level: Some(Level::User),
        is_disabled: true,
        ..McpServer::of_session(
            "old",
            Transport::Stdio { command: "cat".to_owned(), args: vec![], env: vec![] },
        )
    };
    let mcp = Mcp::start(options(&home), vec![old]);
    assert_eq!(status(&mcp), pairs([("old", "disabled")]));

    mcp.add("new", &program(), None).await.unwrap();
    mcp.settled().await;
    assert_eq!(status(&mcp), pairs([("old", "disabled"), ("new", "connected")]));
    mcp.toggle_tool("new", "echo", false).await.unwrap();
    assert!(!mcp.find("new___echo").unwrap().is_enabled);
    let output = call(&mcp, "new", "echo", json!({})).await;
    assert!(output.client_text().contains("switched off"));
    mcp.toggle("new", false).await.unwrap();
    assert_eq!(status(&mcp)[1].1, "disabled");
    mcp.toggle("old", false).await.unwrap();

    let text = fs_err::read_to_string(path("home/mcp.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["mcpServers"]["old"], json!({"command": "${SOME}", "disabled": true}));
    let new = &file["mcpServers"]["new"];
    assert_eq!((&new["disabled"], &new["disabledTools"]), (&json!(true), &json!(["echo"])));
    mcp.toggle_tool("new", "echo", true).await.unwrap();
    let again = parse_server("new", new, Level::User, &|_| None).unwrap();
    assert_eq!((again.transport, again.is_disabled), (program(), true));

    mcp.remove("new").await.unwrap();
    mcp.remove("old").await.unwrap();
    let gone = mcp.remove("old").await.unwrap_err().to_string();
    assert!(gone.contains("which is not changed"), "{gone}");
    assert_eq!(mcp.remove("x").await.unwrap_err().to_string(), "MCP server not found in configuration");
    assert_eq!(mcp.toggle("x", true).await.unwrap_err().to_string(), "MCP server not found in configuration");
    assert_eq!(mcp.servers(), []);
    assert_eq!(fs_err::read_to_string(path("factory/mcp.json")).unwrap(), theirs);
}

#[tokio::test]
async fn failed_server_tells_no_secret_of_its_configuration() {
    let script = r#"echo "bad $TOKEN, $1" >&2; exit 3"#;
    let args = ["-c", script, "sh", "argument-1"].map(str::to_owned).to_vec();
    let env = vec![("TOKEN".to_owned(), musher_model::Secret::new("variable-1"))];
    let (mcp, _home) = start(vec![("s", Transport::Stdio { command: "sh".to_owned(), args, env })]).await;
    let error = mcp.servers()[0].error.clone().unwrap();
    assert!(error.contains("it ended with code 3: bad ***, ***"), "{error}");
    let output = call(&mcp, "s", "echo", json!({})).await;
    assert!(!output.client_text().contains("-1"), "{}", output.client_text());
}
