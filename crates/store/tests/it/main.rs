//! Integration tests of the store with several processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contention;
mod locks;

use std::path::PathBuf;

use musher_store::{NewSession, SessionId};
use serde_json::Map;

fn new_session(id: &SessionId) -> NewSession {
    NewSession {
        id: id.clone(),
        cwd: PathBuf::from("/workspace"),
        title: None,
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: Map::new(),
    }
}
