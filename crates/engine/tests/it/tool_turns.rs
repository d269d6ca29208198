//! Turns with tools. The order is that of the captures named in each test.

use musher_engine::{
    Attach, Autonomy, Choice, Command, Event, Mode, NewSession, Reply, SettingsChange, ToolFilter,
    UserRequest, UserResponse,
};
use serde_json::{Value, json};

use crate::scripted::{calls, text};
use crate::stage::{Stage, is_idle, line};

fn execute(command: &str) -> (&'static str, Value) {
    (
        "Execute",
        json!({"command": command, "riskLevel": "medium", "riskLevelReason": "a test", "summary": "Run it"}),
    )
}

fn permission(choice: Choice) -> UserResponse {
    UserResponse::Decision(choice.into())
}

fn at(autonomy: Autonomy) -> NewSession {
    let settings = SettingsChange { autonomy: Some(autonomy), ..SettingsChange::default() };
    NewSession { settings, ..NewSession::default() }
}

/// `tool_permission_allow`.
#[tokio::test]
async fn command_runs_after_permission_is_granted() {
    let first = calls("I will run it.", &[execute("echo one > perm.txt")]);
    let mut stage = Stage::open([first, text("Finished.")]).await;
    stage.say("Run it.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(
        seen[4..],
        [
            "state Thinking",
            "state Streaming",
            "text 0 \"I \"",
            "text 0 \"will \"",
            "text 0 \"run \"",
            "text 0 \"it.\"",
            "call call_0 Execute begins",
            "text 0 complete",
            "call call_0 Execute complete",
            "message assistant: I will run it. | call_0 Execute",
            "used 800",
            "state Executing",
            "call_0 queued",
            "state Waiting",
            "may call_0 run? [ProceedOnce, ProceedAlways, Cancel]",
        ]
    );
    assert!(!stage.work.path().join("perm.txt").exists());
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    assert_eq!(
        stage.until_idle().await,
        [
            "state Executing",
            "resolved call_0 ProceedOnce",
            "call_0 executing",
            "call_0 says \"\"",
            "call_0 done: Command completed successfully\n\n[Process exited with code 0]",
            "state Streaming",
            "state Thinking",
            "state Streaming",
            "text 0 \"Finished.\"",
            "text 0 complete",
            "message assistant: Finished.",
            "used 1600",
            "turn Completed",
            "state Idle",
        ]
    );
    assert!(stage.work.path().join("perm.txt").exists());
}

/// `tool_permission_cancel`.
#[tokio::test]
async fn denial_ends_the_turn_without_another_model_request() {
    let mut stage =
        Stage::open([calls("", &[execute("echo one > denied.txt"), execute("touch also.txt")])]).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, permission(Choice::Cancel)).unwrap();
    assert_eq!(
        stage.until_idle().await,
        [
            "state Streaming",
            "resolved  Cancel",
            "call_0 failed: Error: Tool execution cancelled by user",
            "call_1 failed: Error: Tool execution cancelled by user",
            "turn Completed",
            "state Idle",
        ]
    );
    assert!(!stage.work.path().join("denied.txt").exists());
}

/// As droid does it: one request after the other.
#[tokio::test]
async fn calls_of_an_answer_are_asked_for_one_after_the_other() {
    let script = [calls("", &[execute("touch a.txt"), execute("touch b.txt"), execute("touch c.txt")])];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(
        seen[seen.len() - 6..],
        [
            "state Executing",
            "call_0 queued",
            "call_1 queued",
            "call_2 queued",
            "state Waiting",
            "may call_0 run? [ProceedOnce, ProceedAlways, Cancel]",
        ]
    );
    assert!(!stage.work.path().join("a.txt").exists());
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen.last().unwrap(), "may call_1 run? [ProceedOnce, ProceedAlways, Cancel]");
    assert!(stage.work.path().join("a.txt").exists());
    stage.agent.respond(request, permission(Choice::Cancel)).unwrap();
    let seen = stage.until_idle().await;
    let cancelled = "failed: Error: Tool execution cancelled by user";
    assert_eq!(seen[2..4], [format!("call_1 {cancelled}"), format!("call_2 {cancelled}")]);
    assert!(!["b.txt", "c.txt"].iter().any(|name| stage.work.path().join(name).exists()));
}

#[tokio::test]
async fn always_holds_for_the_neighbours_of_a_call() {
    let script = [calls("", &[execute("touch a.txt"), execute("touch b.txt")]), text("ok")];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, permission(Choice::ProceedAlways)).unwrap();
    let seen = stage.until_idle().await;
    assert!(!seen.iter().any(|line| line.starts_with("may ")), "{seen:?}");
    assert!(["a.txt", "b.txt"].iter().all(|name| stage.work.path().join(name).exists()));
}

#[tokio::test]
async fn always_asked_call_needs_permission_despite_earlier_grants() {
    let script = [calls("", &[execute("touch a.txt"), execute("rm -rf /")])];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, permission(Choice::ProceedAlways)).unwrap();
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen.last().unwrap(), "may call_1 run? [ProceedOnce, Cancel]");
    stage.agent.respond(request, permission(Choice::ProceedAlways)).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(seen[1], "resolved  Cancel");
}

#[tokio::test]
async fn command_proven_read_only_runs_without_asking_whatever_risk_the_model_claims() {
    for claim in ["low", "medium", "high"] {
        let call = |command: &str| {
            let mut call = execute(command);
            call.1["riskLevel"] = claim.into();
            call
        };
        let script = [calls("", &[call("pwd")]), calls("", &[call("touch made.txt")]), text("ok")];
        let mut stage = Stage::open(script).await;
        stage.say("Where?");
        let (seen, request) = stage.until_question().await;
        assert!(seen.iter().any(|line| line.starts_with("call_0 done")), "{claim}: {seen:?}");
        assert!(seen.last().unwrap().starts_with("may call_0 run?"), "{claim}: {seen:?}");
        // and a claim does not lower the risk of another command either
        stage.agent.respond(request, permission(Choice::Cancel)).unwrap();
        stage.until_idle().await;
        assert!(!stage.work.path().join("made.txt").exists(), "{claim}");
    }
}

#[tokio::test]
async fn queued_call_is_checked_again_after_a_change() {
    // the second call was harmless when it was judged; the first makes its path lead to what is always asked for
    let write = ("Create", json!({"file_path": "x/pre-commit", "content": "evil"}));
    let mut stage = Stage::open_with([calls("", &[execute("sh link.sh"), write])], at(Autonomy::High)).await;
    fs_err::write(stage.work.path().join("link.sh"), "mkdir -p .git/hooks; ln -s .git/hooks x\n").unwrap();
    stage.say("Do it.");
    let seen = stage.until(|event| is_idle(event) || matches!(event, Event::UserRequest(_))).await;
    assert_eq!(line(seen.last().unwrap()), "may call_1 run? [ProceedOnce, Cancel]");
    assert!(stage.work.path().join("x").exists(), "the first call ran");
    stage.submit(Command::Interrupt);
    stage.until_idle().await;
    assert!(!stage.work.path().join(".git/hooks/pre-commit").exists());
}

#[tokio::test]
async fn link_that_appears_after_the_approval_is_asked_about() {
    let write = ("Create", json!({"file_path": "x/new.txt", "content": "text"}));
    let mut stage = Stage::open([calls("", &[write]), text("ok")]).await;
    let outside = stage.home.path().join("outside");
    fs_err::create_dir(&outside).unwrap();
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    // another process, after the user has seen the request
    std::os::unix::fs::symlink(&outside, stage.work.path().join("x")).unwrap();
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    let event = stage.until(|event| is_idle(event) || matches!(event, Event::UserRequest(_))).await;
    let Some(Event::UserRequest(UserRequest::Permission { id, calls, .. })) = event.last() else {
        panic!("{:?}", event.last())
    };
    let real = fs_err::canonicalize(&outside).unwrap().join("new.txt");
    assert!(
        matches!(&calls[0].request.kind, musher_engine::permission::Kind::Create { path, .. } if *path == real),
        "{calls:?}"
    );
    assert!(!outside.join("new.txt").exists());
    stage.agent.respond(id.clone(), permission(Choice::ProceedOnce)).unwrap();
    stage.until_idle().await;
    assert_eq!(fs_err::read_to_string(outside.join("new.txt")).unwrap(), "text");
}

#[tokio::test]
async fn link_that_appears_after_the_approval_leads_to_no_other_place_of_the_workspace() {
    let write = ("Create", json!({"file_path": "x/pre-commit", "content": "evil"}));
    let mut stage = Stage::open([calls("", &[write]), text("ok")]).await;
    let hooks = stage.work.path().join(".git/hooks");
    fs_err::create_dir_all(&hooks).unwrap();
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    std::os::unix::fs::symlink(&hooks, stage.work.path().join("x")).unwrap();
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen.last().unwrap(), "may call_0 run? [ProceedOnce, Cancel]");
    stage.agent.respond(request, permission(Choice::Cancel)).unwrap();
    stage.until_idle().await;
    assert!(!hooks.join("pre-commit").exists());
}

/// `tool_permission_error_response`.
#[tokio::test]
async fn invalid_response_denies_with_a_reason() {
    let mut stage = Stage::open([calls("", &[execute("echo one > er.txt")])]).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    let reason = Some("[code -32603] handler failed".to_owned());
    stage.agent.respond(request, UserResponse::Denied { reason }).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(seen[2], "call_0 failed: Error: Tool execution cancelled: [code -32603] handler failed");
    assert_eq!(seen[3], "turn Completed");
}

/// `tool_permission_always`.
#[tokio::test]
async fn always_raises_the_level_for_the_calls_that_follow() {
    let script = [calls("", &[execute("touch a1.txt")]), calls("", &[execute("touch a2.txt")]), text("ok")];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, permission(Choice::ProceedAlways)).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[..4],
        ["state Executing", "resolved call_0 ProceedAlways", "settings Auto Low", "call_0 executing",]
    );
    assert!(!seen.iter().any(|line| line.starts_with("may ")), "{seen:?}");
    assert!(stage.work.path().join("a2.txt").exists());
}

#[tokio::test]
async fn unoffered_or_late_response_grants_nothing() {
    let mut stage = Stage::open([calls("", &[execute("touch no.txt")]), text("ok")]).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond("another".to_owned(), permission(Choice::ProceedOnce)).unwrap();
    stage.agent.respond(request.clone(), permission(Choice::ProceedAutoRunHigh)).unwrap();
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(seen[1], "resolved  Cancel");
    assert!(!stage.work.path().join("no.txt").exists());
}

/// `permission_no_answer_interrupt`.
#[tokio::test]
async fn interrupt_settles_the_permission_request() {
    let mut stage = Stage::open([calls("", &[execute("echo one > na.txt")]), text("after")]).await;
    stage.say("Run.");
    let (_, request) = stage.until_question().await;
    stage.submit(Command::Interrupt);
    assert_eq!(
        stage.until_idle().await,
        [
            "resolved  Cancel",
            "call_0 failed: Error: Tool execution cancelled by user",
            "reply 3",
            "turn Cancelled",
            "state Idle",
        ]
    );
    stage.agent.respond(request, permission(Choice::ProceedOnce)).unwrap();
    stage.say("And now?");
    stage.until_idle().await;
    assert!(!stage.work.path().join("na.txt").exists());
}

/// `interrupt_tool`.
#[tokio::test]
async fn interrupt_ends_the_running_command() {
    let mut stage =
        Stage::open_with([calls("", &[execute("echo start; sleep 30; echo end")])], at(Autonomy::High)).await;
    stage.say("Sleep.");
    stage.until(|event| line(event).contains("start")).await;
    stage.submit(Command::Interrupt);
    assert_eq!(
        stage.until_idle().await,
        ["call_0 failed: Error: Tool execution cancelled by user", "reply 3", "turn Cancelled", "state Idle",]
    );
}

#[tokio::test]
async fn read_only_calls_run_in_parallel_and_are_emitted_in_order() {
    let stage = Stage::empty([]);
    fs_err::write(stage.work.path().join("one.txt"), "one\n").unwrap();
    fs_err::write(stage.work.path().join("two.txt"), "two\n").unwrap();
    let read = |name: &str| ("Read", json!({"file_path": stage.work.path().join(name)}));
    let script = [calls("", &[read("one.txt"), read("two.txt"), ("Nope", json!({}))]), text("ok")];
    let mut stage = Stage::at(stage.home, stage.work, script);
    stage.create(NewSession::default()).await;
    stage.say("Read.");
    let seen = stage.until_idle().await;
    let from = seen.iter().position(|line| line == "state Executing").unwrap();
    assert_eq!(seen[from + 1..from + 4], ["call_0 queued", "call_1 queued", "call_2 queued"]);
    assert!(seen[from + 4].ends_with(" executing"), "{seen:#?}");
    let results: Vec<_> =
        seen.iter().filter(|line| line.contains(" done: ") || line.contains(" failed: ")).collect();
    assert_eq!(results[..2], ["call_0 done: one", "call_1 done: two"]);
    assert!(results[2].starts_with("call_2 failed: Error: Not found: Nope."), "{}", results[2]);
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_an_error_for_the_model() {
    let mut stage = Stage::open([calls("", &[("Read", json!("oops"))]), text("ok")]).await;
    stage.say("Read.");
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"call_0 failed: Error: not an object".to_owned()), "{seen:?}");
    assert!(seen.contains(&"turn Completed".to_owned()));
}

#[tokio::test]
async fn repeated_identical_calls_end_the_turn() {
    let same = || calls("", &[("LS", json!({}))]);
    let mut stage = Stage::open((0..20).map(|_| same())).await;
    stage.say("List.");
    let seen = stage.until_idle().await;
    assert_eq!(seen[seen.len() - 2], "turn Error");
    assert_eq!(stage.model.requests().len(), 8);
}

#[tokio::test]
async fn turn_without_a_client_to_ask_is_rejected() {
    let attach = Attach { auto_reject: true, ..Attach::default() };
    let new = NewSession { attach, ..NewSession::default() };
    let mut stage = Stage::open_with([calls("", &[execute("touch x")])], new).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await;
    assert!(!seen.iter().any(|line| line.starts_with("may ")));
    assert_eq!(seen[seen.len() - 2], "turn PermissionRejected");
}

/// `ask_user`.
#[tokio::test]
async fn model_can_ask_the_user() {
    let questionnaire = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue";
    let script = [calls("", &[("AskUser", json!({"questionnaire": questionnaire}))]), text("Thanks.")];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(seen[seen.len() - 4..], ["call_0 queued", "call_0 executing", "state Waiting", "asks 1"]);
    stage.agent.respond(request, UserResponse::Answers(vec![(1, "Red".to_owned())])).unwrap();
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[..3],
        ["state Streaming", "call_0 done: 1. [question] Which color?\n[answer] Red", "state Thinking"]
    );
}

/// `ask_user_cancel`.
#[tokio::test]
async fn unanswered_question_ends_the_turn() {
    let script =
        [calls("", &[("AskUser", json!({"questionnaire": "1. [question] Well?\n[topic] T\n[option] A"}))])];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, UserResponse::Denied { reason: None }).unwrap();
    assert_eq!(
        stage.until_idle().await,
        [
            "state Streaming",
            "call_0 failed: Error: Tool execution cancelled by user",
            "turn Completed",
            "state Idle",
        ]
    );
}

#[tokio::test]
async fn draining_refuses_what_is_asked() {
    let mut stage = Stage::open([calls("", &[execute("touch x")])]).await;
    stage.say("Do it.");
    stage.until_question().await;
    stage.agent.drain().unwrap();
    let seen = stage.until_end().await;
    assert!(seen.contains(&"call_0 failed: Error: Tool execution cancelled by user".to_owned()), "{seen:?}");
    assert!(seen.contains(&"turn Completed".to_owned()));
}

#[tokio::test]
async fn model_gets_tools_and_finds_deferred_ones() {
    let script = [calls("", &[("ToolSearch", json!({"query": "select:FetchUrl"}))]), text("ok")];
    let mut stage = Stage::open(script).await;
    stage.say("Look.");
    stage.until_idle().await;
    let requests = stage.model.requests();
    let names = |index: usize| {
        requests[index].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let usual = "Read LS Execute Edit Grep Glob Create ExitSpecMode AskUser TodoWrite TaskOutput TaskInput TaskStop ToolSearch Skill Task";
    assert_eq!(names(0), usual);
    assert_eq!(names(1), format!("{usual} FetchUrl"));
}

#[tokio::test]
async fn tool_list_marks_tools_that_run_without_permission() {
    let mut stage = Stage::open([]).await;
    for (settings, allowed) in [
        (SettingsChange::default(), 9),
        (SettingsChange { autonomy: Some(Autonomy::Low), ..SettingsChange::default() }, 12),
        (SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() }, 16),
        (SettingsChange { mode: Some(Mode::Spec), ..SettingsChange::default() }, 11),
    ] {
        let filter = ToolFilter { settings, ..ToolFilter::default() };
        let command_id = stage.submit(Command::ListTools(Box::new(filter)));
        let Reply::Tools(tools) = stage.reply(&command_id).await else { panic!("no tools") };
        assert_eq!(tools.len(), 17);
        assert_eq!(tools.iter().filter(|tool| tool.currently_allowed).count(), allowed);
    }
}
