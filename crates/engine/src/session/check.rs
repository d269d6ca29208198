//! The permission check of a call: its hooks, then its verdict. Runs in tasks, because hooks are programs and the rules look at files.

use std::sync::Arc;

use musher_model::ToolUse;
use musher_tools::{Context, Tool};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::tasks::TurnInput;
use super::tool_hooks::{AfterHooks, run_pre_tool_hooks};
use super::tool_selection;
use crate::mcp::McpTool;
use crate::permission::{self, Action, Call, Kind, PermissionRequest as Request, Policy, Refusal, Verdict};

/// What runs a call.
enum Target {
    Tool(Arc<dyn Tool>),
    Mcp(McpTool),
}

/// The maximum size of a file that is shown in a permission request.
const MAX_SHOWN_FILE: u64 = 512 * 1024;

impl ActiveTurn<'_> {
    /// Runs the `PreToolUse` hooks of a call, then finds its verdict.
    pub(super) fn check(&mut self, index: usize, mut call: ToolUse) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let (mut policy, context) = (self.session.policy().clone(), self.session.tools().clone());
        let hooks = self.pre_tool_hooks(&call);
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
            let verdict = find_verdict(policy, call, target, context, cancel).await;
            sender.send(TurnInput::Verdict { index, verdict, policy: changed_policy }).await;
        });
    }

    /// Finds the verdict on a call again, because another call may have changed where its paths lead. Its hooks have run already.
    pub(super) fn recheck(&mut self, index: usize, call: ToolUse, policy: Option<Box<Policy>>) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let policy = policy.map_or_else(|| self.session.policy().clone(), |policy| *policy);
        let context = self.session.tools().clone();
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let verdict = find_verdict(policy, call, target, context, cancel).await;
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
        let missing = || Refusal::new(format!("Unknown tool: {name}"));
        self.environment.tools.get(name).cloned().map(Target::Tool).ok_or_else(missing)
    }
}

/// Finds the verdict on a call, on a thread that may block.
async fn find_verdict(
    policy: Policy,
    call: ToolUse,
    target: Target,
    context: Context,
    cancel: CancellationToken,
) -> Verdict {
    let find = move || verdict(&policy, &call, &target, &context, &cancel);
    tokio::task::spawn_blocking(find).await.unwrap_or_else(|error| {
        Verdict::Refuse(Refusal::new(format!("The permission check of the call failed: {error}")))
    })
}

/// Returns the verdict on a call. Reads files.
fn verdict(
    policy: &Policy,
    call: &ToolUse,
    target: &Target,
    context: &Context,
    cancel: &CancellationToken,
) -> Verdict {
    let action = match target {
        Target::Mcp(tool) => Action::Mcp {
            server: &tool.server,
            tool: &tool.name,
            is_read_only: tool.is_read_only == Some(true),
        },
        Target::Tool(tool) => match tool.action(&call.input) {
            Ok(action) => action,
            Err(problem) => return Verdict::Refuse(Refusal::new(problem)),
        },
    };
    let mut verdict = permission::decide(policy, &Call::new(&call.name, action), &context.workspace);
    if let Verdict::Ask(request) = &mut verdict {
        show_edit(request, call, context, cancel);
    }
    verdict
}

/// Adds the whole file before and after the edit to a request.
fn show_edit(request: &mut Request, call: &ToolUse, context: &Context, cancel: &CancellationToken) {
    let Kind::Edit { path, old_content, new_content, .. } = &mut request.kind else { return };
    let text = |key: &str| call.input.get(key).and_then(Value::as_str);
    if let (Some(old), Some(new)) = (text("old_str"), text("new_str"))
        && let Some(before) = context.text_of(path, MAX_SHOWN_FILE, cancel)
    {
        let is_all = call.input.get("change_all").and_then(Value::as_bool).unwrap_or(false);
        let after = if is_all { before.replace(old, new) } else { before.replacen(old, new, 1) };
        *new_content = Some(permission::visible(&after).into_owned());
        *old_content = Some(permission::visible(&before).into_owned());
    }
}
