//! Missions. Known from the declarations of the Python SDK only, not from captures, so nested values stay untyped.

use crate::object::object;
use crate::{Json, MissionState};

object! {
    /// The state of a mission changed.
    pub struct MissionStateChanged {
        /// The new state.
        state: MissionState = "state",
    } optional {
        /// Time of the change. Form not documented.
        updated_at: Json = "updatedAt",
    }
}

object! {
    /// The features of a mission changed.
    pub struct MissionFeaturesChanged {
        /// All features of the mission. Element type not documented.
        features: Vec<Json> = "features",
    }
}

object! {
    /// The progress log of a mission grew.
    pub struct MissionProgressEntry {
        /// The progress log. Element type not documented.
        progress_log: Vec<Json> = "progressLog",
    }
}

object! {
    /// A mission is still running.
    pub struct MissionHeartbeat {} optional {
        /// Time of the heartbeat. Form not documented.
        timestamp: Json = "timestamp",
    }
}

object! {
    /// A worker started.
    pub struct MissionWorkerStarted {
        /// Id of the worker's session.
        worker_session_id: String = "workerSessionId",
    }
}

object! {
    /// A worker ended.
    pub struct MissionWorkerCompleted {
        /// Id of the worker's session.
        worker_session_id: String = "workerSessionId",
    } optional {
        /// Exit code of the worker's process.
        exit_code: i64 = "exitCode",
    }
}
