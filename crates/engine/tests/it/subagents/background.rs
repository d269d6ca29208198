//! Subagents in the background: queried later, stopped by the model, by a client, and with their session.

use super::*;

/// A session with a subagent in the background that is done when it is let, and its id.
async fn one_that_waits() -> (Stage, String) {
    let script = [calls("", &[task("worker", &json!({"await": false}))]), text("Started.")];
    let mut stage = Stage::open_with(script, at(Autonomy::High)).await;
    stage.model.tell_subagents([execute("until [ -e go ]; do sleep 0.02; done"), text("Three files.")]);
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let id = child(&seen);
    let launched = format!(
        "Task launched in background.\ntask_id: {id}\nsession_id: {id}\nsubagent_type: worker\ndescription: Look around\n"
    );
    assert!(result(&seen, "call_0").starts_with(&launched), "{}", result(&seen, "call_0"));
    (stage, id)
}

fn let_go(stage: &Stage) {
    fs_err::write(stage.work.path().join("go"), "").unwrap();
}

/// How often the model reads the end of a subagent in its last request.
fn told(stage: &Stage) -> usize {
    let request = stage.model.requests().pop().unwrap();
    format!("{:?}", request.messages).matches("Background task completed.").count()
}

#[tokio::test]
async fn background_subagent_result_is_queried_later() {
    let (mut stage, id) = one_that_waits().await;
    stage.model.tell([calls("", &[("TaskOutput", json!({"task_id": id}))]), text("Good.")]);
    stage.say("And?");
    stage.until(|event| line(event) == "call_0 executing").await;
    let_go(&stage);
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "status: completed\n\nThree files.");
    assert_eq!(told(&stage), 0, "who has asked is not told once more");
}

#[tokio::test]
async fn end_of_a_background_subagent_reaches_the_model_once_and_at_once() {
    let (mut stage, id) = one_that_waits().await;
    stage.model.tell([text("I see.")]);
    let_go(&stage);
    let seen = stage.until_idle().await;
    let begun = seen.iter().position(|line| line == "state Streaming").unwrap();
    let completion = format!(
        ": Background task completed.\ntask_id: {id}\ntype: worker\nreason: completed\n\
         description: Look around\noutput: Three files.\n\n"
    );
    assert!(seen[begun + 1].starts_with("hidden system for task-completion:"), "{seen:?}");
    assert!(seen[begun + 1].contains(&completion), "{seen:?}");
    assert!(seen.contains(&"message assistant: I see.".to_owned()), "{seen:?}");
    assert_eq!(seen[seen.len() - 2..], ["turn Completed", "state Idle"]);
    assert_eq!(told(&stage), 1);
    stage.model.tell([text("ok")]);
    stage.say("And?");
    stage.until(is_idle).await;
    assert_eq!(told(&stage), 1);
}

#[tokio::test]
async fn background_subagent_is_stopped_by_the_model_or_the_client() {
    let script = [
        calls("", &[task("worker", &json!({"await": false})), task("worker", &json!({"await": false}))]),
        text("Started."),
    ];
    let mut stage = Stage::open(script).await;
    stage.model.tell_subagents([endless("Well"), endless("Well")]);
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let ids: Vec<String> = seen
        .iter()
        .filter_map(|event| match event {
            Event::SubagentStarted { session, .. } => Some(session.as_str().to_owned()),
            _ => None,
        })
        .collect();
    let ask = |id: &str, more: &Value| {
        let mut input = json!({"task_id": id});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        calls("", &[("TaskOutput", input)])
    };
    stage.model.tell([
        ask(&ids[0], &json!({"block": false})),
        ask(&ids[0], &json!({"timeout": 1})),
        calls("", &[("TaskStop", json!({"task_id": ids[0]}))]),
        ask(&ids[0], &json!({})),
        ask("missing", &json!({})),
        text("ok"),
    ]);
    stage.say("And?");
    let seen = stage.until(is_idle).await;
    let results: Vec<String> = lines(&seen)
        .into_iter()
        .filter(|line| line.contains(" done: ") || line.contains(" failed: "))
        .collect();
    assert_eq!(
        results,
        [
            "call_0 done: status: running\n\nThe subagent is still running.",
            "call_0 done: status: running\n\nThe subagent is still running.",
            "call_0 done: Task stopped",
            "call_0 done: status: stopped\n\nThe subagent was stopped before it finished.",
            "call_0 failed: Error: Task \"missing\" not found",
        ]
    );
    let kill = |stage: &mut Stage, id: &str| stage.submit(Command::KillWorker { session: id.to_owned() });
    let command_id = kill(&mut stage, &ids[1]);
    stage.model.tell([text("ok")]);
    assert!(matches!(stage.reply(&command_id).await, Reply::Done));
    let seen = stage.until_idle().await;
    assert!(seen.iter().any(|line| line.contains("\nreason: stopped\n")), "{seen:?}");
    stage.model.tell([ask(&ids[1], &json!({})), text("ok")]);
    stage.say("And?");
    let seen = stage.until(is_idle).await;
    assert!(result(&seen, "call_0").starts_with("status: stopped"));
    let command_id = kill(&mut stage, &ids[1]);
    assert_eq!(stage.outcome(&command_id).await.unwrap_err().to_string(), "No active execution to interrupt");
}

#[tokio::test]
async fn client_ends_a_background_subagent_at_any_moment_once_its_id_is_known() {
    let kill = |stage: &mut Stage, id: &str| stage.submit(Command::KillWorker { session: id.to_owned() });
    let model = || vec![endless("Well")];
    let command = || vec![execute("touch started; sleep 60")];
    // how far it has got when it is ended: nowhere, with the model, with a command, at a permission request
    for (level, replies, wait_for) in [
        (Autonomy::High, model(), None),
        (Autonomy::High, model(), Some("model")),
        (Autonomy::High, command(), Some("command")),
        (Autonomy::Off, command(), Some("permission")),
    ] {
        let script = [calls("", &[task("worker", &json!({"await": false}))]), endless("I wait")];
        let mut stage = Stage::open_with(script, at(level)).await;
        stage.model.tell_subagents(replies);
        stage.say("Do it.");
        // the turn of the session continues
        let seen = stage.until(|event| matches!(event, Event::ToolResult { .. })).await;
        let id = child(&seen);
        let unknown = kill(&mut stage, "unknown");
        // the question of the subagent may come before the reply
        let is_reply =
            |event: &Event| matches!(event, Event::Reply { command_id, .. } if *command_id == unknown);
        let before = stage.until(is_reply).await;
        let Some(Event::Reply { outcome: Err(error), .. }) = before.last() else { panic!("{before:?}") };
        assert_eq!(error.to_string(), "No active execution to interrupt");
        let has_asked = before.iter().any(|event| matches!(event, Event::SubagentRequest { .. }));
        match wait_for {
            Some("model") => {
                until(|| !stage.model.requests_of_subagents().is_empty()).await;
            }
            Some("command") => until(|| stage.work.path().join("started").exists()).await,
            Some("permission") if !has_asked => drop(stage.until_question().await),
            _ => {}
        }
        let killed = kill(&mut stage, &id);
        assert!(matches!(stage.reply(&killed).await, Reply::Done), "{wait_for:?}");
        let again = kill(&mut stage, &id);
        assert!(stage.outcome(&again).await.is_err(), "it was ended: {wait_for:?}");
        // the report is in the second request, or begins a turn after it
        let main = |stage: &Stage| {
            let all = stage.model.requests().into_iter();
            all.filter(|request| !request.system[0].starts_with("You are a subagent")).collect::<Vec<_>>()
        };
        until(|| main(&stage).len() == 2).await;
        stage.model.tell([text("I see."), text("I see.")]);
        stage.submit(Command::Interrupt);
        stage.say("And?");
        stage.until(|event| line(event).contains("message assistant: I see.")).await;
        until(|| format!("{:?}", main(&stage)).contains("\\nreason: stopped\\n")).await;
        stage.submit(Command::Close { reason: None });
        stage.until_end().await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn background_subagents_end_with_the_session() {
    let script = [calls("", &[task("worker", &json!({"await": false}))]), text("Started.")];
    let mut stage = Stage::open_with(script, at(Autonomy::High)).await;
    stage.model.tell_subagents([execute("touch started; sleep 60")]);
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let id = child(&seen);
    stage.submit(Command::Close { reason: None });
    stage.until_end().await;
    let mut other = Stage::at(stage.home, stage.work, []);
    let command_id = other.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    assert!(matches!(other.reply(&command_id).await, Reply::Loaded(_)), "its log is no longer open");
}

#[tokio::test]
async fn number_of_parallel_subagents_is_limited() {
    let many: Vec<_> = (0..9).map(|_| task("worker", &json!({"await": false}))).collect();
    let mut stage = Stage::open([calls("", &many), text("Started.")]).await;
    stage.model.tell_subagents((0..8).map(|_| endless("Well")));
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let results: Vec<String> = (0..9).map(|index| result(&seen, &format!("call_{index}"))).collect();
    let refused = "Error: 8 subagents are running already; wait for one, or stop one";
    assert_eq!(results.iter().filter(|text| *text == refused).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(|text| text.starts_with("Task launched")).count(), 8, "{results:?}");
    stage.submit(Command::Close { reason: None });
    stage.until_end().await;
}
