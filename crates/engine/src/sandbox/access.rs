//! What the permission rules have found about a command, as the sandbox needs it. Pure except for looking at files.

use musher_tools::{SandboxDenial, Workspace};

use crate::permission::{
    Action, Autonomy, Call, Choice, Grants, Kind, Mode, PermissionRequest, Policy, Rule, Verdict, decide,
};

/// What a command may change, by the permission rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandAccess {
    /// Nothing: it is proven to be read-only.
    ReadOnly,
    /// Something, and it runs without asking.
    WithoutAsking,
    /// The repository, with git, and it runs without asking.
    Git,
    /// Everything: the user has approved it, now or in the settings.
    Approved,
}

impl CommandAccess {
    /// Returns what a command that runs may change. `is_approved`: the user has allowed this call.
    pub(crate) fn of(line: &str, policy: &Policy, workspace: &Workspace, is_approved: bool) -> Self {
        if is_proven_read_only(line, policy, workspace) {
            Self::ReadOnly
        } else if is_approved || is_covered(line, policy.allow.clone(), policy, workspace) {
            Self::Approved
        } else if writes_with_git(line, policy, workspace) {
            Self::Git
        } else {
            Self::WithoutAsking
        }
    }
}

fn is_proven_read_only(line: &str, policy: &Policy, workspace: &Workspace) -> bool {
    // spec mode refuses exactly what is not proven, and asks about reading secrets
    let strict = Policy { mode: Mode::Spec, ..plain(policy) };
    !matches!(judge(&strict, line, workspace), Verdict::Refuse(_))
}

/// Returns whether these rules cover every command of a line that changes something.
fn is_covered(line: &str, allow: Vec<Rule>, policy: &Policy, workspace: &Workspace) -> bool {
    let policy = Policy { allow, ..plain(policy) };
    !policy.allow.is_empty() && matches!(judge(&policy, line, workspace), Verdict::Run(_))
}

/// Returns whether git is the only command of a line that changes something.
fn writes_with_git(line: &str, policy: &Policy, workspace: &Workspace) -> bool {
    line.contains("git") && is_covered(line, vec![Rule::parse("git")], policy, workspace)
}

/// Returns a policy that asks for everything that is not proven read-only.
fn plain(policy: &Policy) -> Policy {
    Policy {
        autonomy: Autonomy::Off,
        max_autonomy: None,
        mode: Mode::Auto,
        skip_all: false,
        ask_all: false,
        auto_reject: false,
        allow: Vec::new(),
        deny: Vec::new(),
        block: Vec::new(),
        grants: Grants::default(),
        ..policy.clone()
    }
}

fn judge(policy: &Policy, line: &str, workspace: &Workspace) -> Verdict {
    // the name of a tool is only in texts that are not used here
    decide(policy, &Call::new("", Action::command(line)), workspace)
}

/// Returns the permission request for a command that git needs the repository for.
pub(crate) fn git_request(line: &str, policy: &Policy, workspace: &Workspace) -> Option<PermissionRequest> {
    let reason = "git writes to .git, which the sandbox keeps read-only: files there can name programs that git runs later. \
                  If you allow it, the command runs without the sandbox.";
    writes_with_git(line, policy, workspace).then(|| request(line, policy, workspace, reason))?
}

/// Returns the permission request to run a command again without the sandbox, which has most likely made it fail.
pub(crate) fn again_request(
    line: &str,
    denial: &SandboxDenial,
    policy: &Policy,
    workspace: &Workspace,
) -> Option<PermissionRequest> {
    let SandboxDenial { kind, evidence } = denial;
    let reason = format!(
        "It failed in the sandbox: {kind} ({evidence}). Run it again without the sandbox? It may have done a part of its work already."
    );
    request(line, policy, workspace, &reason)
}

fn request(line: &str, policy: &Policy, workspace: &Workspace, why: &str) -> Option<PermissionRequest> {
    let policy = Policy { ask_all: true, ..plain(policy) };
    let Verdict::Ask(request) = judge(&policy, line, workspace) else { return None };
    let mut request = *request;
    if let Kind::Exec { reason, .. } = &mut request.kind {
        *reason = Some(crate::permission::visible(why).into_owned());
    }
    // for this call only: what it needs is more than its level allows
    request.choices = vec![Choice::ProceedOnce, Choice::Cancel];
    request.leaves_sandbox = true;
    Some(request)
}
