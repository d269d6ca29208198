//! `musher console`: finds or starts a daemon, asks it for a link that logs a browser in, and opens it.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use musher::{Daemon, Launch};
use serde_json::json;

use super::daemon::TOKEN_VARIABLE;
use crate::args::Console;
use crate::daemon_client::not_connected;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::variables;

/// The page that leads the browser to the link. The link itself must not be an argument, which other users of the machine can see.
const LOGIN_PAGE: &str = "console-login.html";
/// Programs that open a page in the user's browser.
const OPENERS: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview"] };

pub(crate) async fn run(args: Console, printer: Printer) -> Result<Exit, Failure> {
    let home = embedded::home()?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut connecting = Daemon::connect().home(&home).start(Launch::new(program).args(["daemon"]));
    if let Some(token) = variables::value(TOKEN_VARIABLE) {
        connecting = connecting.token(token.to_string_lossy());
    }
    let daemon = connecting.await.map_err(|error| Failure::setup(not_connected(error)))?;
    let login = daemon.client().call_raw("console.create_login", json!({"port": args.port})).await;
    let login = login.map_err(|error| {
        Failure::setup(anyhow!(error).context("the daemon serves no console"))
            .hint("stop the daemon, and start it again with this version")
    })?;
    daemon.close().await;
    let login = login.to_value().context("cannot read the answer of the daemon")?;
    let (Some(page), Some(ticket)) = (login["url"].as_str(), login["ticket"].as_str()) else {
        return Err(anyhow!("cannot read the answer of the daemon: it has no link").into());
    };
    let url = format!("{page}#login={ticket}");
    if args.print_url {
        printer.exact(&url)?;
        return Ok(Exit::Done);
    }
    let file = home.join(LOGIN_PAGE);
    write_page(&file, &url).context("cannot write the page that opens the console")?;
    for opener in OPENERS {
        if Launch::new(opener).args([&file]).start_detached().await.is_ok() {
            printer.note(format!("opened {page} in the browser"));
            return Ok(Exit::Done);
        }
    }
    fs_err::remove_file(&file).ok();
    Err(Failure::setup(anyhow!("cannot find a program that opens a browser"))
        .hint("run `musher console --print-url` and open the address"))
}

/// Writes a page that only the user can read, and that leads to a URL.
fn write_page(path: &Path, url: &str) -> std::io::Result<()> {
    fs_err::remove_file(path).ok();
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>musher</title>"
    )
}
