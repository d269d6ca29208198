//! Trusting a repository, and no longer.

use serde_json::json;

use super::stage::{World, area};
use crate::program::Run;

#[test]
fn repository_is_trusted_with_the_files_it_has() {
    let world = World::new();
    world.write("repo/.musher/settings.json", json!({"commandAllowlist": ["make"]}));
    let repo = world.path("repo").display().to_string();
    let trust_of = |world: &World| area(&world.checks(&[]).1, "trust")[0].clone();
    let told = trust_of(&world);
    assert_eq!(told["state"], "warning");
    assert_eq!(told["text"], format!("{repo} is not trusted; ignored: commandAllowlist"));

    let wishes = format!(
        "trusting this repository would enable:\n  {repo}/.musher/settings.json: commandAllowlist\n    make\n"
    );
    let run = world.musher(&["trust"]);
    let stderr = format!(
        "{wishes}error: cannot ask for confirmation: stdin is not a terminal\n\n\
         hint: review the files, then run `musher trust --yes`\n"
    );
    assert_eq!(run, Run { code: Some(2), stdout: String::new(), stderr });
    let run = world.musher(&["trust", "--yes"]);
    let stderr = format!("{wishes}{repo} is trusted until one of these files changes\n");
    assert_eq!(run, Run { code: Some(0), stdout: String::new(), stderr });
    assert_eq!(trust_of(&world)["state"], "ok");
    assert_eq!(world.musher(&["trust"]).stderr, format!("{repo} is already trusted\n"));

    world.write("repo/.musher/settings.json", json!({"commandAllowlist": ["make", "rm"]}));
    assert_eq!(trust_of(&world)["state"], "warning", "another file is another agreement");
    world.musher(&["trust", "--yes"]);
    assert_eq!(world.musher(&["trust", "--forget"]).stderr, format!("{repo} is no longer trusted\n"));
    assert_eq!(trust_of(&world)["state"], "warning");
}

#[test]
fn commands_that_trust_would_enable_are_shown_without_their_keys() {
    let world = World::new();
    let hook = json!({"type": "command", "command": "make  check"});
    world.write("repo/.musher/hooks.json", json!({"hooks": {"Stop": [{"hooks": [hook]}]}}));
    let servers = json!({
        "a": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "secret"}},
        "b": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "secret"}},
    });
    world.write("repo/.musher/mcp.json", json!({ "mcpServers": servers }));
    let run = world.musher(&["trust"]);
    for expected in
        ["    runs: make  check\n", "    runs: npx -y server\n", "    connects to: https://example.com/mcp\n"]
    {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
}

#[test]
fn repository_without_files_needs_no_trust() {
    let world = World::new();
    let expected =
        format!("{} has no settings, hooks or MCP servers of its own\n", world.path("repo").display());
    let run = world.musher(&["trust"]);
    assert_eq!((run.code, run.stderr), (Some(0), expected));
}

#[test]
fn repository_whose_files_cannot_be_understood_cannot_be_trusted() {
    let world = World::new();
    world.write("repo/.musher/mcp.json", "{\"mcpServers\": ");
    let run = world.musher(&["trust", "--yes"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    let file = world.path("repo/.musher/mcp.json").display().to_string();
    let expected =
        format!("error: cannot start with these settings:\n  {file}:1:15: EOF while parsing a value\n");
    assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
    assert!(!world.path(".musher/trust.json").exists());
}
