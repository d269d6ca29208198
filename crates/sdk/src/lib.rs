//! Drive coding agents from Rust: one-shot runs, sessions, streams, handlers, structured output.
