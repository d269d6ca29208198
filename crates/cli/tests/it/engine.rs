//! `musher exec` as a server of the protocol: guarantees that hold when it, its client or its files fail.

mod bad_input; // lines that are no messages
mod bad_setup; // broken settings, missing folders
pub(crate) mod client; // a client that sees every line
mod ends; // the end of the input, signals, a client that is gone
mod killed; // SIGKILL at any moment
mod shared; // several processes, one session
mod slow_client; // one that does not read
mod titles; // a title that is paid for
