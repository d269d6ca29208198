//! `musher demo`, whole: by itself, and with a user who is asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::program::{command, ended};
use crate::pty::{CTRL_C, Terminal};

fn demo(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = command(&[&["demo"], arguments].concat());
    command
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("TERM", "xterm-256color");
    command
}

fn left(home: &TempDir) -> Vec<PathBuf> {
    fs_err::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

const BY_ITSELF: &str = "\
The agent, its tools and its permission requests are real. Responses are
scripted; no AI model, account or network is involved.

Repository with a failing test: FOLDER/leap-years
$ sh test.sh
ok    2023 no
ok    2024 yes
ok    2000 yes
FAIL  1900 should be no, but is yes

musher run \"The test fails. Find out why, and fix it.\"
Run this command?
    sh test.sh
    Risk: high
    Reason given by the model: Runs the test and changes nothing
  1 Yes
  2 Yes, and don't ask again in this session, except for actions that always need approval
  3 No
  approved automatically
✗ Execute sh test.sh  exit code 1: FAIL  1900 should be no, but is yes
✓ Read leap.sh  7 lines
Edit FOLDER/leap-years/leap.sh?
     1   # Says whether a year is a leap year.
     2   year=$1
     3 - if [ $((year % 4)) -eq 0 ]; then
     3 + # every fourth year, but of the centuries only every fourth
     4 + if [ $((year % 400)) -eq 0 ] || { [ $((year % 4)) -eq 0 ] && [ $((year % 100)) -ne 0 ]; }; then
     5     echo yes
     6   else
  1 Yes
  2 Yes, and don't ask again in this session to change files in the workspace
  3 No
  approved automatically
✓ Edit leap.sh  +2 -1
Run this command?
    sh test.sh
    Risk: high
    Reason given by the model: Runs the test and changes nothing
  1 Yes
  2 Yes, and don't ask again in this session, except for actions that always need approval
  3 No
  approved automatically
✓ Execute sh test.sh  ok    1900 no
SUMMARY

Changes
     1   # Says whether a year is a leap year.
     2   year=$1
     3 - if [ $((year % 4)) -eq 0 ]; then
     3 + # every fourth year, but of the centuries only every fourth
     4 + if [ $((year % 400)) -eq 0 ] || { [ $((year % 4)) -eq 0 ] && [ $((year % 100)) -ne 0 ]; }; then
     5     echo yes
     6   else
$ sh test.sh
ok    2023 no
ok    2024 yes
ok    2000 yes
ok    1900 no

Next steps
  musher demo --keep                Keep the repository and the session
  export ANTHROPIC_API_KEY=...      Use an AI model (or set OPENAI_API_KEY)
  musher run \"explain this repo\"    Your own task; asks before it changes anything
";

/// The text with the parts replaced that differ from run to run.
fn same(text: &str) -> String {
    let folder = text.lines().find_map(|line| line.strip_prefix("Repository with a failing test: "));
    let folder = Path::new(folder.unwrap()).parent().unwrap().to_str().unwrap();
    let line = |line: &str| {
        if line.contains(" tokens in, ") {
            assert!(line.contains("4 tool calls · 8,230 tokens in, 265 out · session "), "{line}");
            return "SUMMARY\n".to_owned();
        }
        if Path::new(line).extension().is_some_and(|it| it == "jsonl") {
            return "SESSION\n".to_owned();
        }
        line.replace(folder, "FOLDER") + "\n"
    };
    text.lines().map(line).collect()
}

#[test]
fn by_itself_it_fixes_the_test_and_cleans_up() {
    let home = tempfile::tempdir().unwrap();
    let ran = ended(demo(&home, &[]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(same(&ran.stderr), BY_ITSELF);
    assert!(ran.stdout.starts_with("This reply is scripted."), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with("All four years are correct now. This is the end of the script.\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(left(&home), Vec::<PathBuf>::new(), "nothing is left");
}

#[test]
fn kept_session_can_be_resumed() {
    let home = tempfile::tempdir().unwrap();
    let ran = ended(demo(&home, &["--yes", "--keep"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let kept = ran.stderr.lines().find_map(|line| line.strip_prefix("Kept: ")).unwrap();
    let folder = Path::new(kept).join("leap-years");
    assert!(fs_err::read_to_string(folder.join("leap.sh")).unwrap().contains("% 400"));
    let mut on = command(&["run", "--continue", "--model", "rehearsal", "thanks"]);
    on.current_dir(&folder).env("MUSHER_HOME", Path::new(kept).join("home"));
    let on = ended(on);
    assert_eq!(on.code, Some(0), "{}", on.stderr);
    assert!(on.stdout.contains("This is still the scripted model"), "{}", on.stdout);
}

#[test]
fn in_a_terminal_the_user_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(demo(&home, &[]));
    for asked in ["    sh test.sh", "Edit ", "    sh test.sh"] {
        terminal.until(asked);
        terminal.until("allow? [y/N or a number]");
        terminal.type_in("y\n");
    }
    terminal.until("This is the end of the script.");
    terminal.until("Next steps");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
    assert_eq!(left(&home), Vec::<PathBuf>::new(), "nothing is left");
}

#[test]
fn user_who_denies_or_quits_ends_it_and_nothing_is_left() {
    for (typed, code) in [("n\n", 3), (CTRL_C, 130)] {
        let home = tempfile::tempdir().unwrap();
        let mut terminal = Terminal::start(demo(&home, &[]));
        terminal.until("allow? [y/N or a number]");
        terminal.type_in(typed);
        assert_eq!(terminal.end(), Some(code), "{}", terminal.shown());
        assert!(
            terminal.shown().contains("hint: `musher demo --yes` approves everything"),
            "{}",
            terminal.shown()
        );
        assert_eq!(left(&home), Vec::<PathBuf>::new(), "nothing is left");
    }
}
