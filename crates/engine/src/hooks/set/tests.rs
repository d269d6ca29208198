use serde_json::{Map, Value, json};

use super::*;
use crate::config::Level;
use crate::hooks::HookDecision;

fn group(event: &str, matcher: Option<&str>, commands: &[&str]) -> HookGroup {
    HookGroup {
        event: event.to_owned(),
        matcher: matcher.map(str::to_owned),
        commands: commands
            .iter()
            .map(|one| HookCommand { command: (*one).to_owned(), timeout: None })
            .collect(),
        level: Level::User,
    }
}

fn hooks(groups: &[HookGroup]) -> Hooks {
    let (hooks, problems) = Hooks::new(groups);
    assert_eq!(problems, []);
    hooks
}

const ABOUT: fn() -> About<'static> = || About {
    session_id: "s",
    transcript_path: "/t.jsonl".as_ref(),
    cwd: "/".as_ref(),
    permission_mode: "off",
};

fn place() -> Place {
    Place {
        project: "/project".into(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Place::default()
    }
}

async fn fire(hooks: &Hooks, event: &HookEvent<'_>) -> (HookOutcome, Vec<(HookRun, bool)>) {
    let mut told = Vec::new();
    let ids = HookRun { tool_call_id: Some("call".to_owned()), ..HookRun::default() };
    let listener = |notification| {
        match notification {
            HookProgress::Started(run) => told.push((run, false)),
            HookProgress::Completed(run) => told.push((run, true)),
        }
        std::future::ready(())
    };
    let outcome = hooks.fire(event, &ABOUT(), &place(), &ids, &CancellationToken::new(), listener).await;
    (outcome, told)
}

fn before<'a>(tool_name: &'a str, tool_input: &'a Map<String, Value>) -> HookEvent<'a> {
    HookEvent::PreToolUse { tool_name, tool_input }
}

#[test]
fn patterns_fit_names_and_expressions() {
    let none = Map::new();
    let fits = |matcher: Option<&str>, tool: &str| {
        hooks(&[group("PreToolUse", matcher, &["true"])]).has_match(&before(tool, &none))
    };
    assert!(fits(None, "Edit") && fits(Some("Edit|Create"), "Create") && fits(Some("Edit"), "Edit"));
    assert!(!fits(Some("Edit"), "MultiEdit") && !fits(Some("Edit|Create"), "Read"));
    assert!(fits(Some("^Ed.*"), "Edit") && !fits(Some("^d.*"), "Edit") && fits(Some("git.*"), "git___log"));
    assert!(fits(Some("mcp__git__.*"), "git___log") && fits(Some("mcp__git__log"), "git___log"));
    let other = hooks(&[group("PostToolUse", None, &["true"])]);
    assert!(!other.has_match(&before("Edit", &none)));
    let start = hooks(&[group("SessionStart", Some("startup"), &["true"])]);
    assert!(start.has_match(&HookEvent::SessionStart {
        source: "startup",
        message_id: None,
        env_file: None
    }));
    assert!(!start.has_match(&HookEvent::SessionStart {
        source: "resume",
        message_id: None,
        env_file: None
    }));
}

#[test]
fn invalid_pattern_matches_everything_and_is_reported() {
    let (hooks, problems) = Hooks::new(&[group("PreToolUse", Some("*("), &["true"])]);
    assert_eq!(problems[0].field.as_deref(), Some("PreToolUse.matcher"));
    assert!(hooks.has_match(&before("Anything", &Map::new())));
}

#[tokio::test]
async fn hook_reads_what_happens_and_is_shown_to_the_client() {
    let command = r#"read -r line; case $line in *'"tool_name":"Edit"'*) echo "$MUSHER_PROJECT_DIR $FACTORY_PROJECT_DIR";; esac"#;
    let hooks = hooks(&[group("PreToolUse", Some("Edit"), &[command])]);
    let (outcome, told) = fire(&hooks, &before("Edit", &Map::new())).await;
    assert_eq!(outcome, HookOutcome::default());
    let [(started, false), (done, true)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((started.id.as_str(), started.order), (done.id.as_str(), done.order));
    assert_eq!((done.event.as_str(), done.matcher.as_deref()), ("PreToolUse", Some("Edit")));
    assert_eq!(done.tool_call_id.as_deref(), Some("call"));
    assert!(started.results.is_empty());
    assert_eq!(
        (done.results[0].stdout.as_str(), done.results[0].exit_code),
        ("/project /project\n", Some(0))
    );
}

#[tokio::test]
async fn after_an_objection_no_more_groups_run() {
    let deny =
        r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'"#;
    let allow = r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"#;
    let groups = [
        group("PreToolUse", None, &[allow, "exit 1"]),
        group("PreToolUse", None, &[deny]),
        group("PreToolUse", None, &["echo never"]),
    ];
    let (outcome, told) = fire(&hooks(&groups), &before("Edit", &Map::new())).await;
    assert_eq!((outcome.block.as_deref(), outcome.decision), (Some("no"), Some(HookDecision::Deny)));
    assert!(outcome.failure.is_some_and(|text| text.contains("code 1")));
    let prevented: Vec<_> =
        told.iter().filter(|(_, is_done)| *is_done).map(|(run, _)| run.prevented).collect();
    assert_eq!(prevented, [false, true]);
}

#[tokio::test]
async fn hook_that_takes_too_long_has_no_say() {
    let mut slow = group("Stop", None, &["sleep 1000"]);
    slow.commands[0].timeout = Some(Duration::from_millis(200));
    let event = HookEvent::Stop {
        message_id: "m",
        stop_hook_active: false,
        tool_execution_count: 0,
        elapsed_time: 0,
    };
    let (outcome, told) = fire(&hooks(&[slow]), &event).await;
    assert!(
        !outcome.prevents() && outcome.failure.is_some_and(|text| text.contains("longer than 0.2 seconds"))
    );
    assert_eq!(told[1].0.results[0].exit_code, None);
}

#[tokio::test]
async fn changed_arguments_come_back_whole() {
    let change = r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}}'"#;
    let (outcome, _) =
        fire(&hooks(&[group("PreToolUse", None, &[change])]), &before("Execute", &Map::new())).await;
    assert_eq!(outcome.updated_input.map(Value::Object), Some(json!({"command": "ls"})));
}
