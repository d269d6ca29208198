//! The session itself: settings, title, directory, children, end.

use crate::object::object;
use crate::{Count, Json, SessionSettings, SessionTitleUpdateType};

object! {
    /// Settings changed. Maybe only some are here: merge.
    pub struct SettingsUpdated {
        settings: SessionSettings = "settings",
    } optional {
        /// On the final, complete one after `update_session_settings`: the id of that call.
        request_id: String = "requestId",
    }
}

object! {
    /// The title changed.
    pub struct SessionTitleUpdated {
        title: String = "title",
    } optional {
        update_type: SessionTitleUpdateType = "updateType",
        request_id: String = "requestId",
    }
}

object! {
    /// The conversation was summed up on its own.
    pub struct SessionCompacted {} optional {
        summary_id: String = "summaryId",
        removed_count: Count = "removedCount",
        visible_boundary_message_id: String = "visibleBoundaryMessageId",
    }
}

object! {
    /// The session works in another directory now.
    pub struct SessionWorkingDirectoryChanged {
        cwd: String = "cwd",
    }
}

object! {
    /// A subagent has a session of its own.
    pub struct ChildSessionAvailable {
        child_session_id: String = "childSessionId",
    } optional {
        tool_use_id: String = "toolUseId",
        subagent_type: String = "subagentType",
        description: String = "description",
        timestamp: Json = "timestamp",
    }
}

object! {
    /// A loop changed. Deprecated by the vendor.
    pub struct LoopStateChanged {
        loop_state: Json = "loopState",
    }
}

object! {
    /// Daemon only: the session was closed.
    pub struct SessionClosed {} optional {
        timestamp: Count = "timestamp",
    }
}

object! {
    /// Daemon only: the session's process was ended because nothing happened.
    pub struct SessionInactivity {} optional {
        message: String = "message",
        timestamp: Count = "timestamp",
        timeout_seconds: Count = "timeoutSeconds",
    }
}

object! {
    /// Daemon only: the session's process died.
    pub struct SessionProcessExited {} optional {
        message: String = "message",
        timestamp: Count = "timestamp",
    }
}

object! {
    /// Daemon only: this connection hears no more of the session.
    pub struct SessionUnsubscribed {} optional {
        message: String = "message",
    }
}
