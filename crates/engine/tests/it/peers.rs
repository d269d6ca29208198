//! The engine beside real programs.

mod stored_sessions;
