//! What happens, as frames: one list of everything, with the session's id exactly where the real agent puts it.

use std::time::Duration;

use musher_engine::{
    ChildStep, Event, Happening, HookResult, HookRun, Question, RetryReason, SessionId, TitleCause,
    ToolPhase, TurnCompleted, TurnEnd,
};
use musher_wire as wire;
use musher_wire::{
    Count, Frame, Id, Json, LlmRetryReason, Notification, Request, Response, SessionNotification,
    SessionNotificationParams, SessionTitleUpdateType, ToolExecutionPhase,
};

use super::{count, last_call, message, moment, question, reply, settings, state, usage};
use crate::open::{Asked, Open};

/// What an event leads to.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A message to the client.
    Frame(Frame),
    /// Nothing that a client reads.
    Nothing,
    /// The agent is done.
    Closed,
}

/// Makes of an event what the client reads, and keeps the table of what is open.
pub(crate) fn outgoing(event: Event, open: &Open, host: &str) -> Outgoing {
    let Event { session, what } = event;
    let here = session.as_ref();
    match what {
        Happening::Reply { ticket, outcome } => {
            let Some(shape) = open.table().answered(&ticket.0) else {
                tracing::error!(id = &*ticket.0, "bug: a second answer to one request was left out");
                return Outgoing::Nothing;
            };
            let result = reply::result(outcome, shape, host);
            Outgoing::Frame(Frame::Response(Response::new(Id::from(&*ticket.0), result)))
        }
        Happening::Question(question) => ask(question, &[], open),
        Happening::ChildQuestion { session, question } => {
            let concerned: Vec<_> = [Some(&session), here].into_iter().flatten().collect();
            ask(question, &concerned, open)
        }
        Happening::QuestionWithdrawn { question } => {
            open.table().settled(&question);
            Outgoing::Nothing
        }
        Happening::Closed => Outgoing::Closed,
        other => {
            if let Happening::PermissionResolved { question, .. } = &other {
                open.table().settled(question);
            }
            news(other, here)
        }
    }
}

/// Asks the client. A permission may concern other sessions than its own, which are named then.
fn ask(question: Question, concerned: &[&SessionId], open: &Open) -> Outgoing {
    let (id, method, params, asked) = match question {
        Question::Permission { id, calls, choices } => {
            let mut params = question::permission(&calls, &choices);
            let ids = concerned.iter().map(|id| id.as_str().to_owned());
            params.associated_session_ids = (!concerned.is_empty()).then(|| ids.collect());
            let params = Json::new(&params);
            (id, "droid.request_permission", params, Asked::Permission)
        }
        Question::Ask { id, tool_call_id, questions } => {
            let params = Json::new(&question::ask(&tool_call_id, &questions));
            (id, "droid.ask_user", params, Asked::Questions)
        }
    };
    open.table().question(id.clone(), asked);
    Outgoing::Frame(Frame::Request(Request::new(id, method, params.unwrap_or_else(|_| Json::empty_object()))))
}

/// Whether `params` name the session.
enum Named {
    Yes,
    No,
}

fn news(what: Happening, session: Option<&SessionId>) -> Outgoing {
    use Named::{No, Yes};

    let (named, notification): (Named, SessionNotification) = match what {
        Happening::TextDelta { message_id, block, text } => {
            (Yes, wire::AssistantTextDelta::new(&*message_id, count(block), text).into())
        }
        Happening::ThinkingDelta { message_id, block, text } => {
            (Yes, wire::ThinkingTextDelta::new(&*message_id, count(block), text).into())
        }
        Happening::State(now) => (Yes, wire::DroidWorkingStateChanged::new(state(now)).into()),
        Happening::Message { message, ticket } => {
            let mut it = wire::CreateMessage::new(message::announced(&message));
            it.request_id = ticket.map(|ticket| ticket.0.as_ref().to_owned());
            (Yes, Box::new(it).into())
        }
        Happening::TextComplete { message_id, block } => {
            let mut it = wire::AssistantTextComplete::new(&*message_id);
            it.block_index = Some(count(block));
            (Yes, it.into())
        }
        Happening::ThinkingComplete { message_id, block, took } => {
            let mut it = wire::ThinkingTextComplete::new(&*message_id);
            it.block_index = Some(count(block));
            it.duration_ms = Some(milliseconds(took));
            (Yes, it.into())
        }
        Happening::Retracted { message_id } => {
            (Yes, wire::AssistantMessageRetracted::new(&*message_id).into())
        }
        Happening::ToolCall { id, name, input } => {
            let input = Json::new(&input).unwrap_or_else(|_| Json::empty_object());
            (No, Box::new(wire::ToolCall::new(wire::ToolUse::standalone(id, name, input))).into())
        }
        Happening::ToolPhase { id, name, phase } => {
            let phase = match phase {
                ToolPhase::Queued => ToolExecutionPhase::Queued,
                ToolPhase::Executing => ToolExecutionPhase::Executing,
            };
            let mut it = wire::ToolExecutionPhaseChanged::new(id, phase);
            it.tool_name = Some(name);
            (Yes, it.into())
        }
        Happening::ToolProgress { id, name, text, full_output, terminal, at_ms } => {
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
        Happening::ToolResult { id, message_id, content, is_error } => {
            let mut it = wire::ToolResult::new(id, message::result(&content));
            it.message_id = Some(message_id.as_ref().to_owned());
            it.is_error = Some(is_error);
            (Yes, it.into())
        }
        Happening::PermissionResolved { question, tool_use_ids, choice } => {
            let mut it = wire::PermissionResolved::new(question, super::choice(choice));
            it.tool_use_ids = Some(tool_use_ids);
            (No, it.into())
        }
        Happening::TurnCompleted(turn) => (Yes, Box::new(completed(*turn)).into()),
        Happening::Usage { total, inclusive, last_call: last } => {
            let mut it = wire::SessionTokenUsageChanged::new(usage(&total));
            it.session_id = session.map(|id| id.as_str().to_owned());
            it.inclusive_token_usage = Some(usage(&inclusive));
            it.last_call_token_usage = last.as_ref().map(last_call);
            (No, Box::new(it).into())
        }
        Happening::Settings { settings, ticket } => {
            let said =
                if ticket.is_some() { settings::complete(&settings) } else { settings::changed(&settings) };
            let mut it = wire::SettingsUpdated::new(said);
            it.request_id = ticket.map(|ticket| ticket.0.as_ref().to_owned());
            (No, Box::new(it).into())
        }
        Happening::Title { title, cause, ticket } => {
            let mut it = wire::SessionTitleUpdated::new(title);
            it.update_type = Some(match cause {
                TitleCause::FirstMessage => SessionTitleUpdateType::FirstUserMessage,
                TitleCause::Model => SessionTitleUpdateType::LlmGenerated,
                TitleCause::Manual => SessionTitleUpdateType::ManualRename,
            });
            it.request_id = ticket.map(|ticket| ticket.0.as_ref().to_owned());
            (Yes, it.into())
        }
        Happening::StructuredOutput { message_id, output } => {
            let mut it = wire::StructuredOutput::new(Json::from(output));
            it.message_id = Some(message_id.as_ref().to_owned());
            (No, it.into())
        }
        Happening::Problem { message, kind, name } => (Yes, Box::new(problem(message, &kind, name)).into()),
        Happening::Retry { attempt, reason } => {
            let mut it = wire::LlmRetry::new(match reason {
                RetryReason::RateLimited => LlmRetryReason::RateLimited,
                RetryReason::Overloaded => LlmRetryReason::Overloaded,
                RetryReason::Timeout => LlmRetryReason::Timeout,
                RetryReason::EmptyResponse => LlmRetryReason::EmptyResponse,
                RetryReason::Other => LlmRetryReason::Unknown,
            });
            it.attempt = Some(u64::from(attempt).into());
            (Yes, it.into())
        }
        Happening::Discarded { text, ticket } => {
            let it = wire::QueuedMessagesDiscarded {
                text: Some(text),
                request_id: ticket.map(|ticket| ticket.0.as_ref().to_owned()),
                ..wire::QueuedMessagesDiscarded::default()
            };
            (No, it.into())
        }
        Happening::McpStatus(views) => {
            let (servers, summary) = reply::servers_and_summary(&views);
            let mut it = wire::McpStatusChanged::new(servers);
            it.summary = Some(summary);
            (No, Box::new(it).into())
        }
        Happening::McpAuthentication { server, outcome, message } => {
            let mut it = wire::McpAuthCompleted::new(server, outcome.as_str());
            it.message = Some(message);
            (No, it.into())
        }
        Happening::HookStarted(run) => (No, Box::new(hook_started(*run)).into()),
        Happening::HookCompleted(run) => (No, Box::new(hook_completed(*run)).into()),
        Happening::Compacted { summary_id, removed, boundary } => {
            let it = wire::SessionCompacted {
                summary_id: Some(summary_id),
                removed_count: Some(count(removed)),
                visible_boundary_message_id: boundary,
                ..wire::SessionCompacted::default()
            };
            (Yes, it.into())
        }
        Happening::Child { session, tool_use_id, subagent, description } => {
            let mut it = wire::ChildSessionAvailable::new(session.as_str());
            it.tool_use_id = tool_use_id;
            it.subagent_type = Some(subagent);
            it.description = Some(description);
            it.timestamp = Json::new(&jiff::Timestamp::now().as_millisecond()).ok();
            (Yes, Box::new(it).into())
        }
        Happening::ChildProgress { id, session, step } => {
            let mut it = wire::ToolProgressUpdate::new(id, child_step(session.as_str(), step));
            it.tool_name = Some("Task".to_owned());
            (Yes, Box::new(it).into())
        }
        other => {
            tracing::debug!(?other, "nothing on the wire for this");
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
            tracing::error!(%error, "bug: news that cannot be printed");
            Outgoing::Nothing
        }
    }
}

/// What a subagent does, as the progress of the call that started it. Nobody has seen droid's: the fields are those its SDKs know.
fn child_step(session: &str, step: ChildStep) -> wire::ToolProgress {
    let progress = wire::ToolProgress {
        subagent_session_id: Some(session.to_owned()),
        timestamp: Some(moment(jiff::Timestamp::now().as_millisecond())),
        ..wire::ToolProgress::default()
    };
    match step {
        ChildStep::Said(text) => {
            wire::ToolProgress { kind: Some(wire::ToolProgressType::Message), text: Some(text), ..progress }
        }
        ChildStep::Called { name, input } => wire::ToolProgress {
            kind: Some(wire::ToolProgressType::ToolCall),
            tool_name: Some(name),
            parameters: Json::new(&input).ok(),
            ..progress
        },
        ChildStep::Returned { name, snippet, is_error } => wire::ToolProgress {
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
        TurnEnd::ModelRequestRejected => "model_request_rejected",
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
