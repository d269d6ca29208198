//! Sandboxes and what they block.

use crate::object::open_enum;

open_enum! {
    /// The scope of a sandbox.
    pub enum SandboxMode {
        /// Each command has its own sandbox.
        PerCommand = "per-command",
        /// The whole agent process is sandboxed.
        WholeProcess = "whole-process",
    }
}

open_enum! {
    /// The restriction that a sandboxed command violated.
    pub enum SandboxViolationType {
        /// Reading a file.
        FilesystemRead = "filesystem-read",
        /// Writing a file.
        FilesystemWrite = "filesystem-write",
        /// Using the network.
        Network = "network",
        /// Calling a tool.
        Tool = "tool",
    }
}

open_enum! {
    /// The operation that a sandboxed command attempted.
    pub enum SandboxOperationType {
        /// Reading a file.
        Read = "read",
        /// Writing a file.
        Write = "write",
        /// Connecting to a host.
        Network = "network",
        /// Calling a tool.
        Tool = "tool",
    }
}

open_enum! {
    /// Why the sandbox blocked an operation.
    pub enum SandboxViolationReason {
        /// The target is on a deny list.
        DenyList = "deny-list",
        /// The target is not on an allow list.
        NotAllowed = "not-allowed",
    }
}
