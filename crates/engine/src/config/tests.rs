use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{Autonomy, Effort, Mode};

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
fn nothing_at_all_is_fine() {
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

#[test]
fn each_mistake_is_named_and_the_rest_counts() {
    let world = World::new();
    world.write(
        "home/settings.json",
        "{\n  \"model\": 3,\n  \"hooksDisabled\": true, // off\n  \"commandDenylist\": \"rm\"\n}",
    );
    world.write(
        "home/mcp.json",
        json!({"mcpServers": {"bad": {"type": "pigeon", "url": "x"}, "none": {},
                                        "web": {"type": "http"}, "good": {"command": "x"}}}),
    );
    world.write(
        "home/hooks.json",
        json!({"Stop": [{"hooks": [{"command": "true"}]}, {"hooks": 1}], "Odd": 7}),
    );
    world.write("factory/settings.json", "{\n\"model\": \n}");
    let (config, problems) = world.load("repo", TrustRule::Store);
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let told: Vec<_> =
        told.iter().map(|text| text.replace(&world.path("").display().to_string(), "")).collect();
    assert_eq!(
        told,
        [
            "factory/settings.json:3: expected value at line 3 column 1",
            "home/settings.json: model: invalid type: integer `3`, expected a string",
            "home/settings.json: commandDenylist: invalid type: string \"rm\", expected a sequence",
            "home/hooks.json: Stop[1]: invalid type: integer `1`, expected a sequence",
            "home/hooks.json: Odd: it must be a list",
            "home/mcp.json: mcpServers.bad: `pigeon` is no type: use stdio, http or sse",
            "home/mcp.json: mcpServers.none: `command` is missing",
            "home/mcp.json: mcpServers.web: `url` is missing",
        ]
    );
    assert!(config.settings.hooks_disabled);
    assert_eq!((config.hooks.len(), config.mcp_servers.len()), (1, 1));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_a_problem_and_no_more() {
    let world = World::new();
    fs_err::create_dir_all(world.path("home/settings.json")).unwrap();
    world.write("home/settings.local.json", json!({"model": "a"}));
    let (config, problems) = world.load("repo", TrustRule::Store);
    assert_eq!((problems.len(), config.settings.model.as_deref()), (1, Some("a")));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let world = World::new();
    fs_err::create_dir_all(world.path("repo/.factory")).unwrap();
    let path = world.path("repo/.factory/settings.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!(world.load("repo", TrustRule::Everything).1, [Problem::new(path, "it is no file")]);
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
fn of_an_untrusted_repository_only_what_narrows_counts() {
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
fn trust_holds_for_the_files_that_were_agreed_to_and_no_others() {
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
fn the_home_folder_itself_is_no_repository() {
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
fn servers_take_variables_and_the_layer_that_counts_most_wins() {
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
    let group = json!([{"matcher": "Edit|Create", "hooks": [{"type": "command", "command": "check", "timeout": 5},
                                                            {"type": "prompt", "command": "no"}]}]);
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
fn every_place_that_says_something_about_a_setting_is_told_with_whether_it_counts() {
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
