//! What the model gets besides the prompt: uncommitted changes, whether a user is present, and open steps of its to-do list.

use musher_engine::{Attach, LoadSession, NewSession};
use musher_model::{Block, Request};
use serde_json::json;

use crate::scripted::{calls, text};
use crate::stage::Stage;

/// All texts of a request.
fn texts(request: &Request) -> String {
    let text = |block: &Block| match block {
        Block::Text { text, .. } => text.clone(),
        other => format!("{other:?}"),
    };
    let messages = request.messages.iter().flat_map(|message| &message.content);
    messages.map(text).collect::<Vec<_>>().join("\n---\n")
}

fn todo(list: &str) -> crate::scripted::Reply {
    calls("", &[("TodoWrite", json!({ "todos": list }))])
}

const OPEN: &str = "1. [completed] Look\n2. [pending] Test it";

#[tokio::test]
async fn model_that_stops_with_open_todos_is_reminded_once() {
    let script = [todo(OPEN), text("Done."), text("Tested, too."), text("Hello.")];
    let mut stage = Stage::open(script).await;
    stage.say("Do it.");
    let events = stage.until_idle().await;
    assert!(events.contains(&"message assistant: Tested, too.".to_owned()), "{events:#?}");
    let reminded = texts(stage.model.requests().last().unwrap());
    assert!(reminded.contains("open steps (1):\n- [pending] Test it\n"), "{reminded}");
    // the same list in the next turn
    stage.say("Hello?");
    stage.until_idle().await;
    assert_eq!(stage.model.requests().len(), 4);
}

#[tokio::test]
async fn model_that_asks_or_has_finished_its_list_is_not_reminded() {
    let script = [todo(OPEN), text("Which file?"), todo("1. [completed] Look"), text("Done.")];
    let mut stage = Stage::open(script).await;
    for prompt in ["Do it.", "That one."] {
        stage.say(prompt);
        stage.until_idle().await;
    }
    assert_eq!(stage.model.requests().len(), 4);
}

#[tokio::test]
async fn uncommitted_changes_are_told_once_before_the_first_call() {
    let mut stage = Stage::empty([text("One."), text("Two."), text("Three.")]);
    let work = stage.work.path().to_owned();
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(&work).status().unwrap();
    assert!(git.success());
    fs_err::write(work.join("new.rs"), "").unwrap();
    stage.create(NewSession::default()).await;
    for _ in 0..2 {
        stage.say("Hello.");
        stage.until_idle().await;
    }
    let requests = stage.model.requests();
    assert_eq!(texts(&requests[0]).matches("?? new.rs").count(), 1, "{}", texts(&requests[0]));
    assert_eq!(texts(&requests[1]).matches("?? new.rs").count(), 1);
    assert!(requests[1].messages.starts_with(&requests[0].messages));
    // a resumed session has it in its log
    let (home, id) = (stage.home.clone(), stage.session.clone());
    stage.agent.stop().unwrap();
    stage.until_end().await;
    let mut again = Stage::at(home, stage.work.clone(), [text("Three.")]);
    let load = LoadSession { id, ..LoadSession::default() };
    let command_id = again.submit(musher_engine::Command::Load(Box::new(load)));
    again.reply(&command_id).await;
    again.say("Again.");
    again.until_idle().await;
    assert_eq!(texts(&again.model.requests()[0]).matches("?? new.rs").count(), 1);
}

#[tokio::test]
async fn model_knows_whether_a_user_is_present() {
    for (auto_reject, count) in [(false, 0), (true, 1)] {
        let attach = Attach { auto_reject, ..Attach::default() };
        let mut stage = Stage::open_with([text("Hi.")], NewSession { attach, ..NewSession::default() }).await;
        stage.say("Hello.");
        stage.until_idle().await;
        let request = stage.model.requests()[0].clone();
        assert_eq!(texts(&request).matches("User: not present").count(), count);
        assert!(texts(&request).contains("\nShell: bash\nDate: 20"));
    }
}
