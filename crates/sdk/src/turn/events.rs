//! Notifications that do not change the state of a turn, as events.

use std::time::Duration;

use musher_wire::{HookExecutionCompleted, HookExecutionStarted, HookStatus, SessionNotification as News};

use crate::{Event, HookProgress, HookRun};

/// Turns a notification into events.
pub(super) fn from(notification: News, out: &mut Vec<Event>) {
    let event = match notification {
        News::HookExecutionStarted(started) => return hooks_started(*started, out),
        News::HookExecutionCompleted(completed) => return hooks_ended(*completed, out),
        News::AssistantTextComplete(it) => Event::BlockComplete {
            message_id: it.message_id,
            block_index: it.block_index.map_or(0, |index| index.get()),
        },
        News::ThinkingTextComplete(it) => Event::BlockComplete {
            message_id: it.message_id,
            block_index: it.block_index.map_or(0, |index| index.get()),
        },
        News::LlmRetry(retry) => Event::Retry(retry.into()),
        News::ToolCall(call) => Event::ToolCallDelta(Box::new(call.tool_use.into())),
        News::ToolExecutionPhaseChanged(phase) => Event::ToolPhase(phase),
        News::ToolProgressUpdate(progress) => Event::ToolProgress(progress),
        News::PermissionResolved(resolved) => Event::PermissionResolved(resolved),
        News::SettingsUpdated(updated) => Event::Settings(Box::new(updated.settings)),
        News::SessionTitleUpdated(title) => Event::Title(title),
        News::McpStatusChanged(status) => Event::McpStatus(status),
        News::McpAuthRequired(required) => Event::McpAuthRequired(required),
        News::McpAuthCompleted(completed) => Event::McpAuthCompleted(completed),
        News::ChildSessionAvailable(child) => Event::ChildSession(child),
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
