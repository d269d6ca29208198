//! Missions. Read in the Python SDK's declarations; no capture shows them, so the inner parts are left open.

use crate::object::object;
use crate::{Json, MissionState};

object! {
    /// A mission moves on.
    pub struct MissionStateChanged {
        state: MissionState = "state",
    } optional {
        updated_at: Json = "updatedAt",
    }
}

object! {
    /// The features of a mission changed.
    pub struct MissionFeaturesChanged {
        features: Vec<Json> = "features",
    }
}

object! {
    /// Something happened in a mission.
    pub struct MissionProgressEntry {
        progress_log: Vec<Json> = "progressLog",
    }
}

object! {
    /// A mission still runs.
    pub struct MissionHeartbeat {} optional {
        timestamp: Json = "timestamp",
    }
}

object! {
    /// A worker began.
    pub struct MissionWorkerStarted {
        worker_session_id: String = "workerSessionId",
    }
}

object! {
    /// A worker ended.
    pub struct MissionWorkerCompleted {
        worker_session_id: String = "workerSessionId",
    } optional {
        exit_code: i64 = "exitCode",
    }
}
