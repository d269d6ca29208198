//! The built `musher` program from the outside: exit code, stdout and stderr.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed expectation is a failed test"
)]

mod acp; // `musher acp`
#[cfg(target_os = "linux")]
mod attacks; // a model that lies to get what it may not have
mod bridge; // `musher bridge`
#[cfg(target_os = "linux")]
mod chat; // `musher chat`, and `musher` alone
#[cfg(target_os = "linux")]
mod console; // `musher console`
#[cfg(target_os = "linux")]
mod daemon; // `musher daemon`
mod daemon_client; // `musher attach`, `musher inbox`, `musher run --daemon`
#[cfg(target_os = "linux")]
mod demo; // `musher demo`
mod docs; // the documents
mod doctor; // `musher doctor` and `musher trust`
mod engine; // `musher exec`: whatever becomes of it
mod help; // the help of every command, as it is printed
#[cfg(target_os = "linux")]
mod mcp; // `musher mcp`
mod models; // `musher models`
mod program; // runs the program, and never leaves it behind
#[cfg(target_os = "linux")]
mod pty; // a real pseudo-terminal
mod rehearse; // `musher rehearse`
#[cfg(target_os = "linux")]
mod run; // `musher run`
mod sdk; // `musher exec`, driven by the SDK
mod sessions; // `musher sessions`
mod settings; // broken settings stop every command that would start a session
mod shell; // `musher completions` and `musher man`
mod usage; // help, version and wrong arguments
