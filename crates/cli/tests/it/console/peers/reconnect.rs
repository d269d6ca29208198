//! Lost connections: a daemon that is killed and started again in the middle of an answer, and a browser that was offline.

use anyhow::Result;
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage, texts};

fn script() -> Script {
    let pieces: Vec<String> = (0..400).map(|number| format!("piece{number} ")).collect();
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text(pieces.concat()).delay_ms(0, 25).when(when().prompt("count")).times(1))
        .otherwise(Reply::text("Hello again."))
}

#[tokio::test(flavor = "multi_thread")]
async fn daemon_killed_in_the_middle_of_an_answer_loses_and_repeats_nothing() -> Result<()> {
    let mut stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "count")?;
    browser.until_text("piece20 ")?;
    stage.kill_daemon().await?;
    browser.until_text("Connection to the daemon lost")?;
    stage.start_daemon().await?;
    browser.until_no_text("Connection to the daemon lost")?;
    browser.until("!document.querySelector('.activity.busy')")?;
    browser.write(PROMPT, "are you there?\n")?;
    browser.until_text("Hello again.")?;
    let seen = texts(&browser)?;
    let seen = seen.to_string();
    for number in 0..20 {
        assert_eq!(seen.matches(&format!("piece{number} ")).count(), 1, "{seen}");
    }
    assert_eq!(seen.matches("are you there?").count(), 1, "{seen}");
    browser.end().await?;
    stage.end().await
}
