//! Where there is no terminal: the answer on stdout, everything else on stderr, and nobody to ask.

use std::process::Stdio;

use fs_err::File;
use musher_rehearse::{HttpError, Reply, Script};
use serde_json::json;

use super::stage::{Stage, asks, execute, makes_a_file, step};
use crate::program::{Run, command, ended};

fn run(code: i32, stdout: &str, stderr: &str) -> Run {
    Run { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

fn says(text: &str) -> Stage {
    Stage::new(Script::new().reply(Reply::text(text).when(step(1))))
}

#[test]
fn the_answer_is_on_stdout_and_the_rest_on_stderr() {
    let script = Script::new()
        .reply(Reply::text("I look.").and_tool("LS", json!({"directory_path": "."})).when(step(1)))
        .reply(Reply::text("It is empty.").when(step(2)));
    let stage = Stage::new(script);
    let ran = stage.run(&["what", "is", "here?"]);
    let expected = "I look.\n✓ LS .  1 line\nTIME · 1 tool call · TOKENS · session ID\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "It is empty.\n"), "{}", ran.stderr);
    assert_eq!(without_tokens(&ran.stderr), expected);
}

#[test]
fn the_prompt_comes_from_stdin_or_a_file() {
    let stage = says("Yes.");
    let file = stage.file("prompt.md", "from a file");
    let ran = stage.run(&["--prompt-file", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    assert!(stage.was_told("from a file"));
    for arguments in [&[][..], &["-"]] {
        let stage = says("Yes.");
        let file = stage.file("prompt.md", "from stdin");
        let mut command = stage.command(arguments);
        command.stdin(Stdio::from(File::open(file).unwrap().into_parts().0));
        assert_eq!(ended(command).code, Some(0));
        assert!(stage.was_told("from stdin"));
    }
}

#[test]
fn what_needs_consent_is_refused_where_nobody_can_be_asked() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["make a file"]);
    let stderr = without_tokens(&ran.stderr);
    let expected = "\
✗ refused, since nobody is here to be asked: Execute touch made.txt
✗ Execute touch made.txt  TOLD
TIME · 1 tool call · TOKENS · session ID
error: refused for lack of consent, since nobody is here to be asked: Execute touch made.txt

hint: run it in a terminal to be asked, or allow more with `--yes low`, `medium` or `high`
";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{stderr}");
    assert_eq!(without_told(&stderr), expected);
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn a_question_is_declined_where_nobody_can_be_asked() {
    let stage = Stage::new(asks());
    let ran = stage.run(&["ask me"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: refused for lack of consent"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Which colour?"), "{}", ran.stderr);
}

#[test]
fn what_is_allowed_beforehand_happens_unasked() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["--yes", "high", "make a file"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Made.\n"), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("✓ Execute touch made.txt  "), "{}", ran.stderr);
    assert!(stage.workspace().join("made.txt").exists());
}

#[test]
fn a_command_that_fails_and_a_change_are_told_in_a_line() {
    let edit = json!({"file_path": "a.txt", "old_str": "one", "new_str": "two\nthree"});
    let script = Script::new()
        .reply(execute("echo oh; exit 3").when(step(1)))
        .reply(Reply::tool("Create", json!({"file_path": "a.txt", "content": "one\nlast\n"})).when(step(2)))
        .reply(Reply::tool("Edit", edit).when(step(3)))
        .reply(Reply::text("Done.").when(step(4)));
    let stage = Stage::new(script);
    let ran = stage.run(&["--yes", "high", "change it"]);
    let expected = "\
✗ Execute echo oh; exit 3  exit code 3: oh
✓ Create a.txt  +2
✓ Edit a.txt  +2 -1
     1 - one
     1 + two
     2 + three
     3   last
TIME · 3 tool calls · TOKENS · session ID
";
    assert_eq!(without_tokens(&ran.stderr), expected);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn a_model_that_fails_fails_the_task() {
    let script = Script::new().reply(Reply::error(HttpError::new(400).message("out of credit")));
    let stage = Stage::new(script);
    let ran = stage.run(&["hello"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: ") && ran.stderr.contains("out of credit"), "{}", ran.stderr);
}

#[test]
fn without_a_model_it_says_what_to_set_and_offers_the_script() {
    let stage = says("Never.");
    fs_err::remove_file(stage.home().join("settings.json")).unwrap();
    let expected = "\
error: no model is set up

hint: name one in `customModels` of settings.json, or set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY
hint: `--model rehearsal` plays a script instead: no account, and no intelligence
";
    assert_eq!(stage.run(&["hello"]), run(2, "", expected));
    let rehearsed = stage.run(&["--model", "rehearsal", "hello"]);
    assert_eq!(rehearsed.code, Some(0));
    assert!(rehearsed.stdout.contains("no intelligence is behind these words"), "{}", rehearsed.stdout);
}

#[test]
fn wrong_usage_and_setup_exit_with_2_and_say_what_to_do() {
    let stage = says("Never.");
    let missing = stage.workspace().join("missing");
    let missing = missing.to_str().unwrap();
    for (arguments, error) in [
        (
            &["--model", "nothing", "hi"][..],
            "error: there is no model `nothing`\n\nhint: there are custom:Scripted-0",
        ),
        (
            &["--agent", "/nowhere/droid", "hi"],
            "error: there is no program `/nowhere/droid`\n\nhint: `--agent engine`",
        ),
        (
            &["--agent", "no-such-agent", "hi"],
            "error: there is no `no-such-agent` in PATH\n\nhint: install it",
        ),
        (&["--cwd", missing, "hi"], "error: `FOLDER/work/missing` is no directory"),
        (&["--session", "nothing", "hi"], "error: there is no session `nothing`\n\nhint: `--continue`"),
        (&["--continue", "hi"], "error: there is no session in `FOLDER/work` to go on with"),
        (&["--image", missing, "hi"], "error: failed to query resolved metadata `FOLDER/work/missing`"),
        (&["--schema", missing, "hi"], "error: failed to query resolved metadata `FOLDER/work/missing`"),
        (&["--file", "-", "-"], "error: stdin can be read once only"),
        (&[], "error: there is no prompt\n\nhint: write it behind the command"),
        (&["--partial", "hi"], "error: the following required arguments were not provided:\n  --stream-json"),
        (
            &["--yes", "all", "hi"],
            "error: invalid value 'all' for '--yes <LEVEL>'\n  [possible values: low, medium, high]",
        ),
    ] {
        let ran = stage.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.starts_with(error), "{arguments:?} {}", ran.stderr);
    }
    assert!(stage.calls().is_empty(), "no model was asked");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let stage = says("Hello.");
    let mut command = stage.command(&["--stream-json", "hello"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(Stdio::from(writer));
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn help_documents_the_exit_codes() {
    let ran = ended(command(&["run", "--help"]));
    let codes = "Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 3 refused for lack of consent, 130 interrupted.";
    assert_eq!(ran.code, Some(0));
    // lines are broken where the terminal ends
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(codes), "{}", ran.stdout);
}

/// Token counts are the model's business.
fn without_tokens(text: &str) -> String {
    let line = |line: &str| match (line.find(" tokens in"), line.find(" out · ")) {
        (Some(from), Some(to)) => {
            let from = line[..from].rfind(' ').map_or(0, |at| at + 1);
            format!("{}TOKENS{}\n", &line[..from], &line[to + " out".len()..])
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// What the agent says about a refused call is its own business.
fn without_told(text: &str) -> String {
    let line = |line: &str| match line.split_once("made.txt  ") {
        Some((title, _)) => format!("{title}made.txt  TOLD\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}
