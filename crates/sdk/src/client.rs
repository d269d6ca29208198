//! The low-level client: every method of the protocol, typed.

use musher_rpc::Peer;
use musher_wire as wire;
use musher_wire::{Json, Method};
use tracing::Instrument;

use crate::{Error, Result};

/// Calls every method of the protocol on the agent's process. See [`Session::client`](crate::Session::client).
///
/// Calls go to the session that the process is in; the client does not follow forks. [`load_session`](Self::load_session) and
/// [`initialize_session`](Self::initialize_session) move the process to another session, which a [`Session`](crate::Session) does not notice.
#[derive(Debug, Clone)]
pub struct Client {
    peer: Peer,
}

/// One method of the client for each method of the protocol.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $Method:ident;)*) => {
        impl Client {
            $($(#[$doc])*
            pub async fn $name(&self, params: <wire::$Method as Method>::Params) -> Result<<wire::$Method as Method>::Result> {
                self.call::<wire::$Method>(&params).await
            })*
        }
    };
}

calls! {
    /// Opens a new session in the process, and moves the process to it.
    initialize_session = InitializeSession;
    /// Loads a session into the process, and moves the process to it.
    load_session = LoadSession;
    /// Changes settings of the session.
    update_session_settings = UpdateSessionSettings;
    /// Forks the session. The process stays in the original session.
    fork_session = ForkSession;
    /// Compacts the session into a new one. The process stays in the original session.
    compact_session = CompactSession;
    /// Sets the title of the session.
    rename_session = RenameSession;
    /// Ends a worker session of a mission.
    kill_worker_session = KillWorkerSession;
    /// Sends a bug report to the vendor.
    submit_bug_report = SubmitBugReport;
    /// Returns the files that can be restored to their content before a message.
    get_rewind_info = GetRewindInfo;
    /// Forks the session up to a message, and restores files to their content at that point.
    execute_rewind = ExecuteRewind;
    /// Lists the models that the agent offers.
    list_models = ListModels;
    /// Lists the agent's tools, and whether each would run without a permission request.
    list_tools = ListTools;
    /// Enables or disables a skill.
    set_skill_disabled = SetSkillDisabled;
    /// Adds an MCP server to the user's settings, also for later sessions.
    add_mcp_server = AddMcpServer;
    /// Removes an MCP server from the user's settings.
    remove_mcp_server = RemoveMcpServer;
    /// Enables or disables an MCP server.
    toggle_mcp_server = ToggleMcpServer;
    /// Enables or disables a tool of an MCP server.
    toggle_mcp_tool = ToggleMcpTool;
    /// Starts the login at an MCP server.
    authenticate_mcp_server = AuthenticateMcpServer;
    /// Cancels a login at an MCP server.
    cancel_mcp_auth = CancelMcpAuth;
    /// Deletes the stored login of an MCP server.
    clear_mcp_auth = ClearMcpAuth;
    /// Completes a login with the code that the user received.
    submit_mcp_auth_code = SubmitMcpAuthCode;
    /// Fails a login with the error that the user received.
    submit_mcp_auth_error = SubmitMcpAuthError;
}

/// Calls without arguments.
macro_rules! plain_calls {
    ($($(#[$doc:meta])* $name:ident = $Method:ident;)*) => {
        impl Client {
            $($(#[$doc])*
            pub async fn $name(&self) -> Result<<wire::$Method as Method>::Result> {
                self.call::<wire::$Method>(&wire::Empty::default()).await
            })*
        }
    };
}

plain_calls! {
    /// Returns how many tokens of the model's context are used and left.
    get_context_stats = GetContextStats;
    /// Returns which parts of the conversation fill the model's context.
    get_context_breakdown = GetContextBreakdown;
    /// Lists the skills that the agent can load.
    list_skills = ListSkills;
    /// Lists the slash commands.
    list_commands = ListCommands;
    /// Lists the configured MCP servers, without those that were added for this session only.
    list_mcp_servers = ListMcpServers;
    /// Lists the tools of all MCP servers, including those that were added for this session only.
    list_mcp_tools = ListMcpTools;
    /// Lists known MCP servers that can be added.
    list_mcp_registry = ListMcpRegistry;
}

impl Client {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Calls a method by its type, with the timeout that the protocol defines for it.
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result> {
        let params = Json::new(params).map_err(|source| Error::invalid_input(source.to_string()))?;
        let span = tracing::debug_span!("call", method = M::NAME);
        let result = self.peer.request(M::NAME, params, M::TIMEOUT).instrument(span).await?;
        Ok(result.read_as(M::NAME, "result")?)
    }

    /// Calls any method by name, including methods that this version of the crate does not know.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// let answer = session.client().call_raw("droid.list_tools", serde_json::json!({})).await?;
    /// println!("{answer}");
    /// # Ok(()) }
    /// ```
    pub async fn call_raw(&self, method: impl Into<String>, params: serde_json::Value) -> Result<Json> {
        Ok(self.peer.request(method.into(), Json::from(params), wire::ListTools::TIMEOUT).await?)
    }

    /// Interrupts the agent. Does nothing if it is idle.
    pub async fn interrupt(&self) -> Result<()> {
        let params = Json::empty_object();
        // before all that waits to be sent
        let peer = self.peer.control();
        peer.request(wire::InterruptSession::NAME, params, wire::InterruptSession::TIMEOUT).await?;
        Ok(())
    }
}
