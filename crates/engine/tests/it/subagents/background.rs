//! Subagents that nobody waits for: asked for later, ended by the model, by a client, and with their session.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn one_in_the_background_is_asked_for_later() {
    let script = [calls("", &[task("explorer", &json!({"await": false}))]), text("Started.")];
    let mut stage = Stage::open(script).await;
    stage.model.tell_subagents([text("Three files.")]);
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let id = child(&seen);
    assert_eq!(result(&seen, "call_0"), format!("Task launched in background\nsession_id: {id}"));
    // it may end after the turn, or before
    let script = [calls("", &[("TaskOutput", json!({"task_id": id}))]), text("Good.")];
    stage.model.tell(script);
    stage.say("And?");
    let seen = stage.until(is_idle).await;
    assert_eq!(result(&seen, "call_0"), "status: completed\n\nThree files.");
}

#[tokio::test]
async fn the_model_is_told_once_that_one_in_the_background_has_ended() {
    let script = [calls("", &[task("worker", &json!({"run_in_background": true}))]), endless("Well")];
    let mut stage = Stage::open(script).await;
    stage.model.tell_subagents([text("Three files.")]);
    stage.say("Do it.");
    let used =
        |what: &Happening| matches!(what, Happening::Usage { inclusive, total, .. } if inclusive != total);
    stage.until(used).await;
    let ticket = stage.submit(Command::Interrupt);
    stage.reply(&ticket).await;
    let asked = |stage: &Stage| format!("{:?}", stage.model.requests().pop().unwrap().messages);
    let told = async {
        loop {
            stage.model.tell([text("ok")]);
            stage.say("And?");
            stage.until(is_idle).await;
            match asked(&stage).matches("has ended. TaskOutput").count() {
                0 => {}
                told => return told,
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(20), told).await.expect("the model is told");
    stage.model.tell([text("ok")]);
    stage.say("And?");
    stage.until(is_idle).await;
    assert_eq!((told, asked(&stage).matches("has ended. TaskOutput").count()), (1, 1));
}

#[tokio::test]
async fn one_in_the_background_is_ended_by_the_model_or_the_client() {
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
        .filter_map(|what| match what {
            Happening::Child { session, .. } => Some(session.as_str().to_owned()),
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
        ask("nobody", &json!({})),
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
            "call_0 done: status: running\n\nThe subagent is still at work.",
            "call_0 done: status: running\n\nThe subagent is still at work.",
            "call_0 done: Task stopped",
            "call_0 done: status: stopped\n\nThe subagent was stopped before it was done.",
            "call_0 failed: Error: Task \"nobody\" not found",
        ]
    );
    let kill = |stage: &mut Stage, id: &str| stage.submit(Command::KillWorker { session: id.to_owned() });
    let ticket = kill(&mut stage, &ids[1]);
    assert!(matches!(stage.reply(&ticket).await, Reply::Done));
    stage.model.tell([ask(&ids[1], &json!({})), text("ok")]);
    stage.say("And?");
    let seen = stage.until(is_idle).await;
    assert!(result(&seen, "call_0").starts_with("status: stopped"));
    let ticket = kill(&mut stage, &ids[1]);
    assert_eq!(stage.outcome(&ticket).await.unwrap_err().to_string(), "No active execution to interrupt");
}

#[tokio::test]
async fn what_works_in_the_background_ends_with_the_session() {
    let script = [calls("", &[task("worker", &json!({"await": false}))]), text("Started.")];
    let mut stage = Stage::open_with(script, at(Autonomy::High)).await;
    stage.model.tell_subagents([execute("touch started; sleep 60")]);
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let id = child(&seen);
    stage.submit(Command::Close { reason: None });
    stage.until_end().await;
    let mut other = Stage::at(stage.home, stage.work, []);
    let ticket = other.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    assert!(matches!(other.reply(&ticket).await, Reply::Loaded(_)), "nobody holds its log any more");
}

#[tokio::test]
async fn only_so_many_subagents_work_at_once() {
    let many: Vec<_> = (0..9).map(|_| task("worker", &json!({"await": false}))).collect();
    let mut stage = Stage::open([calls("", &many), text("Started.")]).await;
    stage.model.tell_subagents((0..8).map(|_| endless("Well")));
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let results: Vec<String> = (0..9).map(|index| result(&seen, &format!("call_{index}"))).collect();
    let refused = "Error: 8 subagents are at work already; wait for one, or end one";
    assert_eq!(results.iter().filter(|text| *text == refused).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(|text| text.starts_with("Task launched")).count(), 8, "{results:?}");
    stage.submit(Command::Close { reason: None });
    stage.until_end().await;
}
