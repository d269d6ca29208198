//! Hooks in the life of a session: when they run, what they are told, and what they can stop.

use std::path::Path;

use musher_engine::{
    Autonomy, Command, Event, LoadSession, Message, NewSession, Role, SettingsChange, UserResponse,
};
use serde_json::{Value, json};

use crate::scripted::{Reply, calls, text};
use crate::stage::{Stage, line, lines};

fn group(matcher: Option<&str>, command: &str) -> Value {
    json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}])
}

/// An agent with these hooks of the user, and a session.
async fn open(hooks: &Value, replies: impl IntoIterator<Item = Reply>) -> Stage {
    let mut stage = with_hooks(hooks, replies);
    stage.create(NewSession::default()).await;
    stage
}

fn with_hooks(hooks: &Value, replies: impl IntoIterator<Item = Reply>) -> Stage {
    let stage = Stage::empty(replies);
    fs_err::write(stage.home.path().join("hooks.json"), hooks.to_string()).unwrap();
    stage
}

/// The inputs of a hook that saves them in a file, in order.
fn told(stage: &Stage, file: &str) -> Vec<Value> {
    let text = fs_err::read_to_string(stage.work.path().join(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn execute(command: &str) -> Reply {
    calls("", &[("Execute", json!({"command": command, "riskLevel": "low", "riskLevelReason": "a test"}))])
}

/// Everything the model was asked with, the last time.
fn asked(stage: &Stage) -> String {
    format!("{:?}", stage.model.requests().last().expect("the model was asked").messages)
}

fn only_hooks(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).filter(|line| line.starts_with("hook ")).collect()
}

fn place(lines: &[String], wanted: &str) -> usize {
    lines.iter().position(|line| line == wanted).unwrap_or_else(|| panic!("no {wanted:?} in {lines:#?}"))
}

/// `hooks`.
#[tokio::test]
async fn hooks_run_at_every_moment_of_a_turn_and_clients_see_them() {
    let hooks = json!({
        "SessionStart": group(Some("startup"), "echo start-hook"),
        "UserPromptSubmit": group(None, "echo prompt-hook"),
        "PreToolUse": group(Some("Execute"), "echo pre-hook"),
        "PostToolUse": group(Some("Execute"), "cat > post.json"),
        "Stop": group(None, "cat > stop.json"),
    });
    let mut stage = with_hooks(&hooks, [execute("ls"), text("ok")]);
    let cwd = stage.work.path().to_owned();
    stage.submit(Command::Create(Box::new(NewSession { cwd, ..NewSession::default() })));
    let opened = lines(&stage.until(|event| line(event) == "reply 1").await);
    assert_eq!(
        opened,
        ["servers 0", "settings Auto Off", "hook SessionStart begins", "hook SessionStart over", "reply 1"]
    );
    stage.say("Run it.");
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[..6],
        [
            "reply 2",
            "hook UserPromptSubmit begins",
            "hook UserPromptSubmit over",
            "state Streaming",
            "hidden user",
            "message user for 2: Run it."
        ]
    );
    let order = [
        "call_0 queued",
        "hook PreToolUse begins",
        "hook PreToolUse over",
        "call_0 executing",
        "hook PostToolUse begins",
        "hook PostToolUse over",
    ];
    let places = order.map(|one| place(&seen, one));
    assert!(places.is_sorted(), "{seen:#?}");
    let result = seen.iter().position(|line| line.starts_with("call_0 done")).unwrap();
    assert!(places[5] < result);
    let end = [
        place(&seen, "message assistant: ok"),
        place(&seen, "hook Stop over"),
        place(&seen, "turn Completed"),
    ];
    assert!(end.is_sorted(), "{seen:#?}");

    let first = format!("{:?}", stage.model.requests()[0].messages);
    assert!(first.contains("start-hook") && first.contains("prompt-hook"), "{first}");
    let post = &told(&stage, "post.json")[0];
    assert_eq!((&post["hook_event_name"], &post["tool_name"]), (&json!("PostToolUse"), &json!("Execute")));
    assert!(post["tool_response"].as_str().unwrap().ends_with("[Process exited with code 0]"), "{post}");
    let stop = &told(&stage, "stop.json")[0];
    assert_eq!((&stop["stop_hook_active"], &stop["tool_execution_count"]), (&json!(false), &json!(1)));
    assert!(Path::new(stop["transcript_path"].as_str().unwrap()).is_file());
}

#[tokio::test]
async fn blocked_prompt_is_not_part_of_the_conversation() {
    let refuse = "grep -q secret && { echo 'no secrets' >&2; exit 2; } || echo fine";
    let hooks = json!({"UserPromptSubmit": group(None, refuse)});
    let mut stage = open(&hooks, [text("Hello.")]).await;
    stage.say("Here is a secret.");
    let seen = stage.until(|event| line(event).starts_with("turn ")).await;
    let seen = lines(&seen);
    assert!(seen.iter().any(|line| line.contains("no secrets")), "{seen:#?}");
    assert_eq!(seen.last().unwrap(), "turn PromptRejected");
    assert!(stage.model.requests().is_empty());
    stage.say("Hi.");
    stage.until(|event| line(event) == "turn Completed").await;
    assert!(!asked(&stage).contains("secret"), "{}", asked(&stage));
    assert!(asked(&stage).contains("fine"));
}

#[tokio::test]
async fn hook_denies_a_call_and_the_model_continues() {
    let deny = r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "not here"}}'"#;
    let mut stage = open(&json!({"PreToolUse": group(None, deny)}), [execute("ls"), text("So be it.")]).await;
    stage.say("Go.");
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"call_0 failed: Error: not here".to_owned()), "{seen:#?}");
    assert!(!seen.contains(&"call_0 executing".to_owned()));
    assert!(seen.contains(&"turn Completed".to_owned()) && asked(&stage).contains("not here"));
}

#[tokio::test]
async fn hook_allows_a_call_and_changes_its_input() {
    let allow = r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow",
        "updatedInput": {"command": "touch changed.txt", "riskLevel": "low", "riskLevelReason": "x"}}}'"#;
    let hooks = json!({"PreToolUse": group(Some("Execute"), allow)});
    let mut stage = open(&hooks, [execute("touch original.txt"), text("Done.")]).await;
    stage.say("Go.");
    let seen = stage.until_idle().await;
    assert!(!seen.iter().any(|line| line.starts_with("may ")), "{seen:#?}");
    assert!(
        stage.work.path().join("changed.txt").exists() && !stage.work.path().join("original.txt").exists()
    );
}

#[tokio::test]
async fn always_asked_call_needs_permission_despite_hooks() {
    let allow = r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"#;
    let script = [execute("rm -rf ~"), text("Not reached.")];
    let mut stage = open(&json!({"PreToolUse": group(None, allow)}), script).await;
    stage.say("Go.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen.last().unwrap(), "may call_0 run? [ProceedOnce, Cancel]");
    stage.agent.respond(request, UserResponse::Denied { reason: None }).unwrap();
    stage.until_idle().await;
}

#[tokio::test]
async fn hook_forces_a_permission_request_and_notification_hook_runs() {
    let ask = r#"echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}'"#;
    let hooks =
        json!({"PreToolUse": group(None, ask), "Notification": group(None, "cat > notification.json")});
    let mut stage = with_hooks(&hooks, [execute("ls"), text("Done.")]);
    let settings = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.create(NewSession { settings, ..NewSession::default() }).await;
    stage.say("Go.");
    let mut seen = lines(&stage.until(|event| line(event) == "hook Notification over").await);
    let asks = |line: &String| line.starts_with("may call_0 run?");
    if !seen.iter().any(asks) {
        seen.extend(stage.until_question().await.0);
    }
    let told = &told(&stage, "notification.json")[0];
    assert_eq!(told["notification_type"], "permission_prompt");
    stage.submit(Command::Interrupt);
    stage.until_idle().await;
}

#[tokio::test]
async fn model_reads_hook_output_after_a_result() {
    let block = r#"echo '{"decision": "block", "reason": "run the linter"}'"#;
    let mut stage =
        open(&json!({"PostToolUse": group(Some("Execute"), block)}), [execute("ls"), text("Done.")]).await;
    stage.say("Go.");
    let seen = stage.until_idle().await;
    assert!(seen.iter().any(|line| line.starts_with("call_0 done") && !line.contains("linter")), "{seen:#?}");
    assert!(asked(&stage).contains("run the linter"));
}

#[tokio::test]
async fn stop_hook_makes_the_model_continue() {
    let once = r#"cat >> stop.jsonl; if [ $(wc -l < stop.jsonl) = 1 ]; then echo '{"decision": "block", "reason": "test it"}'; fi"#;
    let mut stage = open(&json!({"Stop": group(None, once)}), [text("Done."), text("Tested.")]).await;
    stage.say("Go.");
    let seen = stage.until_idle().await;
    assert!(asked(&stage).contains("test it"));
    assert!(seen.contains(&"message assistant: Tested.".to_owned()));
    let active: Vec<_> =
        told(&stage, "stop.jsonl").iter().map(|told| told["stop_hook_active"].clone()).collect();
    assert_eq!(active, [json!(false), json!(true)]);
}

#[tokio::test]
async fn interrupt_ends_hooks_at_every_event() {
    let hang = |event: &str| json!({(event): group(None, "echo begun > begun; sleep 1000")});
    for event in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"] {
        let mut stage = open(&hang(event), [execute("ls"), text("Done.")]).await;
        stage.say("Go.");
        stage.until(|seen| line(seen) == format!("hook {event} begins")).await;
        let command_id = stage.submit(Command::Interrupt);
        let seen = stage.until_idle().await;
        assert!(seen.contains(&"turn Cancelled".to_owned()), "{event}: {seen:#?}");
        assert!(seen.contains(&format!("reply {}", command_id.0)), "{event}: {seen:#?}");
        assert!(seen.contains(&format!("hook {event} over")), "{event}: {seen:#?}");
    }
}

#[tokio::test]
async fn interrupt_ends_start_hooks_and_discards_queued_prompts() {
    let hooks = json!({"SessionStart": group(None, "sleep 1000")});
    let mut stage = with_hooks(&hooks, [text("Hello.")]);
    let cwd = stage.work.path().to_owned();
    stage.submit(Command::Create(Box::new(NewSession { cwd, ..NewSession::default() })));
    stage.until(|event| line(event) == "hook SessionStart begins").await;
    stage.say("Too early.");
    stage.submit(Command::Interrupt);
    let seen = lines(&stage.until(|event| line(event) == "reply 1").await);
    assert!(seen.contains(&"discarded \"Too early.\"".to_owned()), "{seen:#?}");
    stage.say("Hi.");
    assert!(stage.until_idle().await.contains(&"turn Completed".to_owned()));
}

#[tokio::test]
async fn exports_of_start_hooks_reach_the_environment_of_commands() {
    let command = r#"cat > start.json; echo 'export MADE="so it is"; OTHER=$MADE.' > "$CLAUDE_ENV_FILE""#;
    let hooks =
        json!({"SessionStart": group(None, command), "Stop": group(None, "echo \"$MADE\" > stop.txt")});
    let mut stage = with_hooks(&hooks, [execute("echo \"<$MADE> <$OTHER> <$CLAUDE_ENV_FILE>\""), text("ok")]);
    let settings = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
    stage.create(NewSession { settings, ..NewSession::default() }).await;
    stage.say("Run it.");
    let seen = stage.until_idle().await;
    let result = seen.iter().find(|line| line.starts_with("call_0 done: ")).unwrap();
    assert!(result.starts_with("call_0 done: <so it is> <so it is.> <>\n"), "{result}");
    let file = told(&stage, "start.json")[0]["CLAUDE_ENV_FILE"].as_str().unwrap().to_owned();
    assert!(!Path::new(&file).exists(), "it is read once");
    let stop = fs_err::read_to_string(stage.work.path().join("stop.txt")).unwrap();
    assert_eq!(stop, "so it is\n", "later hooks see it, too");
}

#[tokio::test]
async fn prompt_waits_for_start_hooks() {
    let hooks = json!({"SessionStart": group(None, "sleep 0.3; echo the-context")});
    let mut stage = with_hooks(&hooks, [text("Hello.")]);
    let cwd = stage.work.path().to_owned();
    stage.submit(Command::Create(Box::new(NewSession { cwd, ..NewSession::default() })));
    stage.say("Hi.");
    let seen = stage.until_idle().await;
    assert!(place(&seen, "reply 2") < place(&seen, "reply 1"), "{seen:#?}");
    assert!(place(&seen, "reply 1") < place(&seen, "message user for 2: Hi."), "{seen:#?}");
    assert!(asked(&stage).contains("the-context"));
}

#[tokio::test]
async fn untrusted_and_disabled_hooks_do_not_run() {
    let stage = Stage::empty([]);
    let hooks = json!({"UserPromptSubmit": group(None, "touch ran")});
    fs_err::create_dir(stage.work.path().join(".factory")).unwrap();
    fs_err::write(stage.work.path().join(".factory/hooks.json"), hooks.to_string()).unwrap();
    let mut untrusted = Stage::at(stage.home.clone(), stage.work.clone(), [text("Hello.")]);
    untrusted.create(NewSession::default()).await;
    untrusted.say("Hi.");
    assert_eq!(only_hooks(&untrusted.until_idle().await), [""; 0]);

    let stage = with_hooks(&hooks, [text("Hello.")]);
    fs_err::write(stage.home.path().join("settings.json"), r#"{"hooksDisabled": true}"#).unwrap();
    let mut off = stage;
    off.create(NewSession::default()).await;
    off.say("Hi.");
    assert_eq!(only_hooks(&off.until_idle().await), [""; 0]);
    assert!(!off.work.path().join("ran").exists());
}

#[tokio::test]
async fn session_end_hooks_run_with_a_time_limit() {
    let hooks = json!({"SessionEnd": group(None, "cat > end.json; sleep 1000")});
    let mut stage = open(&hooks, [text("Hello.")]).await;
    stage.say("Hi.");
    stage.until_idle().await;
    stage.submit(Command::Close { reason: None });
    stage.until_end().await;
    let told = &told(&stage, "end.json")[0];
    assert_eq!(told["message_count"], 3, "{told}");
}

#[tokio::test]
async fn failed_hook_is_shown_and_the_turn_continues() {
    let hooks =
        json!({"UserPromptSubmit": group(None, "echo bad >&2; exit 1"), "Stop": group(None, "exit 1")});
    let mut stage = open(&hooks, [text("Hello.")]).await;
    stage.say("Hi.");
    let mut codes = Vec::new();
    for what in stage.until(crate::stage::is_idle).await {
        if let Event::HookCompleted(run) = what {
            codes.push((run.event.clone(), run.results[0].exit_code));
        }
    }
    assert_eq!(codes, [("UserPromptSubmit".to_owned(), Some(1)), ("Stop".to_owned(), Some(1))]);
}

#[tokio::test]
async fn hook_runs_are_saved_and_hidden_from_the_model() {
    let hooks = json!({
        "SessionStart": group(None, "true"),
        "UserPromptSubmit": group(None, "true"),
        "PreToolUse": group(None, "true"),
        "PostToolUse": group(None, "exit 3"),
        "Stop": group(None, "true"),
    });
    let look = || ("LS", json!({}));
    let script = [calls("", &[look(), look()]), text("ok"), text("again")];
    let mut first = open(&hooks, script).await;
    first.say("Look twice.");
    first.until_idle().await;
    let roles: Vec<_> = first.model.requests()[1].messages.iter().map(|message| message.role).collect();
    assert_eq!(roles.len(), 4, "the context message, the prompt, the calls, the results: {roles:?}");
    first.agent.stop().unwrap();
    first.until_end().await;

    let mut second = Stage::at(first.home.clone(), first.work.clone(), [text("again")]);
    let load = LoadSession { id: first.session.clone(), ..LoadSession::default() };
    let command_id = second.submit(Command::Load(Box::new(load)));
    let musher_engine::Reply::Loaded(loaded) = second.reply(&command_id).await else { panic!("not loaded") };
    let shown = &loaded.messages;
    let event = |message: &Message| Some(message.extra.get("hookEventName")?.as_str()?.to_owned());
    let kinds: Vec<_> = shown
        .iter()
        .map(|message| event(message).unwrap_or_else(|| message.role.name().to_owned()))
        .collect();
    assert_eq!(kinds[..5], ["SessionStart", "UserPromptSubmit", "user", "user", "assistant"], "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "PostToolUse").count(), 2);
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool").count(), 1, "both results are in one message");
    let failed = shown.iter().find(|message| event(message).as_deref() == Some("PostToolUse")).unwrap();
    assert_eq!((failed.role, &failed.extra["hookStatus"]), (Role::System, &json!("error")));
    assert_eq!(failed.extra["hookResults"][0]["exitCode"], 3);
    second.say("And now?");
    second.until_idle().await;
    assert_eq!(second.model.requests()[0].messages.len(), 6);
}
