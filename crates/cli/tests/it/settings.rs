//! Settings that may hide a restriction stop every front end before anything runs, with file, line, column and a hint.

use anyhow::Result;
use serde_json::{Value, json};
use testkit::{Launch, Program, Sandbox};

use crate::doctor::stage::World;
use crate::program::Run;

const BROKEN: &str = r#"{"commandBlocklist":["curl"] "x":1}"#;
const MISTAKE: &str = "settings.json:1:30: expected `,` or `}`\n  -> fix it";

/// An environment in which a session would leave a trace.
fn world() -> World {
    let world = World::new();
    let touch = format!("/bin/sh -c 'echo x > {}'", world.path("trace").display());
    world.write(
        ".musher/hooks.json",
        json!({"SessionStart": [{"hooks": [{"type": "command", "command": touch}]}]}),
    );
    world
}

fn refused(run: &Run, mistake: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: cannot start with these settings:\n  /"), "{}", run.stderr);
    assert!(run.stderr.contains(mistake), "{}", run.stderr);
    assert_eq!(run.stderr.matches(mistake).count(), 1, "it is said once: {}", run.stderr);
}

#[test]
fn exec_and_run_do_not_start_with_a_file_that_cannot_be_parsed() {
    let commands: [&[&str]; 4] = [
        &["exec", "--model", "rehearsal", "hello"],
        &["exec", "--model", "rehearsal", "--output-format", "json", "hello"],
        &["exec", "--model", "rehearsal", "--list-tools"],
        &["run", "--model", "rehearsal", "hello"],
    ];
    for file in [".musher/settings.json", ".factory/settings.json", "repo/.factory/settings.json"] {
        let world = world();
        world.write(file, BROKEN);
        for command in commands {
            refused(&world.musher(command), MISTAKE);
        }
        assert!(!world.path("trace").exists() && !world.path(".musher/sessions").exists());
    }
    let world = world();
    world.write("mine.json", BROKEN);
    let file = world.path("mine.json").display().to_string();
    let run = world.musher(&["exec", "--model", "rehearsal", "--settings", &file, "hello"]);
    refused(&run, "mine.json:1:30: expected `,` or `}`");
    assert!(!world.path("trace").exists());
}

#[test]
fn restriction_of_the_wrong_type_is_named_with_file_and_key() {
    for (settings, mistake) in [
        (json!({"commandBlocklist": "curl"}), "settings.json: commandBlocklist: invalid type"),
        (json!({"commandBlocklist": ["curl", 5]}), "settings.json: commandBlocklist: invalid type"),
        (json!({"maxAutonomyLevel": "lo"}), "settings.json: maxAutonomyLevel: unknown variant `lo`"),
        (json!({"sandbox": "readonly"}), "settings.json: sandbox: unknown sandbox mode `readonly`"),
    ] {
        let world = world();
        world.write(".musher/settings.json", settings);
        refused(&world.musher(&["exec", "--model", "rehearsal", "hello"]), mistake);
        assert!(!world.path("trace").exists());
    }
}

#[test]
fn session_is_not_resumed_with_a_file_that_cannot_be_parsed() {
    let world = World::new();
    assert_eq!(world.musher(&["run", "--model", "rehearsal", "hello"]).code, Some(0));
    world.write(".musher/settings.json", BROKEN);
    let run = world.musher(&["run", "--model", "rehearsal", "--continue", "hello"]);
    assert_ne!(run.code, Some(0));
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr.matches(MISTAKE).count(), 1, "{}", run.stderr);
}

#[test]
fn unknown_keys_are_reported_once_and_stop_nothing() {
    let world = World::new();
    world.write(".musher/settings.json", json!({"commandBlockList": ["curl"]}));
    let warning = "settings.json: commandBlockList: unknown key, did you mean `commandBlocklist`?";
    for arguments in [
        &["run", "--model", "rehearsal", "hello"][..],
        &["run", "--model", "rehearsal", "--continue", "hello"],
        &["exec", "--model", "rehearsal", "hello"],
        &["exec", "--model", "rehearsal", "--output-format", "stream-json", "hello"],
    ] {
        let run = world.musher(arguments);
        let told = (run.stderr.matches("warning: /").count(), run.stderr.matches(warning).count());
        assert_eq!((run.code, told), (Some(0), (1, 1)), "{}", run.stderr);
        assert!(!run.stdout.contains(warning), "{}", run.stdout);
    }
    let run = world.musher(&["doctor"]);
    assert_eq!((run.code, run.stdout.matches(warning).count()), (Some(0), 1), "{}", run.stdout);
}

#[test]
fn doctor_names_the_mistake_and_fails() {
    for file in [".musher/settings.json", "repo/.musher/settings.json"] {
        let world = World::new();
        world.write(file, BROKEN);
        for arguments in [&["doctor"][..], &["doctor", "--settings"]] {
            let run = world.musher(arguments);
            let told = format!("{}{}", run.stdout, run.stderr);
            assert_eq!(run.code, Some(1), "{told}");
            assert_eq!(told.matches("settings.json:1:30: expected `,` or `}`").count(), 1, "{told}");
        }
    }
}

#[test]
fn untrusted_repository_says_how_to_proceed() {
    let world = world();
    world.write("repo/.musher/settings.json", json!({"commandDenylist": 7}));
    let run = world.musher(&["run", "--model", "rehearsal", "hello"]);
    refused(&run, "repo/.musher/settings.json: commandDenylist: invalid type");
    assert!(run.stderr.contains("  -> fix it, remove it, or work in another directory"), "{}", run.stderr);
}

/// A front that speaks JSON lines, with a broken file in droid's home.
fn front(words: &[&str]) -> Result<(Sandbox, Program)> {
    let sandbox = Sandbox::new()?;
    fs_err::create_dir_all(sandbox.home().join(".factory"))?;
    fs_err::write(sandbox.home().join(".factory/settings.json"), BROKEN)?;
    let launch: Launch = sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(words.iter().copied());
    let program = sandbox.spawn(&launch)?;
    Ok((sandbox, program))
}

/// The line that answers, which must have the mistake in it.
async fn refusal(program: &mut Program, is_it: impl Fn(&Value) -> bool) -> Result<()> {
    let seen = program.read_until("the refusal", is_it).await?;
    let text = seen.last().map(ToString::to_string).unwrap_or_default();
    let mistake = serde_json::to_string(MISTAKE)?;
    assert!(text.contains(mistake.trim_matches('"')), "{text}");
    Ok(())
}

#[tokio::test]
async fn editor_gets_the_errors_over_acp() -> Result<()> {
    let (sandbox, mut program) = front(&["acp", "--model", "rehearsal"])?;
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
    program.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await?;
    program.read_until("the greeting", |line| line["id"] == 1).await?;
    let new = json!({"cwd": sandbox.workspace(), "mcpServers": []});
    program.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": new})).await?;
    refusal(&mut program, |line| line["id"] == 2 && line["error"].is_object()).await?;
    program.end().await?;
    sandbox.finish().await
}

#[tokio::test]
async fn app_gets_the_errors_over_the_bridge() -> Result<()> {
    let (sandbox, mut program) = front(&["bridge"])?;
    let options = json!({"agent": "engine", "model": "rehearsal"});
    let payload = json!({"prompt": "hello", "cwd": sandbox.workspace(), "options": options});
    program.send(&json!({"type": "session.create", "id": "r1", "payload": payload})).await?;
    refusal(&mut program, |line| line["id"] == "r1" && line["type"] == "error").await?;
    program.end().await?;
    sandbox.finish().await
}
