//! Notices that nobody reads our stdout any more, also while there is nothing to write.
//!
//! On a thread of its own: the runtime tells that a pipe or a socket can be written to, not that this has become pointless.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::Closed;
use crate::pump::Dying;

/// So much is enough for a thread that only waits.
const STACK: usize = 64 * 1024;

/// Tells `dying` when the other end of `stdout` is closed. Never, if that has no other end.
pub(super) fn watch(stdout: OwnedFd, dying: Dying) -> io::Result<()> {
    let wait = move || {
        loop {
            // without any wish, only the end is reported
            let mut streams = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut streams, None) {
                Err(Errno::INTR) => {}
                Err(_) => return,
                Ok(_) => break,
            }
        }
        dying.settle(Closed::Broken(Arc::new(io::ErrorKind::BrokenPipe.into())));
    };
    thread::Builder::new().name("stdout-watch".to_owned()).stack_size(STACK).spawn(wait)?;
    Ok(())
}
