//! A tiny program beside us that outlives us by a moment, to end what our commands have left behind.
//!
//! It holds the other end of a pipe. When we are gone, however that came, the pipe ends; then it kills whatever carries our mark.
//! The kernel alone does not do that: it ends the shells that we forked, not what these have started.

use std::process::Child;
use std::sync::{Mutex, OnceLock, PoisonError};

use uuid::Uuid;

use super::brand::Brand;
use super::spawn;

/// Arguments: the mark in environments, and how it reads in limits.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT PIPE
while read -r line; do :; done
for round in 1 2 3 4 5; do
  found=
  for file in $(grep -lsaF -e "$1" -e "$2" -e "$3" /proc/[0-9]*/environ /proc/[0-9]*/limits 2>/dev/null); do
    pid=${file#/proc/}
    kill -9 "${pid%/*}" 2>/dev/null && found=1
  done
  [ -n "$found" ] || exit 0
  sleep 0.1
done
"#;

/// The mark of everything this process starts.
pub(super) fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| Uuid::new_v4().to_string())
}

/// Makes sure that it watches. Called on the thread that forks.
pub(super) fn wake() {
    // the pipe to it is in here, and closed by the kernel when this process ends
    static WARDEN: Mutex<Option<Child>> = Mutex::new(None);
    if !cfg!(target_os = "linux") {
        return;
    }
    let mut warden = WARDEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_there = warden.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
    if !is_there {
        let [innermost, outermost] = Brand::of(mark()).texts();
        match spawn::start_warden(SCRIPT, &[mark().to_owned(), innermost, outermost]) {
            Ok(child) => *warden = Some(child),
            Err(error) => tracing::warn!(%error, "commands may outlive a crash: no warden could be started"),
        }
    }
}
