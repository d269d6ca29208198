//! `musher mcp list`: the servers, what is known of their logins, and with `--check` their state.

use musher_engine::config::{Level, McpServer, Transport};
use musher_engine::{LoginState, ServerView};
use serde_json::{Value, json};

use super::Servers;
use crate::args::mcp::List;
use crate::exit::{Exit, Failure};
use crate::models::without_secrets;
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};

/// Maximum length of a shown name, URL, command or error.
const MAX_LENGTH: usize = 300;

pub(super) async fn run(args: &List, printer: Printer) -> Result<Exit, Failure> {
    let servers = Servers::of(&args.cwd)?;
    let list = &servers.config.mcp_servers;
    let views = if args.check {
        let mcp = servers.connect(list.clone());
        mcp.settled().await;
        let views = mcp.servers();
        mcp.shutdown().await;
        views
    } else {
        Vec::new()
    };
    let rows = list.iter().map(|server| {
        let view = views.iter().find(|view| view.name == server.name);
        Row { server, state: state(server, view, servers.environment.login_of(server)), view }
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        printer.json(&serde_json::to_string_pretty(&json!({"servers": rows}))?)?;
    } else if rows.is_empty() {
        printer.note("no MCP servers configured; `musher mcp add` adds one");
    } else {
        let width = rows.iter().map(|row| row.server.name.chars().count()).max().unwrap_or_default();
        let style = Style::of_stdout();
        for row in &rows {
            let name = sanitized(&row.server.name, MAX_LENGTH);
            let state = match row.state {
                "connected" | "logged in" => style.good(row.state),
                "failed" | "needs login" => style.bad(row.state),
                other => style.dim(other),
            };
            printer.data(
                style.strong(&padded(&name, width)) + "  " + state + format!("  {}", row.details()).as_str(),
            )?;
        }
    }
    let has_failed = rows.iter().any(|row| args.check && matches!(row.state, "failed" | "needs login"));
    Ok(if has_failed { Exit::Failed } else { Exit::Done })
}

struct Row<'a> {
    server: &'a McpServer,
    state: &'static str,
    view: Option<&'a ServerView>,
}

impl Row<'_> {
    fn details(&self) -> String {
        let target = target(&self.server.transport);
        let level = self.server.level.map_or("session", |level| level.name());
        let mut parts = vec![format!("{}  ({level})", sanitized(&target, MAX_LENGTH))];
        if let Some(count) = self.view.and_then(|view| view.tool_count) {
            parts.push(format!("{count} {}", if count == 1 { "tool" } else { "tools" }));
        }
        match self.view.and_then(|view| view.error.as_deref()) {
            _ if self.state == "needs login" => {
                parts.push(format!("run `musher mcp login {}`", sanitized(&self.server.name, MAX_LENGTH)));
            }
            Some(error) => parts.push(sanitized(error, MAX_LENGTH)),
            None => {}
        }
        parts.join("  ")
    }

    fn json(&self) -> Value {
        json!({
            "name": self.server.name,
            "type": self.server.transport.name(),
            "source": self.server.level.map(Level::name),
            "target": target(&self.server.transport),
            "state": self.state.replace(' ', "_"),
            "tools": self.view.and_then(|view| view.tool_count),
            "error": self.view.and_then(|view| view.error.clone()),
        })
    }
}

/// Returns the state of a server: as the connection says, or else as the stored login does.
fn state(server: &McpServer, view: Option<&ServerView>, login: LoginState) -> &'static str {
    match view {
        _ if server.is_disabled => "disabled",
        Some(view) if view.requires_login => "needs login",
        Some(view) if view.status == "connected" => "connected",
        Some(_) => "failed",
        None => match login {
            LoginState::Needed => "needs login",
            LoginState::LoggedIn => "logged in",
            LoginState::None => "configured",
        },
    }
}

/// Returns how a server is reached, without what may be secret: user information, the query, and the arguments of a program.
fn target(transport: &Transport) -> String {
    match transport {
        Transport::Stdio { command, .. } => command.clone(),
        Transport::Http { url, .. } | Transport::Sse { url, .. } => without_secrets(url),
    }
}
