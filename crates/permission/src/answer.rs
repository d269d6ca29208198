//! What an answer changes. Only an answer that was offered is consent.

use crate::Risk;

use super::{Autonomy, Choice, Kind, Mode, PermissionRequest, Policy};

/// What follows from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It does not run, and the turn ends.
    Cancelled,
    /// It runs.
    Proceed {
        /// The new autonomy, if the answer raised it. The policy has it already.
        raised: Option<Autonomy>,
    },
    /// The plan is carried out.
    LeaveSpec {
        /// The autonomy it is carried out with.
        autonomy: Autonomy,
        /// Whether a new session does it. If not, the policy has the new mode and autonomy already.
        is_new_session: bool,
        /// Whether whoever answered has changed the plan.
        is_edited: bool,
    },
}

/// Applies the answer to a request.
///
/// An answer that was not offered is a no, as is one that is not known. "Always" raises the autonomy to the risk that was shown, or
/// remembers the tool or server with it: something riskier is asked for again.
pub fn apply(policy: &mut Policy, request: &PermissionRequest, choice: Choice) -> Outcome {
    // clients may send back a changed plan, though no droid offers that
    let is_plan = matches!(request.kind, Kind::ExitSpecMode { .. });
    let is_edited = is_plan && choice == Choice::ProceedEdit;
    if !request.choices.contains(&choice) && !is_edited {
        return Outcome::Cancelled;
    }
    match (&request.kind, choice) {
        (_, Choice::Cancel) => Outcome::Cancelled,
        (Kind::ExitSpecMode { .. }, _) => leave_spec(policy, choice),
        (_, Choice::ProceedAlways) => {
            let level = choice.given(request.risk);
            let raised = (level > policy.autonomy).then_some(level);
            policy.autonomy = policy.autonomy.max(level);
            Outcome::Proceed { raised }
        }
        (Kind::McpTool { server, actual_tool, .. }, Choice::ProceedAlwaysTools) => {
            policy.grants.add_tool(server, actual_tool, request.risk);
            Outcome::Proceed { raised: None }
        }
        (Kind::McpTool { server, .. }, Choice::ProceedAlwaysServer) => {
            policy.grants.add_server(server, request.risk);
            Outcome::Proceed { raised: None }
        }
        (_, Choice::ProceedOnce) => Outcome::Proceed { raised: None },
        _ => Outcome::Cancelled,
    }
}

fn leave_spec(policy: &mut Policy, choice: Choice) -> Outcome {
    let (autonomy, is_new_session) = match choice {
        Choice::ProceedOnce | Choice::ProceedEdit => (policy.autonomy, false),
        Choice::ProceedAutoRunLow | Choice::ProceedAutoRunMedium | Choice::ProceedAutoRunHigh => {
            (choice.given(Risk::None), false)
        }
        Choice::ProceedNewSession
        | Choice::ProceedNewSessionLow
        | Choice::ProceedNewSessionMedium
        | Choice::ProceedNewSessionHigh => (choice.given(Risk::None), true),
        Choice::ProceedAlways | Choice::ProceedAlwaysTools | Choice::ProceedAlwaysServer | Choice::Cancel => {
            return Outcome::Cancelled;
        }
    };
    if !is_new_session {
        policy.mode = Mode::Auto;
        policy.autonomy = autonomy;
    }
    Outcome::LeaveSpec { autonomy, is_new_session, is_edited: choice == Choice::ProceedEdit }
}
