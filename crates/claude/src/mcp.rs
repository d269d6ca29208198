//! An in-process MCP server: tools as closures, reached through the control protocol.
//!
//! Implements the part of MCP that the CLI uses for tools. It does no IO; messages are JSON values.

use std::fmt;
use std::sync::Arc;

use musher_wire::Json;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::handlers::Answer;

/// The version to report if the CLI names none.
const PROTOCOL_VERSION: &str = "2025-06-18";
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INVALID_REQUEST: i32 = -32600;

type OnCall = Arc<dyn Fn(Value) -> Answer<Result<String, String>> + Send + Sync>;

/// In-process tools for the model.
///
/// ```
/// use musher_claude::ToolServer;
/// use serde_json::json;
///
/// let server = ToolServer::new("numbers").tool(
///     "add",
///     "Adds two numbers",
///     json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}),
///     |arguments| async move {
///         match (arguments["a"].as_f64(), arguments["b"].as_f64()) {
///             (Some(a), Some(b)) => Ok((a + b).to_string()),
///             _ => Err("two numbers are needed".to_owned()),
///         }
///     },
/// );
/// assert_eq!(server.name(), "numbers");
/// ```
#[derive(Clone)]
pub struct ToolServer {
    name: String,
    tools: Vec<Tool>,
}

#[derive(Clone)]
struct Tool {
    name: String,
    description: String,
    input_schema: Value,
    call: OnCall,
}

impl ToolServer {
    /// Creates a server without tools. The model sees its tools as `mcp__<server>__<tool>`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), tools: Vec::new() }
    }

    /// Adds a tool. It receives its arguments and returns text, or an error for the model.
    #[must_use]
    pub fn tool<F>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        call: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, String>> + Send + 'static,
    {
        self.tools.push(Tool {
            name: name.into(),
            description: description.into(),
            input_schema,
            call: Arc::new(move |arguments| Box::pin(call(arguments))),
        });
        self
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Responds to a JSON-RPC message; a notification gets no response.
    pub async fn answer(&self, message: &Json) -> Option<Json> {
        #[derive(Deserialize)]
        struct Request {
            id: Option<Value>,
            method: Option<String>,
            #[serde(default)]
            params: Value,
        }
        let Ok(request) = message.to::<Request>() else {
            return Some(reply(&Value::Null, &Err((INVALID_REQUEST, "not a request".to_owned()))));
        };
        let id = request.id?;
        let method = request.method.unwrap_or_default();
        let outcome = self.result_of(&method, &request.params).await;
        Some(reply(&id, &outcome))
    }

    async fn result_of(&self, method: &str, params: &Value) -> Result<Value, (i32, String)> {
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": params["protocolVersion"].as_str().unwrap_or(PROTOCOL_VERSION),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self.name, "version": env!("CARGO_PKG_VERSION")},
            })),
            "ping" => Ok(json!({})),
            "tools/list" => {
                let tools: Vec<_> = self.tools.iter().map(Tool::description).collect();
                Ok(json!({"tools": tools}))
            }
            "tools/call" => {
                let name = params["name"].as_str().unwrap_or_default();
                let tool = self.tools.iter().find(|tool| tool.name == name);
                let tool = tool.ok_or_else(|| (INVALID_PARAMS, format!("unknown tool `{name}`")))?;
                let outcome = (tool.call)(params["arguments"].clone()).await;
                let is_error = outcome.is_err();
                let (Ok(text) | Err(text)) = outcome;
                Ok(json!({"content": [{"type": "text", "text": text}], "isError": is_error}))
            }
            other => Err((METHOD_NOT_FOUND, format!("`{other}` is not supported"))),
        }
    }
}

impl Tool {
    fn description(&self) -> Value {
        json!({"name": self.name, "description": self.description, "inputSchema": self.input_schema})
    }
}

fn reply(id: &Value, outcome: &Result<Value, (i32, String)>) -> Json {
    let reply = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, message)) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    };
    reply.into()
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| &tool.name).collect();
        f.debug_struct("ToolServer").field("name", &self.name).field("tools", &tools).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(message: Value) -> Option<Value> {
        let server =
            ToolServer::new("s").tool("echo", "Echoes", json!({"type": "object"}), |arguments| async move {
                arguments["text"].as_str().map(ToOwned::to_owned).ok_or_else(|| "no text".to_owned())
            });
        server.answer(&message.into()).await.map(|reply| reply.to_value().unwrap())
    }

    #[tokio::test]
    async fn tool_is_listed_and_called() {
        let listed = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await.unwrap();
        assert_eq!(listed["result"]["tools"][0]["name"], "echo");
        for (arguments, text, is_error) in
            [(json!({"text": "hi"}), "hi", false), (json!({}), "no text", true)]
        {
            let params = json!({"name": "echo", "arguments": arguments});
            let called =
                ask(json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params})).await;
            let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
            assert_eq!(called.unwrap(), json!({"jsonrpc": "2.0", "id": "x", "result": result}));
        }
    }

    #[tokio::test]
    async fn unknown_request_is_an_error_and_a_notification_gets_no_response() {
        let unknown = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "resources/list"})).await.unwrap();
        assert_eq!(unknown["error"]["code"], METHOD_NOT_FOUND);
        let params = json!({"name": "other"});
        let unknown = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})).await;
        assert_eq!(unknown.unwrap()["error"]["code"], INVALID_PARAMS);
        assert_eq!(ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await, None);
        assert_eq!(ask(json!("rubbish")).await.unwrap()["error"]["code"], INVALID_REQUEST);
    }
}
