//! Notifications that do not change the state of a turn, as events.

use std::time::Duration;

use musher_wire::{HookExecutionCompleted, HookExecutionStarted, HookStatus, SessionNotification};

use crate::{Event, HookProgress, HookRun};

/// Turns a notification into events.
pub(super) fn from(notification: SessionNotification, out: &mut Vec<Event>) {
    let event = match notification {
        SessionNotification::HookExecutionStarted(started) => return hooks_started(*started, out),
        SessionNotification::HookExecutionCompleted(completed) => return hooks_ended(*completed, out),
        SessionNotification::AssistantTextComplete(it) => Event::BlockComplete {
            message_id: it.message_id,
            block_index: it.block_index.map_or(0, |index| index.get()),
        },
        SessionNotification::ThinkingTextComplete(it) => Event::BlockComplete {
            message_id: it.message_id,
            block_index: it.block_index.map_or(0, |index| index.get()),
        },
        SessionNotification::LlmRetry(retry) => Event::Retry(retry.into()),
        SessionNotification::ToolCall(call) => Event::ToolCallDelta(Box::new(call.tool_use.into())),
        SessionNotification::ToolExecutionPhaseChanged(phase) => Event::ToolPhase(phase),
        SessionNotification::ToolProgressUpdate(progress) => Event::ToolProgress(progress),
        SessionNotification::PermissionResolved(resolved) => Event::PermissionResolved(resolved),
        SessionNotification::SettingsUpdated(updated) => Event::Settings(Box::new(updated.settings)),
        SessionNotification::SessionTitleUpdated(title) => Event::Title(title),
        SessionNotification::McpStatusChanged(status) => Event::McpStatus(status),
        SessionNotification::McpAuthRequired(required) => Event::McpAuthRequired(required),
        SessionNotification::McpAuthCompleted(completed) => Event::McpAuthCompleted(completed),
        SessionNotification::ChildSessionAvailable(child) => Event::ChildSession(child),
        other => Event::Other(Box::new(other)),
    };
    out.push(event);
}

fn hooks_started(started: HookExecutionStarted, out: &mut Vec<Event>) {
    for command in started.hook_commands.unwrap_or_default() {
        out.push(Event::Hook(Box::new(HookRun {
            id: started.hook_id.clone(),
            event: started.hook_event_name.clone(),
            matcher: started.hook_matcher.clone(),
            tool_call_id: started.hook_tool_call_id.clone(),
            command: command.command,
            status: HookProgress::Started {
                timeout: command.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            },
        })));
    }
}

fn hooks_ended(completed: HookExecutionCompleted, out: &mut Vec<Event>) {
    let is_error = completed.hook_status == Some(HookStatus::Error);
    for result in completed.hook_results.unwrap_or_default() {
        out.push(Event::Hook(Box::new(HookRun {
            id: completed.hook_id.clone(),
            event: completed.hook_event_name.clone(),
            matcher: completed.hook_matcher.clone(),
            tool_call_id: completed.hook_tool_call_id.clone(),
            command: result.command,
            status: HookProgress::Ended {
                is_error,
                exit_code: result.exit_code,
                stdout: result.stdout.unwrap_or_default(),
                stderr: result.stderr.unwrap_or_default(),
            },
        })));
    }
}
