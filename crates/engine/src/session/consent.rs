//! Whether a call may run: asks the rules, off the agent's task since they look at files, and takes in what somebody agreed to.

use std::sync::Arc;

use musher_model::ToolUse;
use musher_tools::{Context, Tool};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::children::FromTurn;
use super::hooked_calls::{HookSays, before_call};
use super::tool_selection;
use crate::mcp::McpTool;
use crate::permission::{
    self, Action, Call, Kind, Outcome, PermissionRequest as Request, Policy, Refusal, Verdict,
};
use crate::{Choice, Happening};

/// Who runs a call.
enum Target {
    Ours(Arc<dyn Tool>),
    Server(McpTool),
}

/// A file that is larger is not shown in a question.
const LARGEST_SHOWN: u64 = 512 * 1024;

impl Actor {
    /// Finds out whether a call may run.
    pub(super) fn prepare(&mut self, index: usize, mut call: ToolUse) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let Some(session) = &self.session else { return };
        let (mut policy, context) = (session.policy.clone(), session.tools.clone());
        let kit = self.hooks_before(&call);
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let mut rules = None;
            if let Some(kit) = kit {
                let input = call.input.clone();
                let usual = (policy.autonomy, policy.ask_all);
                match before_call(&kit, &mut call, &mut policy, &cancel, &back).await {
                    HookSays::Proceed => {}
                    HookSays::Refuse(refusal) => {
                        let verdict = Verdict::Refuse(refusal);
                        back.send(FromTurn::Prepared { index, verdict, rules }).await;
                        return;
                    }
                    HookSays::Halt(reason) => {
                        back.send(FromTurn::Halted { index, reason }).await;
                        return;
                    }
                }
                if call.input != input {
                    back.send(FromTurn::Rewritten { index, input: call.input.clone() }).await;
                }
                rules = ((policy.autonomy, policy.ask_all) != usual).then(|| Box::new(policy.clone()));
            }
            let verdict = judged(policy, call, target, context, cancel).await;
            back.send(FromTurn::Prepared { index, verdict, rules }).await;
        });
    }

    /// Finds out once more whether a call may run: another call may have changed where its paths lead. Hooks have spoken already.
    pub(super) fn judge_again(&mut self, index: usize, call: ToolUse, rules: Option<Box<Policy>>) {
        let Some(target) = self.target_or_refuse(index, &call.name) else { return };
        let Some(session) = &self.session else { return };
        let policy = rules.map_or_else(|| session.policy.clone(), |rules| *rules);
        let context = session.tools.clone();
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let verdict = judged(policy, call, target, context, cancel).await;
            back.send(FromTurn::Prepared { index, verdict, rules: None }).await;
        });
    }

    /// Finds who runs a call. Without anybody the call is refused.
    fn target_or_refuse(&mut self, index: usize, name: &str) -> Option<Target> {
        match self.target(name) {
            Ok(target) => Some(target),
            Err(refusal) => {
                self.with_turn(|turn, effects| turn.prepared(index, Verdict::Refuse(refusal), effects));
                None
            }
        }
    }

    /// Finds who runs the calls of a name; the refusal is for the model.
    fn target(&self, name: &str) -> Result<Target, Refusal> {
        let missing = || Refusal::new(format!("There is no tool {name}"));
        let session = self.session.as_ref().ok_or_else(missing)?;
        if let Some(tool) = session.mcp.find(name).filter(|tool| tool_selection::is_offered(tool, session)) {
            return Ok(Target::Server(tool));
        }
        tool_selection::known(name, &self.environment.tools, session)?;
        self.environment.tools.get(name).cloned().map(Target::Ours).ok_or_else(missing)
    }

    /// Somebody agreed to a call.
    pub(super) fn consented(&mut self, request: &Request, choice: Choice) {
        let Some(session) = &mut self.session else { return };
        match permission::apply(&mut session.policy, request, choice) {
            Outcome::Cancelled | Outcome::Proceed { raised: None } => return,
            Outcome::Proceed { raised: Some(autonomy) } => session.settings.autonomy = autonomy,
            Outcome::LeaveSpec { .. } => {
                session.settings.mode = crate::Mode::Auto;
                session.settings.autonomy = session.policy.autonomy;
                session.policy.mode = crate::Mode::Auto;
            }
        }
        session.save();
        let settings = Box::new(session.settings.clone());
        self.emit(Happening::Settings { settings, ticket: None });
    }
}

/// The rules' verdict on a call, found where looking at files holds up nobody.
async fn judged(
    policy: Policy,
    call: ToolUse,
    target: Target,
    context: Context,
    cancel: CancellationToken,
) -> Verdict {
    let judge = move || judge(&policy, &call, &target, &context, &cancel);
    let judged = tokio::task::spawn_blocking(judge).await;
    judged.unwrap_or_else(|error| {
        Verdict::Refuse(Refusal::new(format!("The call could not be judged: {error}")))
    })
}

/// The rules' verdict on a call. Looks at files.
fn judge(
    policy: &Policy,
    call: &ToolUse,
    target: &Target,
    context: &Context,
    cancel: &CancellationToken,
) -> Verdict {
    let action = match target {
        Target::Server(tool) => Action::Mcp {
            server: &tool.server,
            tool: &tool.name,
            is_read_only: tool.is_read_only == Some(true),
        },
        Target::Ours(tool) => match tool.action(&call.input) {
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

/// Puts the whole file into the question, before and after.
fn show_edit(request: &mut Request, call: &ToolUse, context: &Context, cancel: &CancellationToken) {
    let Kind::Edit { path, old_content, new_content, .. } = &mut request.kind else { return };
    let text = |key: &str| call.input.get(key).and_then(Value::as_str);
    if let (Some(old), Some(new)) = (text("old_str"), text("new_str"))
        && let Some(before) = context.text_of(path, LARGEST_SHOWN, cancel)
    {
        let is_all = call.input.get("change_all").and_then(Value::as_bool).unwrap_or(false);
        let after = if is_all { before.replace(old, new) } else { before.replacen(old, new, 1) };
        *new_content = Some(permission::visible(&after).into_owned());
        *old_content = Some(permission::visible(&before).into_owned());
    }
}
