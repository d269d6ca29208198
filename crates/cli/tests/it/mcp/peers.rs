//! A real MCP server with OAuth: the one of the `mcp` package of `PyPI`.

use crate::engine::client::Client;
use crate::run::stage::step;
use anyhow::{Context as _, Result, bail};
use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};
use testkit::peers::{Installed, PYTHON_SDK};
use testkit::{Launch, Program, Sandbox, droid, require_peer};

/// Opens a URL, and prints where the redirect leads. With a second argument it opens that, too.
const BROWSER: &str = "
import sys, urllib.request, urllib.error
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None
try:
    urllib.request.build_opener(Stay).open(sys.argv[1])
    sys.exit('no redirect')
except urllib.error.HTTPError as answer:
    to = answer.headers['Location']
print(to)
if len(sys.argv) > 2: print(urllib.request.urlopen(to).read().decode())
";

struct World {
    python: Installed,
    sandbox: Sandbox,
    server: Program,
    port: u16,
}

impl World {
    async fn new(python: Installed) -> Result<Self> {
        let sandbox = Sandbox::new()?;
        let port = sandbox.listen()?.local_addr()?.port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/helpers/oauth_mcp_server.py");
        let launch = sandbox.launch(python.entry()).args(["-W", "ignore", script]).arg(port.to_string());
        let mut server = sandbox.spawn(&launch)?;
        while server.next_line().await?.context("the server has ended")? != "ready" {}
        Ok(Self { python, sandbox, server, port })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    fn musher(&self, arguments: &[&str]) -> Launch {
        self.sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(arguments)
    }

    /// Runs musher to its end. Returns exit code and output.
    async fn run(&self, arguments: &[&str]) -> Result<(Option<i32>, String)> {
        let ended = self.sandbox.output(&self.musher(arguments)).await?;
        Ok((ended.status.code(), format!("{}\n{}", ended.stdout.join("\n"), ended.stderr)))
    }

    /// What the browser ends at.
    async fn browse(&self, url: &str, follows: bool) -> Result<String> {
        let launch = self.sandbox.launch(self.python.entry()).args(["-c", BROWSER, url]);
        let launch = if follows { launch.arg("follow") } else { launch };
        let ended = self.sandbox.output(&launch).await?;
        if !ended.status.success() {
            bail!("the browser failed: {}", ended.stderr);
        }
        ended.stdout.into_iter().next().context("no redirect")
    }

    /// Changes the state of the server, and returns its counts.
    async fn tell(&self, what: &str) -> Result<Value> {
        let url = format!("http://127.0.0.1:{}/test/{what}", self.port);
        let code = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())";
        let ended =
            self.sandbox.output(&self.sandbox.launch(self.python.entry()).args(["-c", code, &url])).await?;
        Ok(serde_json::from_str(&ended.stdout.join(""))?)
    }

    /// Starts a login. Returns it with the URL for the user.
    async fn login(&self) -> Result<(Program, String)> {
        let mut login = self.sandbox.spawn(&self.musher(&["mcp", "login", "private"]))?;
        let url = login.next_line().await?.context("no URL")?;
        Ok((login, url))
    }

    async fn end(mut self) -> Result<()> {
        self.server.kill().await;
        drop(self.server);
        self.sandbox.finish().await
    }
}

#[tokio::test]
async fn user_logs_in_uses_the_server_and_logs_out() -> Result<()> {
    let world = World::new(require_peer!(PYTHON_SDK)).await?;
    let (code, text) = world.run(&["mcp", "add", "private", &world.url()]).await?;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("run `musher mcp login private`"), "{text}");
    let (code, text) = world.run(&["doctor"]).await?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("needs login"), "{text}");

    // with a browser on this machine
    let (login, url) = world.login().await?;
    world.browse(&url, true).await?;
    let ended = login.end().await?;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("logged in to private, tools: 1"), "{}", ended.stderr);
    let (_, text) = world.run(&["mcp"]).await?;
    assert!(text.contains("private  logged in"), "{text}");

    // the tool works in a session, also after the token has expired
    let script = Script::new()
        .reply(Reply::tool("private___secret", json!({})).when(step(1).prompt("secret")))
        .otherwise(Reply::text("done"));
    let model = world.sandbox.model(script)?;
    droid::configure(&world.sandbox, &model.url())?;
    world.tell("expire").await?;
    let arguments = ["run", "--auto", "high", "What is the secret?"];
    let (code, text) = world.run(&arguments).await?;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        model.calls().iter().any(|call| format!("{:?}", call.body).contains("the secret is 4711")),
        "{text}"
    );
    let counts = world.tell("counts").await?;
    assert_eq!((&counts["codes"], &counts["refreshes"]), (&json!(1), &json!(1)));

    // a revoked login is reported, and a new one is made with a pasted address
    world.tell("revoke").await?;
    let (code, text) = world.run(&["mcp", "list", "--check"]).await?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("needs login"), "{text}");
    let (mut login, url) = world.login().await?;
    login.send_line("what?").await?;
    login.send_line(&world.browse(&url, false).await?).await?;
    let ended = login.end().await?;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("that is not the answer to this login"), "{}", ended.stderr);
    assert_eq!(world.tell("counts").await?["clients"], 1, "the registration is used again");

    let (code, text) = world.run(&["mcp", "logout", "private"]).await?;
    assert_eq!((code, text.trim()), (Some(0), "logged out of private"));
    assert_ne!(world.tell("counts").await?["revocations"], 0);
    world.tell("deny").await?;
    let (login, url) = world.login().await?;
    world.browse(&url, true).await?;
    let ended = login.end().await?;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("access_denied"), "{}", ended.stderr);
    model.shutdown().await;
    world.end().await
}

/// A client of `musher exec`, which shows the login to its own user.
#[tokio::test]
async fn client_of_the_protocol_logs_in_out_and_gives_up() -> Result<()> {
    let world = World::new(require_peer!(PYTHON_SDK)).await?;
    let (code, text) = world.run(&["mcp", "add", "private", &world.url()]).await?;
    assert_eq!(code, Some(0), "{text}");
    // no model is asked
    droid::configure(&world.sandbox, "http://127.0.0.1:9")?;
    let words = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    let mut client = Client::on(world.sandbox.spawn(&world.musher(&words))?);
    let session = json!({"machineId": "m", "cwd": world.sandbox.workspace()});
    assert!(client.call("droid.initialize_session", session).await?["result"].is_object());
    let private = json!({"serverName": "private"});
    state_of(&mut client, |server| server["requiresAuth"] == true).await?;
    let submit = |code: &str, state: &str| json!({"serverName": "private", "code": code, "state": state});

    // the code counts only with the state of this login
    let login = client.ask("droid.authenticate_mcp_server", private.clone()).await?;
    let (url, state) = login_of(&mut client).await?;
    let pending = state_of(&mut client, |server| server["pendingAuthUrl"].is_string()).await?;
    assert_eq!((&pending["pendingAuthUrl"], &pending["pendingAuthState"]), (&json!(url), &json!(state)));
    let redirect = world.browse(&url, false).await?;
    let code = parameter(&redirect, "code").context("a code")?;
    assert_eq!(parameter(&redirect, "state"), Some(state.clone()));
    let answer = client.call("droid.submit_mcp_auth_code", submit(&code, "another")).await?;
    assert_eq!(answer["result"]["success"], false, "{answer}");
    let answer = client.call("droid.submit_mcp_auth_code", submit(&code, &state)).await?;
    assert_eq!(answer["result"]["success"], true, "{answer}");
    let done = completed(&mut client, &login).await?;
    assert_eq!((&done.0["outcome"], &done.1["result"]["success"]), (&json!("success"), &json!(true)));
    let connected = state_of(&mut client, |server| server["status"] == "connected").await?;
    assert_eq!(
        (&connected["toolCount"], &connected["hasAuthTokens"]),
        (&json!(1), &json!(true)),
        "{connected}"
    );
    let answer = client.call("droid.submit_mcp_auth_code", submit(&code, &state)).await?;
    assert_eq!(answer["result"]["success"], false, "no login waits: {answer}");

    let answer = client.call("droid.clear_mcp_auth", private.clone()).await?;
    assert_eq!(answer["result"]["success"], true, "{answer}");
    let cleared = state_of(&mut client, |server| server["requiresAuth"] == true).await?;
    assert_ne!(cleared["hasAuthTokens"], true, "{cleared}");
    assert_ne!(world.tell("counts").await?["revocations"], 0);

    // the page refuses, and the client says so
    let login = client.ask("droid.authenticate_mcp_server", private.clone()).await?;
    let (_, state) = login_of(&mut client).await?;
    let refusal = json!({
        "serverName": "private", "error": "access_denied", "errorDescription": "the user said no", "state": state,
    });
    let answer = client.call("droid.submit_mcp_auth_error", refusal).await?;
    assert_eq!(answer["result"]["success"], true, "{answer}");
    let (event, reply) = completed(&mut client, &login).await?;
    assert_eq!(event["outcome"], "failed", "{event}");
    let reason = reply["error"]["message"].as_str().context("an error")?;
    assert!(reason.contains("private") && reason.contains("access_denied"), "{reason}");

    // the user gives up
    let login = client.ask("droid.authenticate_mcp_server", private.clone()).await?;
    login_of(&mut client).await?;
    let cancel = client.ask("droid.cancel_mcp_auth", private).await?;
    let (event, reply) = completed(&mut client, &login).await?;
    assert_eq!(event["outcome"], "cancelled", "{event}");
    assert!(reply["error"]["message"].as_str().context("an error")?.contains("cancelled"), "{reply}");
    let is_it = |message: &&Value| message["type"] == "response" && message["id"] == cancel;
    let cancelled = client.seen.iter().find(is_it).cloned();
    let cancelled = match cancelled {
        Some(answer) => answer,
        None => client.response(&cancel).await?,
    };
    assert_eq!(cancelled["result"]["success"], true, "{cancelled}");
    let unknown = client.call("droid.authenticate_mcp_server", json!({"serverName": "nowhere"})).await?;
    assert_eq!(unknown["error"]["message"], "Server not found", "{unknown}");
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    world.end().await
}

/// Waits until the server is in a state.
async fn state_of(client: &mut Client, is_so: impl Fn(&Value) -> bool) -> Result<Value> {
    loop {
        let list = client.call("droid.list_mcp_servers", json!({})).await?;
        let server = list["result"]["servers"][0].clone();
        if is_so(&server) {
            return Ok(server);
        }
        // a change may have come before the list
        let is_change = |message: &Value| message["params"]["notification"]["type"] == "mcp_status_changed";
        client.until("a change of the servers", is_change).await?;
    }
}

/// Waits for the login that the user has to make; returns its URL and state.
async fn login_of(client: &mut Client) -> Result<(String, String)> {
    let required = client.told("mcp_auth_required").await?;
    assert_eq!(required["serverName"], "private", "{required}");
    assert!(required["message"].is_string(), "{required}");
    let text = |name: &str| required[name].as_str().map(str::to_owned).with_context(|| required.to_string());
    Ok((text("authUrl")?, text("state")?))
}

/// Waits for the end of a login: its notification, and the reply to the request, in any order.
async fn completed(client: &mut Client, login: &str) -> Result<(Value, Value)> {
    let (mut event, mut reply) = (None, None);
    while event.is_none() || reply.is_none() {
        let message = client.next().await?.context("the agent has ended")?;
        if message["params"]["notification"]["type"] == "mcp_auth_completed" {
            event = Some(message["params"]["notification"].clone());
        } else if message["type"] == "response" && message["id"] == login {
            reply = Some(message);
        }
    }
    event.zip(reply).context("both have come")
}

/// A parameter of a URL. Codes and states of the server need no decoding.
fn parameter(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
}
