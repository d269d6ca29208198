//! An async driver of the Claude Code CLI: stream-json messages and the control protocol.
