//! Every scenario with both programs.

mod daemon; // the official server, with ours as its worker
mod list_tools; // what is listed without a model
mod python_sdk; // the official client

use std::path::Path;

use anyhow::{Context, Result, ensure};
use testkit::peers::DROID;
use testkit::require_peer;

use crate::compare::compare;
use crate::known;
use crate::normalise::{Line, normalise};
use crate::scenario::{self, Target};

/// One test for each scenario, and the list of them.
macro_rules! scenarios {
    ($($name:ident,)+) => {
        $(
            #[tokio::test]
            async fn $name() -> Result<()> {
                both(stringify!($name)).await
            }
        )+

        const NAMES: &[&str] = &[$(stringify!($name)),+];
    };
}

scenarios! {
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

#[test]
fn every_file_is_played_and_every_known_difference_is_of_one() -> Result<()> {
    let mut played: Vec<_> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    played.sort();
    assert_eq!(scenario::names()?, played);
    for entry in known::read()? {
        for name in entry.scenarios() {
            assert!(played.contains(name), "no scenario {name}");
        }
    }
    Ok(())
}

async fn both(name: &str) -> Result<()> {
    let droid = Target::Droid(require_peer!(DROID));
    let theirs = transcript(name, &droid).await?;
    let ours = transcript(name, &Target::Musher).await?;
    let wrong = known::check(name, &compare(&theirs, &ours), &known::read()?).join("\n");
    // also there, where no other test's output can hide it
    fs_err::write(Path::new(TRANSCRIPTS).join(format!("{name}.differences.txt")), &wrong)?;
    ensure!(wrong.is_empty(), "{name}: not as the list says; transcripts are in {TRANSCRIPTS}\n{wrong}");
    Ok(())
}

/// Where the transcripts of the last run are kept, to be looked at.
const TRANSCRIPTS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance");

async fn transcript(name: &str, target: &Target) -> Result<Vec<Line>> {
    let said =
        scenario::play(name, target).await.with_context(|| format!("{name} with {}", target.name()))?;
    let folder = Path::new(TRANSCRIPTS);
    testkit::capture::write(&folder.join(format!("{name}.{}.jsonl", target.name())), &said)?;
    let lines = normalise(&said);
    let text: Vec<_> = lines.iter().map(|line| format!("{} {}", line.kind, line.body)).collect();
    fs_err::write(folder.join(format!("{name}.{}.txt", target.name())), text.join("\n"))?;
    Ok(lines)
}
