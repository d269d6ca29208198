//! MCP: tools of this process, and the agent's own servers.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use musher::wire::{
    AddMcpServerParams, McpServerConfig, McpServerNameParams, McpServerType, PermissionDetails,
    RemoveMcpServerParams, SettingsLevel, SubmitMcpAuthCodeParams, SubmitMcpAuthErrorParams,
    ToggleMcpServerParams, ToggleMcpToolParams, ToolConfirmationOutcome as Outcome,
};
use musher::{Decision, Event, McpServer, McpTools, TurnEnd};
use serde_json::json;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{Stage, on};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Person {
    name: String,
}

fn people(calls: &Arc<Mutex<Vec<String>>>) -> McpTools {
    let calls = Arc::clone(calls);
    McpTools::new()
        .tool("lookup", "Looks a person up", move |person: Person| {
            let calls = Arc::clone(&calls);
            async move {
                calls.lock().unwrap_or_else(PoisonError::into_inner).push(person.name.clone());
                if person.name == "Unknown" {
                    Err("there is no such person")
                } else {
                    Ok(format!("{} is user 42", person.name))
                }
            }
        })
        .plain_tool("count", "Counts the people", || async { "two" })
        .read_only()
        .plain_tool("broken", "Always panics", || async { panic_quietly() })
}

fn panic_quietly() -> String {
    std::panic::resume_unwind(Box::new("broken"))
}

/// Listeners where the agent can reach them: one for each session.
fn reachable(server: McpServer, stage: &Stage, sessions: usize) -> Result<McpServer> {
    let listeners: Result<Vec<TcpListener>> = (0..sessions).map(|_| stage.listen()).collect();
    let listeners = Mutex::new(listeners?);
    Ok(server.listen_with(move || {
        let next = listeners.lock().unwrap_or_else(PoisonError::into_inner).pop();
        next.ok_or_else(|| io::Error::other("no listener is left"))
    }))
}

pub(crate) async fn tools_of_this_process_are_called_by_the_agent_and_stop_with_the_session(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::tool("people___lookup", json!({"name": "Alice"})).when(on("Alice", 1)))
        .reply(Reply::text("Alice is 42.").when(on("Alice", 2)))
        .reply(
            Reply::tool("people___lookup", json!({"name": "Unknown"}))
                .and_tool("people___lookup", json!({"nam": 1}))
                .and_tool("people___broken", json!({}))
                .when(on("Errors", 1)),
        )
        .reply(Reply::text("All failed.").when(on("Errors", 2)))
        .reply(Reply::tool("people___count", json!({})).when(on("How many", 1)))
        .reply(Reply::text("Two.").when(on("How many", 2)));
    let stage = target.stage(script)?;
    let (calls, asked) = (Arc::default(), Arc::new(Mutex::new(Vec::new())));
    let asked_here = Arc::clone(&asked);
    let server = reachable(McpServer::new("people", people(&calls)), &stage, 2)?;
    let session = stage
        .session()
        .serve_mcp(server)
        .on_permission_sync(move |permission| {
            for tool_use in &permission.tool_uses {
                if let PermissionDetails::McpTool(tool) = &tool_use.details {
                    asked_here.lock().unwrap_or_else(PoisonError::into_inner).push(tool.tool_name.clone());
                }
            }
            Decision::allow_once()
        })
        .open()
        .await?;
    let tools = session.client().list_mcp_tools().await?.tools;
    let names: Vec<_> = tools.iter().map(|tool| (tool.server_name.as_str(), tool.name.as_str())).collect();
    assert_eq!(names, [("people", "lookup"), ("people", "count"), ("people", "broken")]);

    let mut turn = session.send("Who is Alice?").start().await?;
    let mut answers = Vec::new();
    while let Some(event) = turn.next().await {
        match event? {
            Event::ToolResult(result) => answers.push(result.text()),
            Event::Result(result) => {
                assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Alice is 42."));
            }
            _ => {}
        }
    }
    assert_eq!(answers, ["Alice is user 42"]);
    assert_eq!(*calls.lock().unwrap(), ["Alice"]);
    assert_eq!(asked.lock().unwrap().first().map(String::as_str), Some("people___lookup"));

    let mut turn = session.send("Errors, please.").start().await?;
    let mut failures = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::ToolResult(result) = event? {
            assert!(result.is_error, "{}", result.text());
            failures.push(result.text());
        }
    }
    assert!(failures[0].contains("there is no such person"), "{failures:?}");
    assert!(failures[1].contains("does not fit"), "{failures:?}");
    assert!(failures[2].contains("the tool panicked"), "{failures:?}");

    // a fork has a server of its own: the first one's is gone when it is used
    let fork = session.fork().await?;
    session.close().await?;
    assert_eq!(fork.send("How many are there?").await?.text, "Two.");
    // not closed: the server must stop with the last handle
    drop(fork);
    stage.finish().await
}

pub(crate) async fn a_tool_or_a_whole_server_is_allowed_for_good(target: &dyn Target) -> Result<()> {
    let call = |name: &str, word: &str, script: Script| {
        script
            .reply(Reply::tool(format!("people___{name}"), json!({"name": "Bob"})).when(on(word, 1)))
            .reply(Reply::text("Done.").when(on(word, 2)))
    };
    let script = [("lookup", "first"), ("lookup", "second"), ("other", "third"), ("last", "fourth")]
        .into_iter()
        .fold(Script::new(), |script, (name, word)| call(name, word, script));
    let stage = target.stage(script)?;
    let say = |_: Person| async { Ok::<_, String>("yes") };
    let tools = McpTools::new()
        .tool("lookup", "Looks a person up", say)
        .tool("other", "Looks another one up", say)
        .tool("last", "Looks the last one up", say);
    let server = reachable(McpServer::new("people", tools), &stage, 1)?;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asked_here = Arc::clone(&asked);
    let session = stage
        .session()
        .serve_mcp(server)
        .on_permission_sync(move |permission| {
            let details = permission.tool_uses.first().map(|tool_use| tool_use.details.clone());
            let Some(PermissionDetails::McpTool(tool)) = details else { return Decision::deny() };
            asked_here.lock().unwrap_or_else(PoisonError::into_inner).push(tool.tool_name.clone());
            match tool.tool_name.as_str() {
                "people___lookup" => Outcome::ProceedAlwaysTools.into(),
                "people___other" => Outcome::ProceedAlwaysServer.into(),
                _ => Decision::deny(),
            }
        })
        .open()
        .await?;
    for word in ["first", "second", "third", "fourth"] {
        let result = session.send(format!("The {word} one.")).await?;
        assert_eq!((&result.end, result.text.as_str()), (&TurnEnd::Completed, "Done."), "{word}");
    }
    // the second call of the tool was covered by the first answer, the last tool by the answer for its server
    assert_eq!(*asked.lock().unwrap(), ["people___lookup", "people___other"]);
    session.close().await?;
    stage.finish().await
}

/// A minimal MCP server as a program: enough to be listed.
const SERVER: &str = r#"
import sys, json
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    result = {"protocolVersion": message.get("params", {}).get("protocolVersion"), "capabilities": {"tools": {}},
              "serverInfo": {"name": "s", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "hello", "description": "Says hello", "inputSchema": {"type": "object"}}]}
    if message["method"] == "ping": result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

pub(crate) async fn servers_of_the_agent_are_added_listed_toggled_and_removed(target: &dyn Target) -> Result<()> {
    let stage = target.stage(Script::new())?;
    let file = stage.sandbox().workspace().join("server.py");
    fs_err::write(&file, SERVER)?;
    let args = vec![file.to_string_lossy().into_owned()];
    let session =
        stage.session().mcp_server(McpServerConfig::stdio("given", "python3", args.clone())).open().await?;
    let given = session.client().list_mcp_tools().await?.tools;
    assert_eq!(given.iter().map(|tool| tool.server_name.as_str()).collect::<Vec<_>>(), ["given"]);
    assert!(session.client().list_mcp_servers().await?.servers.is_empty(), "only configured ones are listed");

    let mut changes = session.notifications().only("mcp_status_changed");
    session
        .client()
        .add_mcp_server(AddMcpServerParams {
            command: Some("python3".to_owned()),
            args: Some(args),
            env: Some(BTreeMap::new()),
            ..AddMcpServerParams::new("added", McpServerType::Stdio)
        })
        .await?;
    crate::stage::soon("the server to connect", async {
        while let Some(_change) = changes.next().await {
            let servers = session.client().list_mcp_servers().await?.servers;
            if servers.iter().any(|server| server.name == "added" && server.status.as_str() == "connected") {
                return Ok(());
            }
        }
        anyhow::bail!("the session ended")
    })
    .await??;
    let has = |tools: &[musher::wire::McpToolInfo], enabled: bool| {
        tools.iter().any(|tool| {
            tool.server_name == "added" && tool.name == "hello" && tool.is_enabled == Some(enabled)
        })
    };
    assert!(has(&session.client().list_mcp_tools().await?.tools, true));
    session.client().toggle_mcp_tool(ToggleMcpToolParams::new("added", "hello", false)).await?;
    assert!(has(&session.client().list_mcp_tools().await?.tools, false));
    session.client().toggle_mcp_server(ToggleMcpServerParams::new("added", false, SettingsLevel::User)).await?;
    let summary = session.client().list_mcp_servers().await?.summary.unwrap_or_default();
    assert_eq!(summary.disabled.map(|count| count.get()), Some(1));
    let registry = session.client().list_mcp_registry().await?.servers;
    // the engine has no registry of servers that are not configured
    assert_eq!(registry.len() > 3, stage.is_droid(), "{registry:?}");

    let unknown = || McpServerNameParams::new("no-such-server");
    assert!(session.client().authenticate_mcp_server(unknown()).await.unwrap_err().is_protocol());
    assert!(session.client().clear_mcp_auth(unknown()).await.unwrap_err().is_protocol());
    session.client().cancel_mcp_auth(unknown()).await?;
    session.client().submit_mcp_auth_code(SubmitMcpAuthCodeParams::new("no-such-server", "code", "state")).await?;
    session.client().submit_mcp_auth_error(SubmitMcpAuthErrorParams::new("no-such-server", "denied", "state")).await?;

    session.client().remove_mcp_server(RemoveMcpServerParams::new("added", SettingsLevel::User)).await?;
    assert!(session.client().list_mcp_servers().await?.servers.is_empty());
    let again = session.client().remove_mcp_server(RemoveMcpServerParams::new("added", SettingsLevel::User)).await;
    assert!(again.unwrap_err().is_protocol());
    session.close().await?;
    stage.finish().await
}
