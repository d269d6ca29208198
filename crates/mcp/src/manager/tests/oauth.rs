//! Logins with OAuth, at a real MCP server with a small authorization server.

mod authority;

use std::os::unix::fs::PermissionsExt as _;

use tokio::sync::oneshot;

use authority::{Authority, browse};

use super::*;
use crate::oauth::login_of;
use crate::{LoginFailure, LoginState, PendingLogin};

/// Returns the servers of a session with this home.
fn session(home: &TempDir, authority: &Authority) -> Mcp {
    let transport = Transport::Http { url: authority.url(), headers: vec![] };
    let server = McpServer { level: Some(Level::User), ..McpServer::of_session("private", transport) };
    Mcp::start(options(home), vec![server])
}

async fn open(home: &TempDir, authority: &Authority) -> Mcp {
    let mcp = session(home, authority);
    mcp.settled().await;
    mcp
}

/// Logs in with a browser that follows every redirect.
async fn log_in(mcp: &Mcp) -> Result<(), LoginFailure> {
    mcp.authenticate("private", async |login: PendingLogin| {
        tokio::spawn(async move { browse(&login.url, true).await });
    })
    .await
}

/// Starts a login, and returns it with the outcome that follows.
async fn begin(mcp: &Mcp) -> (PendingLogin, tokio::task::JoinHandle<Result<(), LoginFailure>>) {
    let (sender, receiver) = oneshot::channel();
    let mcp = mcp.clone();
    let outcome = tokio::spawn(async move {
        mcp.authenticate("private", async move |login: PendingLogin| {
            sender.send(login).unwrap();
        })
        .await
    });
    (timeout(Duration::from_secs(30), receiver).await.unwrap().unwrap(), outcome)
}

async fn echo(mcp: &Mcp) -> String {
    call(mcp, "private", "echo", json!({"a": 1})).await.client_text()
}

#[tokio::test]
async fn user_logs_in_once_for_all_sessions() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let mcp = open(&home, &authority).await;
    let view = &mcp.servers()[0];
    assert_eq!((view.status.as_str(), view.requires_login, view.has_tokens), ("failed", true, Some(false)));
    assert_eq!(view.error.as_deref(), Some("Authentication required"));
    assert_eq!(login_of(&options(&home).home, &authority.url()), LoginState::Needed);
    let text = echo(&mcp).await;
    assert!(text.contains("run `musher mcp login private`"), "{text}");

    log_in(&mcp).await.unwrap();
    let view = &mcp.servers()[0];
    assert_eq!(
        (view.status.as_str(), view.requires_login, view.has_tokens),
        ("connected", false, Some(true))
    );
    assert_eq!(view.pending_login, None);
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    let file = options(&home).home.join("mcp-logins.json");
    assert_eq!(fs_err::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);

    let other = open(&home, &authority).await;
    assert_eq!(echo(&other).await, r#"{"a":1}"#);
    assert_eq!(authority.counts(), (1, 1, 0), "registrations, codes, refreshes");
    mcp.shutdown().await;
    other.shutdown().await;
}

#[tokio::test]
async fn expired_token_is_refreshed_once_for_all_calls_and_sessions() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let mcp = open(&home, &authority).await;
    log_in(&mcp).await.unwrap();
    let other = open(&home, &authority).await;
    // the server ends the tokens before their time
    authority.with(|state| state.access.clear());
    let (a, b, c) = tokio::join!(echo(&mcp), echo(&mcp), echo(&other));
    assert_eq!((a.as_str(), b.as_str(), c.as_str()), (r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":1}"#));
    assert_eq!(authority.counts(), (1, 1, 1));

    // the time of the tokens is over
    authority.with(|state| state.expires_in = 1);
    authority.with(|state| state.access.clear());
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    let refused = authority.with(|state| state.refused);
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    assert_eq!(authority.with(|state| state.refused), refused, "refreshed before the server refuses it");
    mcp.shutdown().await;
    other.shutdown().await;
}

#[tokio::test]
async fn revoked_login_is_reported_and_a_new_one_is_picked_up_by_other_sessions() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let mcp = open(&home, &authority).await;
    log_in(&mcp).await.unwrap();
    authority.with(|state| {
        state.access.clear();
        state.refresh.clear();
    });
    let text = echo(&mcp).await;
    assert!(text.contains("musher mcp login private"), "{text}");
    wait_for(&mcp, |servers| servers[0].requires_login).await;
    assert_eq!(login_of(&options(&home).home, &authority.url()), LoginState::Needed);
    assert!(!mcp.resume_after_login(), "there is no new login yet");

    let terminal = open(&home, &authority).await;
    log_in(&terminal).await.unwrap();
    assert!(mcp.resume_after_login());
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    assert_eq!(authority.counts().0, 1, "the registration is used again");
    mcp.shutdown().await;
    terminal.shutdown().await;
}

#[tokio::test]
async fn code_can_be_pasted_or_submitted_with_the_right_state() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let mcp = open(&home, &authority).await;
    assert!(!mcp.submit_code("private", "c", "s"), "no login waits");
    let (login, outcome) = begin(&mcp).await;
    assert_eq!(mcp.servers()[0].pending_login.as_ref(), Some(&login));
    let end = browse(&login.url, false).await;
    let code = authority::parameter(&end, "code");
    assert!(!mcp.submit_code("private", &code, "another state"));
    assert!(!mcp.submit_code("other", &code, &login.state));
    assert!(mcp.submit_code("private", &code, &login.state));
    outcome.await.unwrap().unwrap();
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);

    mcp.clear_authentication("private").await.unwrap();
    wait_for(&mcp, |servers| servers[0].requires_login).await;
    assert_eq!(authority.with(|state| state.refresh.len()), 0, "it is revoked");
    let (login, outcome) = begin(&mcp).await;
    assert!(!mcp.submit_pasted("private", "what?"));
    assert!(mcp.submit_pasted("private", &format!("{}\n", browse(&login.url, false).await)));
    outcome.await.unwrap().unwrap();
    mcp.shutdown().await;
}

#[tokio::test]
async fn refused_and_cancelled_logins_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let mcp = open(&home, &authority).await;
    let (login, outcome) = begin(&mcp).await;
    assert!(mcp.submit_error("private", "access_denied", Some("the user said no".to_owned()), &login.state));
    let failed = outcome.await.unwrap().unwrap_err();
    let text = "the login was refused: access_denied: the user said no";
    assert_eq!(failed, LoginFailure::Failed(text.to_owned()));

    let (_, outcome) = begin(&mcp).await;
    mcp.cancel_authentication("private");
    assert_eq!(outcome.await.unwrap(), Err(LoginFailure::Cancelled));
    let (_, first) = begin(&mcp).await;
    let (_, second) = begin(&mcp).await;
    assert_eq!(first.await.unwrap(), Err(LoginFailure::Cancelled), "the second takes its place");
    mcp.shutdown().await;
    assert_eq!(second.await.unwrap(), Err(LoginFailure::Cancelled));
    assert_eq!(mcp.servers()[0].pending_login, None);
    assert!(mcp.servers()[0].requires_login);
    let none = mcp.authenticate("other", async |_login| {}).await;
    assert_eq!(none, Err(LoginFailure::Impossible("Server not found".to_owned())));
}

#[tokio::test]
async fn unsafe_authorization_servers_are_refused() {
    type Change = fn(&mut authority::State);
    let cases: [(&str, Change); 4] = [
        ("PKCE", |state| state.metadata["code_challenge_methods_supported"] = json!(["plain"])),
        ("names another one", |state| state.metadata["issuer"] = json!("http://127.0.0.1:1")),
        ("a login needs https", |state| {
            state.metadata["token_endpoint"] = json!("http://login.example/token");
        }),
        ("describes another server", |state| state.resource["resource"] = json!("http://127.0.0.1:1/mcp")),
    ];
    for (expected, change) in cases {
        let home = tempfile::tempdir().unwrap();
        let authority = Authority::start().await;
        authority.with(change);
        let mcp = open(&home, &authority).await;
        let LoginFailure::Failed(text) = log_in(&mcp).await.unwrap_err() else { panic!("{expected}") };
        assert!(text.contains(expected), "{text}");
        mcp.shutdown().await;
    }
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    authority.with(|state| state.issuer_in_answer = Some("http://evil.example".to_owned()));
    let mcp = open(&home, &authority).await;
    let failed = log_in(&mcp).await.unwrap_err();
    assert!(format!("{failed:?}").contains("another authorization server"), "{failed:?}");
    assert_eq!(authority.counts().1, 0, "the code was not sent");
    mcp.shutdown().await;
}

#[tokio::test]
async fn server_of_the_first_specification_and_one_with_own_client_are_logged_in_to() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    authority.with(|state| state.has_metadata = false);
    let mcp = open(&home, &authority).await;
    log_in(&mcp).await.unwrap();
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    mcp.shutdown().await;

    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    authority.with(|state| {
        state.clients.insert("mine".to_owned(), Some("s3cret".to_owned()));
        state.metadata.as_object_mut().unwrap().remove("registration_endpoint");
    });
    let entry = json!({"url": authority.url(), "oauth": {"clientId": "mine", "clientSecret": "s3cret", "scopes": ["a", "b"]}});
    let server = parse_server("private", &entry, Level::User, &|_| None).unwrap();
    let mcp = Mcp::start(options(&home), vec![server]);
    mcp.settled().await;
    log_in(&mcp).await.unwrap();
    assert_eq!(authority.with(|state| state.scope.clone()).as_deref(), Some("a b"));
    assert_eq!(echo(&mcp).await, r#"{"a":1}"#);
    mcp.shutdown().await;
}

#[tokio::test]
async fn server_without_oauth_only_fails() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    for entry in [
        json!({"url": authority.url(), "oauth": false}),
        json!({"url": authority.url(), "headers": {"authorization": "Bearer mine"}}),
    ] {
        let server = parse_server("private", &entry, Level::User, &|_| None).unwrap();
        let mcp = Mcp::start(options(&home), vec![server]);
        mcp.settled().await;
        assert_eq!((mcp.servers()[0].requires_login, mcp.servers()[0].has_tokens), (false, None), "{entry}");
        assert!(matches!(log_in(&mcp).await, Err(LoginFailure::Impossible(_))));
        mcp.shutdown().await;
    }
}
