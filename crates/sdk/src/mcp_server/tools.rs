//! Tools made of async functions, for programs without an MCP server of their own.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

type Run =
    Arc<dyn Fn(Map<String, Value>) -> Pin<Box<dyn Future<Output = CallToolResult> + Send>> + Send + Sync>;

/// Tools made of functions: the handler of an [`McpServer`](crate::McpServer) server.
///
/// The type of a function's argument is the schema of the tool's input. Input that does not fit, an error and a panic become a failed
/// tool result that the model sees.
#[derive(Clone, Default)]
pub struct McpTools {
    entries: Vec<(Tool, Run)>,
}

impl McpTools {
    /// Creates an empty list of tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool with input.
    #[must_use]
    pub fn tool<A, F, R>(self, name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        let schema = match schemars::schema_for!(A).to_value() {
            Value::Object(schema) => schema,
            // input that is not an object is refused at the call
            _ => Map::new(),
        };
        self.add(name.into(), description.into(), schema, move |input| {
            let input = serde_json::from_value::<A>(Value::Object(input));
            let running = input.map(&run);
            Box::pin(async move {
                match running {
                    Ok(running) => running.await.into_result(),
                    Err(error) => failure(format!("the input does not fit: {error}")),
                }
            })
        })
    }

    /// Adds a tool without input.
    #[must_use]
    pub fn plain_tool<F, R>(self, name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        let schema =
            Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), json!({}))]);
        self.add(name.into(), description.into(), schema, move |_| {
            let running = run();
            Box::pin(async move { running.await.into_result() })
        })
    }

    /// Marks the tool added last as read-only, so that agents ask for permission less often.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        if let Some((tool, _)) = self.entries.last_mut() {
            tool.annotations = Some(ToolAnnotations::new().read_only(true));
        }
        self
    }

    fn add(
        mut self,
        name: String,
        description: String,
        schema: Map<String, Value>,
        run: impl Fn(Map<String, Value>) -> Pin<Box<dyn Future<Output = CallToolResult> + Send>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.entries.push((Tool::new(name, description, schema), Arc::new(run)));
        self
    }
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|(tool, _)| &tool.name)).finish()
    }
}

impl ServerHandler for McpTools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.entries.iter().map(|(tool, _)| tool.clone()).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((_, run)) = self.entries.iter().find(|(tool, _)| tool.name == call.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", call.name), None));
        };
        // the function itself may panic, before there is a future
        let running = async { run(call.arguments.unwrap_or_default()).await };
        let result = AssertUnwindSafe(running).catch_unwind().await;
        Ok(result.unwrap_or_else(|_panic| failure("the tool panicked".to_owned())).into())
    }
}

/// A value that a tool can return: text, a whole [`CallToolResult`], or a `Result` of either whose error can be printed.
pub trait IntoToolResult {
    /// Converts the value into the result that the agent gets.
    fn into_result(self) -> CallToolResult;
}

impl IntoToolResult for String {
    fn into_result(self) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(self)])
    }
}

impl IntoToolResult for &str {
    fn into_result(self) -> CallToolResult {
        self.to_owned().into_result()
    }
}

impl IntoToolResult for CallToolResult {
    fn into_result(self) -> CallToolResult {
        self
    }
}

impl<A: IntoToolResult, E: fmt::Display> IntoToolResult for Result<A, E> {
    fn into_result(self) -> CallToolResult {
        self.map_or_else(|error| failure(error.to_string()), IntoToolResult::into_result)
    }
}

fn failure(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}
