//! Requests of every kind in the inbox: diffs, plans, questions, those of subagents; decided with keys.

use anyhow::Result;
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use super::{Stage, touch};

fn script() -> Script {
    let questions = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n";
    let task = json!({"subagent_type": "helper", "description": "Touch it", "prompt": "make the file", "await": true});
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Leap"});
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("You chose.").when(when().result_of("AskUser")))
        .reply(Reply::text("The plan stands.").when(when().result_of("ExitSpecMode")))
        .reply(Reply::text("Written down.").when(when().result_of("TodoWrite")))
        .reply(Reply::text("The helper is done.").when(when().result_of("Task")))
        .reply(Reply::text("Created.").when(when().result_of("Create")))
        .reply(Reply::text("Made it.").when(when().tool_result("made")))
        .reply(Reply::tool("AskUser", json!({"questionnaire": questions})).when(when().prompt("ask me")))
        .reply(
            Reply::tool("ExitSpecMode", json!({"plan": "# The plan\n\nDo **it**.", "title": "The plan"}))
                .when(when().prompt("plan it")),
        )
        .reply(Reply::tool("TodoWrite", todos).when(when().prompt("note it")))
        .reply(
            Reply::tool("Create", json!({"file_path": "new.rs", "content": "fn main() {}\n"}))
                .when(when().prompt("create it")),
        )
        .reply(Reply::tool("Task", task).when(when().prompt("send the helper")))
        .reply(Reply::tool("Execute", touch()).when(when().prompt("make the file")))
        .otherwise(Reply::text("Hello."))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_request_is_decided_in_the_inbox() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let droids = stage.sandbox.home().join(".musher/droids");
    fs_err::create_dir_all(&droids)?;
    fs_err::write(droids.join("helper.md"), "---\nname: helper\ndescription: helps\n---\nYou help.\n")?;
    let browser = stage.browser(1280, 900).await?;
    let overview = browser.url()?;
    for prompt in ["create it", "send the helper", "ask me", "note it"] {
        browser.open(&overview)?;
        stage.new_session(&browser, prompt)?;
        let shown = if prompt == "note it" {
            "document.querySelector('.todo-bar')"
        } else {
            "document.querySelector('.request')"
        };
        browser.until(shown)?;
    }
    browser.until_text("1 of 2 steps done")?;
    browser.press_button("Sessions")?;
    browser.until("document.querySelectorAll('.session.waiting').length === 3")?;
    browser.click("nav[aria-label=Main] a:nth-child(2)")?;
    browser.until(
        "document.querySelectorAll('.requests .request').length === 3 && document.title.startsWith('(3)')",
    )?;
    browser.until("document.getElementById('favicon').href.startsWith('data:image/png')")?;
    // oldest first: the new file with its content, the command of the subagent, the question
    browser.until_text("fn main() {}")?;
    browser.until(
        "document.querySelectorAll('.requests .request')[1].querySelector('.tag')?.innerText === 'subagent'",
    )?;
    let current = "[...document.querySelectorAll('.requests .request')].findIndex((it) => it.classList.contains('current'))";
    for (key, at) in [("j", 1), ("j", 2), ("j", 2), ("k", 1), ("k", 0)] {
        browser.press(key)?;
        browser.until(&format!("{current} === {at}"))?;
    }
    browser.press("n")?;
    browser.until("document.querySelectorAll('.requests .request').length === 2")?;
    browser.press("y")?;
    browser.until("document.querySelectorAll('.requests .request').length === 1")?;
    browser.click("input[value=Blue]")?;
    browser.press_button("Answer")?;
    browser.until_text("Nothing waits for you.")?;
    browser.until("document.title === 'musher console'")?;
    assert!(!stage.sandbox.workspace().join("new.rs").exists());
    browser.press_button("Sessions")?;
    browser.until("document.querySelectorAll('.session.idle, .session.failed').length >= 4")?;
    assert!(stage.sandbox.workspace().join("made.txt").exists());
    let bodies = stage.model.calls().into_iter().filter_map(|call| call.body.clone());
    assert!(
        bodies
            .map(|body| body.to_string())
            .any(|body| body.contains("Blue") && body.contains("Which colour?"))
    );
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_is_read_and_approved() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "hello")?;
    browser.until_text("Hello.")?;
    browser.choose(".settings label:nth-last-child(2) select", "spec")?;
    browser.until("document.querySelector('.settings label:nth-last-child(2) select').value === 'spec'")?;
    browser.write(super::PROMPT, "plan it\n")?;
    browser.until("document.querySelector('.request .plan strong')?.textContent === 'it'")?;
    browser.click(".request [data-option=proceed_once]")?;
    browser.until_text("The plan stands.")?;
    browser.until("document.querySelector('.settings label:nth-last-child(2) select').value === 'auto'")?;
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}
