//! The methods of the client: one list, one file per family. Each makes a command of its params, and does nothing itself.

mod catalog;
mod mcp;
mod message;
mod rewind;
mod session;

use musher_engine::{Command, McpCommand};
use musher_wire::{Json, Method, Request};
use serde_json::json;

use crate::dispatch::{Asked, Handled};
use crate::error_code;
use crate::open::Shape;
use crate::params;

/// What a request asks for.
pub(crate) fn request(request: &Request) -> Handled {
    use musher_wire as wire;

    match &*request.method {
        wire::InitializeSession::NAME => session::initialize(request),
        wire::LoadSession::NAME => session::load(request),
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
            // there is no list of well-known servers that we could vouch for
            Ok(Asked::Known(Json::from(json!({"servers": []}))))
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

/// A method whose params say nothing.
fn plain<M: Method>(request: &Request, command: Command) -> Handled {
    params::read::<M>(request)?;
    asks(command)
}

/// A command whose answer the reply says all about.
#[expect(clippy::unnecessary_wraps, reason = "what every method ends with")]
fn asks(command: Command) -> Handled {
    Ok(Asked::Of(command, Shape::Plain))
}

/// A command that is answered with whether it worked.
#[expect(clippy::unnecessary_wraps, reason = "what every method ends with")]
fn succeeds(command: Command) -> Handled {
    Ok(Asked::Of(command, Shape::Success))
}

fn of_mcp(command: McpCommand) -> Command {
    Command::Mcp(Box::new(command))
}
