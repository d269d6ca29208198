//! Replaces this process by another program that keeps some of its open files: an upgrade without a moment in which nothing listens.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, dup, fcntl_getfd, fcntl_setfd};

/// The variable with the process and the files that it keeps.
const VARIABLE: &str = "MUSHER_INHERITED_FILES";

/// Runs a program in the place of this process, with this environment. [`inherited`] returns the files there, in their order.
///
/// Returns only if that fails. Otherwise this process ends at once, as if it was killed, but its process id stays.
pub fn replace(
    program: &Path,
    args: &[OsString],
    variables: &[(OsString, OsString)],
    files: &[BorrowedFd<'_>],
) -> io::Error {
    // a duplicate stays open in the next program
    let kept: io::Result<Vec<OwnedFd>> = files.iter().map(|file| Ok(dup(file)?)).collect();
    let kept = match kept {
        Ok(kept) => kept,
        Err(error) => return error,
    };
    let numbers: Vec<String> = kept.iter().map(|file| file.as_raw_fd().to_string()).collect();
    #[expect(clippy::disallowed_methods, reason = "this is not a child, but what this process becomes")]
    let mut command = process::Command::new(program);
    command.args(args).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    command.env(VARIABLE, format!("{}:{}", process::id(), numbers.join(",")));
    command.exec()
}

/// Returns the files that this process has kept from the program that it was, once. Empty if it was none.
pub fn inherited() -> Vec<OwnedFd> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let Ok(value) = std::env::var(VARIABLE) else { return Vec::new() };
    let numbers = value.split_once(':').filter(|(pid, _)| pid.parse() == Ok(process::id()));
    let Some((_, numbers)) = numbers.filter(|_| !TAKEN.swap(true, Ordering::SeqCst)) else {
        return Vec::new();
    };
    numbers.split(',').filter_map(|number| number.parse().ok()).filter_map(adopt).collect()
}

#[expect(unsafe_code, reason = "a number in the environment is the only way to name an inherited file")]
fn adopt(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: the file is only looked at; an error says that it is not open
    fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) }).ok()?;
    // SAFETY: `replace` has duplicated it for this process, and it is taken once, so it has no other owner
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    // programs that this process starts must not have it
    fcntl_setfd(&file, FdFlags::CLOEXEC).ok()?;
    Some(file)
}
