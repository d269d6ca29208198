//! The page in Chromium, with the daemon, the engine and a scripted model behind it.

mod accessible;
mod changes;
mod hostile;
mod many;
mod offline;
mod opening;
mod phone;
mod reconnect;
mod requests;
mod scripts;
mod session;

use anyhow::Result;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

use super::browser::Browser;
use super::stage::Stage;

/// A command that needs permission.
fn touch() -> Value {
    json!({
        "command": "touch made.txt && echo made", "summary": "Make a file", "timeout": 30,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    })
}

fn script() -> Script {
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("Made the **file** with `touch`.").when(when().tool_result("made")))
        .reply(
            Reply::text("I will make it. ").and_tool("Execute", touch()).when(when().prompt("make the file")),
        )
        .otherwise(Reply::text("Hello from the model."))
}

const PROMPT: &str = "textarea[aria-label=Prompt]";

#[tokio::test(flavor = "multi_thread")]
async fn session_is_created_prompted_and_approved_in_the_browser() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    // the ticket is gone from the address, and the cookie is not for scripts
    assert!(!browser.url()?.contains("login="), "{}", browser.url()?);
    assert_eq!(browser.run("return document.cookie")?, "");

    stage.new_session(&browser, "say hello")?;
    browser.until_text("Hello from the model.")?;
    browser.write(PROMPT, "make the file\n")?;
    browser.until("document.querySelector('.request')")?;
    browser.until_text("touch made.txt && echo made")?;
    browser.until("document.title.startsWith('(1)')")?;
    browser.click(".request [data-option=proceed_once]")?;
    browser.until(
        "[...document.querySelectorAll('.markdown strong')].some((it) => it.textContent === 'file')",
    )?;
    browser.until("!document.querySelector('.request') && !document.title.startsWith('(')")?;
    assert!(stage.sandbox.workspace().join("made.txt").exists());

    // what git says about it, accepted and committed
    browser.click(".tabs a:nth-child(2)")?;
    browser.click("[data-file='made.txt'] [aria-label='Accept made.txt']")?;
    browser.write(".commit textarea", "Add a file")?;
    browser.click(".commit .primary")?;
    browser.until_text("No changes.")?;

    browser.click(".tabs a:nth-child(3)")?;
    browser.until("document.querySelectorAll('.waterfall .span.tool').length === 1")?;
    browser.click("nav[aria-label=Main] a:nth-child(3)")?;
    browser.until("document.querySelector('.bars .bar')")?;

    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_in_one_browser_appears_in_the_other() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let one = stage.browser(1280, 900).await?;
    let other = stage.browser(1280, 900).await?;
    stage.new_session(&one, "make the file")?;
    one.until("document.querySelector('.request')")?;
    // the other one has the request in its inbox, and decides with a key
    other.click("nav[aria-label=Main] a:nth-child(2)")?;
    other.until_text("touch made.txt && echo made")?;
    let session = one.run("return location.hash")?;
    other.press("y")?;
    other.until_text("Nothing waits for you.")?;
    one.until_text("Made the file with touch.")?;
    other.run(&format!("location.hash = {session}"))?;
    other.until_text("Made the file with touch.")?;
    // both write; each sees both
    other.write(PROMPT, "from the other\n")?;
    one.until_text("from the other")?;
    assert_eq!(texts(&one)?, texts(&other)?);
    for browser in [one, other] {
        assert_eq!(browser.problems()?, Vec::<String>::new());
        browser.end().await?;
    }
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn denial_with_a_reason_reaches_the_agent() -> Result<()> {
    let script = script().reply(Reply::text("I see.").when(when().prompt("use another name")));
    let stage = Stage::start(script).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "make the file")?;
    browser.until("document.querySelector('.request')")?;
    browser.click("nav[aria-label=Main] a:nth-child(2)")?;
    // the page before shows the request, too, and takes no keys
    browser.until("document.querySelector('.page .requests .request')")?;
    browser.press("r")?;
    browser.write(".reason input", "use another name\n")?;
    browser.until_text("Nothing waits for you.")?;
    browser.run("history.back()")?;
    browser.until_text("use another name")?;
    browser.until_text("I see.")?;
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    let bodies = stage.model.calls().into_iter().filter_map(|call| call.body.clone());
    let asked = bodies.map(|body| body.to_string()).any(|body| body.contains("use another name"));
    assert!(asked, "the model got the reason");
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn link_is_valid_once_and_a_stranger_gets_nothing() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let link = stage.link().await?;
    let one = Browser::start(&stage.sandbox, 800, 600).await?;
    one.open(&link)?;
    one.until_text("No sessions yet.")?;
    let other = Browser::start(&stage.sandbox, 800, 600).await?;
    other.open(&link)?;
    other.until_text("This link was used already")?;
    other.open(link.split('#').next().unwrap_or_default())?;
    other.until_text("This browser is not logged in.")?;
    one.end().await?;
    other.end().await?;
    stage.end().await
}

/// The texts of the transcript, in order.
fn texts(browser: &Browser) -> Result<Value> {
    browser.until("document.querySelector('.activity') && !document.querySelector('.activity.busy')")?;
    browser.run("return [...document.querySelectorAll('.rows > .row')].map((row) => row.querySelector('.said, .markdown, .tool-name')?.textContent).filter(Boolean)")
}
