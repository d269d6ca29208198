//! Where there is no terminal: the answer on stdout, everything else on stderr, and no permission requests.

use std::process::Stdio;

use fs_err::File;
use musher_rehearse::{Finish, HttpError, Reply, Script};
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
fn answer_is_on_stdout_and_the_rest_on_stderr() {
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
fn prompt_comes_from_stdin_or_a_file() {
    let stage = says("Yes.");
    let file = stage.file("prompt.md", "from a file");
    let ran = stage.run(&["--prompt-file", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
    assert!(stage.model_received("from a file"));
    for arguments in [&[][..], &["-"]] {
        let stage = says("Yes.");
        let file = stage.file("prompt.md", "from stdin");
        let mut command = stage.command(arguments);
        command.stdin(Stdio::from(File::open(file).unwrap().into_parts().0));
        assert_eq!(ended(command).code, Some(0));
        assert!(stage.model_received("from stdin"));
    }
}

#[test]
fn what_needs_approval_is_denied_without_a_terminal() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["make a file"]);
    let stderr = without_tokens(&ran.stderr);
    let expected = "\
✗ denied (not interactive): Execute touch made.txt
✗ Execute touch made.txt  not run
TIME · 1 tool call · TOKENS · session ID
error: permission denied (not interactive): Execute touch made.txt

hint: run it in a terminal to be asked, or allow more with `--auto low`, `medium` or `high`
";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{stderr}");
    assert_eq!(stderr, expected);
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn refusal_of_the_model_has_its_own_message_and_exit_code() {
    let reply = Reply::text("I can't help with that.").finish(Finish::ContentFilter);
    let stage = Stage::new(Script::new().reply(reply.when(step(1))));
    let ran = stage.run(&["do harm"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let told = "error: The model refused to answer, or a filter of its vendor blocked the answer.";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("rephrase the prompt"), "{}", ran.stderr);
}

#[test]
fn yes_approves_every_request_and_shows_it() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["--yes", "make a file"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Made.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Run this command?\n    touch made.txt\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("  approved automatically\n"), "{}", ran.stderr);
    assert!(stage.workspace().join("made.txt").exists());
}

#[test]
fn yes_does_not_approve_what_the_settings_block() {
    let stage = Stage::new(makes_a_file());
    let path = stage.home().join("settings.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, text.replacen('{', "{\"commandBlocklist\": [\"touch\"], ", 1)).unwrap();
    stage.run(&["--yes", "make a file"]);
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn question_is_declined_without_a_terminal() {
    let stage = Stage::new(asks());
    let ran = stage.run(&["ask me"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: permission denied (not interactive)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Which colour?"), "{}", ran.stderr);
}

#[test]
fn allowed_actions_run_without_a_request() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["--auto", "high", "make a file"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Made.\n"), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("✓ Execute touch made.txt  "), "{}", ran.stderr);
    assert!(stage.workspace().join("made.txt").exists());
}

#[test]
fn failed_command_and_a_change_are_shown_in_one_line() {
    let edit = json!({"file_path": "a.txt", "old_str": "one", "new_str": "two\nthree"});
    let script = Script::new()
        .reply(execute("echo oh; exit 3").when(step(1)))
        .reply(Reply::tool("Create", json!({"file_path": "a.txt", "content": "one\nlast\n"})).when(step(2)))
        .reply(Reply::tool("Edit", edit).when(step(3)))
        .reply(Reply::text("Done.").when(step(4)));
    let stage = Stage::new(script);
    let ran = stage.run(&["--auto", "high", "change it"]);
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
fn model_that_fails_fails_the_task() {
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
error: no model configured

hint: set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a model to `customModels` in settings.json
hint: `--model rehearsal` uses scripted responses and needs no account
";
    assert_eq!(stage.run(&["hello"]), run(2, "", expected));
    let rehearsed = stage.run(&["--model", "rehearsal", "hello"]);
    assert_eq!(rehearsed.code, Some(0));
    assert!(rehearsed.stdout.contains("no AI model is involved"), "{}", rehearsed.stdout);
}

#[test]
fn wrong_usage_and_setup_exit_with_2_and_say_what_to_do() {
    let stage = says("Never.");
    let missing = stage.workspace().join("missing");
    let missing = missing.to_str().unwrap();
    for (arguments, error) in [
        (
            &["--model", "nothing", "hi"][..],
            "error: unknown model `nothing`\n\nhint: available models: custom:Scripted-0",
        ),
        (
            &["--agent", "/nowhere/droid", "hi"],
            "error: cannot find the program `/nowhere/droid`\n\nhint: `--agent engine`",
        ),
        (
            &["--agent", "no-such-agent", "hi"],
            "error: cannot find `no-such-agent` in PATH\n\nhint: install it",
        ),
        (
            &["--cwd", missing, "hi"],
            "error: cannot use `FOLDER/work/missing` as the working directory: not a directory",
        ),
        (&["--session", "nothing", "hi"], "error: unknown session `nothing`\n\nhint: `--continue`"),
        (&["--continue", "hi"], "error: no session to continue in `FOLDER/work`"),
        (
            &["--image", missing, "hi"],
            "error: cannot read `FOLDER/work/missing`\n  caused by: No such file or directory",
        ),
        (
            &["--schema", missing, "hi"],
            "error: cannot read `FOLDER/work/missing`\n  caused by: No such file or directory",
        ),
        (&["--attach", "-", "-"], "error: cannot read both the prompt and an attachment from stdin"),
        (&[], "error: no prompt given\n\nhint: pass it as an argument, with `--file`, or on stdin"),
        (&["--partial", "hi"], "error: cannot use `--partial` without `--stream-json`"),
        (
            &["--auto", "all", "hi"],
            "error: invalid value 'all' for '--auto <LEVEL>'\n  [possible values: low, medium, high]",
        ),
        // `--yes` took a level in earlier versions
        (
            &["--yes", "low", "hi"],
            "error: unexpected level `low` after `--yes`\n\nhint: use `--auto low` to set the autonomy level",
        ),
        (&["--yes=low", "hi"], "error: unexpected value 'low' for '--yes' found; no more were expected"),
    ] {
        let ran = stage.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.starts_with(error), "{arguments:?} {}", ran.stderr);
    }
    assert!(stage.calls().is_empty(), "no model was asked");
}

#[test]
fn refusal_of_the_agent_is_shown_as_the_agent_words_it() {
    let stage = says("Never.");
    for command in ["run", "exec"] {
        let mut command = stage.musher(&[command, "--model", "rehearsal", "hi"]);
        let ran = ended({
            command.env("MUSHER_HOME", "/proc/nope");
            command
        });
        let expected = "\
error: cannot create the directory `/proc/nope`: No such file or directory (os error 2)

hint: set MUSHER_HOME to a writable directory
";
        assert_eq!(ran, run(2, "", expected));
    }
}

#[test]
fn program_that_is_not_an_agent_is_reported_with_a_hint() {
    let ran = says("Never.").run(&["--agent", "/bin/true", "hi"]);
    let expected = "\
error: the agent ended
  caused by: `/bin/true` exited (exit status: 0)

hint: `--agent` takes a program that speaks the Droid protocol, such as `droid`; `--agent engine` is the built-in agent
";
    assert_eq!(ran, run(2, "", expected));
}

#[test]
fn without_a_daemon_the_error_names_the_daemon() {
    let stage = says("Never.");
    let socket = stage.home().join("daemon.sock");
    for command in ["inbox", "attach"] {
        let ran = stage.run_musher(&[command]);
        let expected = format!(
            "\
error: cannot connect to the daemon
  caused by: cannot connect to `unix:{}`
  caused by: No such file or directory (os error 2)

hint: `musher daemon` starts the daemon
",
            socket.display()
        );
        assert_eq!(ran, run(2, "", &expected));
    }
}

#[test]
fn failed_model_call_names_the_address_of_the_model() {
    let script = Script::new().reply(Reply::error(HttpError::new(400).message("out of credit")));
    let stage = Stage::new(script);
    let ran = stage.run_musher(&["exec", "hello"]);
    let hint = format!(
        "\n\nhint: model scripted of generic-chat-completion-api at {}/v1, key from ",
        stage.model_url()
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("out of credit") && ran.stderr.contains(&hint), "{}", ran.stderr);
}

#[test]
fn reader_that_goes_away_is_not_a_failure() {
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
    let codes = "Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 3 permission denied, 4 the model refused, 130 interrupted.";
    assert_eq!(ran.code, Some(0));
    // lines are broken where the terminal ends
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(codes), "{}", ran.stdout);
}

/// Token counts depend on the model.
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
