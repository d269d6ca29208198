//! `musher mcp login` and `logout`.

use std::io::{self, BufRead as _};

use anyhow::anyhow;
use musher_engine::mcp::{LoginFailure, Mcp, PendingLogin};
use tokio::sync::mpsc;

use super::Servers;
use crate::args::mcp::{Login, Logout};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

pub(super) async fn log_in(args: &Login, printer: Printer) -> Result<Exit, Failure> {
    let servers = Servers::of(&args.cwd)?;
    let name = sanitized(&args.name, 200);
    let mcp = servers.connect(vec![servers.find(&args.name)?.clone()]);
    // what the server says when it refuses a request names its authorization server
    mcp.settled().await;
    let told = async |login: PendingLogin| {
        printer.note(format!("Open this URL to log in to {name}:"));
        // it is data: a script may open it
        if let Err(error) = printer.exact(&login.url) {
            tracing::warn!(%error, "cannot print the URL of a login");
        }
        printer.note(
            "Waiting for the browser. If it runs on another machine, paste the address it ends at here.",
        );
    };
    let outcome = tokio::select! {
        outcome = mcp.authenticate(&args.name, told) => outcome,
        () = pasted(&mcp, &args.name, printer) => Ok(()),
    };
    let view = mcp.servers().into_iter().find(|view| view.name == args.name);
    mcp.shutdown().await;
    match outcome {
        Ok(()) => {
            let count = view.and_then(|view| view.tool_count).unwrap_or_default();
            printer.note(format!("logged in to {name}, tools: {count}"));
            Ok(Exit::Done)
        }
        Err(LoginFailure::Impossible(why)) => Err(Failure::setup(anyhow!(sanitized(&why, 1000)))),
        Err(LoginFailure::Failed(why)) => {
            Err(anyhow!("cannot log in to {name}: {}", sanitized(&why, 1000)).into())
        }
        Err(LoginFailure::Cancelled) => Err(anyhow!("the login was cancelled").into()),
    }
}

/// Submits the lines that the user pastes. Never ends: the login does.
async fn pasted(mcp: &Mcp, name: &str, printer: Printer) {
    let (sender, mut lines) = mpsc::channel::<String>(1);
    // reading cannot be interrupted, and the program must end without it
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    while let Some(line) = lines.recv().await {
        if !line.trim().is_empty() && !mcp.submit_pasted(name, &line) {
            printer.note(
                "that is not the answer to this login: paste the whole address that the browser ended at",
            );
        }
    }
    std::future::pending::<()>().await;
}

pub(super) async fn log_out(args: &Logout, printer: Printer) -> Result<Exit, Failure> {
    let servers = Servers::of(&args.cwd)?;
    let server = servers.find(&args.name)?.clone();
    let had_login = servers.environment.login_of(&server) == musher_engine::LoginState::LoggedIn;
    let mcp = servers.connect(vec![musher_engine::config::McpServer { is_disabled: true, ..server }]);
    mcp.clear_authentication(&args.name).await?;
    mcp.shutdown().await;
    let name = sanitized(&args.name, 200);
    printer.note(if had_login {
        format!("logged out of {name}")
    } else {
        format!("there was no login at {name}")
    });
    Ok(Exit::Done)
}
