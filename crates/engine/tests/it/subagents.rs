//! Subagents: started, waited for, asked about, ended.

mod background;

use musher_engine::{
    Autonomy, Choice, Command, Event, LoadSession, Mode, NewSession, Reply, SettingsChange, UserResponse,
};
use serde_json::{Value, json};

use crate::scripted::{self, calls, endless, text};
use crate::stage::{Stage, is_idle, is_question, line, lines, parts};

fn task(subagent: &str, more: &Value) -> (&'static str, Value) {
    let mut input =
        json!({"subagent_type": subagent, "description": "Look around", "prompt": "Count the files."});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ("Task", input)
}

fn execute(command: &str) -> scripted::Reply {
    let input =
        json!({"command": command, "riskLevel": "medium", "riskLevelReason": "a test", "summary": "Run it"});
    calls("", &[("Execute", input)])
}

fn with(settings: SettingsChange) -> NewSession {
    NewSession { settings, ..NewSession::default() }
}

fn at(autonomy: Autonomy) -> NewSession {
    with(SettingsChange { autonomy: Some(autonomy), ..SettingsChange::default() })
}

/// A session whose model gives one task to a subagent, and then says "Done."
async fn one(task: (&'static str, Value), says: Vec<scripted::Reply>, new: NewSession) -> Stage {
    let stage = Stage::open_with([calls("", &[task]), text("Done.")], new).await;
    stage.model.tell_subagents(says);
    stage
}

/// What the model read as the result of the first call of its last request but the text.
fn last_result(stage: &Stage) -> String {
    let request = stage.model.requests().pop().unwrap();
    format!("{:?}", request.messages.last().unwrap())
}

/// The id of the subagent's session.
fn child(seen: &[Event]) -> String {
    let id = seen.iter().find_map(|event| match event {
        Event::SubagentStarted { session, .. } => Some(session.as_str().to_owned()),
        _ => None,
    });
    id.expect("a subagent")
}

/// The result of a call, as clients see it; of a subagent that was waited for, what it said.
fn result(seen: &[Event], call: &str) -> String {
    let found = seen.iter().find_map(|event| match event {
        Event::ToolResult { id, content, .. } if id == call => Some(parts(content)),
        _ => None,
    });
    let found = found.expect("a result");
    match found.strip_prefix("session_id: ").and_then(|found| found.split_once("\n\n")) {
        Some((_, said)) => said.to_owned(),
        None => found,
    }
}

#[tokio::test]
async fn last_message_of_a_subagent_is_the_result() {
    let look = calls("I look.", &[("LS", json!({}))]);
    let mut stage =
        one(task("worker", &json!({})), vec![look, text("Two files.")], NewSession::default()).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let child = child(&seen);
    let told: Vec<String> = lines(&seen)
        .into_iter()
        .filter(|line| line.starts_with("call_0") || line.starts_with("child"))
        .collect();
    assert_eq!(
        told,
        [
            "call_0 queued",
            "call_0 executing",
            "child worker \"Look around\"",
            "call_0: said \"I look.\"",
            "call_0: calls LS",
            "call_0: LS done",
            "call_0: said \"Two files.\"",
            &format!("call_0 done: session_id: {child}\n\nTwo files."),
        ]
    );
    assert!(last_result(&stage).contains(&format!("session_id: {child}")), "{}", last_result(&stage));

    let asked = stage.model.requests_of_subagents();
    let tools: Vec<&str> = asked[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        tools.join(" "),
        "Read LS Execute Edit Grep Glob Create TodoWrite TaskOutput TaskInput TaskStop ToolSearch Skill"
    );
    let said = format!("{:?}", asked[0].messages);
    assert!(said.contains("Count the files.") && !said.contains("Do it."), "{said}");
    assert!(!said.contains("Subagents you can start"), "{said}");

    // its tokens are counted, and told by themselves, too
    let Some(Event::TurnCompleted(turn)) = seen.iter().find(|event| matches!(event, Event::TurnCompleted(_)))
    else {
        panic!("no end");
    };
    assert_eq!((turn.usage.input, turn.child.input, turn.cumulative_child.input), (3200, 1600, 1600));

    // its session lies beside ours, and says whose it is
    let files = walk(stage.home.path());
    let log = files.iter().find(|path| path.ends_with(&format!("{child}.jsonl"))).expect("a log");
    let first: Value =
        serde_json::from_str(fs_err::read_to_string(log).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(first["callingSessionId"], stage.session);
    assert_eq!(first["callingToolUseId"], "call_0");
    assert_eq!(first["title"], "Look around");
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(walk(&path));
        } else {
            all.push(path.to_str().unwrap().to_owned());
        }
    }
    all
}

#[tokio::test]
async fn unknown_subagent_is_an_error_with_the_known_names() {
    let mut stage = one(task("missing", &json!({})), vec![], NewSession::default()).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    assert_eq!(
        result(&seen, "call_0"),
        "Error: Droid \"missing\" not found. Available subagents: explorer, worker."
    );
}

#[tokio::test]
async fn subagent_of_a_file_has_its_own_prompt_and_tools() {
    let stage = Stage::empty([]);
    let folder = stage.home.path().join("droids");
    fs_err::create_dir_all(&folder).unwrap();
    let head = "---\ndescription: Reviews\ntools: [Read]\nmodel: missing\n---\nLook hard.\n";
    fs_err::write(folder.join("bad.md"), head).unwrap();
    fs_err::write(folder.join("reviewer.md"), head.replace("model: missing\n", "")).unwrap();
    let script = [calls("", &[task("reviewer", &json!({})), task("bad", &json!({}))]), text("Done.")];
    let mut stage = Stage::at(stage.home, stage.work, script);
    let edit = calls("", &[("Create", json!({"file_path": "x.txt", "content": "x"}))]);
    stage.model.tell_subagents([edit, text("I could not.")]);
    stage.create(at(Autonomy::High)).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "I could not.");
    assert_eq!(
        result(&seen, "call_1"),
        "Error: The model \"missing\" of the subagent \"bad\" is not available"
    );
    let asked = stage.model.requests_of_subagents();
    assert!(asked[0].system[0].ends_with("Look hard."));
    assert_eq!(asked[0].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["Read"]);
    assert!(!stage.work.path().join("x.txt").exists());
}

#[tokio::test]
async fn subagent_requests_permission_through_its_parent() {
    let says = vec![execute("touch one.txt"), text("Touched.")];
    let mut stage = one(task("worker", &json!({})), says, NewSession::default()).await;
    stage.say("Do it.");
    let (seen, request) = stage.until_question().await;
    assert_eq!(
        seen[seen.len() - 2..],
        ["state Waiting", "may call_0 run? [ProceedOnce, ProceedAlways, Cancel]"]
    );
    let response = UserResponse::Decision(Choice::ProceedAlways.into());
    stage.agent.respond(request, response).unwrap();
    let seen = stage.until(is_idle).await;
    let told = lines(&seen);
    assert_eq!(
        told[..3],
        ["state Executing", "resolved call_0 ProceedAlways", "settings Auto Low"],
        "what holds for longer holds for the session that was asked"
    );
    assert_eq!(result(&seen, "call_0"), "Touched.");
    assert!(stage.work.path().join("one.txt").exists());
}

#[tokio::test]
async fn denied_call_of_a_subagent_ends_the_turn() {
    let mut stage = Stage::open([calls("", &[task("worker", &json!({}))])]).await;
    stage.model.tell_subagents([execute("touch one.txt")]);
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    let response = UserResponse::Decision(Choice::Cancel.into());
    stage.agent.respond(request, response).unwrap();
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "Error: Tool execution cancelled by user");
    assert!(lines(&seen).contains(&"turn Completed".to_owned()));
    assert!(!stage.work.path().join("one.txt").exists());
}

#[tokio::test]
async fn settings_can_give_subagents_less_autonomy_but_never_more() {
    for (of_session, of_subagents, asks) in
        [(Autonomy::High, "low", true), (Autonomy::Off, "high", true), (Autonomy::Medium, "high", false)]
    {
        let stage = Stage::empty([]);
        let settings = json!({"subagentAutonomyLevel": of_subagents}).to_string();
        fs_err::write(stage.home.path().join("settings.json"), settings).unwrap();
        let script = [calls("", &[task("worker", &json!({}))]), text("Done.")];
        let mut stage = Stage::at(stage.home, stage.work, script);
        stage.model.tell_subagents([execute("rm -f one.txt"), text("Removed.")]);
        stage.create(at(of_session)).await;
        stage.say("Do it.");
        let seen = stage.until(|event| is_idle(event) || is_question(event)).await;
        let last = line(seen.last().unwrap());
        assert_eq!(last.starts_with("may "), asks, "{of_session:?} {of_subagents} {last}");
        // beyond the autonomy of the settings, a grant covers one call only
        assert_eq!(last.contains("ProceedAlways"), asks && of_subagents == "high", "{last}");
    }
}

#[tokio::test]
async fn subagent_changes_nothing_while_planning() {
    let settings = SettingsChange {
        mode: Some(Mode::Spec),
        autonomy: Some(Autonomy::High),
        ..SettingsChange::default()
    };
    let create = calls("", &[("Create", json!({"file_path": "x.txt", "content": "x"}))]);
    let says = vec![create, execute("touch x.txt"), text("Nothing.")];
    let mut stage = one(task("worker", &json!({})), says, with(settings)).await;
    stage.say("Plan it.");
    let seen = lines(&stage.until(is_idle).await);
    assert!(seen.contains(&"call_0: Create failed".to_owned()), "{seen:?}");
    assert!(seen.contains(&"call_0: Execute failed".to_owned()), "{seen:?}");
    assert!(!stage.work.path().join("x.txt").exists());
}

#[tokio::test]
async fn subagent_cannot_start_subagents() {
    let says = vec![calls("", &[task("worker", &json!({}))]), text("Alone.")];
    let mut stage = one(task("worker", &json!({})), says, NewSession::default()).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    assert_eq!(lines(&seen).iter().filter(|line| line.starts_with("child ")).count(), 1);
    assert_eq!(result(&seen, "call_0"), "Alone.");
}

#[tokio::test]
async fn several_subagents_work_at_the_same_time() {
    // the second ends only after the first has asked, and the first only after it was answered
    let script = [calls("", &[task("worker", &json!({})), task("worker", &json!({}))]), text("Done.")];
    let mut stage = Stage::open(script).await;
    stage.model.tell_subagents([execute("touch a.txt"), execute("touch b.txt"), text("ok"), text("ok")]);
    stage.say("Do it.");
    let (_, first) = stage.until_question().await;
    let (_, second) = stage.until_question().await;
    for request in [first, second] {
        let response = UserResponse::Decision(Choice::ProceedOnce.into());
        stage.agent.respond(request, response).unwrap();
    }
    let seen = stage.until(is_idle).await;
    assert_eq!([result(&seen, "call_0"), result(&seen, "call_1")], ["ok", "ok"]);
    assert!(stage.work.path().join("a.txt").exists() && stage.work.path().join("b.txt").exists());
}

#[tokio::test]
async fn interrupt_ends_a_subagent_and_its_commands() {
    let says = vec![execute("echo start > started; sleep 60; touch late.txt")];
    let mut stage = one(task("worker", &json!({})), says, at(Autonomy::High)).await;
    stage.say("Do it.");
    let mut seen = stage.until(|event| line(event) == "call_0: calls Execute").await;
    stage.submit(Command::Interrupt);
    seen.extend(stage.until(is_idle).await);
    assert!(lines(&seen).contains(&"turn Cancelled".to_owned()));
    assert_eq!(result(&seen, "call_0"), "Error: Tool execution cancelled by user");
    // its log is no longer open
    let id = child(&seen);
    let command_id = stage.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    assert!(matches!(stage.reply(&command_id).await, Reply::Loaded(_)));
}

#[tokio::test]
async fn resumed_subagent_continues_its_conversation() {
    let mut stage = one(task("explorer", &json!({})), vec![text("Two files.")], NewSession::default()).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let id = child(&seen);
    stage.model.tell_subagents([text("Still two.")]);
    stage.model.tell([
        calls(
            "",
            &[
                task("explorer", &json!({"resume": id, "prompt": "And now?"})),
                task("explorer", &json!({"resume": "missing"})),
            ],
        ),
        text("Good."),
    ]);
    stage.say("Again.");
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "Still two.");
    assert!(result(&seen, "call_1").starts_with("Error: This session has no subagent \"missing\""));
    assert_eq!(child(&seen), id);
    let said = format!("{:?}", stage.model.requests_of_subagents().pop().unwrap().messages);
    assert!(said.contains("Two files.") && said.contains("And now?"), "{said}");
    let Some(Event::TurnCompleted(turn)) = seen.iter().find(|event| matches!(event, Event::TurnCompleted(_)))
    else {
        panic!("no end");
    };
    assert_eq!((turn.child.input, turn.cumulative_child.input), (800, 1600));
}

#[tokio::test]
async fn subagent_gets_images() {
    let stage = Stage::empty([]);
    // one white pixel
    let png = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0,
        0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c,
        0x63, 0xf8, 0x0f, 0, 1, 1, 1, 0, 0x1b, 0xb6, 0xee, 0x56, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae,
        0x42, 0x60, 0x82,
    ];
    fs_err::write(stage.work.path().join("p.png"), png).unwrap();
    let script = [
        calls(
            "",
            &[
                task("worker", &json!({"image_paths": ["p.png"]})),
                task("worker", &json!({"image_paths": ["no.png"]})),
            ],
        ),
        text("Done."),
    ];
    let mut stage = Stage::at(stage.home, stage.work, script);
    stage.model.tell_subagents([text("White.")]);
    stage.create(NewSession::default()).await;
    stage.say("Look.");
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "White.");
    assert_eq!(result(&seen, "call_1"), "Error: no.png is not a readable image");
    let said = format!("{:?}", stage.model.requests_of_subagents()[0].messages);
    assert!(said.contains("image/png"), "{said}");
}

#[tokio::test]
async fn hooks_hold_for_subagents_and_know_their_end_from_that_of_a_turn() {
    let stage = Stage::empty([]);
    let hook = |line: &str| json!([{"hooks": [{"type": "command", "command": line}]}]);
    let hooks = json!({
        "UserPromptSubmit": hook("echo prompt >> seen"),
        "PreToolUse": hook("grep -q forbidden && { echo no >&2; exit 2; } || true"),
        "SubagentStop": hook("echo subagent >> seen"),
        "Stop": hook("echo turn >> seen"),
        "SessionEnd": hook("echo end >> seen"),
    });
    fs_err::write(stage.home.path().join("hooks.json"), hooks.to_string()).unwrap();
    let script = [calls("", &[task("worker", &json!({}))]), text("Done.")];
    let mut stage = Stage::at(stage.home, stage.work, script);
    stage.model.tell_subagents([execute("touch forbidden"), text("Not allowed.")]);
    stage.create(at(Autonomy::High)).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "Not allowed.");
    let told = lines(&seen);
    assert!(told.contains(&"call_0: Execute failed".to_owned()), "{told:?}");
    assert!(told.contains(&"hook SubagentStop over".to_owned()), "{told:?}");
    let moments = fs_err::read_to_string(stage.work.path().join("seen")).unwrap();
    assert_eq!(moments.lines().collect::<Vec<_>>(), ["prompt", "subagent", "turn"]);
    assert!(!stage.work.path().join("forbidden").exists());
}
