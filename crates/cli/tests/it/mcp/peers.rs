//! A real MCP server with OAuth: the one of the `mcp` package of `PyPI`.

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
