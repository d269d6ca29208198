//! The decision about one call.

use std::path::{Path, PathBuf};

use musher_tools::{Access, ApplyPatch, Category, Input, Risk, Tool, ToolInfo, Workspace};
use serde_json::Value;

use super::files::{self, Finding};
use super::show::spelled_out;
use super::{
    Autonomy, Choice, Kind, Mode, Operation, PermissionRequest, Policy, Refusal, Verdict, command, visible,
};

/// A call the model wants.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What is called.
    pub target: Target<'a>,
    /// With what.
    pub input: &'a Input,
}

/// What is called.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// A tool of the catalogue.
    BuiltIn(&'a ToolInfo),
    /// A tool of an MCP server.
    Mcp {
        /// The server.
        server: &'a str,
        /// The server's own name of the tool.
        tool: &'a str,
        /// Whether the server says that it changes nothing.
        is_read_only: bool,
    },
}

impl<'a> Call<'a> {
    /// A call of a tool of the catalogue.
    pub fn built_in(tool: &'a ToolInfo, input: &'a Input) -> Self {
        Self { target: Target::BuiltIn(tool), input }
    }

    /// A call of a tool of an MCP server.
    pub fn mcp(server: &'a str, tool: &'a str, is_read_only: bool, input: &'a Input) -> Self {
        Self { target: Target::Mcp { server, tool, is_read_only }, input }
    }
}

/// Decides whether a call runs, is asked for, or is refused.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use musher_engine::permission::{Autonomy, Call, Policy, Verdict, decide};
/// use musher_tools::{Workspace, tool_info};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let workspace = Workspace::open(folder)?;
/// let execute = tool_info("Execute").expect("it is in the catalogue");
/// let input = |command: &str| {
///     let input = serde_json::json!({"command": command, "riskLevel": "low", "riskLevelReason": "I say so"});
///     input.as_object().unwrap().clone()
/// };
/// let policy = Policy { autonomy: Autonomy::Low, ..Policy::default() };
/// let harmless = input("git log --oneline | head -5");
/// assert!(matches!(decide(&policy, &Call::built_in(execute, &harmless), &workspace), Verdict::Run(_)));
/// let harmful = input("git push --force");
/// assert!(matches!(decide(&policy, &Call::built_in(execute, &harmful), &workspace), Verdict::Ask(_)));
/// # Ok(()) }
/// ```
pub fn decide(policy: &Policy, call: &Call<'_>, workspace: &Workspace) -> Verdict {
    let verdict = match call.target {
        Target::Mcp { server, tool, is_read_only } => mcp(policy, server, tool, is_read_only),
        Target::BuiltIn(tool) => match tool.name {
            "Execute" => execute(policy, call.input, workspace),
            "Create" | "Edit" | "ApplyPatch" => edit(policy, tool, call.input, workspace),
            "Read" | "LS" | "Grep" | "Glob" => look(policy, tool, call.input, workspace),
            "ExitSpecMode" => exit_spec_mode(policy, call.input),
            _ => other(policy, tool, call.input),
        },
    };
    match verdict {
        Verdict::Ask(request) if policy.auto_reject => Verdict::Refuse(nobody_to_ask(policy, &request)),
        verdict => verdict,
    }
}

fn nobody_to_ask(policy: &Policy, request: &PermissionRequest) -> Refusal {
    let level = policy.level().name();
    let for_wire = format!("Permission required, and nobody can be asked (autonomy: {level})");
    let why = match &request.kind {
        Kind::Exec { reason: Some(reason), .. } | Kind::Beyond { reason, .. } => format!(" {reason}"),
        _ => String::new(),
    };
    let impact = request.impact();
    let for_model = format!(
        "This call needs permission: its impact is {impact}, the autonomy level is {level}, and nobody can be asked.{why} \
         Do it in another way, or tell the user what could not be done."
    );
    Refusal { for_wire, for_model }
}

/// Runs it if the level allows, asks if not.
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
    }))
}

fn execute(policy: &Policy, input: &Input, workspace: &Workspace) -> Verdict {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let Some(line) = text("command") else {
        return Verdict::Refuse(Refusal::new("Invalid tool arguments: `command` is required"));
    };
    if let Some(reason) = musher_tools::missing_risk(input) {
        return Verdict::Refuse(Refusal::new(reason));
    }
    let judged = command::judge(line, policy, workspace);
    if let Some(rule) = judged.caught_by(&policy.block) {
        return Verdict::Refuse(Refusal::new(format!("The command is blocked by the settings (`{rule}`)")));
    }
    if judged.hides_a_program && !policy.block.is_empty() {
        let reason = "The command cannot be read with certainty, so that it cannot be checked against the blocked ones";
        return Verdict::Refuse(Refusal::new(reason));
    }
    if policy.mode == Mode::Spec && judged.finding.risk != Risk::None {
        return Verdict::Refuse(Refusal {
            for_wire: "Only read-only commands run in spec mode".to_owned(),
            for_model: "Only commands that are known to change nothing run in spec mode. Use the read tools, or propose a plan with \
                        ExitSpecMode."
                .to_owned(),
        });
    }
    let mut finding = judged.finding.clone().at_least(claimed(text("riskLevel")));
    if let Some(rule) = judged.caught_by(&policy.deny) {
        finding = Finding::ask(format!("Matched deny-list entry \"{rule}\". It is asked for every time."))
            .and(finding);
    } else if finding.always_ask.is_none() && judged.is_covered_by(&policy.allow) {
        return Verdict::Run(Access::Workspace);
    }
    let reason = finding.always_ask.clone().or_else(|| text("riskLevelReason").map(str::to_owned));
    weigh(policy, &finding, Access::Workspace, Choice::CALL, || Kind::Exec {
        full_command: spelled_out(line).into_owned(),
        command: judged.first_program(),
        extracted_commands: judged.extracted(),
        reason: reason.map(|reason| visible(&reason).into_owned()),
    })
}

/// The model's own word, which can only raise. Its lowest word says nothing: it has none for commands that change nothing.
fn claimed(level: Option<&str>) -> Risk {
    match level {
        Some("low") => Risk::None,
        Some("medium") => Risk::Medium,
        _ => Risk::High,
    }
}

fn edit(policy: &Policy, tool: &ToolInfo, input: &Input, workspace: &Workspace) -> Verdict {
    if policy.mode == Mode::Spec {
        return Verdict::Refuse(not_in_spec_mode(tool.name));
    }
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    let paths = if tool.name == "ApplyPatch" {
        ApplyPatch.paths(input)
    } else {
        input.get("file_path").and_then(Value::as_str).map(PathBuf::from).into_iter().collect()
    };
    let mut finding = Finding::of(Risk::Low).at_least(tool.risk);
    let mut real = Vec::new();
    for path in &paths {
        let (found, resolved) = files::write(policy, workspace, path);
        finding = finding.and(found);
        real.push(resolved.unwrap_or_else(|| workspace.root().join(path)));
    }
    let access = beyond(workspace, &real);
    let first = real.first().cloned().unwrap_or_default();
    let file_name =
        first.file_name().map(|name| visible(&name.to_string_lossy()).into_owned()).unwrap_or_default();
    let path = shown_path(&first);
    weigh(policy, &finding, access, Choice::CALL, || match tool.name {
        "Create" => Kind::Create { path, file_name, content: visible(text("content")).into_owned() },
        "Edit" => Kind::Edit { path, file_name, old_content: None, new_content: None },
        _ => {
            let patch = if input.contains_key("input") { text("input") } else { text("patch") };
            Kind::ApplyPatch {
                path,
                file_name,
                patch: visible(patch).into_owned(),
                files: real.iter().map(|path| shown_path(path)).collect(),
                old_content: None,
                new_content: None,
            }
        }
    })
}

fn not_in_spec_mode(tool: &str) -> Refusal {
    Refusal {
        // clients know the beginning
        for_wire: format!(
            "Error: Tool cancelled: Spec mode is active - {tool} has to wait for an approved plan"
        ),
        for_model: format!(
            "{tool} is not available in spec mode: nothing is changed while planning. Propose the plan with ExitSpecMode."
        ),
    }
}

/// Access to those of these real paths that are outside.
fn beyond(workspace: &Workspace, real: &[PathBuf]) -> Access {
    let outside: Vec<PathBuf> = real.iter().filter(|path| !workspace.holds(path)).cloned().collect();
    if outside.is_empty() { Access::Workspace } else { Access::Also(outside.into()) }
}

fn shown_path(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(visible(text).into_owned()),
        None => path.to_owned(),
    }
}

/// Looking at files is free also outside, except at secrets.
fn look(policy: &Policy, tool: &ToolInfo, input: &Input, workspace: &Workspace) -> Verdict {
    let key = match tool.name {
        "Read" => "file_path",
        "LS" => "directory_path",
        "Grep" => "path",
        _ => "folder",
    };
    let path = input.get(key).and_then(Value::as_str).filter(|path| !path.is_empty()).unwrap_or(".");
    let finding = match tool.name {
        "Read" => files::read(policy, workspace, Path::new(path), false),
        "Grep" => files::read(policy, workspace, Path::new(path), true),
        // names are no secrets
        _ => Finding::NOTHING,
    };
    let real = workspace.resolve(path).map(|resolved| resolved.path);
    let access =
        real.as_ref().map_or(Access::Workspace, |real| beyond(workspace, std::slice::from_ref(real)));
    let target = real.unwrap_or_else(|_| PathBuf::from(path));
    let reason = finding.always_ask.clone().unwrap_or_default();
    weigh(policy, &finding, access, Choice::ONCE, || Kind::Beyond {
        tool: tool.name.to_owned(),
        target: visible(&target.to_string_lossy()).into_owned(),
        operation: Operation::Read,
        reason: visible(&reason).into_owned(),
    })
}

fn mcp(policy: &Policy, server: &str, tool: &str, is_read_only: bool) -> Verdict {
    let name = format!("{server}___{tool}");
    if policy.mode == Mode::Spec && !is_read_only {
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

fn exit_spec_mode(policy: &Policy, input: &Input) -> Verdict {
    if policy.mode != Mode::Spec {
        return Verdict::Refuse(Refusal {
            for_wire: "Not in spec mode".to_owned(),
            for_model:
                "ExitSpecMode is only for spec mode, and this session is not in it. Go on with the work."
                    .to_owned(),
        });
    }
    let Some(plan) = input.get("plan").and_then(Value::as_str) else {
        return Verdict::Refuse(Refusal::new("Invalid tool arguments: `plan` is required"));
    };
    let names = input.get("optionNames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kind = Kind::ExitSpecMode {
        plan: visible(plan).into_owned(),
        title: input.get("title").and_then(Value::as_str).map(|title| visible(title).into_owned()),
        option_names: names.iter().filter_map(Value::as_str).map(|name| visible(name).into_owned()).collect(),
    };
    let (risk, choices) = (Risk::None, policy.offered(Choice::PLAN, Risk::None));
    Verdict::Ask(Box::new(PermissionRequest { kind, risk, choices, access: Access::Workspace }))
}

/// Tools that neither look at files nor change them go by their class.
fn other(policy: &Policy, tool: &ToolInfo, input: &Input) -> Verdict {
    if policy.mode == Mode::Spec && tool.category != Category::Read && tool.risk != Risk::None {
        return Verdict::Refuse(not_in_spec_mode(tool.name));
    }
    let address = input.get("url").or_else(|| input.get("query")).and_then(Value::as_str);
    let operation = if tool.risk == Risk::Medium { Operation::Network } else { Operation::Tool };
    let needed = Autonomy::for_risk(tool.risk).name();
    weigh(policy, &Finding::of(tool.risk), Access::Workspace, Choice::CALL, || Kind::Beyond {
        tool: tool.name.to_owned(),
        target: visible(address.unwrap_or(tool.name)).into_owned(),
        operation,
        reason: format!("{} runs without asking from autonomy {needed} on.", tool.name),
    })
}
