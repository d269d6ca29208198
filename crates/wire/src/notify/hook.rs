//! Hooks: the user's commands that run at events of a session.

use crate::object::object;
use crate::{Count, HookEventName, HookStatus};

object! {
    /// The hooks of an event have started.
    pub struct HookExecutionStarted {
        /// Id that pairs the started and completed notifications of one run.
        hook_id: String = "hookId",
        /// The event that triggered the hooks.
        hook_event_name: HookEventName = "hookEventName",
    } optional {
        /// The tool name, or how the session began; sent even if the hook has no pattern.
        hook_matcher: String = "hookMatcher",
        /// The commands that run.
        hook_commands: Vec<HookCommand> = "hookCommands",
        /// Id of the tool call that the hooks belong to.
        hook_tool_call_id: String = "hookToolCallId",
        /// Id of the user message, or of the last assistant message, that the hooks belong to.
        hook_parent_id: String = "hookParentId",
        /// Sort key that orders hook runs; a timestamp in microseconds in captures.
        hook_order: Count = "hookOrder",
        /// Whether clients should not show the run.
        hidden_from_user_views: bool = "hiddenFromUserViews",
        /// Whether the commands run in parallel.
        is_parallel_execution: bool = "isParallelExecution",
        /// Id shared by runs that execute in parallel.
        parallel_group_id: String = "parallelGroupId",
    }
}

object! {
    /// A command of a hook.
    pub struct HookCommand {
        /// The shell command.
        command: String = "command",
    } optional {
        /// Kind of the hook; `command` in captures.
        kind: String = "type",
        /// Time limit in seconds.
        timeout: Count = "timeout",
    }
}

object! {
    /// The hooks of an event have ended.
    pub struct HookExecutionCompleted {
        /// Id that pairs the started and completed notifications of one run.
        hook_id: String = "hookId",
        /// The event that triggered the hooks.
        hook_event_name: HookEventName = "hookEventName",
    } optional {
        /// The tool name, or how the session began; sent even if the hook has no pattern.
        hook_matcher: String = "hookMatcher",
        /// Id of the tool call that the hooks belong to.
        hook_tool_call_id: String = "hookToolCallId",
        /// Id of the user message, or of the last assistant message, that the hooks belong to.
        hook_parent_id: String = "hookParentId",
        /// Sort key that orders hook runs; a timestamp in microseconds in captures.
        hook_order: Count = "hookOrder",
        /// Whether the hooks succeeded.
        hook_status: HookStatus = "hookStatus",
        /// One result per command.
        hook_results: Vec<HookResult> = "hookResults",
        /// Whether a hook blocked the action.
        hook_prevented_action: bool = "hookPreventedAction",
    }
}

object! {
    /// Result of one command of a hook.
    pub struct HookResult {
        /// The shell command.
        command: String = "command",
    } optional {
        /// Exit code of the command.
        exit_code: i64 = "exitCode",
        /// Standard output of the command.
        stdout: String = "stdout",
        /// Standard error of the command.
        stderr: String = "stderr",
        /// Time limit in seconds.
        timeout: Count = "timeout",
        /// Whether clients should not show the output.
        suppress_output: bool = "suppressOutput",
    }
}
