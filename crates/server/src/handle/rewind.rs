//! Rewinds to an earlier message, and restores files.

use musher_engine::{Command, Rewind};
use musher_wire as wire;
use musher_wire::Request;

use super::asks;
use crate::dispatch::Handled;
use crate::params;

pub(super) fn info(request: &Request) -> Handled {
    let given = params::read::<wire::GetRewindInfo>(request)?;
    asks(Command::RewindInfo { session: given.session_id, message: given.message_id })
}

pub(super) fn execute(request: &Request) -> Handled {
    let given = params::read::<wire::ExecuteRewind>(request)?;
    let restore = given.files_to_restore.into_iter();
    let delete = given.files_to_delete.into_iter();
    asks(Command::Rewind(Box::new(Rewind {
        session: given.session_id,
        message: given.message_id,
        restore: restore.map(|file| (file.file_path.into(), file.content_hash)).collect(),
        delete: delete.map(|file| file.file_path.into()).collect(),
        title: given.fork_title,
    })))
}
