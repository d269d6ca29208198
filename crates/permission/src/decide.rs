//! The verdict on one call: run, ask or deny.

use std::path::{Path, PathBuf};

use crate::files::{self, Extent, Finding};
use crate::show::spelled_out;
use crate::{
    Access, Action, Autonomy, Call, Choice, Kind, Mode, Operation, PermissionRequest, Policy, Refusal, Risk,
    Verdict, Workspace, command, visible,
};

/// Returns the verdict on a call: run, ask or refuse. See the [crate documentation](crate) for an example.
pub fn decide(policy: &Policy, call: &Call<'_>, workspace: &Workspace) -> Verdict {
    let verdict = match &call.action {
        Action::Command { line, reason } => execute(policy, line, *reason, workspace),
        Action::CommandInput { text } => feed(policy, call.tool, text, workspace),
        Action::Create { path, .. } | Action::Edit { path } => {
            edit(policy, call, &[PathBuf::from(path)], workspace)
        }
        Action::Patch { paths, .. } => edit(policy, call, paths, workspace),
        Action::Read { path, is_recursive } => {
            let extent = if *is_recursive { Extent::WithoutSecrets } else { Extent::File };
            look(policy, call.tool, path, workspace, |real| files::read(policy, workspace, real, extent))
        }
        // file names are not secret
        Action::List { path } => look(policy, call.tool, path, workspace, |_real| Finding::NOTHING),
        Action::Network { target } => {
            let target = visible(target.unwrap_or(call.tool));
            if policy.grants.covers_address(call.tool, &target) {
                return Verdict::Run(Access::Workspace);
            }
            beyond_session(policy, call.tool, Risk::Medium, Operation::Network, Some(&target))
        }
        Action::Mcp { server, tool, is_read_only } => mcp(policy, server, tool, *is_read_only),
        Action::ProposePlan { plan, title, option_names } => propose_plan(policy, plan, *title, option_names),
        Action::Other { risk } if policy.mode == Mode::Spec && *risk != Risk::None => {
            Verdict::Refuse(not_in_spec_mode(call.tool))
        }
        Action::Other { risk } => beyond_session(policy, call.tool, *risk, Operation::Tool, None),
    };
    match verdict {
        Verdict::Ask(request) if policy.auto_reject => Verdict::CannotAsk(cannot_ask(policy, &request)),
        verdict => verdict,
    }
}

fn cannot_ask(policy: &Policy, request: &PermissionRequest) -> Refusal {
    let level = policy.level().name();
    let for_client = format!("Permission required, but asking is disabled (autonomy: {level})");
    let why = match &request.kind {
        Kind::Exec { reason: Some(reason), .. } | Kind::Beyond { reason, .. } => format!(" {reason}"),
        _ => String::new(),
    };
    let impact = request.impact();
    let for_model = format!(
        "This call needs permission: its risk is {impact}, the autonomy level is {level}, and the user cannot be asked.{why} \
         Use another approach, or tell the user what could not be done."
    );
    Refusal { for_client, for_model }
}

/// Runs the call if the autonomy level allows its risk, asks otherwise.
fn weigh(
    policy: &Policy,
    finding: &Finding,
    access: Access,
    choices: &[Choice],
    kind: impl FnOnce() -> Kind,
) -> Verdict {
    if policy.skip_all {
        return Verdict::Run(Access::Anywhere);
    }
    if finding.always_ask.is_none() && !policy.ask_all && policy.level().allows(finding.risk) {
        return Verdict::Run(access);
    }
    let choices = if finding.always_ask.is_some() { Choice::ONCE } else { choices };
    Verdict::Ask(Box::new(PermissionRequest {
        kind: kind(),
        risk: finding.risk,
        choices: policy.offered(choices, finding.risk),
        access,
        leaves_sandbox: false,
    }))
}

fn execute(policy: &Policy, line: &str, claim: Option<&str>, workspace: &Workspace) -> Verdict {
    let judged = command::judge(line, policy, workspace);
    if let Some(rule) = judged.caught_by(&policy.block) {
        return Verdict::Refuse(blocked("command", &rule));
    }
    if judged.hides_a_program && !policy.block.is_empty() {
        let reason =
            "The command cannot be parsed reliably, so it cannot be checked against the blocked commands";
        return Verdict::Refuse(Refusal {
            for_client: reason.to_owned(),
            for_model: format!(
                "{reason}. Do not work around it: write it with plain program names, or tell the user that it is refused."
            ),
        });
    }
    if policy.mode == Mode::Spec && judged.finding.risk != Risk::None {
        return Verdict::Refuse(Refusal {
            for_client: "Only read-only commands run in spec mode".to_owned(),
            for_model: "Only commands that are known to be read-only run in spec mode. Use the read tools, or propose a plan with \
                        ExitSpecMode."
                .to_owned(),
        });
    }
    let mut finding = judged.finding.clone();
    if let Some(rule) = judged.caught_by(&policy.deny) {
        finding =
            Finding::ask(format!("Matched deny-list entry \"{rule}\". It needs permission every time."))
                .and(finding);
    } else if finding.always_ask.is_none() && judged.is_covered_by(&policy.allow) {
        return Verdict::Run(Access::Workspace);
    }
    let reason = finding.always_ask.clone().or_else(|| claim.map(str::to_owned));
    weigh(policy, &finding, Access::Workspace, Choice::CALL, || Kind::Exec {
        full_command: spelled_out(line).into_owned(),
        command: judged.first_program(),
        extracted_commands: judged.extracted(),
        reason: reason.map(|reason| visible(&reason).into_owned()),
    })
}

fn blocked(what: &str, rule: &impl std::fmt::Display) -> Refusal {
    let reason = format!("The {what} is blocked by the settings (`{rule}`)");
    Refusal {
        for_model: format!(
            "{reason}. Do not work around it: continue without it, or tell the user that it is blocked."
        ),
        for_client: reason,
    }
}

/// Input for a command may do anything, because the command may be an interpreter: nothing in the text proves that it is harmless. If the
/// interpreter is a shell, the lists of the settings count as for a command line.
fn feed(policy: &Policy, tool: &str, text: &str, workspace: &Workspace) -> Verdict {
    if policy.mode == Mode::Spec {
        return Verdict::Refuse(not_in_spec_mode(tool));
    }
    let judged = command::judge(text, policy, workspace);
    if let Some(rule) = judged.caught_by(&policy.block) {
        return Verdict::Refuse(blocked("input", &rule));
    }
    let mut finding = Finding::of(Risk::High);
    if let Some(rule) = judged.caught_by(&policy.deny) {
        finding =
            Finding::ask(format!("Matched deny-list entry \"{rule}\". It needs permission every time."))
                .and(finding);
    } else if let Some(reason) = &judged.finding.always_ask {
        finding = Finding::ask(reason.clone()).and(finding);
    }
    let reason =
        finding.always_ask.clone().unwrap_or_else(|| "This is input for a running command".to_owned());
    weigh(policy, &finding, Access::Workspace, Choice::CALL, || Kind::Exec {
        full_command: spelled_out(text).into_owned(),
        command: tool.to_owned(),
        extracted_commands: vec![tool.to_owned()],
        reason: Some(visible(&reason).into_owned()),
    })
}

fn edit(policy: &Policy, call: &Call<'_>, paths: &[PathBuf], workspace: &Workspace) -> Verdict {
    if policy.mode == Mode::Spec {
        return Verdict::Refuse(not_in_spec_mode(call.tool));
    }
    let mut finding = Finding::of(Risk::Low);
    let mut real = Vec::new();
    for path in paths {
        let (found, resolved) = files::write(policy, workspace, path);
        finding = finding.and(found);
        real.push(resolved.unwrap_or_else(|| workspace.root().join(path)));
    }
    let access = Access::Only(real.as_slice().into());
    let first = real.first().cloned().unwrap_or_default();
    let file_name =
        first.file_name().map(|name| visible(&name.to_string_lossy()).into_owned()).unwrap_or_default();
    let path = shown_path(&first);
    let (old_content, new_content) = (None, None);
    weigh(policy, &finding, access, Choice::CALL, || match &call.action {
        Action::Create { content, .. } => {
            Kind::Create { path, file_name, content: visible(content).into_owned() }
        }
        Action::Patch { patch, .. } => {
            let (patch, files) =
                (visible(patch).into_owned(), real.iter().map(|path| shown_path(path)).collect());
            Kind::ApplyPatch { path, file_name, patch, files, old_content, new_content }
        }
        _ => Kind::Edit { path, file_name, old_content, new_content },
    })
}

fn not_in_spec_mode(tool: &str) -> Refusal {
    Refusal {
        // clients match the beginning
        for_client: format!("Error: Tool cancelled: Spec mode is active - {tool} needs an approved plan"),
        for_model: format!(
            "{tool} is not available in spec mode: files must not be changed while planning. Propose the plan with ExitSpecMode."
        ),
    }
}

fn shown_path(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(visible(text).into_owned()),
        None => path.to_owned(),
    }
}

/// Reads need no permission, also outside of the workspace, except for secrets. `judge` returns the effect of reading the resolved path.
fn look(
    policy: &Policy,
    tool: &str,
    path: &str,
    workspace: &Workspace,
    judge: impl FnOnce(&Path) -> Finding,
) -> Verdict {
    // the tool reports a path that cannot be resolved
    let target =
        workspace.resolve(path).map_or_else(|_| workspace.root().join(path), |resolved| resolved.path);
    let finding = judge(&target);
    let access = Access::Only([target.clone()].into());
    let reason = finding.always_ask.clone().unwrap_or_default();
    weigh(policy, &finding, access, Choice::ONCE, || Kind::Beyond {
        tool: tool.to_owned(),
        target: visible(&target.to_string_lossy()).into_owned(),
        operation: Operation::Read,
        reason: visible(&reason).into_owned(),
    })
}

fn mcp(policy: &Policy, server: &str, tool: &str, is_read_only: bool) -> Verdict {
    let name = format!("{server}___{tool}");
    // that a tool is read-only is a claim of its server
    if policy.mode == Mode::Spec {
        return Verdict::Refuse(not_in_spec_mode(&name));
    }
    let risk = if is_read_only { Risk::Low } else { Risk::High };
    if policy.grants.covers(server, tool, risk) {
        return Verdict::Run(Access::Workspace);
    }
    weigh(policy, &Finding::of(risk), Access::Workspace, Choice::MCP, || Kind::McpTool {
        tool_name: visible(&name).into_owned(),
        server: server.to_owned(),
        actual_tool: tool.to_owned(),
    })
}

fn propose_plan(policy: &Policy, plan: &str, title: Option<&str>, option_names: &[&str]) -> Verdict {
    if policy.mode != Mode::Spec {
        return Verdict::Refuse(Refusal {
            for_client: "Not in spec mode".to_owned(),
            for_model:
                "ExitSpecMode is only for spec mode, and this session is not in it. Continue with the work."
                    .to_owned(),
        });
    }
    let kind = Kind::ExitSpecMode {
        plan: visible(plan).into_owned(),
        title: title.map(|title| visible(title).into_owned()),
        option_names: option_names.iter().map(|name| visible(name).into_owned()).collect(),
    };
    let (risk, choices) = (Risk::None, policy.offered(Choice::PLAN, Risk::None));
    Verdict::Ask(Box::new(PermissionRequest {
        kind,
        risk,
        choices,
        access: Access::Workspace,
        leaves_sandbox: false,
    }))
}

/// Judges a call that uses no files by its risk alone.
fn beyond_session(
    policy: &Policy,
    tool: &str,
    risk: Risk,
    operation: Operation,
    target: Option<&str>,
) -> Verdict {
    let needed = Autonomy::for_risk(risk).name();
    weigh(policy, &Finding::of(risk), Access::Workspace, Choice::CALL, || Kind::Beyond {
        tool: tool.to_owned(),
        target: visible(target.unwrap_or(tool)).into_owned(),
        operation,
        reason: format!("{tool} runs without asking at autonomy level {needed} or higher."),
    })
}
