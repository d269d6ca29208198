//! Notifies editors that support it that a conversation is being compacted.

use agent_client_protocol::v1::schema::{CompactionStatus, CompactionUpdate, SessionUpdate};

/// The compaction of one session: at most one at a time.
#[derive(Debug)]
pub(crate) struct Compaction {
    is_wanted: bool,
    is_running: bool,
    /// How many there were, which gives each an id.
    count: u32,
}

impl Compaction {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, is_running: false, count: 0 }
    }

    /// Returns the update for a new status, or `None` if the status has not changed or the editor does not support it.
    pub(crate) fn moves(&mut self, status: CompactionStatus, error: Option<&str>) -> Option<SessionUpdate> {
        let begins = status == CompactionStatus::InProgress;
        if !self.is_wanted || begins == self.is_running {
            return None;
        }
        self.is_running = begins;
        self.count += u32::from(begins);
        let update = CompactionUpdate::new(format!("compaction-{}", self.count), status);
        let update = match error {
            Some(error) => update.error(error.to_owned()),
            None => update,
        };
        Some(SessionUpdate::CompactionUpdate(update))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_one_begins_and_ends_once_under_its_own_id() {
        use CompactionStatus::{Cancelled, Completed, Failed, InProgress};
        let mut compaction = Compaction::new(true);
        let mut told = Vec::new();
        for status in [Completed, InProgress, InProgress, Completed, Cancelled, InProgress] {
            told.extend(compaction.moves(status, None));
        }
        told.extend(compaction.moves(Failed, Some("no room")));
        let told: Vec<Value> = told.iter().map(|update| serde_json::to_value(update).unwrap()).collect();
        let update = |id: &str, status: &str| json!({"sessionUpdate": "compaction_update", "compactionId": id, "status": status});
        let mut failed = update("compaction-2", "failed");
        failed["error"] = json!("no room");
        let expected = [
            update("compaction-1", "in_progress"),
            update("compaction-1", "completed"),
            update("compaction-2", "in_progress"),
            failed,
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn editor_without_support_gets_no_compaction_updates() {
        assert_eq!(Compaction::new(false).moves(CompactionStatus::InProgress, None), None);
    }
}
