//! Changes of the working directory and of one turn: hunks, both layouts, and comments that become a prompt.

use anyhow::Result;
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn hunks_are_decided_and_comments_become_a_prompt() -> Result<()> {
    let edit = json!({"file_path": "long.txt", "old_str": "line 2\n", "new_str": "line two\n"});
    let read = json!({"file_path": "long.txt"});
    let script = Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("Edited.").when(when().result_of("Edit")))
        .reply(Reply::tool("Edit", edit).when(when().result_of("Read")))
        .reply(Reply::tool("Read", read).when(when().prompt("edit it")))
        .otherwise(Reply::text("Understood."));
    let stage = Stage::start(script).await?;
    let workspace = stage.sandbox.workspace();
    let lines = |change: fn(usize) -> String| (1..=60).map(change).collect::<String>();
    fs_err::write(workspace.join("long.txt"), lines(|at| format!("line {at}\n")))?;
    let commit = "git add -A && git -c user.name=T -c user.email=t@example.org commit -qm first";
    let ended =
        stage.sandbox.output(&stage.sandbox.launch("sh").args(["-c", commit]).cwd(&workspace)).await?;
    assert!(ended.status.success(), "{}", ended.stderr);
    fs_err::write(
        workspace.join("long.txt"),
        lines(|at| if at == 50 { "line fifty\n".to_owned() } else { format!("line {at}\n") }),
    )?;

    let browser = stage.browser(1280, 900).await?;
    stage.new_session_at(&browser, "edit it", "high")?;
    browser.until_text("Edited.")?;
    browser.press_button("Changes")?;
    browser.click("[aria-label='Accept hunk 1 of long.txt']")?;
    browser.until_text("Accepted")?;
    // now the second change is the only open one; it goes away, with a question before
    browser.click("[aria-label='Revert long.txt']")?;
    browser.accept_dialog(None)?;
    browser.until("document.querySelectorAll('figure.diff').length === 1")?;
    let text = fs_err::read_to_string(workspace.join("long.txt"))?;
    assert!(text.contains("line two\n") && text.contains("line 50\n"), "{text}");

    // the edits of the turn, side by side, with a comment
    browser.press_button("Side by side")?;
    browser.until("document.querySelector('.split .line.added')?.innerText.includes('line two')")?;
    browser.choose(".changes-bar select", "").ok();
    browser.run("const it = document.querySelector('.changes-bar select'); it.selectedIndex = 1; it.dispatchEvent(new Event('change', {bubbles: true}))")?;
    browser.until("document.querySelector('.split .line.removed')?.innerText.includes('line 2')")?;
    browser.click(".split .line.added button.number")?;
    browser.write(".comment textarea", "use digits")?;
    browser.press_button("Add")?;
    browser.press_button("Use 1 comment in the prompt")?;
    browser.until(&format!("document.querySelector({})?.value.includes('use digits')", json!(PROMPT)))?;
    let draft = browser.run(&format!("return document.querySelector({}).value", json!(PROMPT)))?;
    assert_eq!(draft, "long.txt:1\n> line two\nuse digits");
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}
