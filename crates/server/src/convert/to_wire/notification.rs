//! Converts each kind of event to a frame, with the session id exactly where droid puts it.

use std::time::Duration;

use musher_engine::{
    Cost, Event, HookResult, HookRun, RetryReason, SessionEvent, SessionId, SubagentStep, TitleCause,
    ToolPhase, TurnCompleted, TurnEnd, UserRequest,
};
use musher_wire as wire;
use musher_wire::{
    Count, Frame, Id, Json, LlmRetryReason, Notification, Request, Response, SessionNotification,
    SessionNotificationParams, SessionTitleUpdateType, ToolExecutionPhase,
};

use super::{count, last_call, message, moment, question, reply, settings, state, usage};
use crate::pending::{Pending, QuestionKind};

/// The result of converting an event.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A message to the client.
    Frame(Frame),
    /// The event has no message.
    Nothing,
    /// The agent has ended.
    Closed,
}

/// Converts an event for the client, and updates the pending requests and questions.
pub(crate) fn outgoing(event: SessionEvent, pending: &Pending, host: &str) -> Outgoing {
    let SessionEvent { session, event } = event;
    let here = session.as_ref();
    match event {
        Event::Reply { command_id, outcome } => {
            let Some(shape) = pending.table().take_request(&command_id.0) else {
                tracing::error!(id = &*command_id.0, "bug: dropped a second reply to one request");
                return Outgoing::Nothing;
            };
            let result = reply::result(outcome, shape, host);
            Outgoing::Frame(Frame::Response(Response::new(Id::from(&*command_id.0), result)))
        }
        Event::UserRequest(request) => ask(request, &[], pending),
        Event::SubagentRequest { session, request } => {
            let concerned: Vec<_> = [Some(&session), here].into_iter().flatten().collect();
            ask(request, &concerned, pending)
        }
        Event::RequestWithdrawn { request } => {
            pending.table().take_question(&request);
            Outgoing::Nothing
        }
        Event::Closed => Outgoing::Closed,
        other => {
            if let Event::PermissionResolved { request, .. } = &other {
                pending.table().take_question(request);
            }
            notification(other, here)
        }
    }
}

/// Asks the client. A permission request may concern other sessions; they are listed in it.
fn ask(request: UserRequest, concerned: &[&SessionId], pending: &Pending) -> Outgoing {
    let (id, method, params, asked) = match request {
        UserRequest::Permission { id, calls, choices } => {
            let mut params = question::permission(&calls, &choices);
            let ids = concerned.iter().map(|id| id.as_str().to_owned());
            params.associated_session_ids = (!concerned.is_empty()).then(|| ids.collect());
            let params = Json::new(&params);
            (id, "droid.request_permission", params, QuestionKind::Permission)
        }
        UserRequest::Questions { id, tool_call_id, questions } => {
            let params = Json::new(&question::ask(&tool_call_id, &questions));
            (id, "droid.ask_user", params, QuestionKind::Questions)
        }
    };
    pending.table().add_question(id.clone(), asked);
    Outgoing::Frame(Frame::Request(Request::new(id, method, params.unwrap_or_else(|_| Json::empty_object()))))
}

/// Whether `params` contain the session id.
enum Named {
    Yes,
    No,
}

fn notification(event: Event, session: Option<&SessionId>) -> Outgoing {
    use Named::{No, Yes};

    let (named, notification): (Named, SessionNotification) = match event {
        Event::TextDelta { message_id, block, text } => {
            (Yes, wire::AssistantTextDelta::new(&*message_id, count(block), text).into())
        }
        Event::ThinkingDelta { message_id, block, text } => {
            (Yes, wire::ThinkingTextDelta::new(&*message_id, count(block), text).into())
        }
        Event::State(now) => (Yes, wire::DroidWorkingStateChanged::new(state(now)).into()),
        Event::Message { message, command_id } => {
            let mut it = wire::CreateMessage::new(message::announced(&message));
            it.request_id = command_id.map(|command_id| command_id.0.as_ref().to_owned());
            (Yes, Box::new(it).into())
        }
        Event::TextComplete { message_id, block } => {
            let mut it = wire::AssistantTextComplete::new(&*message_id);
            it.block_index = Some(count(block));
            (Yes, it.into())
        }
        Event::ThinkingComplete { message_id, block, took } => {
            let mut it = wire::ThinkingTextComplete::new(&*message_id);
            it.block_index = Some(count(block));
            it.duration_ms = Some(milliseconds(took));
            (Yes, it.into())
        }
        Event::Retracted { message_id } => (Yes, wire::AssistantMessageRetracted::new(&*message_id).into()),
        Event::ToolCall { id, name, input } => {
            let input = Json::new(&input).unwrap_or_else(|_| Json::empty_object());
            (No, Box::new(wire::ToolCall::new(wire::ToolUse::standalone(id, name, input))).into())
        }
        Event::ToolPhase { id, name, phase } => {
            let phase = match phase {
                ToolPhase::Queued => ToolExecutionPhase::Queued,
                ToolPhase::Executing => ToolExecutionPhase::Executing,
            };
            let mut it = wire::ToolExecutionPhaseChanged::new(id, phase);
            it.tool_name = Some(name);
            (Yes, it.into())
        }
        Event::ToolProgress { id, name, text, full_output, terminal, at_ms } => {
            let update = wire::ToolProgress {
                kind: Some(wire::ToolProgressType::Status),
                text: Some(text),
                timestamp: Some(moment(at_ms)),
                terminal_id: Some(terminal),
                full_output,
                ..wire::ToolProgress::default()
            };
            let mut it = wire::ToolProgressUpdate::new(id, update);
            it.tool_name = Some(name);
            (Yes, Box::new(it).into())
        }
        Event::ToolResult { id, message_id, content, is_error } => {
            let mut it = wire::ToolResult::new(id, message::result(&content));
            it.message_id = Some(message_id.as_ref().to_owned());
            it.is_error = Some(is_error);
            (Yes, it.into())
        }
        Event::PermissionResolved { request, tool_use_ids, choice } => {
            let mut it = wire::PermissionResolved::new(request, super::choice(choice));
            it.tool_use_ids = Some(tool_use_ids);
            (No, it.into())
        }
        Event::TurnCompleted(turn) => (Yes, Box::new(completed(*turn)).into()),
        Event::Usage { total, inclusive, last_call: last, cost } => {
            let mut it = wire::SessionTokenUsageChanged::new(usage(&total));
            it.session_id = session.map(|id| id.as_str().to_owned());
            it.inclusive_token_usage = Some(usage(&inclusive));
            it.last_call_token_usage = last.as_ref().map(last_call);
            it.cost_usd = cost.usd().filter(|usd| *usd > 0.0).and_then(|usd| Json::new(&usd).ok());
            (No, Box::new(it).into())
        }
        Event::Settings { settings, command_id } => {
            let reported = if command_id.is_some() {
                settings::complete(&settings)
            } else {
                settings::changed(&settings)
            };
            let mut it = wire::SettingsUpdated::new(reported);
            it.request_id = command_id.map(|command_id| command_id.0.as_ref().to_owned());
            (No, Box::new(it).into())
        }
        Event::Title { title, cause, command_id } => {
            let mut it = wire::SessionTitleUpdated::new(title);
            it.update_type = Some(match cause {
                TitleCause::FirstMessage => SessionTitleUpdateType::FirstUserMessage,
                TitleCause::Model => SessionTitleUpdateType::LlmGenerated,
                TitleCause::Manual => SessionTitleUpdateType::ManualRename,
            });
            it.request_id = command_id.map(|command_id| command_id.0.as_ref().to_owned());
            (Yes, it.into())
        }
        Event::StructuredOutput { message_id, output } => {
            let mut it = wire::StructuredOutput::new(Json::from(output));
            it.message_id = Some(message_id.as_ref().to_owned());
            (No, it.into())
        }
        Event::Problem { message, kind, name } => (Yes, Box::new(problem(message, &kind, name)).into()),
        Event::Retry { attempt, reason, delay, message } => {
            let mut it = wire::LlmRetry::new(match reason {
                RetryReason::RateLimited => LlmRetryReason::RateLimited,
                RetryReason::Overloaded => LlmRetryReason::Overloaded,
                RetryReason::Timeout => LlmRetryReason::Timeout,
                RetryReason::EmptyResponse => LlmRetryReason::EmptyResponse,
                RetryReason::Other => LlmRetryReason::Unknown,
            });
            it.attempt = Some(u64::from(attempt).into());
            it.delay_ms = Some(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX).into());
            it.message = Some(message);
            (Yes, it.into())
        }
        Event::Discarded { text, command_id } => {
            let it = wire::QueuedMessagesDiscarded {
                text: Some(text),
                request_id: command_id.map(|command_id| command_id.0.as_ref().to_owned()),
                ..wire::QueuedMessagesDiscarded::default()
            };
            (No, it.into())
        }
        Event::McpStatus(views) => {
            let (servers, summary) = reply::servers_and_summary(&views);
            let mut it = wire::McpStatusChanged::new(servers);
            it.summary = Some(summary);
            (No, Box::new(it).into())
        }
        Event::McpLogin { server, login } => {
            let mut it = wire::McpAuthRequired::new(server, login.url);
            it.message = Some(login.message);
            it.state = Some(login.state);
            (No, Box::new(it).into())
        }
        Event::McpAuthentication { server, outcome, message } => {
            let mut it = wire::McpAuthCompleted::new(server, outcome.as_str());
            it.message = Some(message);
            (No, it.into())
        }
        Event::HookStarted(run) => (No, Box::new(hook_started(*run)).into()),
        Event::HookCompleted(run) => (No, Box::new(hook_completed(*run)).into()),
        Event::Compacted { summary_id, removed, boundary } => {
            let it = wire::SessionCompacted {
                summary_id: Some(summary_id),
                removed_count: Some(count(removed)),
                visible_boundary_message_id: boundary,
                ..wire::SessionCompacted::default()
            };
            (Yes, it.into())
        }
        Event::SubagentStarted { session, tool_use_id, subagent, description } => {
            let mut it = wire::ChildSessionAvailable::new(session.as_str());
            it.tool_use_id = tool_use_id;
            it.subagent_type = Some(subagent);
            it.description = Some(description);
            it.timestamp = Json::new(&jiff::Timestamp::now().as_millisecond()).ok();
            (Yes, Box::new(it).into())
        }
        Event::SubagentProgress { id, session, step } => {
            let mut it = wire::ToolProgressUpdate::new(id, child_step(session.as_str(), step));
            it.tool_name = Some("Task".to_owned());
            (Yes, Box::new(it).into())
        }
        other => {
            tracing::debug!(?other, "event has no notification");
            return Outgoing::Nothing;
        }
    };
    let mut params = SessionNotificationParams::new(notification);
    if let (Yes, Some(session)) = (named, session) {
        params.session_id = Some(session.as_str().to_owned());
    }
    match Json::new(&params) {
        Ok(params) => {
            Outgoing::Frame(Frame::Notification(Notification::new("droid.session_notification", params)))
        }
        Err(error) => {
            tracing::error!(%error, "bug: cannot serialize a notification");
            Outgoing::Nothing
        }
    }
}

/// Converts a subagent's step to progress of the call that started it. No recording of droid shows this; the fields are those its SDKs
/// know.
fn child_step(session: &str, step: SubagentStep) -> wire::ToolProgress {
    let progress = wire::ToolProgress {
        subagent_session_id: Some(session.to_owned()),
        timestamp: Some(moment(jiff::Timestamp::now().as_millisecond())),
        ..wire::ToolProgress::default()
    };
    match step {
        SubagentStep::Message(text) => {
            wire::ToolProgress { kind: Some(wire::ToolProgressType::Message), text: Some(text), ..progress }
        }
        SubagentStep::ToolCall { name, input } => wire::ToolProgress {
            kind: Some(wire::ToolProgressType::ToolCall),
            tool_name: Some(name),
            parameters: Json::new(&input).ok(),
            ..progress
        },
        SubagentStep::ToolResult { name, snippet, is_error } => wire::ToolProgress {
            kind: Some(wire::ToolProgressType::ToolResult),
            tool_name: Some(name),
            status: Some(if is_error { "error" } else { "success" }.to_owned()),
            value_snippet: Some(snippet),
            ..progress
        },
    }
}

fn milliseconds(duration: Duration) -> Count {
    Count::from(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn completed(turn: TurnCompleted) -> wire::AgentTurnCompleted {
    let mut it = wire::AgentTurnCompleted::new(end(turn.reason));
    it.turn_id = Some(turn.turn_id);
    it.token_usage = Some(usage(&turn.usage));
    it.cumulative_token_usage = Some(usage(&turn.cumulative));
    it.child_token_usage = Some(usage(&turn.child));
    it.cumulative_child_token_usage = Some(usage(&turn.cumulative_child));
    it.duration_ms = Some(milliseconds(turn.took));
    if let Some(usd) = turn.cost.usd().filter(|_| turn.cost != Cost::default()) {
        it.cost_usd = Json::new(&usd).ok();
        it.unpriced_tokens = Some(turn.cost.unpriced_tokens()).filter(|tokens| *tokens > 0).map(Into::into);
    }
    it
}

fn end(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Completed => "completed",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::PermissionRejected => "permission_rejected",
        TurnEnd::Error => "error",
        TurnEnd::ProcessExit => "process_exit",
        TurnEnd::SpecHandoff => "spec_handoff",
        TurnEnd::StructuredOutputMissing => "structured_output_missing",
        TurnEnd::StructuredOutputInvalid => "structured_output_invalid",
        TurnEnd::StructuredOutputSchemaInvalid => "structured_output_schema_invalid",
        TurnEnd::ModelUsageExhausted => "model_usage_exhausted",
        TurnEnd::ModelAuthenticationFailed => "model_authentication_failed",
        // the client library of droid for Python fails on a name it does not know; the error before has its own
        TurnEnd::ModelRequestRejected | TurnEnd::ModelRefused => "model_request_rejected",
        TurnEnd::ModelProviderUnreachable => "model_provider_unreachable",
        TurnEnd::ModelProviderUnavailable => "model_provider_unavailable",
        TurnEnd::PromptRejected => "prompt_rejected",
        TurnEnd::CompletionPersistenceFailed => "completion_persistence_failed",
    }
}

fn problem(message: String, kind: &str, name: Option<String>) -> wire::ErrorNotification {
    let mut it = wire::ErrorNotification::new(message.as_str());
    it.error_type = Some(kind.into());
    it.timestamp = Some(reply::now());
    it.error = Some(wire::ErrorCause {
        name: Some(name.unwrap_or_else(|| "Error".to_owned())),
        message: Some(message),
        ..wire::ErrorCause::default()
    });
    it
}

fn hook_started(run: HookRun) -> wire::HookExecutionStarted {
    let mut it = wire::HookExecutionStarted::new(run.id, run.event.as_str());
    it.hook_matcher = run.matcher;
    let command = |(command, timeout): (String, Option<u64>)| {
        let mut it = wire::HookCommand::new(command);
        it.kind = Some("command".to_owned());
        it.timeout = timeout.map(Into::into);
        it
    };
    it.hook_commands = Some(run.commands.into_iter().map(command).collect());
    it.hook_tool_call_id = run.tool_call_id;
    it.hook_parent_id = run.parent_id;
    it.hook_order = Some(run.order.into());
    it
}

fn hook_completed(run: HookRun) -> wire::HookExecutionCompleted {
    let has_failed = run.has_failed();
    let mut it = wire::HookExecutionCompleted::new(run.id, run.event.as_str());
    it.hook_matcher = run.matcher;
    it.hook_tool_call_id = run.tool_call_id;
    it.hook_parent_id = run.parent_id;
    it.hook_order = Some(run.order.into());
    it.hook_status = Some(if has_failed { "error" } else { "completed" }.into());
    let result = |result: HookResult| {
        let mut it = wire::HookResult::new(result.command);
        it.exit_code = result.exit_code.map(i64::from);
        it.stdout = Some(result.stdout);
        it.stderr = Some(result.stderr);
        it.timeout = result.timeout.map(Into::into);
        it.suppress_output = result.suppress_output.then_some(true);
        it
    };
    it.hook_results = Some(run.results.into_iter().map(result).collect());
    it.hook_prevented_action = run.prevented.then_some(true);
    it
}

#[cfg(test)]
mod tests;
