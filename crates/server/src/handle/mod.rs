//! The methods of the client: one list, one file per family. Each method converts its params to a command and does nothing itself.

mod catalog;
mod mcp;
mod message;
mod rewind;
mod session;

use musher_engine::{Command, McpCommand};
use musher_wire::{Json, Method, Request};
use serde_json::json;

use crate::dispatch::{Handled, MethodOutcome};
use crate::error_code;
use crate::params;
use crate::pending::{Pending, ReplyShape};

/// Handles a request.
pub(crate) fn request(request: &Request, pending: &Pending) -> Handled {
    use musher_wire as wire;

    match &*request.method {
        wire::InitializeSession::NAME => session::initialize(request, pending),
        wire::LoadSession::NAME => session::load(request, pending),
        wire::AddUserMessage::NAME => message::add(request),
        wire::InterruptSession::NAME => plain::<wire::InterruptSession>(request, Command::Interrupt),
        wire::UpdateSessionSettings::NAME => session::update_settings(request),
        wire::ForkSession::NAME => session::fork(request),
        wire::CompactSession::NAME => session::compact(request),
        wire::RenameSession::NAME => session::rename(request),
        wire::CloseSession::NAME => session::close(request),
        wire::KillWorkerSession::NAME => session::kill_worker(request),
        wire::SubmitBugReport::NAME => {
            params::read::<wire::SubmitBugReport>(request)?;
            Err(error_code::unsupported("sending bug reports"))
        }
        wire::GetRewindInfo::NAME => rewind::info(request),
        wire::ExecuteRewind::NAME => rewind::execute(request),
        wire::GetContextStats::NAME => plain::<wire::GetContextStats>(request, Command::ContextStats),
        wire::GetContextBreakdown::NAME => {
            plain::<wire::GetContextBreakdown>(request, Command::ContextBreakdown)
        }
        wire::ListModels::NAME => plain::<wire::ListModels>(request, Command::ListModels),
        wire::ListTools::NAME => catalog::tools(request),
        wire::ListSkills::NAME => plain::<wire::ListSkills>(request, Command::ListSkills),
        wire::SetSkillDisabled::NAME => catalog::set_skill_disabled(request),
        wire::ListCommands::NAME => plain::<wire::ListCommands>(request, Command::ListCommands),
        wire::ListMcpServers::NAME => plain::<wire::ListMcpServers>(request, of_mcp(McpCommand::ListServers)),
        wire::ListMcpTools::NAME => plain::<wire::ListMcpTools>(request, of_mcp(McpCommand::ListTools)),
        wire::ListMcpRegistry::NAME => {
            params::read::<wire::ListMcpRegistry>(request)?;
            // musher does not endorse any list of well-known servers
            Ok(MethodOutcome::Result(Json::from(json!({"servers": []}))))
        }
        wire::AddMcpServer::NAME => mcp::add(request),
        wire::RemoveMcpServer::NAME => mcp::remove(request),
        wire::ToggleMcpServer::NAME => mcp::toggle(request),
        wire::ToggleMcpTool::NAME => mcp::toggle_tool(request),
        wire::AuthenticateMcpServer::NAME => mcp::authenticate(request),
        wire::CancelMcpAuth::NAME => mcp::cancel_authentication(request),
        wire::ClearMcpAuth::NAME => mcp::clear_authentication(request),
        wire::SubmitMcpAuthCode::NAME => mcp::submit_code(request),
        wire::SubmitMcpAuthError::NAME => mcp::submit_error(request),
        other => Err(error_code::unknown_method(other)),
    }
}

/// Returns a method without parameters.
fn plain<M: Method>(request: &Request, command: Command) -> Handled {
    params::read::<M>(request)?;
    asks(command)
}

/// Returns a command whose reply determines the whole result.
#[expect(clippy::unnecessary_wraps, reason = "the last call of every method handler")]
fn asks(command: Command) -> Handled {
    Ok(MethodOutcome::Command(command, ReplyShape::Plain))
}

/// Returns a command whose result is whether it succeeded.
#[expect(clippy::unnecessary_wraps, reason = "the last call of every method handler")]
fn succeeds(command: Command) -> Handled {
    Ok(MethodOutcome::Command(command, ReplyShape::Success))
}

fn of_mcp(command: McpCommand) -> Command {
    Command::Mcp(Box::new(command))
}
