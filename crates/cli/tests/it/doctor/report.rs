//! The checks of each area, and how the command ends.

use serde_json::{Value, json};

use super::stage::{World, area, set_mode};

#[test]
fn where_nothing_is_set_up_nothing_is_broken_and_it_says_what_to_do() {
    let world = World::new();
    let run = world.musher(&["doctor"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let home = world.path(".musher").display().to_string();
    let repo = world.path("repo").display().to_string();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "\
agents
  ok       engine      built in, version {version}
  ok       droid       not in PATH; needed only for `--agent droid` and for droid sessions of `musher bridge`
           -> see https://docs.factory.ai, or set MUSHER_DROID to its path
  ok       claude      not in PATH; needed only for Claude Code sessions of `musher bridge`
           -> see https://code.claude.com, or set MUSHER_CLAUDE to its path

models
  warning  engine      no model configured
           -> set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key, or add `customModels` to settings.json; \
         `musher run -m rehearsal` needs no model

servers
  ok       mcp.json    no MCP servers configured

settings
  ok       files       no settings files found; using defaults

trust
  ok       repository  {repo} has no settings, hooks or MCP servers of its own

home
  ok       folder      {home} does not exist yet; created when needed

sandbox
"
    );
    // the rest is about the machine
    assert!(run.stdout.starts_with(&expected), "{}\n--- expected:\n{expected}", run.stdout);
    let commands = "read-only commands and writes outside of the workspace: ";
    assert!(
        run.stdout.contains(commands) && run.stdout.contains("mode: by autonomy level"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\ndaemon\n") && run.stdout.contains("\n0 errors, "), "{}", run.stdout);
    assert!(!world.path(".musher").exists(), "looking changes nothing");
}

#[test]
fn agents_are_listed_with_their_version_and_broken_ones_are_errors() {
    let world = World::new();
    world.program("droid", "echo 0.225.2");
    world.program("claude", "echo oops >&2; exit 3");
    let (code, checks) = world.checks(&[]);
    let agents = area(&checks, "agents");
    assert_eq!(agents[1]["text"], format!("0.225.2 at {}", world.path("bin/droid").display()));
    let expected = format!(
        "`{} --version` printed no version and ended with exit status: 3",
        world.path("bin/claude").display()
    );
    assert_eq!((&agents[2]["state"], &agents[2]["text"]), (&json!("error"), &json!(expected)));
    assert_eq!(code, Some(1));

    let (code, checks) = world.checks(&[("MUSHER_CLAUDE", "/nowhere/claude"), ("MUSHER_AGENT", "no-such")]);
    let agents = area(&checks, "agents");
    assert_eq!(agents[2]["text"], "cannot find the program `/nowhere/claude` of MUSHER_CLAUDE");
    assert_eq!((&agents[3]["name"], &agents[3]["state"]), (&json!("MUSHER_AGENT=no-such"), &json!("error")));
    assert_eq!(code, Some(1));
}

#[test]
fn models_are_listed_without_their_keys() {
    let world = World::new();
    let models = json!([
        {"model": "big", "displayName": "Big", "baseUrl": "https://me:sk-in-url@llm.example.com/v1", "apiKey": "sk-in-file",
         "provider": "openai"},
        {"model": "small", "baseUrl": "http://localhost:1234/v1", "apiKey": "${NOT_SET}", "provider": "openai"},
    ]);
    world.write(".musher/settings.json", json!({"customModels": models, "model": "no-such"}));
    let (code, checks) = world.checks(&[("ANTHROPIC_API_KEY", "sk-in-environment")]);
    let told = serde_json::to_string(&checks).unwrap();
    assert!(!told.contains("sk-in"), "{told}");
    let names: Vec<_> =
        area(&checks, "models").iter().map(|check| (check["name"].clone(), check["state"].clone())).collect();
    let expected = [("custom:big", "ok"), ("anthropic", "ok"), ("model", "error")];
    assert_eq!(names, expected.map(|(name, state)| (json!(name), json!(state))));
    let text = area(&checks, "models")[0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("Big at llm.example.com, with a key, from "), "{text}");
    let settings = area(&checks, "settings");
    assert!(
        settings[0]["text"].as_str().unwrap().contains("settings.json: customModels[1]: "),
        "{settings:?}"
    );
    assert_eq!(code, Some(1));
}

#[test]
fn mistakes_are_reported_with_their_file_and_position() {
    let world = World::new();
    world.write(".musher/settings.json", "{\n  \"model\": oops\n}");
    world.write(
        ".musher/mcp.json",
        json!({"mcpServers": {
            "good": {"command": "server"},
            "missing": {"command": "no-such-server"},
            "odd": {"type": "telepathy", "command": "x"},
            "off": {"command": "x", "disabled": true},
            "far": {"type": "http", "url": "https://example.com/mcp"},
        }}),
    );
    world.program("server", "exit 0");
    let (code, checks) = world.checks(&[]);
    let file = world.path(".musher/mcp.json").display().to_string();
    let told: Vec<(Value, Value, Value)> = area(&checks, "servers")
        .iter()
        .map(|check| (check["name"].clone(), check["state"].clone(), check["text"].clone()))
        .collect();
    let found = format!("{} (user)", world.path("bin/server").display());
    let odd = format!("{file}: mcpServers.odd: unknown type `telepathy`: use stdio, http or sse");
    let expected = [
        ("good", "ok", found.as_str()),
        ("missing", "error", "cannot find the program `no-such-server` (user)"),
        ("off", "ok", "disabled (user)"),
        ("far", "ok", "http, not contacted (user)"),
        ("odd", "error", &odd),
    ];
    assert_eq!(told, expected.map(|(name, state, text)| (json!(name), json!(state), json!(text))));
    let settings = area(&checks, "settings");
    let place = format!("{}:2:12: expected value", world.path(".musher/settings.json").display());
    let advice = "fix it or remove it; no session starts until then, because it may hide a restriction";
    assert_eq!((&settings[0]["text"], &settings[0]["advice"]), (&json!(place), &json!(advice)));
    assert_eq!(code, Some(1));

    let run = world.musher(&["doctor", "--settings"]);
    assert!(run.stderr.contains(&place) && run.stderr.contains(advice), "{}", run.stderr);
    assert_eq!(run.code, Some(1));
}

#[test]
fn unknown_keys_are_warnings() {
    let world = World::new();
    world.write(".musher/settings.json", json!({"comandBlocklist": ["curl"]}));
    let (code, checks) = world.checks(&[]);
    let settings = area(&checks, "settings");
    assert_eq!((code, &settings[0]["state"]), (Some(0), &json!("warning")));
    let text = settings[0]["text"].as_str().unwrap();
    assert!(text.ends_with("comandBlocklist: unknown key, did you mean `commandBlocklist`?"), "{text}");
}

#[test]
fn home_that_cannot_be_created_is_an_error() {
    let world = World::new();
    for home in ["/proc/nope", "/dev/null/home"] {
        let (code, checks) = world.checks(&[("MUSHER_HOME", home)]);
        let home_check = &area(&checks, "home")[0];
        assert_eq!((code, &home_check["state"]), (Some(1), &json!("error")), "{home_check}");
        assert_eq!(home_check["text"], format!("{home} cannot be created: sessions cannot be saved"));
    }
}

#[test]
fn home_that_others_can_read_is_a_warning() {
    let world = World::new();
    world.write(".musher/settings.json", "{}");
    world.private(".musher");
    set_mode(&world.path(".musher/settings.json"), 0o644);
    let (code, checks) = world.checks(&[]);
    let file = world.path(".musher/settings.json").display().to_string();
    let expected = json!([{
        "area": "home", "name": "settings.json", "state": "warning",
        "text": format!("{file} is accessible to other users (mode 644)"), "advice": format!("chmod go= {file}"),
    }]);
    assert_eq!((code, json!(area(&checks, "home"))), (Some(0), expected));
    set_mode(&world.path(".musher/settings.json"), 0o600);
    let (_, checks) = world.checks(&[]);
    assert_eq!(area(&checks, "home")[0]["state"], "ok");
}

#[test]
fn each_setting_is_shown_with_the_file_it_comes_from() {
    let world = World::new();
    world.write(".factory/settings.json", json!({"model": "a"}));
    world.write(".musher/settings.json", json!({"model": "b", "commandDenylist": ["rm"]}));
    world.write("repo/.musher/settings.json", json!({"model": "c"}));
    let run = world.musher_with(&["doctor", "--settings"], &[("NO_COLOR", "1")]);
    let place = |name: &str| world.path(name).display().to_string();
    let (factory, home, repo) = (place(".factory"), place(".musher"), place("repo/.musher"));
    let expected = format!(
        "\
commandDenylist
  counts      [\"rm\"]  {home}/settings.json
sessionDefaultSettings.model
  untrusted   \"c\"  {repo}/settings.json
  counts      \"b\"  {home}/settings.json
  overridden  \"a\"  {factory}/settings.json

NO_COLOR is set: disables colors, whatever its value (default: colors on a terminal)
"
    );
    assert_eq!((run.code, run.stdout), (Some(0), expected));
    let run = world.musher(&["doctor", "--settings", "--json"]);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["settings"][0]["standing"], "overridden");
}

#[test]
fn directory_that_is_not_there_is_wrong_usage() {
    let run = World::new().musher(&["doctor", "--cwd", "/no/such/place"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with("error: cannot open `/no/such/place`\n"), "{}", run.stderr);
}
