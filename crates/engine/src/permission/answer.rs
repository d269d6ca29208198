//! What an answer changes. Only an answer that was offered is consent.

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
            let level = Autonomy::for_risk(request.risk).max(Autonomy::Low);
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
    let same = policy.autonomy;
    let (autonomy, is_new_session) = match choice {
        Choice::ProceedOnce | Choice::ProceedEdit => (same, false),
        Choice::ProceedAutoRunLow => (Autonomy::Low, false),
        Choice::ProceedAutoRunMedium => (Autonomy::Medium, false),
        Choice::ProceedAutoRunHigh => (Autonomy::High, false),
        Choice::ProceedNewSession => (Autonomy::Off, true),
        Choice::ProceedNewSessionLow => (Autonomy::Low, true),
        Choice::ProceedNewSessionMedium => (Autonomy::Medium, true),
        Choice::ProceedNewSessionHigh => (Autonomy::High, true),
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
