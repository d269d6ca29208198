//! Hooks of the user that run around the agent's steps.

use crate::object::object;
use crate::{Count, HookEventName, HookStatus};

object! {
    /// Hooks begin.
    pub struct HookExecutionStarted {
        hook_id: String = "hookId",
        hook_event_name: HookEventName = "hookEventName",
    } optional {
        hook_matcher: String = "hookMatcher",
        hook_commands: Vec<HookCommand> = "hookCommands",
        hook_tool_call_id: String = "hookToolCallId",
        hook_parent_id: String = "hookParentId",
        hook_order: Count = "hookOrder",
        hidden_from_user_views: bool = "hiddenFromUserViews",
        is_parallel_execution: bool = "isParallelExecution",
        parallel_group_id: String = "parallelGroupId",
    }
}

object! {
    /// One command of a hook.
    pub struct HookCommand {
        command: String = "command",
    } optional {
        kind: String = "type",
        /// Seconds.
        timeout: Count = "timeout",
    }
}

object! {
    /// Hooks have ended.
    pub struct HookExecutionCompleted {
        hook_id: String = "hookId",
        hook_event_name: HookEventName = "hookEventName",
    } optional {
        hook_matcher: String = "hookMatcher",
        hook_tool_call_id: String = "hookToolCallId",
        hook_parent_id: String = "hookParentId",
        hook_order: Count = "hookOrder",
        hook_status: HookStatus = "hookStatus",
        hook_results: Vec<HookResult> = "hookResults",
        hook_prevented_action: bool = "hookPreventedAction",
    }
}

object! {
    /// What came of one command of a hook.
    pub struct HookResult {
        command: String = "command",
    } optional {
        exit_code: i64 = "exitCode",
        stdout: String = "stdout",
        stderr: String = "stderr",
        timeout: Count = "timeout",
        suppress_output: bool = "suppressOutput",
    }
}
