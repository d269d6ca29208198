//! Rewind: going back to an earlier message and restoring the files of that time.

use crate::Count;
use crate::object::object;

object! {
    /// Parameters of `get_rewind_info`.
    pub struct GetRewindInfoParams {
        /// The session's id.
        session_id: String = "sessionId",
        /// Id of the user message to go back to. Unknown ids give empty lists.
        message_id: String = "messageId",
    }
}

object! {
    /// Result of `get_rewind_info`: the files that changed at or after the message.
    pub struct GetRewindInfoResult {
        /// Files whose earlier content can be restored.
        available_files: Vec<RewindFile> = "availableFiles",
        /// Files that did not exist before that message.
        created_files: Vec<RewindCreatedFile> = "createdFiles",
        /// Files whose earlier content is no longer stored.
        evicted_files: Vec<RewindEvictedFile> = "evictedFiles",
    }
}

object! {
    /// A file whose earlier content can be restored.
    pub struct RewindFile {
        /// Path of the file.
        file_path: String = "filePath",
        /// Hash of the earlier content: 64 hexadecimal digits.
        content_hash: String = "contentHash",
        /// Size of the earlier content in bytes.
        size: Count = "size",
    }
}

object! {
    /// A file that did not exist before.
    pub struct RewindCreatedFile {
        /// Path of the file.
        file_path: String = "filePath",
    }
}

object! {
    /// A file whose earlier content is no longer stored.
    pub struct RewindEvictedFile {
        /// Path of the file.
        file_path: String = "filePath",
    } optional {
        /// Why the content is no longer stored.
        reason: String = "reason",
    }
}

object! {
    /// Parameters of `execute_rewind`.
    pub struct ExecuteRewindParams {
        /// Id of the session to rewind.
        session_id: String = "sessionId",
        /// Id of the user message to go back to; it is not part of the fork.
        message_id: String = "messageId",
        /// Files to restore, from `availableFiles`.
        files_to_restore: Vec<RewindFile> = "filesToRestore",
        /// Files to delete, from `createdFiles`.
        files_to_delete: Vec<RewindCreatedFile> = "filesToDelete",
        /// Title of the new session.
        fork_title: String = "forkTitle",
    }
}

object! {
    /// Result of `execute_rewind`: a fork that ends before the message. The process stays in the old session.
    pub struct ExecuteRewindResult {
        /// Id of the new session. Load it to use it.
        new_session_id: String = "newSessionId",
    } optional {
        /// Number of files restored.
        restored_count: Count = "restoredCount",
        /// Number of files deleted.
        deleted_count: Count = "deletedCount",
        /// Number of files that could not be restored.
        failed_restore_count: Count = "failedRestoreCount",
        /// Number of files that could not be deleted.
        failed_delete_count: Count = "failedDeleteCount",
    }
}
