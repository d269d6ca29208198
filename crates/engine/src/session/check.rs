//! The permission check of a call: its hooks, then its verdict. Runs in tasks, because hooks are programs and the rules look at files.

use std::path::PathBuf;
use std::sync::Arc;

use musher_model::ToolUse;
use musher_tools::{Context, FileChange, Tool};
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::tasks::TurnInput;
use super::tool_hooks::{AfterHooks, run_pre_tool_hooks};
use super::tool_selection;
use crate::mcp::McpTool;
use crate::permission::{self, Action, Call, Kind, PermissionRequest as Request, Policy, Refusal, Verdict};
use crate::sandbox::{CommandAccess, Sandboxes, git_request};

/// What runs a call.
enum Target {
    Tool(Arc<dyn Tool>),
    Mcp(McpTool),
}

/// The maximum size of a text that is shown in a permission request.
const MAX_SHOWN_FILE: usize = 512 * 1024;

impl ActiveTurn<'_> {
    /// Checks a call. A tool that is unknown may be one of a server that is not connected yet.
    pub(super) fn check(&mut self, index: usize, call: ToolUse) {
        if self.target(&call.name).is_ok() || self.session.mcp().connecting().is_empty() {
            return self.check_known(index, call);
        }
        let mcp = self.session.mcp().clone();
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = mcp.settled() => { sender.send(TurnInput::CheckAgain { index, call: Box::new(call) }).await; }
            }
        });
    }

    /// Runs the `PreToolUse` hooks of a call, then finds its verdict.
    pub(super) fn check_known(&mut self, index: usize, mut call: ToolUse) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let (mut policy, context) = (self.session.policy().clone(), self.session.tools().clone());
        let hooks = self.pre_tool_hooks(&call);
        let sandboxes = Arc::clone(self.session.sandboxes());
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let mut changed_policy = None;
            if let Some(hooks) = hooks {
                let input = call.input.clone();
                let session_rules = (policy.autonomy, policy.ask_all);
                match run_pre_tool_hooks(&hooks, &mut call, &mut policy, &cancel, &sender).await {
                    AfterHooks::Check => {}
                    AfterHooks::Refuse(refusal) => {
                        let verdict = Verdict::Refuse(refusal);
                        sender.send(TurnInput::Verdict { index, verdict, policy: None }).await;
                        return;
                    }
                    AfterHooks::Halt(reason) => {
                        sender.send(TurnInput::Halted { index, reason }).await;
                        return;
                    }
                }
                if call.input != input {
                    sender.send(TurnInput::Rewritten { index, input: call.input.clone() }).await;
                }
                let has_changed = (policy.autonomy, policy.ask_all) != session_rules;
                changed_policy = has_changed.then(|| Box::new(policy.clone()));
            }
            let verdict = find_verdict(policy, call, target, context, sandboxes, cancel).await;
            sender.send(TurnInput::Verdict { index, verdict, policy: changed_policy }).await;
        });
    }

    /// Finds the verdict on a call again, because another call may have changed where its paths lead. Its hooks have run already.
    pub(super) fn recheck(&mut self, index: usize, call: ToolUse, policy: Option<Box<Policy>>) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let policy = policy.map_or_else(|| self.session.policy().clone(), |policy| *policy);
        let context = self.session.tools().clone();
        let sandboxes = Arc::clone(self.session.sandboxes());
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let verdict = find_verdict(policy, call, target, context, sandboxes, cancel).await;
            sender.send(TurnInput::Verdict { index, verdict, policy: None }).await;
        });
    }

    /// Finds what runs a call. Refuses the call if nothing does.
    fn target_or_refuse(&mut self, index: usize, name: &str) -> Option<Target> {
        match self.target(name) {
            Ok(target) => Some(target),
            Err(refusal) => {
                self.step(|turn, effects| turn.apply_verdict(index, Verdict::Refuse(refusal), effects));
                None
            }
        }
    }

    fn target(&self, name: &str) -> Result<Target, Refusal> {
        let session = &*self.session;
        if let Some(tool) = session.mcp().find(name).filter(|tool| tool_selection::is_offered(tool, session))
        {
            return Ok(Target::Mcp(tool));
        }
        tool_selection::known(name, &self.environment.tools, session)?;
        let missing = || Refusal::new(format!("Unknown tool: {name}. Use ToolSearch to look for tools."));
        self.environment.tools.get(name).cloned().map(Target::Tool).ok_or_else(missing)
    }
}

/// Finds the verdict on a call, on a thread that may block.
async fn find_verdict(
    policy: Policy,
    call: ToolUse,
    target: Target,
    context: Context,
    sandboxes: Arc<Sandboxes>,
    cancel: CancellationToken,
) -> Verdict {
    let find = move || verdict(&policy, &call, &target, &context, &sandboxes, &cancel);
    tokio::task::spawn_blocking(find).await.unwrap_or_else(|error| {
        Verdict::Refuse(Refusal::new(format!(
            "The permission check of the call failed: {error}. Try another way, or tell the user."
        )))
    })
}

/// Returns the verdict on a call. Reads files.
fn verdict(
    policy: &Policy,
    call: &ToolUse,
    target: &Target,
    context: &Context,
    sandboxes: &Sandboxes,
    cancel: &CancellationToken,
) -> Verdict {
    let action = match target {
        Target::Mcp(tool) => Action::Mcp {
            server: &tool.server,
            tool: &tool.name,
            is_read_only: tool.is_hint_trusted && tool.is_read_only == Some(true),
        },
        Target::Tool(tool) => match tool.action(&call.input) {
            Ok(action) => action,
            Err(problem) => return Verdict::Refuse(Refusal::new(problem)),
        },
    };
    let paths = action.paths();
    let line = match action {
        Action::Command { line, .. } => line.to_owned(),
        _ => String::new(),
    };
    let verdict = permission::decide(policy, &Call::new(&call.name, action), &context.workspace);
    let verdict = ask_for_git(verdict, &line, policy, context, sandboxes);
    match (verdict, target) {
        (Verdict::Ask(request), Target::Tool(tool)) => {
            judge_change(request, &**tool, call, &paths, policy, context, cancel)
        }
        (verdict, _) => verdict,
    }
}

/// Asks about a command that git needs the repository for, if the sandbox would deny that. Without a user to ask, git gets the access
/// that it needs.
fn ask_for_git(
    verdict: Verdict,
    line: &str,
    policy: &Policy,
    context: &Context,
    sandboxes: &Sandboxes,
) -> Verdict {
    let can_ask = !policy.auto_reject && !policy.skip_all;
    let is_judged = matches!(verdict, Verdict::Run(_)) && line.contains("git");
    if !is_judged || !can_ask || !sandboxes.protects_git(policy) {
        return verdict;
    }
    match CommandAccess::of(line, policy, &context.workspace, false) {
        CommandAccess::Git => git_request(line, policy, &context.workspace)
            .map_or(verdict, |request| Verdict::Ask(Box::new(request))),
        _ => verdict,
    }
}

/// Refuses a call that cannot work, so that the user is not asked in vain, and shows the user what the others would change.
fn judge_change(
    mut request: Box<Request>,
    tool: &dyn Tool,
    call: &ToolUse,
    paths: &[PathBuf],
    policy: &Policy,
    context: &Context,
    cancel: &CancellationToken,
) -> Verdict {
    let context = context.clone().with_access(request.access.clone());
    match tool.dry_run(&call.input, &context, cancel) {
        Ok(changes) => {
            show_change(&mut request, changes);
            Verdict::Ask(request)
        }
        Err(output) if may_read(&call.name, paths, policy, &context) => {
            let text = |text: String| text.strip_prefix("Error: ").map(str::to_owned).unwrap_or(text);
            let (for_client, for_model) = (text(output.client_text()), text(output.model_text()));
            Verdict::Refuse(Refusal { for_client, for_model })
        }
        // the reason may quote a file that the model may not read
        Err(_) => Verdict::Ask(request),
    }
}

/// Returns whether the model may read all of these files without asking.
fn may_read(tool: &str, paths: &[PathBuf], policy: &Policy, context: &Context) -> bool {
    paths.iter().all(|path| {
        let path = path.to_string_lossy();
        let action = Action::Read { path: &path, is_recursive: false };
        let call = Call::new(tool, action);
        matches!(permission::decide(policy, &call, &context.workspace), Verdict::Run(_))
    })
}

/// Adds the whole file before and after the call to a request.
fn show_change(request: &mut Request, changes: Vec<FileChange>) {
    let (Kind::Edit { old_content, new_content, .. } | Kind::ApplyPatch { old_content, new_content, .. }) =
        &mut request.kind
    else {
        return;
    };
    let Some(FileChange { old: Some(old), new: Some(new), .. }) = changes.into_iter().next() else { return };
    if old.len().max(new.len()) <= MAX_SHOWN_FILE {
        *old_content = Some(permission::visible(&old).into_owned());
        *new_content = Some(permission::visible(&new).into_owned());
    }
}
