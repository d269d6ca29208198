//! Missions: their state, features, workers and progress log. Known from declarations only, not from captures.

use crate::object::open_enum;

open_enum! {
    /// The role of a session in a mission.
    pub enum DecompSessionType {
        /// Plans the mission and starts workers.
        Orchestrator = "orchestrator",
        /// Implements one feature of the mission.
        Worker = "worker",
    }
}

open_enum! {
    /// The state of a mission.
    pub enum MissionState {
        /// Waiting for the user.
        AwaitingInput = "awaiting_input",
        /// The plan is accepted; no worker has started yet.
        Initializing = "initializing",
        /// Workers are running.
        Running = "running",
        /// Paused by the user or after a failure.
        Paused = "paused",
        /// The orchestrator is running, between two workers.
        OrchestratorTurn = "orchestrator_turn",
        /// All features have ended.
        Completed = "completed",
    }
}

open_enum! {
    /// The state of a feature of a mission.
    pub enum FeatureStatus {
        /// No worker has selected it yet.
        Pending = "pending",
        /// A worker is implementing it.
        InProgress = "in_progress",
        /// A worker has finished it.
        Completed = "completed",
        /// It will not be implemented.
        Cancelled = "cancelled",
    }
}

open_enum! {
    /// The outcome of a feature of a mission.
    pub enum FeatureSuccessState {
        /// Implemented as planned.
        Success = "success",
        /// Implemented in part.
        Partial = "partial",
        /// Not implemented.
        Failure = "failure",
    }
}

open_enum! {
    /// The severity of an issue found in a mission.
    pub enum IssueSeverity {
        /// The mission cannot continue before it is solved.
        Blocking = "blocking",
        /// It should be solved; the mission can continue.
        NonBlocking = "non_blocking",
        /// A possible improvement.
        Suggestion = "suggestion",
    }
}

open_enum! {
    /// The kind of a handoff item dismissed in a mission.
    pub enum DismissalType {
        /// An issue that a worker found.
        DiscoveredIssue = "discovered_issue",
        /// Information that later workers were to know.
        CriticalContext = "critical_context",
        /// Work that a worker left undone.
        IncompleteWork = "incomplete_work",
    }
}

open_enum! {
    /// The kind of an entry in a mission's progress log.
    pub enum ProgressLogEntryType {
        /// The user accepted the plan.
        MissionAccepted = "mission_accepted",
        /// The mission was paused.
        MissionPaused = "mission_paused",
        /// The mission was resumed.
        MissionResumed = "mission_resumed",
        /// The workers may start.
        MissionRunStarted = "mission_run_started",
        /// A worker's session started.
        WorkerStarted = "worker_started",
        /// A worker selected the feature to implement.
        WorkerSelectedFeature = "worker_selected_feature",
        /// A worker finished, with its report.
        WorkerCompleted = "worker_completed",
        /// A worker failed.
        WorkerFailed = "worker_failed",
        /// A worker was paused.
        WorkerPaused = "worker_paused",
        /// Items of a worker's report were dismissed.
        HandoffItemsDismissed = "handoff_items_dismissed",
        /// A milestone is complete and is being validated.
        MilestoneValidationTriggered = "milestone_validation_triggered",
    }
}
