//! Plays scenarios with droid and with an executable that replaces it, and compares their transcripts.
//!
//! The scenarios and the list of known differences are files of this crate; the README says how to write one.

mod compare; // two transcripts -> their differences
mod known; // the list of known differences
mod normalise; // a transcript without what differs by chance
mod play; // the files, and playing one

use std::path::Path;

use anyhow::{Context, Result, ensure};
use testkit::peers::DROID;
use testkit::require_peer;

use self::compare::compare;
use self::normalise::{Line, normalise};
use crate::Executable;

/// Declares the list, and exports the macro that declares a test of each scenario.
macro_rules! declare {
    ($dollar:tt $($name:ident,)+) => {
        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),+];

        /// Declares a test of each scenario: an [`Executable`](crate::Executable) must behave as droid does, except for the known
        /// differences.
        #[macro_export]
        macro_rules! scenarios {
            ($dollar executable:expr) => {
                $(
                    #[tokio::test]
                    async fn $name() -> $crate::Result<()> {
                        let transcripts = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance");
                        $crate::scenarios::run(stringify!($name), &$dollar executable, transcripts).await
                    }
                )+
            };
        }
    };
}

declare! {
    $
    ask_user,
    attachments,
    bad_input,
    close,
    close_in_a_turn,
    commands,
    compact,
    hooks,
    initialize,
    interrupts,
    lists,
    mcp_servers,
    model_errors,
    parallel_calls,
    permissions,
    queue,
    reading_tools,
    rewind,
    sessions,
    settings,
    spec_mode,
    spec_new_session,
    structured_output,
    subagents,
    text_turns,
    writing_tools,
}

/// Plays a scenario with droid and with the executable, and fails if they differ in more than the known differences.
///
/// The transcripts are written to a directory, for inspection.
pub async fn run(name: &str, executable: &Executable, transcripts: &str) -> Result<()> {
    let folder = Path::new(transcripts);
    let theirs = transcript(name, &Executable::Droid(require_peer!(DROID)), folder).await?;
    let ours = transcript(name, executable, folder).await?;
    let wrong = known::check(name, &compare(&theirs, &ours), &known::read()?).join("\n");
    // also printed there, where no other test's output hides it
    fs_err::write(folder.join(format!("{name}.differences.txt")), &wrong)?;
    ensure!(wrong.is_empty(), "{name}: not as the list says; transcripts are in {transcripts}\n{wrong}");
    Ok(())
}

async fn transcript(name: &str, executable: &Executable, folder: &Path) -> Result<Vec<Line>> {
    let said =
        play::play(name, executable).await.with_context(|| format!("{name} with {}", executable.name()))?;
    testkit::capture::write(&folder.join(format!("{name}.{}.jsonl", executable.name())), &said)?;
    let lines = normalise(&said);
    let text: Vec<_> = lines.iter().map(|line| format!("{} {}", line.kind, line.body)).collect();
    fs_err::write(folder.join(format!("{name}.{}.txt", executable.name())), text.join("\n"))?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_files_are_all_played_and_known_differences_name_only_them() -> Result<()> {
        let mut played: Vec<_> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        played.sort();
        assert_eq!(play::names()?, played);
        for entry in known::read()? {
            for name in entry.scenarios() {
                assert!(played.contains(name), "no scenario {name}");
            }
        }
        Ok(())
    }
}
