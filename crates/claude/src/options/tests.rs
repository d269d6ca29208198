//! Options as command-line arguments and fields.

use std::time::Duration;

use super::*;

fn words(options: &Options) -> Vec<String> {
    options.args().into_iter().skip(4).map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn default_options_add_no_arguments() {
    assert_eq!(words(&Options::new()), [] as [String; 0]);
    assert_eq!(Options::new().initialize().text(), r#"{"hooks":null}"#);
}

#[test]
fn value_never_becomes_a_flag_of_its_own() {
    let options = Options::new().model("--dangerously-skip-permissions").additional_directories(["-x"]);
    assert_eq!(words(&options), ["--model=--dangerously-skip-permissions", "--add-dir=-x"]);
}

#[test]
fn every_option_has_its_arguments() {
    let mut mcp = Extra::default();
    mcp.insert("files", serde_json::json!({"command": "files"}));
    let mut options = Options::new()
        .model("m")
        .fallback_model("f")
        .permission_mode(PermissionMode::BypassPermissions)
        .tools(["Read"])
        .allowed_tools(["a", "b"])
        .disallowed_tools(["c"])
        .max_turns(2)
        .max_budget_usd(0.5)
        .max_thinking_tokens(1000)
        .betas(["x"])
        .setting_sources([] as [String; 0])
        .sandbox(serde_json::json!({"enabled": true}).into())
        .mcp_servers(mcp)
        .output_schema(serde_json::json!({"type": "object"}).into())
        .session(SessionSource::Fork {
            id: "old".to_owned(),
            at: Some("m1".to_owned()),
            new_id: Some("new".to_owned()),
        })
        .with_partial_messages()
        .with_file_checkpointing();
    options.sdk_mcp_servers.push("ours".to_owned());
    options.strict_mcp_config = true;
    options.plugins.push("/p".into());
    options.extra_args.push("--more".to_owned());
    assert_eq!(
        words(&options),
        [
            "--model=m",
            "--fallback-model=f",
            "--permission-mode=bypassPermissions",
            "--tools=Read",
            "--allowedTools=a,b",
            "--disallowedTools=c",
            "--max-turns=2",
            "--max-budget-usd=0.5",
            "--max-thinking-tokens=1000",
            "--betas=x",
            "--setting-sources=",
            r#"--settings={"sandbox":{"enabled":true}}"#,
            r#"--json-schema={"type":"object"}"#,
            "--resume=old",
            "--resume-session-at=m1",
            "--session-id=new",
            "--plugin-dir=/p",
            "--allow-dangerously-skip-permissions",
            "--include-partial-messages",
            "--strict-mcp-config",
            "--replay-user-messages",
            "--fork-session",
            "--more",
        ]
    );
}

#[test]
fn first_request_has_hooks_agents_and_prompts() {
    let mut options = Options::new()
        .system_prompt(SystemPrompt::Custom(String::new()))
        .agents(serde_json::json!({"a": {}}).into());
    options.hooks.insert(
        "PreToolUse".to_owned(),
        vec![Hook {
            matcher: Some("Bash".to_owned()),
            callback_id: "hook_0".to_owned(),
            timeout: Some(Duration::from_secs(330)),
        }],
    );
    assert_eq!(
        options.initialize().text(),
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"],"timeout":330}]},"agents":{"a":{}},"systemPrompt":[""]}"#
    );
    let options = Options::new().system_prompt(SystemPrompt::Append("more".to_owned()));
    assert_eq!(options.initialize().text(), r#"{"hooks":null,"appendSystemPrompt":"more"}"#);
}

#[test]
fn keys_of_servers_are_in_a_private_file_and_not_in_the_arguments() {
    let mut mcp = Extra::default();
    mcp.insert("s", serde_json::json!({"command": "x", "env": {"TOKEN": "s3cret"}}));
    let mut options = Options::new().mcp_servers(mcp);
    options.sdk_mcp_servers.push("ours".to_owned());
    let started = options.start("claude".as_ref(), "/".as_ref()).unwrap();
    assert!(!format!("{:?}", started.launch).contains("s3cret"), "{:?}", started.launch);
    let file = started.files[0].path();
    let text = fs_err::read_to_string(file).unwrap();
    assert!(text.contains("s3cret") && text.contains(r#""ours":{"type":"sdk""#), "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs_err::metadata(file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let own = Options { mcp_servers: Extra::default(), ..options };
    assert_eq!(words(&own), [r#"--mcp-config={"mcpServers":{"ours":{"type":"sdk","name":"ours"}}}"#]);
}

#[test]
fn long_values_are_passed_outside_of_the_command_line() {
    let long = "x".repeat(100_000);
    let mut mcp = Extra::default();
    mcp.insert("s", serde_json::json!({"command": long}));
    let options = Options::new().mcp_servers(mcp).output_schema(serde_json::json!({"title": long}).into());
    assert_eq!(words(&options), [] as [String; 0]);
    assert!(options.initialize().text().contains("jsonSchema"));
    let started = options.start("claude".as_ref(), "/".as_ref()).unwrap();
    let text = fs_err::read_to_string(started.files[0].path()).unwrap();
    assert!(text.starts_with(r#"{"mcpServers":{"s":"#));
    assert!(format!("{:?}", started.launch).contains("--mcp-config=/"));
}
