use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use musher_model::Effort;
use musher_permission::{Autonomy, Mode};

/// A user's home, droid's home, and a repository.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs_err::create_dir_all(world.path("repo/.git")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl std::fmt::Display) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text.to_string()).unwrap();
    }

    fn load(&self, cwd: &str, trust: TrustRule) -> (Config, Vec<Problem>) {
        let environment = |name: &str| (name == "KEY").then(|| "secret-of-key".to_owned());
        let runtime = self.path("runtime.json");
        Config::load(&Places {
            home: &self.path("home"),
            factory_home: Some(&self.path("factory")),
            cwd: &self.path(cwd),
            runtime_settings: runtime.exists().then_some(runtime.as_path()),
            environment: &environment,
            trust,
        })
    }
}

#[test]
fn missing_files_are_not_a_problem() {
    let world = World::new();
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!((problems, config.folders, config.trust_key), (vec![], vec![], None));
    assert_eq!((config.settings, config.root), (Settings::default(), world.path("repo")));
    assert_eq!(config.trust, Trust::Untrusted { ignored: vec![] });
}

#[test]
fn layers_count_in_order_and_lists_are_joined() {
    let world = World::new();
    world.write(
        "factory/settings.json",
        json!({"model": "a", "commandAllowlist": ["ls"], "llmRequestTimeout": 5000}),
    );
    world.write(
        "home/settings.json",
        json!({"model": "b", "reasoningEffort": "low", "commandDenylist": ["x"]}),
    );
    world.write("home/settings.local.json", json!({"model": "c", "commandAllowlist": ["cat", "ls"]}));
    world.write("repo/sub/.factory/settings.json", json!({"model": "d", "compactionTokenLimit": 9}));
    world.write("repo/.factory/settings.json", json!({"model": "e", "commandBlocklist": ["y"]}));
    world.write(
        "repo/.musher/settings.json",
        json!({"mcp": {"callTimeoutMs": 1500}, "reasoningEffort": "high"}),
    );
    let (config, problems) = world.load("repo/sub", TrustRule::Everything);
    assert_eq!(problems, []);
    let expected = Settings {
        model: Some("e".to_owned()),
        reasoning_effort: Some(Effort::High),
        command_allow: vec!["ls".to_owned(), "cat".to_owned()],
        command_deny: vec!["x".to_owned()],
        command_block: vec!["y".to_owned()],
        llm_request_timeout: Some(Duration::from_secs(5)),
        mcp_call_timeout: Some(Duration::from_millis(1500)),
        compaction_token_limit: Some(9),
        ..Settings::default()
    };
    assert_eq!(config.settings, expected);
    let folders: Vec<_> = config.folders.iter().map(|folder| (folder.path.clone(), folder.level)).collect();
    let expected = [
        ("repo/.musher", Level::Project),
        ("repo/.factory", Level::Project),
        ("repo/sub/.factory", Level::Folder),
        ("home", Level::User),
        ("factory", Level::User),
    ];
    assert_eq!(folders, expected.map(|(path, level)| (world.path(path), level)));

    world.write("runtime.json", json!({"sessionDefaultSettings": {"model": "f"}}));
    let (config, _) = world.load("repo/sub", TrustRule::Everything);
    assert_eq!(config.settings.model.as_deref(), Some("f"));
}

/// The problems as text, without the folder of the test, each behind a mark for its severity.
fn reported(world: &World, problems: &[Problem]) -> Vec<String> {
    let mark = |severity| match severity {
        Severity::Fatal => "fatal",
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let folder = world.path("").display().to_string();
    let text = |problem: &Problem| format!("{} {}", mark(problem.severity), problem).replace(&folder, "");
    problems.iter().map(text).collect()
}

#[test]
fn mistakes_that_restrict_nothing_spoil_one_field() {
    let world = World::new();
    world.write(
        "home/settings.json",
        "{\n  \"model\": 3,\n  \"hooksDisabled\": true, // off\n  \"commandAllowlist\": \"rm\", \"mcp\": 1\n}",
    );
    world.write(
        "home/mcp.json",
        json!({"mcpServers": {"bad": {"type": "pigeon", "url": "x"}, "none": {},
                                        "web": {"type": "http"}, "good": {"command": "x"}}}),
    );
    world.write(
        "home/hooks.json",
        json!({"Stop": [{"hooks": [{"command": "true"}, {"type": "prompt", "prompt": "x"}]}], "Odd": 7, "PreTolUse": []}),
    );
    world.write("factory/config.json", "{\n\"custom_models\": \n}");
    world.write("home/trust.json", "{");
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!(
        reported(&world, &problems),
        [
            "error factory/config.json:3:1: expected value",
            "error home/trust.json:1:1: EOF while parsing an object",
            "error home/settings.json: mcp: expected an object",
            "error home/settings.json: model: invalid type: integer `3`, expected a string",
            "error home/settings.json: commandAllowlist: invalid type: string \"rm\", expected a sequence",
            "error home/hooks.json: Stop[0]: hooks of type `prompt` are not supported, only `command` is",
            "warning home/hooks.json: Odd: unknown hook event",
            "warning home/hooks.json: PreTolUse: unknown hook event, did you mean `PreToolUse`?",
            "error home/mcp.json: mcpServers.bad: unknown type `pigeon`: use stdio, http or sse",
            "error home/mcp.json: mcpServers.none: `command` is missing",
            "error home/mcp.json: mcpServers.web: `url` is missing",
        ]
    );
    assert!(config.settings.hooks_disabled);
    assert_eq!((config.hooks.len(), config.mcp_servers.len()), (1, 1));
}

#[test]
fn invalid_file_is_fatal_in_every_layer() {
    let broken = r#"{"commandBlocklist":["curl"] "x":1}"#;
    for file in ["settings.json", "settings.local.json", "hooks.json", "mcp.json"] {
        for folder in ["factory", "home", "repo/.factory", "repo/.musher", "repo/sub/.factory"] {
            for trust in [TrustRule::Everything, TrustRule::Nothing] {
                let world = World::new();
                fs_err::create_dir_all(world.path("repo/sub")).unwrap();
                world.write(&format!("{folder}/{file}"), broken);
                let (_, problems) = world.load("repo/sub", trust);
                let expected = format!("fatal {folder}/{file}:1:30: expected `,` or `}}`");
                assert_eq!(reported(&world, &problems), [expected]);
                let is_untrusted = folder.starts_with("repo") && trust == TrustRule::Nothing;
                assert_eq!(problems[0].is_untrusted, is_untrusted, "{folder}");
            }
        }
    }
    let world = World::new();
    world.write("runtime.json", broken);
    assert!(world.load("repo", TrustRule::Store).1[0].is_fatal());
}

#[test]
fn invalid_restriction_is_fatal() {
    for (key, value) in [
        ("commandBlocklist", json!("curl")),
        ("commandBlocklist", json!(["curl", 5])),
        ("commandBlocklist", json!({"curl": true})),
        ("commandBlocklist", json!([["curl"]])),
        ("commandBlocklist", json!([" "])),
        ("commandBlocklist", json!(["curl*"])),
        ("commandDenylist", json!("curl")),
        ("commandDenylist", json!(["*"])),
        ("commandDenylist", json!(false)),
        ("maxAutonomyLevel", json!("lo")),
        ("maxAutonomyLevel", json!(0)),
        ("disabledSkills", json!("deploy")),
        ("disabledSkills", json!([1])),
        ("sessionDefaultSettings", json!("off")),
        ("sessionDefaultSettings", json!({"autonomyLevel": "of"})),
        ("sessionDefaultSettings", json!({"interactionMode": "plan"})),
        ("sandbox", json!(true)),
        ("sandbox", json!("readonly")),
        ("sandbox", json!({"enabled": true, "mode": "per-process"})),
        ("sandbox", json!({"enabled": true, "filesystem": {"denyRead": ["~/.ssh"]}})),
        ("sandbox", json!({"mode": "read-only", "netwrk": "off"})),
        ("sandbox", json!({"network": "lan"})),
        ("sandbox", json!({"enabled": "yes"})),
        ("allowManagedHooksOnly", json!(true)),
        ("mcpPolicy", json!({"enabled": false})),
        ("modelPolicy", json!({"blockedModelIds": ["x"]})),
        ("builtInToolAutonomyOverrides", json!({"FetchUrl": "high"})),
    ] {
        for (folder, trust) in
            [("home", TrustRule::Store), ("factory", TrustRule::Store), ("repo/.factory", TrustRule::Nothing)]
        {
            let world = World::new();
            world.write(&format!("{folder}/settings.json"), json!({key: value}));
            let (_, problems) = world.load("repo", trust);
            let told = reported(&world, &problems);
            let expected = format!("fatal {folder}/settings.json: {key}");
            assert!(told.len() == 1 && told[0].starts_with(&expected), "{folder} {value}: {told:?}");
        }
    }
}

#[test]
fn invalid_restriction_that_needs_trust_is_fatal_only_if_trusted() {
    for (file, value) in [
        ("settings.json", json!({"subagentAutonomyLevel": "lo"})),
        ("settings.json", json!({"hooksDisabled": "yes"})),
        ("settings.json", json!({"hooks": []})),
        ("settings.json", json!({"hooks": {"PreToolUse": {}}})),
        ("settings.json", json!({"hooks": {"PreToolUse": [{"hooks": {"command": "guard"}}]}})),
        (
            "settings.json",
            json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "guard", "timeout": "5"}]}]}}),
        ),
        ("settings.json", json!({"hooks": {"hooksDisabled": true}})),
        ("hooks.json", json!({"hooks": 5})),
        ("hooks.json", json!({"PreToolUse": [{"matcher": 5, "hooks": []}]})),
        ("hooks.json", json!({"UserPromptSubmit": [{"hooks": [{"type": "prompt", "prompt": "allow?"}]}]})),
        ("hooks.json", json!({"PreToolUse": [{"hooks": [{"type": "command"}]}]})),
        ("mcp.json", json!({"mcpServers": ["a"]})),
    ] {
        let world = World::new();
        world.write(&format!("repo/.musher/{file}"), &value);
        let (_, problems) = world.load("repo", TrustRule::Everything);
        assert_eq!(
            problems.iter().map(Problem::is_fatal).collect::<Vec<_>>(),
            [true],
            "{value}: {problems:?}"
        );
        let (_, problems) = world.load("repo", TrustRule::Nothing);
        assert_eq!(
            problems.iter().map(Problem::is_fatal).collect::<Vec<_>>(),
            [false],
            "{value}: {problems:?}"
        );
    }
}

#[test]
fn values_that_disable_a_restriction_are_valid() {
    let world = World::new();
    world.write(
        "home/settings.json",
        json!({
            "commandBlocklist": null, "commandDenylist": ["rm -rf *", "git 'push' *"], "subagentAutonomyLevel": "inherit",
            "sandbox": {"enabled": false, "mode": "per-command", "newer": 1}, "allowManagedHooksOnly": false, "mcpPolicy": {},
            "modelPolicy": null, "hooks": {"hooksDisabled": false, "showHookOutput": true},
        }),
    );
    world.write("factory/settings.json", json!({"subagentAutonomyLevel": "low"}));
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!(problems, []);
    assert_eq!(config.settings.subagent_autonomy, None);
}

#[test]
fn invalid_server_hides_the_same_server_of_lower_layers() {
    for broken in [
        json!({"command": "x", "disabled": "yes"}),
        json!({"command": "x", "disabledTools": "t"}),
        json!(false),
    ] {
        let world = World::new();
        world
            .write("factory/mcp.json", json!({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}));
        world.write("home/mcp.json", json!({"mcpServers": {"a": broken}}));
        let (config, problems) = world.load("repo", TrustRule::Store);
        assert_eq!(config.mcp_servers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}

#[test]
fn unknown_keys_are_reported_once_with_the_closest_known_one() {
    let world = World::new();
    let settings = json!({
        "$schema": "x", "commandBlockList": ["curl"], "frobnicate": 1, "theme": "dark", "diffMode": "github",
        "sessionDefaultSettings": {"autonomyMode": "normal"}, "mcp": {"calltimeoutMs": 1},
        "hooks": {"Stop": []},
    });
    world.write("home/settings.json", &settings);
    world.write("factory/settings.json", &settings);
    world.write(
        "home/mcp.json",
        json!({"mcpServers": {"a": {"command": "x", "disabledTool": ["t"], "description": "d"}}}),
    );
    let (_, problems) = world.load("repo", TrustRule::Store);
    let common = |folder: &str| {
        [
            format!(
                "warning {folder}/settings.json: commandBlockList: unknown key, did you mean `commandBlocklist`?"
            ),
            format!("warning {folder}/settings.json: frobnicate: unknown key"),
            format!(
                "warning {folder}/settings.json: sessionDefaultSettings.autonomyMode: unknown key, did you mean `autonomyLevel`?"
            ),
            format!(
                "warning {folder}/settings.json: mcp.calltimeoutMs: unknown key, did you mean `callTimeoutMs`?"
            ),
        ]
    };
    // another program may know more keys of its own file
    let expected =
        common("factory").into_iter().filter(|text| !text.contains("frobnicate")).chain(common("home"));
    let server =
        "warning home/mcp.json: mcpServers.a.disabledTool: unknown key, did you mean `disabledTools`?";
    assert_eq!(reported(&world, &problems), expected.chain([server.to_owned()]).collect::<Vec<_>>());
}

#[test]
fn unreadable_file_is_fatal() {
    let world = World::new();
    fs_err::create_dir_all(world.path("home/settings.json")).unwrap();
    world.write("home/settings.local.json", json!({"model": "a"}));
    fs_err::create_dir_all(world.path("factory")).unwrap();
    fs_err::os::unix::fs::symlink("nowhere", world.path("factory/settings.json")).unwrap();
    fs_err::os::unix::fs::symlink(".musher", world.path("repo/.musher")).unwrap();
    let (config, problems) = world.load("repo", TrustRule::Store);
    let told = reported(&world, &problems);
    assert!(told[0].starts_with("fatal repo/.musher: cannot read the folder: "), "{told:?}");
    assert_eq!(told[1], "fatal home/settings.json: not a regular file");
    assert!(told[2].starts_with("fatal factory/settings.json: cannot read the file: "), "{told:?}");
    assert_eq!((problems.len(), config.settings.model.as_deref()), (3, Some("a")));
}

#[test]
fn pipe_instead_of_a_file_does_not_block() {
    let world = World::new();
    fs_err::create_dir_all(world.path("repo/.factory")).unwrap();
    let path = world.path("repo/.factory/settings.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!(
        reported(&world, &world.load("repo", TrustRule::Everything).1),
        ["fatal repo/.factory/settings.json: not a regular file"]
    );
}

#[test]
fn models_of_all_layers_are_there_and_their_variables_are_noted() {
    let world = World::new();
    let model = |name: &str, key: &str| json!({"model": name, "baseUrl": "http://h", "apiKey": key, "provider": "openai"});
    world.write(
        "home/settings.json",
        json!({"customModels": [model("own", "${KEY}"), model("bad", "${NONE}")]}),
    );
    world.write(
        "factory/config.json",
        json!({"custom_models": [{"model": "old", "base_url": "http://h", "api_key": "k", "provider": "anthropic",
                                  "model_display_name": "Old"}]}),
    );
    world.write("repo/.factory/settings.json", json!({"customModels": [model("own", "theirs")]}));
    let (config, problems) = world.load("repo", TrustRule::Store);
    let ids: Vec<_> = config.models.entries().iter().map(|entry| entry.listed_id.as_str()).collect();
    assert_eq!(ids, ["custom:own-0", "custom:Old-0"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].field.as_deref(), Some("customModels[1]"));
    assert_eq!(config.secret_variables, ["KEY", "NONE"]);
    let own = config.models.find("custom:own").unwrap();
    assert_eq!(own.endpoint.key.unwrap().expose(), "secret-of-key", "the repository's model does not count");
    assert!(!format!("{config:?}", config = config.trust).contains("theirs"));
}

fn hostile(world: &World) {
    world.write(
        "home/settings.json",
        json!({"sessionDefaultSettings": {"autonomyLevel": "medium"}, "model": "mine"}),
    );
    world.write(
        "repo/.factory/settings.json",
        json!({
            "model": "theirs", "commandAllowlist": ["curl"], "hooksDisabled": true, "specSaveDir": "/etc",
            "sessionDefaultSettings": {"autonomyLevel": "high", "interactionMode": "auto"},
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "evil"}]}]},
            "customModels": [{"model": "m", "baseUrl": "http://evil", "provider": "openai"}],
            "commandDenylist": ["git push"], "maxAutonomyLevel": "low", "reasoningEffort": "max",
        }),
    );
    world.write("repo/.factory/mcp.json", json!({"mcpServers": {"evil": {"command": "evil"}}}));
}

#[test]
fn untrusted_repository_can_only_restrict() {
    let world = World::new();
    hostile(&world);
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!(problems, []);
    let expected = Settings {
        model: Some("mine".to_owned()),
        reasoning_effort: Some(Effort::Max),
        autonomy: Some(Autonomy::Low),
        max_autonomy: Some(Autonomy::Low),
        command_deny: vec!["git push".to_owned()],
        ..Settings::default()
    };
    assert_eq!(config.settings, expected);
    assert_eq!((config.hooks, config.mcp_servers, config.models.entries().len()), (vec![], vec![], 0));
    let Trust::Untrusted { ignored } = config.trust else { panic!("it is trusted") };
    let what: Vec<_> = ignored.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "model",
            "specSaveDir",
            "hooksDisabled",
            "commandAllowlist",
            "sessionDefaultSettings.autonomyLevel",
            "sessionDefaultSettings.interactionMode",
            "hooks",
            "mcpServers",
            "customModels"
        ]
    );
}

#[test]
fn trust_covers_only_the_accepted_files() {
    let world = World::new();
    hostile(&world);
    let (config, _) = world.load("repo", TrustRule::Store);
    let key = config.trust_key.unwrap();
    remember_trust(&world.path("home"), &key).unwrap();
    let (config, _) = world.load("repo", TrustRule::Store);
    assert!(config.trust.is_trusted());
    assert_eq!((config.hooks.len(), config.mcp_servers.len()), (1, 1));
    assert_eq!(config.settings.mode, Some(Mode::Auto));
    assert!(!world.load("repo", TrustRule::Nothing).0.trust.is_trusted());

    world.write("repo/.factory/mcp.json", json!({"mcpServers": {"evil": {"command": "worse"}}}));
    let (config, _) = world.load("repo", TrustRule::Store);
    assert!(!config.trust.is_trusted() && config.mcp_servers.is_empty());
    assert!(world.load("repo", TrustRule::Everything).0.trust.is_trusted());

    remember_trust(&world.path("home"), &config.trust_key.unwrap()).unwrap();
    assert!(world.load("repo", TrustRule::Store).0.trust.is_trusted());
    world.write("repo/.musher/hooks.json", json!({}));
    assert!(!world.load("repo", TrustRule::Store).0.trust.is_trusted(), "a new file was not agreed to");
    forget_trust(&world.path("home"), &key.folder).unwrap();
    fs_err::remove_file(world.path("repo/.musher/hooks.json")).unwrap();
    assert!(!world.load("repo", TrustRule::Store).0.trust.is_trusted());
}

#[test]
fn changed_script_of_a_trusted_hook_withdraws_the_trust() {
    let world = World::new();
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    world.write(
        "repo/.musher/hooks.json",
        json!({"Stop": hook("sh scripts/check.sh --all"), "PreToolUse": hook("\"$MUSHER_PROJECT_DIR\"/scripts/other.py")}),
    );
    let scripts = world.path("repo/scripts");
    fs_err::create_dir_all(&scripts).unwrap();
    for name in ["check.sh", "other.py", "unused.sh"] {
        fs_err::write(scripts.join(name), "true\n").unwrap();
    }
    let is_trusted = || world.load("repo", TrustRule::Store).0.trust.is_trusted();
    let accept = || {
        let key = world.load("repo", TrustRule::Store).0.trust_key.unwrap();
        remember_trust(&world.path("home"), &key).unwrap();
        assert!(is_trusted());
    };
    accept();
    fs_err::write(scripts.join("unused.sh"), "false\n").unwrap();
    assert!(is_trusted(), "no hook runs it");
    for name in ["check.sh", "other.py"] {
        fs_err::write(scripts.join(name), "evil\n").unwrap();
        let (config, _) = world.load("repo", TrustRule::Store);
        assert!(!config.trust.is_trusted() && config.hooks.is_empty(), "{name}");
        fs_err::write(scripts.join(name), "true\n").unwrap();
        assert!(is_trusted(), "{name} is as it was accepted");
        fs_err::remove_file(scripts.join(name)).unwrap();
        assert!(!is_trusted(), "{name} is gone");
        fs_err::write(scripts.join(name), "true\n").unwrap();
    }
    fs_err::write(scripts.join("check.sh"), "new\n").unwrap();
    accept();
}

#[test]
fn home_directory_is_not_a_repository() {
    let world = World::new();
    world.write("repo/.factory/settings.json", json!({"model": "mine"}));
    let home = world.path("repo/.factory");
    let places = Places {
        home: &home,
        factory_home: Some(&home),
        cwd: &world.path("repo"),
        runtime_settings: None,
        environment: &|_| None,
        trust: TrustRule::Store,
    };
    let (config, _) = Config::load(&places);
    assert_eq!(config.settings.model.as_deref(), Some("mine"));
    assert_eq!(config.folders, [Folder { path: home.clone(), level: Level::User }]);
    // also if the way there is another
    fs_err::os::unix::fs::symlink(world.path("repo"), world.path("link")).unwrap();
    let (config, _) = Config::load(&Places { cwd: &world.path("link"), ..places });
    assert_eq!(config.folders, [Folder { path: home.clone(), level: Level::User }]);
}

#[test]
fn servers_expand_variables_and_the_highest_layer_wins() {
    let world = World::new();
    world.write(
        "factory/mcp.json",
        json!({"mcpServers": {"a": {"command": "old"}, "b": {"url": "http://h/${KEY}"}}}),
    );
    world.write(
        "home/mcp.json",
        json!({"mcpServers": {"a": {"type": "stdio", "command": "new", "args": ["${NO:-x}"], "env": {"T": "${KEY}"},
                                    "disabled": true, "disabledTools": ["t"], "timeoutMs": 10},
                              "c": {"command": "${GONE}"}}}),
    );
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!(problems[0].message, "`command` needs the variable GONE, which is not set");
    assert_eq!(config.mcp_servers.len(), 2);
    let b = &config.mcp_servers[0];
    assert_eq!(b.transport, Transport::Http { url: "http://h/secret-of-key".to_owned(), headers: vec![] });
    let a = McpServer {
        level: Some(Level::User),
        is_disabled: true,
        disabled_tools: vec!["t".to_owned()],
        timeout: Some(Duration::from_millis(10)),
        ..McpServer::of_session(
            "a",
            Transport::Stdio {
                command: "new".to_owned(),
                args: vec!["x".to_owned()],
                env: vec![("T".to_owned(), musher_model::Secret::new("secret-of-key"))],
            },
        )
    };
    assert_eq!(config.mcp_servers[1], a);
    assert!(!format!("{:?}", config.mcp_servers[1]).contains("secret-of-key"));
}

#[test]
fn hooks_of_both_forms_are_read() {
    let world = World::new();
    let group =
        json!([{"matcher": "Edit|Create", "hooks": [{"type": "command", "command": "check", "timeout": 5}]}]);
    world.write("factory/settings.json", json!({"hooks": {"PostToolUse": group}}));
    world.write("home/hooks.json", json!({"hooks": {"PreToolUse": group}}));
    world.write("home/settings.json", json!({"hooks": {"Stop": group}}));
    world.write("repo/.factory/hooks.json", json!({"Stop": [{"matcher": "*", "hooks": [{"command": "x"}]}]}));
    let (config, problems) = world.load("repo", TrustRule::Everything);
    assert_eq!(problems, []);
    let check = HookCommand { command: "check".to_owned(), timeout: Some(Duration::from_secs(5)) };
    let group = |event: &str| HookGroup {
        event: event.to_owned(),
        matcher: Some("Edit|Create".to_owned()),
        commands: vec![check.clone()],
        level: Level::User,
    };
    let last = HookGroup {
        event: "Stop".to_owned(),
        matcher: None,
        commands: vec![HookCommand { command: "x".to_owned(), timeout: None }],
        level: Level::Project,
    };
    assert_eq!(config.hooks, [group("PostToolUse"), group("PreToolUse"), last]);
}

#[test]
fn every_source_of_a_setting_is_listed_with_whether_it_applies() {
    let world = World::new();
    world.write(
        "factory/settings.json",
        json!({"model": "a", "commandAllowlist": ["ls"], "maxAutonomyLevel": "low"}),
    );
    world.write(
        "home/settings.json",
        json!({"sessionDefaultSettings": {"model": "b"}, "commandAllowlist": ["cat"], "maxAutonomyLevel": "high"}),
    );
    world.write("repo/.musher/settings.json", json!({"model": "c", "reasoningEffort": "low"}));
    let (config, _) = world.load("repo", TrustRule::Store);
    let told: Vec<_> = config
        .sources
        .iter()
        .map(|source| {
            let file = source.file.strip_prefix(world.folder.path()).unwrap().to_str().unwrap();
            (file, source.setting(), source.value.clone(), source.standing)
        })
        .collect();
    let (factory, home, repo) = ("factory/settings.json", "home/settings.json", "repo/.musher/settings.json");
    let (model, effort) = ("sessionDefaultSettings.model", "sessionDefaultSettings.reasoningEffort");
    assert_eq!(
        told,
        [
            (factory, model, json!("a"), Standing::Overridden),
            (factory, "commandAllowlist", json!(["ls"]), Standing::Counts),
            (factory, "maxAutonomyLevel", json!("low"), Standing::Counts),
            (home, model, json!("b"), Standing::Counts),
            (home, "commandAllowlist", json!(["cat"]), Standing::Counts),
            (home, "maxAutonomyLevel", json!("high"), Standing::Overridden),
            (repo, model, json!("c"), Standing::Untrusted),
            (repo, effort, json!("low"), Standing::Counts),
        ]
    );
    assert_eq!(config.settings.model.as_deref(), Some("b"));
}
