//! Handlers of the CLI's requests: permissions, hooks and MCP tools as closures.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::options::Hook;
use crate::{HookOutput, HookRequest, Options, Permission, PermissionRequest, ToolServer};

pub(crate) type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type OnPermission = Arc<dyn Fn(PermissionRequest) -> Answer<Permission> + Send + Sync>;
type OnHook = Arc<dyn Fn(HookRequest) -> Answer<HookOutput> + Send + Sync>;

/// The handlers of the CLI's requests during a session.
///
/// ```
/// use musher_claude::{Handlers, HookOutput, Permission};
///
/// let handlers = Handlers::new()
///     .on_permission(|request| async move {
///         if request.tool_name == "Read" { Permission::allow() } else { Permission::deny("only reading is allowed") }
///     })
///     .on_hook("PostToolUse", Some("Bash|Write"), |_request| async { HookOutput::default() });
/// ```
#[derive(Clone, Default)]
pub struct Handlers {
    permission: Option<OnPermission>,
    hooks: Vec<(String, Hook)>,
    on_hook: HashMap<String, OnHook>,
    servers: HashMap<String, ToolServer>,
}

impl Handlers {
    /// Creates handlers without closures: permissions are denied.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the closure that decides whether a tool may run. If the CLI cancels the request, the future is dropped.
    #[must_use]
    pub fn on_permission<F>(mut self, decide: impl Fn(PermissionRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Permission> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(decide(request))));
        self
    }

    /// Adds a hook for an event, for tools that match.
    #[must_use]
    pub fn on_hook<F>(
        mut self,
        event: &str,
        matcher: Option<&str>,
        hook: impl Fn(HookRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HookOutput> + Send + 'static,
    {
        let callback_id = format!("hook_{}", self.hooks.len());
        let hook_options =
            Hook { matcher: matcher.map(ToOwned::to_owned), callback_id: callback_id.clone(), timeout: None };
        self.hooks.push((event.to_owned(), hook_options));
        self.on_hook.insert(callback_id, Arc::new(move |request| Box::pin(hook(request))));
        self
    }

    /// Offers the tools of an in-process server to the model.
    #[must_use]
    pub fn mcp_server(mut self, server: ToolServer) -> Self {
        self.servers.insert(server.name().to_owned(), server);
        self
    }

    /// Adds what the CLI must know about these handlers to the options.
    pub(crate) fn register(&self, mut options: Options) -> Options {
        for (event, hook) in &self.hooks {
            options.hooks.entry(event.clone()).or_default().push(hook.clone());
        }
        options.sdk_mcp_servers.extend(self.servers.keys().cloned());
        options
    }

    pub(crate) fn decide(&self, request: PermissionRequest) -> Answer<Permission> {
        match &self.permission {
            Some(decide) => decide(request),
            None => Box::pin(async { Permission::deny("no permission handler is set") }),
        }
    }

    pub(crate) fn call_hook(&self, request: HookRequest) -> Answer<HookOutput> {
        match self.on_hook.get(&request.callback_id) {
            Some(hook) => hook(request),
            None => Box::pin(async { HookOutput::default() }),
        }
    }

    pub(crate) fn server(&self, name: &str) -> Option<&ToolServer> {
        self.servers.get(name)
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("hooks", &self.hooks).finish_non_exhaustive()
    }
}
