//! The help of every command, compared with a file: a change of the command line is seen in review.

use std::path::{Path, PathBuf};

use crate::program::{Run, bridge_alone, musher};

/// Set to write the files instead of comparing them.
const WRITE: &str = "MUSHER_WRITE_HELP";

fn file(words: &[&str]) -> PathBuf {
    let name = if words.is_empty() { "musher".to_owned() } else { words.join("-") };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help").join(format!("{name}.txt"))
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| Some(line.strip_prefix("  ")?.split_whitespace().next()?.to_owned())).collect()
}

fn compare(words: &[&str], wrong: &mut Vec<String>, seen: &mut Vec<PathBuf>) {
    let run = musher(&[words, &["--help"]].concat());
    is_as_written(&run, file(words), wrong, seen);
    if !words.is_empty() && !run.stdout.contains("Example") {
        wrong.push(format!("the help of {words:?} has no example"));
    }
    for command in commands(&run.stdout) {
        compare(&[words, &[command.as_str()]].concat(), wrong, seen);
    }
}

fn is_as_written(run: &Run, file: PathBuf, wrong: &mut Vec<String>, seen: &mut Vec<PathBuf>) {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", file.display());
    if std::env::var_os(WRITE).is_some() {
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, &run.stdout).unwrap();
    }
    let expected = fs_err::read_to_string(&file).unwrap_or_default();
    if expected != run.stdout {
        wrong.push(format!("{} differs from:\n{}", file.display(), run.stdout));
    }
    seen.push(file);
}

#[test]
fn every_command_explains_itself_with_examples_and_as_it_did() {
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    compare(&[], &mut wrong, &mut seen);
    is_as_written(&bridge_alone(&["--help"]), file(&["musher-bridge"]), &mut wrong, &mut seen);
    assert!(seen.len() > 10, "{seen:?}");
    for entry in fs_err::read_dir(file(&[]).parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if !seen.contains(&path) {
            wrong.push(format!("{} is of no command", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\n\n{WRITE}=1 writes the files again", wrong.join("\n"));
}
