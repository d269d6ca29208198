//! Every call of `musher` in the documents and in our own help must be accepted by the command line, so that renamed flags are found.

use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use testkit::shell_lines as lines;

use crate::args::{Args, Backend};

fn check(place: &str, calls: &[Vec<String>], wrong: &mut Vec<String>) {
    for call in calls {
        let words = ["musher".to_owned()].into_iter().chain(call.iter().cloned());
        match Args::try_parse_from(words) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {}
            Err(error) => wrong.push(format!("{place}: musher {}\n{error}", call.join(" "))),
        }
    }
}

fn pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::pages(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

#[test]
fn every_call_in_the_documents_is_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages(&root.join("docs"), &mut files);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let text = fs_err::read_to_string(&file).unwrap();
        let mut calls: Vec<_> =
            lines::blocks(&text).iter().flat_map(|block| lines::calls(&block.script)).collect();
        calls.extend(lines::indented(&text).into_iter().flat_map(lines::calls));
        count += calls.len();
        check(&file.display().to_string(), &calls, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "{count}");
}

/// Returns the example in a line of help; its description stands behind at least two spaces.
fn example(line: &str) -> Option<&str> {
    let line = line.strip_prefix("  ")?;
    let call = line.find("musher ").filter(|at| *at == 0 || line[..*at].contains('='))?;
    Some(line[call..].split("  ").next().unwrap_or_default())
}

fn check_help(command: &clap::Command, wrong: &mut Vec<String>, count: &mut usize) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in help.lines().filter_map(example) {
        *count += 1;
        check(command.get_name(), &lines::calls(line), wrong);
    }
    for command in command.get_subcommands() {
        check_help(command, wrong, count);
    }
}

#[test]
fn every_example_of_the_help_is_right() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    check_help(&Args::command(), &mut wrong, &mut count);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "{count}");
}

#[test]
fn every_call_of_the_small_program_is_right() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bridge.md");
    let page = fs_err::read_to_string(page).unwrap();
    let help = Backend::command().get_after_help().map(ToString::to_string).unwrap_or_default();
    let calls =
        page.lines().chain(help.lines()).filter(|line| line.trim_start().starts_with("musher-bridge"));
    let calls: Vec<_> = calls.map(|line| line.trim_start().split("  ").next().unwrap()).collect();
    assert!(calls.len() > 3, "{calls:?}");
    for call in calls {
        Backend::try_parse_from(call.split_whitespace()).unwrap();
    }
}

#[test]
fn flag_that_does_not_exist_would_be_found() {
    let mut wrong = Vec::new();
    check("here", &lines::calls("musher sessions --no-such-flag\nmusher sessions list\n"), &mut wrong);
    assert_eq!(wrong.len(), 1);
}
