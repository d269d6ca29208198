//! Hooks.

use crate::object::open_enum;

open_enum! {
    /// The event that triggers a hook.
    pub enum HookEventName {
        /// A session begins or is resumed.
        SessionStart = "SessionStart",
        /// The user sent a prompt.
        UserPromptSubmit = "UserPromptSubmit",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A turn is about to end.
        Stop = "Stop",
    }
}

open_enum! {
    /// How a hook run ended.
    pub enum HookStatus {
        /// All commands succeeded.
        Completed = "completed",
        /// A command failed.
        Error = "error",
    }
}
