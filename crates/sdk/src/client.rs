//! The low-level client: every method of the protocol, typed.

use musher_rpc::Peer;
use musher_wire as wire;
use musher_wire::{Json, Method};
use tracing::Instrument;

use crate::{Error, Result};

/// Calls every method of the protocol on the agent's process.
///
/// A [`Session`](crate::Session) derefs to it. Calls go to the session the process is in; the client does not follow forks.
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
    /// Opens a new session in the process, which moves there.
    initialize_session = InitializeSession;
    /// Loads a session into the process, which moves there.
    load_session = LoadSession;
    /// Changes settings of the session.
    update_session_settings = UpdateSessionSettings;
    /// Copies the session. The process stays where it is.
    fork_session = ForkSession;
    /// Sums the session up into a new one. The process stays where it is.
    compact_session = CompactSession;
    /// Gives the session a title.
    rename_session = RenameSession;
    /// Ends a worker of a mission.
    kill_worker_session = KillWorkerSession;
    /// Sends a report to the vendor.
    submit_bug_report = SubmitBugReport;
    /// Which files could be brought back to how they were before a message.
    get_rewind_info = GetRewindInfo;
    /// Copies the session up to a message, and brings files back to how they were.
    execute_rewind = ExecuteRewind;
    /// The models the agent offers.
    list_models = ListModels;
    /// The tools the agent has, and which would run without asking.
    list_tools = ListTools;
    /// Switches a skill on or off.
    set_skill_disabled = SetSkillDisabled;
    /// Adds an MCP server to the user's settings, where it stays.
    add_mcp_server = AddMcpServer;
    /// Removes an MCP server from the user's settings.
    remove_mcp_server = RemoveMcpServer;
    /// Switches an MCP server on or off.
    toggle_mcp_server = ToggleMcpServer;
    /// Switches a tool of an MCP server on or off.
    toggle_mcp_tool = ToggleMcpTool;
    /// Begins the login at an MCP server.
    authenticate_mcp_server = AuthenticateMcpServer;
    /// Stops a login.
    cancel_mcp_auth = CancelMcpAuth;
    /// Forgets a login.
    clear_mcp_auth = ClearMcpAuth;
    /// Ends a login with the code the person got.
    submit_mcp_auth_code = SubmitMcpAuthCode;
    /// Ends a login with the error the person got.
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
    /// How full the model's context is.
    get_context_stats = GetContextStats;
    /// What fills the model's context.
    get_context_breakdown = GetContextBreakdown;
    /// The skills the agent can load.
    list_skills = ListSkills;
    /// The slash commands.
    list_commands = ListCommands;
    /// The configured MCP servers. Those given to the session are not among them.
    list_mcp_servers = ListMcpServers;
    /// The tools of all MCP servers, also of those given to the session.
    list_mcp_tools = ListMcpTools;
    /// Known MCP servers that could be added.
    list_mcp_registry = ListMcpRegistry;
}

impl Client {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Calls a method by its type, with the protocol's own deadline for it.
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result> {
        let params = Json::new(params).map_err(|source| Error::invalid_input(source.to_string()))?;
        let span = tracing::debug_span!("call", method = M::NAME);
        let result = self.peer.request(M::NAME, params, M::TIMEOUT).instrument(span).await?;
        Ok(result.read_as(M::NAME, "result")?)
    }

    /// Calls any method, also one this version of the crate does not know.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// let answer = session.call_raw("droid.list_tools", serde_json::json!({})).await?;
    /// println!("{answer}");
    /// # Ok(()) }
    /// ```
    pub async fn call_raw(&self, method: impl Into<String>, params: serde_json::Value) -> Result<Json> {
        Ok(self.peer.request(method.into(), Json::from(params), wire::ListTools::TIMEOUT).await?)
    }

    /// Stops whatever the agent does. Harmless when it does nothing.
    pub async fn interrupt(&self) -> Result<()> {
        let params = Json::empty_object();
        // ahead of all that waits to be sent
        let peer = self.peer.control();
        peer.request(wire::InterruptSession::NAME, params, wire::InterruptSession::TIMEOUT).await?;
        Ok(())
    }
}
