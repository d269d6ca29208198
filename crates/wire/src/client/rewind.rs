//! Going back to an earlier message, with the files as they were.

use crate::Count;
use crate::object::object;

object! {
    /// Arguments of `get_rewind_info`.
    pub struct GetRewindInfoParams {
        session_id: String = "sessionId",
        message_id: String = "messageId",
    }
}

object! {
    /// Answer of `get_rewind_info`: files changed at or after that message.
    pub struct GetRewindInfoResult {
        available_files: Vec<RewindFile> = "availableFiles",
        created_files: Vec<RewindCreatedFile> = "createdFiles",
        evicted_files: Vec<RewindEvictedFile> = "evictedFiles",
    }
}

object! {
    /// A file whose earlier content is kept.
    pub struct RewindFile {
        file_path: String = "filePath",
        content_hash: String = "contentHash",
        size: Count = "size",
    }
}

object! {
    /// A file that was not there before.
    pub struct RewindCreatedFile {
        file_path: String = "filePath",
    }
}

object! {
    /// A file whose earlier content is gone.
    pub struct RewindEvictedFile {
        file_path: String = "filePath",
    } optional {
        reason: String = "reason",
    }
}

object! {
    /// Arguments of `execute_rewind`.
    pub struct ExecuteRewindParams {
        session_id: String = "sessionId",
        message_id: String = "messageId",
        files_to_restore: Vec<RewindFile> = "filesToRestore",
        files_to_delete: Vec<RewindCreatedFile> = "filesToDelete",
        fork_title: String = "forkTitle",
    }
}

object! {
    /// Answer of `execute_rewind`: a fork cut before that message. The process stays in the old session.
    pub struct ExecuteRewindResult {
        new_session_id: String = "newSessionId",
    } optional {
        restored_count: Count = "restoredCount",
        deleted_count: Count = "deletedCount",
        failed_restore_count: Count = "failedRestoreCount",
        failed_delete_count: Count = "failedDeleteCount",
    }
}
