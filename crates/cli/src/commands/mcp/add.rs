//! `musher mcp add`: writes a server to mcp.json, and connects once, so that mistakes are seen at once.

use std::path::Path;

use anyhow::anyhow;
use musher_engine::ServerTransport;
use musher_engine::config::{Level, Transport};
use serde_json::{Value, json};

use super::Servers;
use crate::args::mcp::Add;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

pub(super) async fn run(args: Add, printer: Printer) -> Result<Exit, Failure> {
    let servers = Servers::of(Path::new("."))?;
    let name = &args.name;
    if name.trim() != name || name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::setup(anyhow!("invalid server name `{name}`")));
    }
    let is_there = |level: Option<Level>| level == Some(Level::User);
    if servers.config.mcp_servers.iter().any(|server| server.name == *name && is_there(server.level)) {
        let failure = Failure::setup(anyhow!("the MCP server `{name}` already exists"));
        return Err(failure.hint(format!("`musher mcp remove {name}` removes it")));
    }
    let oauth = oauth(&args);
    let transport = transport(&args)?;
    let mcp = servers.connect(Vec::new());
    mcp.add(name, &transport, oauth.as_ref()).await.map_err(Failure::setup)?;
    printer.note(format!("added {name} to {}", servers.environment.home().join("mcp.json").display()));
    mcp.settled().await;
    let view = mcp.servers().into_iter().find(|view| view.name == *name);
    mcp.shutdown().await;
    match view {
        Some(view) if view.requires_login => {
            printer.note(format!("it needs a login: run `musher mcp login {name}`"));
        }
        Some(view) if view.status == "connected" => {
            printer.note(format!("connected, tools: {}", view.tool_count.unwrap_or_default()));
        }
        view => {
            let error = view.and_then(|view| view.error).unwrap_or_default();
            printer.note(format!("warning: cannot connect: {}", sanitized(&error, 1000)));
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

fn transport(args: &Add) -> Result<Transport, Failure> {
    let wrong = |text: String| Failure::setup(anyhow!(text));
    let pairs = |list: &[String], separator: char| -> Result<Vec<(String, String)>, Failure> {
        let pair = |text: &String| {
            let (name, value) = text.split_once(separator).filter(|(name, _)| !name.trim().is_empty())?;
            Some((name.trim().to_owned(), value.trim_start().to_owned()))
        };
        let all =
            list.iter().map(|text| pair(text).ok_or_else(|| wrong(format!("`{text}` has no `{separator}`"))));
        all.collect()
    };
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let transport = match (&args.url, args.command.as_slice()) {
        (Some(url), _) => {
            if !is_url(url) {
                let failure = wrong(format!("invalid URL `{url}`"));
                return Err(
                    failure.hint(format!("put `--` before a program: musher mcp add {} -- {url}", args.name))
                );
            }
            if !args.env.is_empty() {
                return Err(wrong("--env is for programs: a URL takes --header".to_owned()));
            }
            let (url, headers) = (url.clone(), pairs(&args.header, ':')?);
            if args.sse {
                ServerTransport::Sse { url, headers }
            } else {
                ServerTransport::Http { url, headers }
            }
        }
        (None, [command, arguments @ ..]) => {
            if !args.header.is_empty() || args.sse || args.client_id.is_some() || args.callback_port.is_some()
            {
                return Err(wrong(format!(
                    "`{command}` is a program: --header, --sse and OAuth are for URLs"
                )));
            }
            let env = pairs(&args.env, '=')?.into_iter().collect();
            ServerTransport::Stdio { command: command.clone(), args: arguments.to_vec(), env }
        }
        (None, []) => return Err(wrong("missing URL or command".to_owned())),
    };
    Ok(transport.into())
}

fn oauth(args: &Add) -> Option<Value> {
    let mut oauth = json!({});
    if let Some(id) = &args.client_id {
        oauth["clientId"] = id.clone().into();
    }
    if let Some(port) = args.callback_port {
        oauth["callbackPort"] = port.into();
    }
    oauth.as_object().is_some_and(|fields| !fields.is_empty()).then_some(oauth)
}
