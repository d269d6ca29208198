//! Whether a call may run: asks the rules, off the agent's task since they look at files, and takes in what somebody agreed to.

use musher_model::ToolUse;
use musher_tools::{Context, ToolOutput, tool_info};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::children::FromTurn;
use super::hooked_calls::before_call;
use super::offer;
use super::turn::Verdict;
use crate::mcp::McpTool;
use crate::permission::{self, Call, Kind, Outcome, PermissionRequest as Request, Policy, Refusal};
use crate::{Choice, Happening};

/// A file that is larger is not shown in a question.
const LARGEST_SHOWN: u64 = 512 * 1024;

impl Actor {
    /// Finds out whether a call may run.
    pub(super) fn prepare(&mut self, index: usize, mut call: ToolUse) {
        let Some(session) = &self.session else { return };
        let server = session.mcp.find(&call.name).filter(|tool| offer::is_offered(tool, session));
        if server.is_none()
            && let Err(output) = offer::known(&call.name, &self.environment.tools, session)
        {
            return self.with_turn(|turn, effects| turn.prepared(index, Verdict::Refuse(output), effects));
        }
        let (mut policy, context) = (session.policy.clone(), session.tools.clone());
        let kit = self.hooks_before(&call);
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let mut rules = None;
            if let Some(kit) = kit {
                let input = call.input.clone();
                let usual = (policy.autonomy, policy.ask_all);
                if let Some(verdict) = before_call(&kit, &mut call, &mut policy, &cancel, &back).await {
                    back.send(FromTurn::Prepared { index, verdict, rules }).await;
                    return;
                }
                if call.input != input {
                    back.send(FromTurn::Rewritten { index, input: call.input.clone() }).await;
                }
                rules = ((policy.autonomy, policy.ask_all) != usual).then(|| Box::new(policy.clone()));
            }
            let verdict = judged(policy, call, server, context, cancel).await;
            back.send(FromTurn::Prepared { index, verdict, rules }).await;
        });
    }

    /// Finds out once more whether a call may run: another call may have changed where its paths lead. Hooks have spoken already.
    pub(super) fn judge_again(&mut self, index: usize, call: ToolUse, rules: Option<Box<Policy>>) {
        let Some(session) = &self.session else { return };
        let server = session.mcp.find(&call.name).filter(|tool| offer::is_offered(tool, session));
        let policy = rules.map_or_else(|| session.policy.clone(), |rules| *rules);
        let context = session.tools.clone();
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let verdict = judged(policy, call, server, context, cancel).await;
            back.send(FromTurn::Prepared { index, verdict, rules: None }).await;
        });
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
    server: Option<McpTool>,
    context: Context,
    cancel: CancellationToken,
) -> Verdict {
    let judge = move || judge(&policy, &call, server.as_ref(), &context, &cancel);
    tokio::task::spawn_blocking(judge).await.unwrap_or_else(|error| {
        let text = format!("The call could not be judged: {error}");
        Verdict::Refuse(ToolOutput::error(&text, &text))
    })
}

/// The rules' verdict on a call. Looks at files.
fn judge(
    policy: &Policy,
    call: &ToolUse,
    server: Option<&McpTool>,
    context: &Context,
    cancel: &CancellationToken,
) -> Verdict {
    let asked = match (server, tool_info(&call.name)) {
        (Some(tool), _) => Call::mcp(&tool.server, &tool.name, tool.is_read_only == Some(true), &call.input),
        (None, Some(info)) => Call::built_in(info, &call.input),
        (None, None) => {
            let text = format!("There is no tool {}", call.name);
            return Verdict::Refuse(ToolOutput::error(&text, &text));
        }
    };
    let can_ask = Policy { auto_reject: false, ..policy.clone() };
    match permission::decide(&can_ask, &asked, &context.workspace) {
        permission::Verdict::Run(access) => Verdict::Run(access),
        permission::Verdict::Refuse(refusal) => Verdict::Refuse(refused(&refusal)),
        permission::Verdict::Ask(_) if policy.auto_reject => {
            match permission::decide(policy, &asked, &context.workspace) {
                permission::Verdict::Refuse(refusal) => Verdict::Reject(refused(&refusal)),
                _ => Verdict::Reject(ToolOutput::cancelled()),
            }
        }
        permission::Verdict::Ask(mut request) => {
            show_edit(&mut request, call, context, cancel);
            Verdict::Ask(request)
        }
    }
}

fn refused(refusal: &Refusal) -> ToolOutput {
    ToolOutput::error(&refusal.for_wire, &refusal.for_model)
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
