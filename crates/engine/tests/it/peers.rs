//! The engine beside real programs.

mod compacted_sessions;
mod stored_sessions;
