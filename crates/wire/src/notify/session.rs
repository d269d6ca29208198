//! The session: settings, title, working directory, subagents, end.

use crate::object::object;
use crate::{Count, Json, SessionSettings, SessionTitleUpdateType};

object! {
    /// Settings changed. May contain only some of them: merge, do not replace.
    pub struct SettingsUpdated {
        /// The settings that changed, or all of them.
        settings: SessionSettings = "settings",
    } optional {
        /// Id of the `update_session_settings` request; present only on its final, complete notification.
        request_id: String = "requestId",
    }
}

object! {
    /// The title changed.
    pub struct SessionTitleUpdated {
        /// The new title.
        title: String = "title",
    } optional {
        /// Origin of the title.
        update_type: SessionTitleUpdateType = "updateType",
        /// Id of the `rename_session` request, if one set the title.
        request_id: String = "requestId",
    }
}

object! {
    /// The conversation was compacted automatically.
    pub struct SessionCompacted {} optional {
        /// Id of the summary.
        summary_id: String = "summaryId",
        /// Number of messages that the summary replaces.
        removed_count: Count = "removedCount",
        /// Id of the message at which the kept part of the conversation begins.
        visible_boundary_message_id: String = "visibleBoundaryMessageId",
    }
}

object! {
    /// The working directory of the session changed.
    pub struct SessionWorkingDirectoryChanged {
        /// The new working directory.
        cwd: String = "cwd",
    }
}

object! {
    /// A subagent started in a session of its own.
    pub struct ChildSessionAvailable {
        /// Id of the subagent's session.
        child_session_id: String = "childSessionId",
    } optional {
        /// Id of the tool call that started the subagent.
        tool_use_id: String = "toolUseId",
        /// Name of the subagent definition.
        subagent_type: String = "subagentType",
        /// Short description of the subagent's task.
        description: String = "description",
        /// Time of the notification. Form not documented.
        timestamp: Json = "timestamp",
    }
}

object! {
    /// The state of a loop changed. Deprecated by the vendor.
    pub struct LoopStateChanged {
        /// The new state. Form not documented.
        loop_state: Json = "loopState",
    }
}

object! {
    /// Daemon only: the session was closed.
    pub struct SessionClosed {} optional {
        /// Time of the notification, in milliseconds since 1970.
        timestamp: Count = "timestamp",
    }
}

object! {
    /// Daemon only: the session's process was ended after a time of inactivity.
    pub struct SessionInactivity {} optional {
        /// Explanation for display.
        message: String = "message",
        /// Time of the notification, in milliseconds since 1970.
        timestamp: Count = "timestamp",
        /// Idle time after which the process was ended, in seconds.
        timeout_seconds: Count = "timeoutSeconds",
    }
}

object! {
    /// Daemon only: the session's process exited unexpectedly.
    pub struct SessionProcessExited {} optional {
        /// Explanation for display.
        message: String = "message",
        /// Time of the notification, in milliseconds since 1970.
        timestamp: Count = "timestamp",
    }
}

object! {
    /// Daemon only: this connection no longer receives notifications of the session.
    pub struct SessionUnsubscribed {} optional {
        /// Explanation for display.
        message: String = "message",
    }
}
