//! What a decision allows. Only a choice that was offered allows anything.

use crate::{Autonomy, Choice, Kind, Mode, Operation, PermissionRequest, Policy, Risk};

/// What a decision allows: the call it is about, and perhaps later calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// The call runs. Later calls are judged as before, apart from MCP tools and servers added to [`Policy::grants`].
    Call {
        /// The new autonomy level, if the decision raised it. [`apply`] has set it in the policy.
        raised: Option<Autonomy>,
    },
    /// The plan is carried out.
    Plan {
        /// The autonomy level for the work.
        autonomy: Autonomy,
        /// Whether a new session does the work. If not, [`apply`] has set the new mode and level in the policy.
        is_new_session: bool,
        /// Whether the user has edited the plan.
        is_edited: bool,
    },
}

/// Applies the choice of a decision to the policy. Returns what it allows, or `None` if the call is denied.
///
/// A choice that was not offered denies the call. "Always" raises the autonomy level to the risk of the request, or grants the MCP tool
/// or server up to that risk, or the host of a web page: a call with a higher risk needs a new decision.
pub fn apply(policy: &mut Policy, request: &PermissionRequest, choice: Choice) -> Option<Grant> {
    // clients may return an edited plan although that choice is never offered
    let is_plan = matches!(request.kind, Kind::ExitSpecMode { .. });
    let is_edited = is_plan && choice == Choice::ProceedEdit;
    if !request.choices.contains(&choice) && !is_edited {
        return None;
    }
    match (&request.kind, choice) {
        (_, Choice::Cancel) => None,
        (Kind::ExitSpecMode { .. }, _) => leave_spec_mode(policy, choice),
        // approval of a page does not cover builds and deletes
        (Kind::Beyond { tool, target, operation: Operation::Network, .. }, Choice::ProceedAlways) => {
            policy.grants.add_address(tool, target);
            Some(Grant::Call { raised: None })
        }
        (_, Choice::ProceedAlways) => {
            let level = choice.granted_level(request.risk);
            let raised = (level > policy.autonomy).then_some(level);
            policy.autonomy = policy.autonomy.max(level);
            Some(Grant::Call { raised })
        }
        (Kind::McpTool { server, actual_tool, .. }, Choice::ProceedAlwaysTools) => {
            policy.grants.add_tool(server, actual_tool, request.risk);
            Some(Grant::Call { raised: None })
        }
        (Kind::McpTool { server, .. }, Choice::ProceedAlwaysServer) => {
            policy.grants.add_server(server, request.risk);
            Some(Grant::Call { raised: None })
        }
        (_, Choice::ProceedOnce) => Some(Grant::Call { raised: None }),
        _ => None,
    }
}

fn leave_spec_mode(policy: &mut Policy, choice: Choice) -> Option<Grant> {
    let (autonomy, is_new_session) = match choice {
        Choice::ProceedOnce | Choice::ProceedEdit => (policy.autonomy, false),
        Choice::ProceedAutoRunLow | Choice::ProceedAutoRunMedium | Choice::ProceedAutoRunHigh => {
            (choice.granted_level(Risk::None), false)
        }
        Choice::ProceedNewSession
        | Choice::ProceedNewSessionLow
        | Choice::ProceedNewSessionMedium
        | Choice::ProceedNewSessionHigh => (choice.granted_level(Risk::None), true),
        Choice::ProceedAlways | Choice::ProceedAlwaysTools | Choice::ProceedAlwaysServer | Choice::Cancel => {
            return None;
        }
    };
    if !is_new_session {
        policy.mode = Mode::Auto;
        policy.autonomy = autonomy;
    }
    Some(Grant::Plan { autonomy, is_new_session, is_edited: choice == Choice::ProceedEdit })
}
