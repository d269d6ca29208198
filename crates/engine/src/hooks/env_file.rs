//! A file in which the first hooks of a session may leave variables for its commands, as the hooks of Claude Code do.
//!
//! It is read once, by a shell, when they have ended. What it exports then is what commands and later hooks see; nothing is read again
//! when a command runs, so that no command can change what the next one is.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use musher_tools::Ended;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::run_command;

/// The name of the variable with its path, in the environment and the input of hooks.
pub(super) const VARIABLE: &str = "CLAUDE_ENV_FILE";

/// How long a shell may take to read it.
const LIMIT: Duration = Duration::from_secs(10);

/// Variables that a shell changes itself, and variables that would make later shells run additional code.
const NOT_TAKEN: [&str; 11] = [
    VARIABLE,
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "MUSHER_PROCESS_MARKS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
];

/// The variables of commands.
pub(crate) type Variables = Vec<(OsString, OsString)>;

/// Returns a path for a new file. Creates the folder, accessible to its owner only.
pub(crate) fn place(folder: &Path) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    Ok(folder.join(format!("{}.env", Uuid::new_v4())))
}

/// Returns the variables with what the file adds to them, if there is such a file. It is removed.
pub(crate) async fn read(
    file: &Path,
    cwd: &Path,
    variables: &Variables,
    cancel: &CancellationToken,
) -> Option<Variables> {
    if !file.is_file() {
        return None;
    }
    let mut with_file = variables.clone();
    with_file.push((VARIABLE.into(), file.into()));
    let command = format!("set -a; . \"${VARIABLE}\" >/dev/null 2>&1; exec env -0");
    let done = run_command(&command, cwd, &with_file, b"", LIMIT, None, cancel).await;
    fs_err::remove_file(file).ok();
    match done {
        Ok(output) if output.ended == Ended::Exited(0) => Some(added(variables, &output.stdout)),
        Ok(output) => {
            tracing::warn!(ended = ?output.ended, "the variables that hooks left cannot be read");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "the variables that hooks left cannot be read");
            None
        }
    }
}

/// Returns the variables with those of a listing, in which each is followed by a zero.
fn added(variables: &Variables, listing: &str) -> Variables {
    let mut all = variables.clone();
    // what does not end with a zero was cut off
    let whole = listing.rsplit_once('\0').map_or("", |(whole, _)| whole);
    for (name, value) in whole.split('\0').filter_map(|entry| entry.split_once('=')) {
        if NOT_TAKEN.contains(&name) || name.starts_with("BASH_FUNC_") {
            continue;
        }
        match all.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value.into(),
            None => all.push((name.into(), value.into())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_listing_has_is_added_but_for_what_shells_do_by_themselves() {
        let before = vec![("A".into(), "1".into()), ("B".into(), "2".into())];
        let listing =
            "A=1\0B=two=2\0C=several\nlines\0SHLVL=1\0BASH_ENV=/evil\0BASH_FUNC_ls%%=() {  :\n}\0cut=of";
        let after: Variables = vec![
            ("A".into(), "1".into()),
            ("B".into(), "two=2".into()),
            ("C".into(), "several\nlines".into()),
        ];
        assert_eq!(added(&before, listing), after);
    }
}
