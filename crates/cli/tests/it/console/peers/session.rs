//! What a person does with one session: prompts that wait, steering, interrupting, names, forks, links and settings.

use anyhow::Result;
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage};

fn script() -> Script {
    let pieces: Vec<String> = (0..600).map(|number| format!("piece{number} ")).collect();
    let wait = json!({
        "command": "while ! test -e go.txt; do sleep 0.1; done; echo went", "summary": "Wait for a file", "timeout": 60,
        "riskLevel": "low", "riskLevelReason": "it only waits",
    });
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text(pieces.concat()).delay_ms(0, 100).when(when().prompt("talk on")))
        .reply(Reply::text("I was steered.").when(when().prompt("go left")))
        .reply(Reply::text("I went on.").when(when().tool_result("went")))
        .reply(Reply::tool("Execute", wait).when(when().prompt("wait for the file")))
        .reply(Reply::text("This is the second answer.").when(when().prompt("second")))
        .otherwise(Reply::text("An answer with a zebra in it."))
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_wait_steer_and_interrupt() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session_at(&browser, "wait for the file", "high")?;
    browser.until("document.querySelector('.tool.running')")?;
    // one prompt is read in the turn, another one waits for its end
    browser.write(PROMPT, "go left")?;
    browser.press_button("Steer")?;
    browser.until_text("go left")?;
    browser.write(PROMPT, "second\n")?;
    browser.until_text("sending…")?;
    // another browser, and this one after a reload, show what waits
    let other = stage.browser(1000, 800).await?;
    other.open(&browser.url()?)?;
    for it in [&browser, &other] {
        if std::ptr::eq(it, &raw const browser) {
            it.reload()?;
        }
        it.until("[...document.querySelectorAll('.user')].some((row) => row.innerText.includes('second') && row.innerText.includes('sending'))")?;
    }
    fs_err::write(stage.sandbox.workspace().join("go.txt"), "")?;
    for it in [&browser, &other] {
        it.until_text("I was steered.")?;
        it.until_text("This is the second answer.")?;
        it.until_no_text("sending…")?;
        let rows = "[...document.querySelectorAll('.user .said')].map((it) => it.textContent).join('|')";
        assert_eq!(it.run(&format!("return {rows}"))?, "wait for the file|go left|second");
    }

    browser.write(PROMPT, "talk on\n")?;
    browser.until_text("piece3 ")?;
    browser.press_button("Interrupt")?;
    browser.until_text("Interrupted")?;
    other.until_text("Interrupted")?;
    assert!(!browser.run("return document.body.innerText")?.to_string().contains("piece599"));
    for it in [browser, other] {
        assert_eq!(it.problems()?, Vec::<String>::new());
        it.end().await?;
    }
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn session_is_renamed_tagged_forked_compacted_and_rewound() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "first prompt")?;
    browser.until_text("An answer with a zebra in it.")?;
    browser.write(PROMPT, "second\n")?;
    browser.until_text("This is the second answer.")?;
    browser.until("!document.querySelector('.activity.busy')")?;

    browser.press_button("Rename")?;
    browser.run("document.querySelector('.rename input').select()")?;
    browser.write(".rename input", "A new name\n")?;
    browser.until("document.querySelector('.session-head h1')?.textContent === 'A new name'")?;
    browser.press_button("Tags")?;
    browser.accept_dialog(Some("urgent, web"))?;
    browser.until(
        "[...document.querySelectorAll('.session-head .tag')].some((it) => it.textContent === 'urgent')",
    )?;
    browser.choose(".settings select[aria-label=Autonomy], .settings label:last-child select", "medium")?;

    // the overview knows all of it, and finds a word of the answer, with a link to it
    browser.press_button("Sessions")?;
    browser.until(
        "[...document.querySelectorAll('.session-title')].some((it) => it.textContent === 'A new name')",
    )?;
    browser.choose(".filters select", "urgent")?;
    browser.write(".search", "zebra")?;
    browser.click(".session .snippet")?;
    browser.until("document.querySelector('.row.target')?.innerText.includes('zebra')")?;
    // the list is not held there
    browser.run("document.querySelector('.rows').scrollTop = 0; location.hash = location.hash.replace(/[^/]*$/, 'no-such-message')")?;
    browser.until("!document.querySelector('.to-end')")?;
    browser.until("document.querySelector('.settings label:last-child select').value === 'medium'")?;

    let first = browser.url()?;
    browser.press_button("Fork")?;
    browser.until(&format!(
        "location.href !== {} && document.querySelectorAll('.user').length === 2",
        json!(first)
    ))?;
    browser.press_button("Rewind to here")?;
    browser.accept_dialog(None)?;
    browser
        .until("document.querySelectorAll('.user').length === 0 && document.querySelector('.composer')")?;

    browser.open(&first)?;
    browser.until_text("This is the second answer.")?;
    browser.press_button("Compact")?;
    browser.until("[...document.querySelectorAll('.toast, .notice')].some((it) => /compacted|Compacted|fewer|nothing/i.test(it.textContent) && !it.textContent.endsWith('…'))")?;
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn images_and_files_are_attached() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "hello")?;
    browser.until_text("An answer with a zebra in it.")?;
    // a drop, as the browser tells of it
    browser.run(
        "const pixel = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (it) => it.charCodeAt(0)); \
         const data = new DataTransfer(); data.items.add(new File([pixel], 'dot.png', {type: 'image/png'})); data.items.add(new File(['some notes'], 'notes.txt', {type: 'text/plain'})); \
         document.querySelector('.composer').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));",
    )?;
    browser.until("document.querySelectorAll('.attachments li').length === 2")?;
    browser.write(PROMPT, "look at these\n")?;
    browser.until("document.querySelectorAll('.user img').length === 1")?;
    browser.until_text("notes.txt")?;
    browser.until("document.querySelectorAll('.turn-end').length === 2")?;
    let bodies = stage.model.calls().into_iter().filter_map(|call| call.body.clone());
    let asked = bodies
        .map(|body| body.to_string())
        .any(|body| body.contains("some notes") && body.contains("iVBORw0KGgo"));
    assert!(asked, "the model got both");
    // the history shows them, too
    browser.reload()?;
    browser.until("document.querySelectorAll('.user img').length === 1")?;
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}
